# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on real files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import model_snapshot

Run = Callable[..., dict[str, Any]]


def weights(fill: bytes = b"\1", size: int = 1000) -> bytes:
    header = json.dumps({"x": {"data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header + fill * size


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "extra").mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "extra" / "notes.txt").write_text("notes", encoding="utf-8")
    (folder / ".hidden").write_text("hidden", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(weights())
    (folder / "model.safetensors").chmod(0o600)
    return folder


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "models" / "local--m"


@pytest.fixture
def run(source: Path, dest: Path, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str]) -> Run:
    def run_module(**arguments: Any) -> dict[str, Any]:
        usual = {
            "source": str(source),
            "dest": str(dest),
            "variables": {"source": "my_model", "revision": "my_revision", "dest": "my_root"},
            "_ansible_remote_tmp": str(tmp_path_factory.mktemp("remote")),
            "_ansible_diff": True,
        }
        capfd.readouterr()
        with patch_module_args({**usual, **arguments}), pytest.raises(SystemExit):
            model_snapshot.main()
        result: dict[str, Any] = json.loads(capfd.readouterr().out)
        return result

    return run_module


NAMES = ["config.json", "extra/notes.txt", "model.safetensors", "tokenizer.json"]


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_copy_is_made_once(run: Run, source: Path, dest: Path) -> None:
    first = run()
    path = Path(first["path"])
    assert first["changed"]
    assert path == dest / first["revision"]
    assert [file["path"] for file in first["files"]] == NAMES
    assert sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()) == [
        *NAMES[:3],
        "nemotron-manifest.json",
        "tokenizer.json",
    ]
    assert (path / "model.safetensors").read_bytes() == weights()
    assert {file.stat().st_mode & 0o777 for file in path.rglob("*") if file.is_file()} == {0o644}
    assert {folder.stat().st_mode & 0o777 for folder in (path, path / "extra", dest, dest.parent)} == {0o755}
    assert first["faults"] == []
    before = tree(dest)
    second = run()
    assert not second["changed"]
    assert second["diff"]["before"] == second["diff"]["after"] == first["diff"]["after"]
    assert tree(dest) == before


def test_a_slash_at_the_end_makes_no_difference(run: Run, source: Path) -> None:
    first = run()
    shutil.rmtree(source)
    assert run(source=f"{source}/")["path"] == first["path"]


def test_folders_are_open_under_a_strict_umask(run: Run, dest: Path) -> None:
    umask = os.umask(0o077)
    try:
        path = Path(run()["path"])
    finally:
        os.umask(umask)
    assert {folder.stat().st_mode & 0o777 for folder in (path, path / "extra", dest, dest.parent)} == {0o755}
    assert {file.stat().st_mode & 0o777 for file in path.rglob("*") if file.is_file()} == {0o644}


def test_the_revision_is_the_documented_one(run: Run, source: Path) -> None:
    command = "find -L . -type f -not -path '*/.*' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"
    assert command.replace("\\0", "\\\\0").split(" | ")[1] in (model_snapshot.DOCUMENTATION)
    told = subprocess.run(["bash", "-c", command], cwd=source, check=True, capture_output=True, text=True).stdout
    assert run()["revision"] == told[:40]


def test_check_mode_predicts_and_writes_nothing(run: Run, tmp_path: Path, dest: Path) -> None:
    predicted = run(_ansible_check_mode=True)
    assert not dest.parent.exists()
    real = run()
    assert predicted == {name: real[name] for name in predicted}
    assert predicted["changed"]
    assert not run(_ansible_check_mode=True)["changed"]


def test_a_second_run_reads_no_weights(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    read: list[str] = []
    monkeypatch.setattr(
        "ansible_collections.nemotron.vllm.plugins.module_utils._hash_memory.sha256_of_file",
        read.append,
    )
    assert not run()["changed"]
    assert read == []


def test_full_reads_everything(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(run()["path"])
    # The same size and times as before: only reading it all can tell.
    altered = path / "model.safetensors"
    memory = path.parent / ".nemotron-hashes.json"
    altered.write_bytes(weights(b"\2"))
    known = json.loads(memory.read_text(encoding="utf-8"))
    status = altered.stat()
    known["hashes"][str(altered)]["stamp"] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    memory.write_text(json.dumps(known), encoding="utf-8")
    assert not run()["changed"]
    assert run(verify="full")["faults"] == ["model.safetensors was altered"]
    assert altered.read_bytes() == weights()


def damage_same_size(path: Path) -> None:
    (path / "model.safetensors").write_bytes(weights(b"\2"))


def damage_size(path: Path) -> None:
    (path / "model.safetensors").write_bytes(weights()[:-1])


def remove(path: Path) -> None:
    (path / "tokenizer.json").unlink()


def add(path: Path) -> None:
    (path / "extra" / "more.safetensors").write_bytes(b"x")


def remove_folder(path: Path) -> None:
    shutil.rmtree(path / "extra")


def damage_several(path: Path) -> None:
    damage_size(path)
    remove(path)
    add(path)


DAMAGES = [
    pytest.param(damage_same_size, "stat", ["model.safetensors was altered"], id="same size"),
    pytest.param(damage_size, "stat", ["model.safetensors was altered"], id="cut"),
    pytest.param(damage_size, "size", ["model.safetensors was altered"], id="cut, sizes only"),
    pytest.param(remove, "size", ["tokenizer.json is missing"], id="missing"),
    pytest.param(add, "size", ["extra/more.safetensors does not belong to it"], id="added"),
    pytest.param(remove_folder, "stat", ["extra/notes.txt is missing"], id="folder missing"),
    pytest.param(
        damage_several,
        "full",
        ["extra/more.safetensors does not belong to it", "model.safetensors was altered", "tokenizer.json is missing"],
        id="several",
    ),
]


@pytest.mark.parametrize(("damage", "verify", "faults"), DAMAGES)
def test_damage_is_found_and_put_right(
    run: Run, damage: Callable[[Path], None], verify: str, faults: list[str]
) -> None:
    first = run()
    path = Path(first["path"])
    whole = {name: content for name, (_time, content) in tree(path).items() if name in NAMES}
    damage(path)
    broken = tree(path)
    predicted = run(verify=verify, _ansible_check_mode=True)
    assert tree(path) == broken
    result = run(verify=verify)
    assert predicted == result
    assert (result["changed"], result["faults"], result["repairs"]) == (True, faults, 1)
    assert result["diff"]["before"] != result["diff"]["after"] == first["diff"]["after"]
    assert {name: content for name, (_time, content) in tree(path).items() if name != "nemotron-manifest.json"} == whole
    again = run(verify=verify)
    assert (again["changed"], again["faults"], again["repairs"]) == (False, [], 1)


def test_sizes_alone_vouch_for_nothing_later(run: Run) -> None:
    path = Path(run()["path"])
    damage_same_size(path)
    assert not run(verify="size")["changed"]
    assert run(verify="stat")["faults"] == ["model.safetensors was altered"]


def test_files_that_the_service_cannot_read(run: Run) -> None:
    path = Path(run()["path"])
    (path / "config.json").chmod(0o600)
    assert run(_ansible_check_mode=True)["changed"]
    result = run()
    assert (result["changed"], result["faults"], result["repairs"]) == (True, [], 0)
    assert (path / "config.json").stat().st_mode & 0o777 == 0o644
    assert not run()["changed"]


def test_another_content_of_the_source_is_another_snapshot(run: Run, source: Path, dest: Path) -> None:
    first = run()
    (source / "tokenizer.json").write_text("[]", encoding="utf-8")
    second = run()
    assert second["changed"]
    assert second["revision"] != first["revision"]
    assert Path(first["path"]).is_dir()
    (source / "tokenizer.json").write_text("{}", encoding="utf-8")
    third = run()
    assert (third["changed"], third["path"]) == (False, first["path"])


def test_a_pinned_revision(run: Run, source: Path, dest: Path) -> None:
    found = run(_ansible_check_mode=True)["revision"]
    result = run(revision="0" * 40)
    assert result["msg"] == (
        f"{source} holds revision {found}; needed {'0' * 40}. Nothing was copied. Put the right files there, or set "
        "my_revision to the revision found if it is meant."
    )
    assert not dest.exists()
    assert run(revision=found)["changed"]


def test_a_revision_that_cannot_be_one(run: Run) -> None:
    assert run(revision="main")["msg"] == (
        "revision: found main; needed 40 hexadecimal digits in lower case, as this module returns them. Correct "
        "my_revision, or leave it out."
    )


def test_an_incomplete_source(run: Run, source: Path, dest: Path) -> None:
    (source / "model.safetensors").write_bytes(weights()[:-10])
    size = len(weights())
    assert run()["msg"] == (
        f"{source} holds no complete model: model.safetensors has {size - 10} bytes and its header says {size}; needed "
        "the whole file. Copy the model again, or change my_model."
    )
    assert not dest.exists()


def test_a_source_that_loses_a_file_later(run: Run, source: Path) -> None:
    run()
    (source / "config.json").unlink()
    assert run()["msg"] == (
        f"{source} holds no complete model: there is no config.json; needed the config.json of a model. Copy the model "
        "again, or change my_model."
    )


def test_no_source(run: Run, source: Path, dest: Path) -> None:
    shutil.rmtree(source)
    assert run()["msg"] == (
        f"my_model: found no folder {source} on the host, and no snapshot of it in {dest}; needed the folder of a "
        "model. Put the model there, or change my_model."
    )


@pytest.mark.parametrize("name", ["nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16", "models"])
def test_a_name_instead_of_a_folder(run: Run, name: str) -> None:
    assert run(source=name)["msg"] == (
        f"my_model: found {name}; needed the absolute path of a folder on the host. Models cannot be taken from a hub "
        "yet: put the files on the host and give their folder."
    )


def test_a_source_that_is_gone_later(run: Run, source: Path) -> None:
    first = run()
    shutil.rmtree(source)
    second = run()
    assert (second["changed"], second["path"], second["files"]) == (False, first["path"], first["files"])
    assert run(revision=first["revision"])["path"] == first["path"]
    remove(Path(first["path"]))
    assert run()["msg"] == (
        f"{first['path']} cannot be served: tokenizer.json is missing; needed all files of its manifest, and {source}, "
        "which they came from, is gone. Put the model there again, or change my_model."
    )


@pytest.mark.parametrize("manifest", [None, "{", '{"revision": "x", "repairs": 0, "files": []}'])
def test_a_lost_manifest_is_made_again(run: Run, source: Path, manifest: str | None) -> None:
    path = Path(run()["path"]) / "nemotron-manifest.json"
    whole = path.read_text(encoding="utf-8")
    if manifest is None:
        path.unlink()
    else:
        path.write_text(manifest, encoding="utf-8")
    shutil.move(source, source.with_name("away"))
    assert run()["changed"]
    assert path.read_text(encoding="utf-8") == whole
    path.unlink()
    shutil.move(source.with_name("away"), source)
    assert run()["changed"]
    assert path.read_text(encoding="utf-8") == whole


def test_a_lost_manifest_and_a_lost_file(run: Run, source: Path) -> None:
    path = Path(run()["path"])
    (path / "nemotron-manifest.json").unlink()
    remove(path)
    shutil.rmtree(source)
    assert run()["msg"] == (
        f"{path} cannot be served: nemotron-manifest.json is missing; needed all files of its manifest, and {source}, "
        "which they came from, is gone. Put the model there again, or change my_model."
    )


def test_links_are_followed(run: Run, source: Path, tmp_path: Path) -> None:
    blob = tmp_path / "blob"
    shutil.move(source / "model.safetensors", blob)
    (source / "model.safetensors").symlink_to(blob)
    (source / "extra" / "up").symlink_to(source)
    result = run()
    copied = Path(result["path"]) / "model.safetensors"
    assert not copied.is_symlink()
    assert copied.read_bytes() == weights()
    assert [file["path"] for file in result["files"]] == NAMES


def test_a_broken_link(run: Run, source: Path) -> None:
    (source / "model.safetensors").unlink()
    (source / "model.safetensors").symlink_to("../blobs/none")
    assert run()["msg"] == (
        f"{source}/model.safetensors is a link to ../blobs/none, which is missing; needed the file itself. Copy the "
        "model again, or change my_model."
    )


def test_little_disk(run: Run, source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Status:
        f_bavail = 3
        f_frsize = 1 << 20

    (source / "model.safetensors").write_bytes(weights(size=5 << 20))
    monkeypatch.setattr(os, "statvfs", lambda _path: Status)
    assert run()["msg"] == (
        f"{dest}: found 3 MiB free; needed 6 MiB for 4 files of {source}. Nothing was copied. Free some space, or "
        "change my_root."
    )
    assert not dest.exists()


def test_a_full_disk(run: Run, dest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_source: str, _target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fail)
    revision = run(_ansible_check_mode=True)["revision"]
    assert run()["msg"] == (
        f"{dest}/.partial-{revision}/config.json could not be written: No space left on device. "
        "Mend that, or change my_root."
    )


def test_a_source_that_changes_during_the_copy(
    run: Run, source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copyfile

    def copy_and_alter(origin: str, target: str) -> None:
        copy(origin, target)
        Path(target).write_text("other", encoding="utf-8")

    monkeypatch.setattr(shutil, "copyfile", copy_and_alter)
    message = run()["msg"]
    assert message.startswith(f"{source}/config.json changed while it was copied: found ")
    assert message.endswith(". Run again when nobody writes there any more.")
    assert not [path for path in dest.iterdir() if not path.name.startswith(".partial-")]


def test_an_unusable_dest_is_no_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run(dest=str(tmp_path / "file" / "models"))
    assert result["failed"]
    assert str(tmp_path / "file") in result["msg"]


def test_a_damaged_memory_only_costs_time(run: Run, dest: Path) -> None:
    run()
    (dest / ".nemotron-hashes.json").write_text("{", encoding="utf-8")
    assert not run()["changed"]
    assert "hashes" in json.loads((dest / ".nemotron-hashes.json").read_text(encoding="utf-8"))


# The calls between which a run can die, and how often each happens in a copy of four files.
STEPS = [*(("shutil.copyfile", n) for n in range(4)), *(("os.chmod", n) for n in range(4)), ("os.rename", 0)]


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_copy_is_finished(run: Run, source: Path, dest: Path, step: tuple[str, int]) -> None:
    """The real module in a process of its own, ended without warning in the middle of a step."""
    name, after = step
    arguments = {"source": str(source), "dest": str(dest), "_ansible_remote_tmp": str(source.parent / "remote")}
    script = f"""
import os, shutil, signal
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import model_snapshot
module, name = {name!r}.split(".")
module = {{"os": os, "shutil": shutil}}[module]
real, calls = getattr(module, name), []
def dying(*arguments, **named):
    calls.append(1)
    if len(calls) > {after}:
        if name == "copyfile":
            with open(arguments[0], "rb") as whole, open(arguments[1], "wb") as part:
                part.write(whole.read()[:1])
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
setattr(module, name, dying)
with patch_module_args({arguments!r}):
    model_snapshot.main()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    completed = subprocess.run([sys.executable, "-c", script], check=False, env=environment, capture_output=True)
    assert completed.returncode == -9, completed.stderr
    assert [path for path in dest.glob("[!.]*") if path.is_dir()] == [], (
        "an unfinished copy has the name of a whole one"
    )
    result = run()
    assert result["changed"]
    path = Path(result["path"])
    assert (path / "model.safetensors").read_bytes() == weights()
    assert sorted(path.name for path in dest.iterdir()) == [".nemotron-hashes.json", result["revision"]]
    assert not run(verify="full")["changed"]


def test_a_continued_copy_keeps_what_is_there(run: Run, dest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run()
    partial = dest / f".partial-{result['revision']}"
    os.rename(result["path"], partial)
    (partial / "tokenizer.json").write_text("[]", encoding="utf-8")
    (partial / "config.json").unlink()
    copied: list[str] = []
    copy = shutil.copyfile

    def record(origin: str, target: str) -> None:
        copied.append(os.path.basename(origin))
        copy(origin, target)

    monkeypatch.setattr(shutil, "copyfile", record)
    assert run()["changed"]
    assert copied == ["config.json", "tokenizer.json"]
    assert not run(verify="full")["changed"]


def test_leftovers_of_another_revision_go(run: Run, dest: Path) -> None:
    run()
    (dest / ".partial-other").mkdir()
    (dest / ".partial-other" / "file").write_text("", encoding="utf-8")
    assert not run()["changed"]
    assert not (dest / ".partial-other").exists()
