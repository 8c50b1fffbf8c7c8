# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module with the real uv and the real patch, and a project that builds without any tools."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import source_wheel

UV = Path(sys.executable).parent / "uv"

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "demo"
version = "1.0"
"""
# The wheel that it makes says what the build has seen.
BACKEND = """\
import os, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if os.environ.get("BREAK"):
        print("demo.cpp:4:12: error: 'thing' was not declared in this scope")
        raise RuntimeError("the compiler failed")
    name = "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("demo.py", open("demo.py").read() + os.environ.get("EXTRA", "")
                       + (open(os.environ["DATA"]).read() if "DATA" in os.environ else ""))
    return name
"""
DEMO = "".join(f"line {number}\n" for number in range(1, 11))
PATCH = """\
Say five.

--- a/demo.py
+++ b/demo.py
@@ -3,5 +3,5 @@
 line 3
 line 4
-line 5
+line five
 line 6
 line 7
"""

Run = Callable[..., dict[str, Any]]


def make_source(path: Path, files: dict[str, str], link: tuple[str, str] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
        if link:
            info = tarfile.TarInfo(link[0])
            info.type, info.linkname = tarfile.SYMTYPE, link[1]
            archive.addfile(info)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    files = {"demo-1.0/pyproject.toml": PYPROJECT, "demo-1.0/backend.py": BACKEND, "demo-1.0/demo.py": DEMO}
    return make_source(tmp_path / "demo-1.0.tar.gz", files)


@pytest.fixture
def patch(tmp_path: Path) -> str:
    path = tmp_path / "five.patch"
    path.write_text(PATCH, encoding="utf-8")
    return str(path)


@pytest.fixture
def run(tmp_path: Path, source: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the module and returns its result."""

    def call(*, check: bool = False, **options: Any) -> dict[str, Any]:
        arguments = {
            "source": str(source),
            "sha256": options.get("sha256") or sha256(Path(options.get("source", source))),
            "python": sys.executable,
            "packages": ["pytest", "nothing-of-the-kind"],
            "executable": str(UV),
            "wheels_dir": str(tmp_path / "wheels"),
            "build_dir": str(tmp_path / "build"),
            "_ansible_check_mode": check,
            "_ansible_tmpdir": str(tmp_path),
            **options,
        }
        with patch_module_args(arguments), pytest.raises(SystemExit):
            source_wheel.main()
        return json.loads(capfd.readouterr().out)

    return call


def content(wheel: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read("demo.py").decode()


def test_the_same_inputs_are_built_once(run: Run, patch: str, tmp_path: Path) -> None:
    predicted = run(patches=[patch], check=True)
    assert predicted["changed"]
    assert predicted["wheel"] == ""
    assert not (tmp_path / "wheels").exists()
    made = run(patches=[patch])
    folder = tmp_path / "wheels" / made["inputs_hash"][:12]
    assert made["changed"]
    assert made["inputs_hash"] == predicted["inputs_hash"]
    assert made["diff"] == predicted["diff"]
    assert "patch: five.patch" in made["diff"]["after"]
    assert made["wheel"] == str(folder / "demo-1.0-py3-none-any.whl")
    assert content(made["wheel"]) == DEMO.replace("line 5\n", "line five\n")
    assert made["manifest"]["patches"] == [
        {"name": "five.patch", "purpose": "Say five.", "sha256": sha256(Path(patch)), "state": "applied"}
    ]
    assert made["manifest"]["inputs"]["packages"] == {"pytest": pytest.__version__, "nothing-of-the-kind": None}
    assert (folder / "build.log").exists()
    assert list((tmp_path / "build").iterdir()) == []
    for check in (False, True):
        # Neither uv nor the archive is needed when there is nothing to build.
        again = run(patches=[patch], executable="/nonexistent/uv", check=check)
        assert not again["changed"]
        assert again["wheel"] == made["wheel"]
        assert again["manifest"] == made["manifest"]


def test_a_changed_patch_is_another_wheel(run: Run, patch: str) -> None:
    first = run(patches=[patch])
    Path(patch).write_text(PATCH.replace("line five", "line cinq"), encoding="utf-8")
    second = run(patches=[patch])
    assert second["changed"]
    assert second["wheel"] != first["wheel"]
    assert content(first["wheel"]) == DEMO.replace("line 5\n", "line five\n")
    assert content(second["wheel"]) == DEMO.replace("line 5\n", "line cinq\n")


def test_the_environment_reaches_the_build_and_counts(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("from the file", encoding="utf-8")
    files = [{"variable": "DATA", "path": str(data), "sha256": sha256(data)}]
    made = run(environment={"EXTRA": "extra "}, environment_files=files)
    assert content(made["wheel"]) == DEMO + "extra from the file"
    moved = data.rename(tmp_path / "moved")
    files = [{"variable": "DATA", "path": str(moved), "sha256": sha256(moved)}]
    assert not run(environment={"EXTRA": "extra "}, environment_files=files)["changed"]
    assert run(environment={"EXTRA": "more "}, environment_files=files)["changed"]


@pytest.mark.parametrize("what", ["the wheel is damaged", "the wheel is gone", "killed before the manifest"])
def test_a_wheel_that_is_not_whole_is_built_again(run: Run, what: str) -> None:
    made = run()
    wheel = Path(made["wheel"])
    if what == "the wheel is damaged":
        wheel.write_bytes(b"x" * wheel.stat().st_size)
    elif what == "the wheel is gone":
        wheel.unlink()
    else:
        (wheel.parent / "manifest.json").unlink()
    assert run(check=True)["changed"]
    assert run()["changed"]
    assert content(str(wheel)) == DEMO
    assert not run()["changed"]


def test_leftovers_of_a_killed_build_are_removed(run: Run, tmp_path: Path) -> None:
    key = run(check=True)["inputs_hash"][:12]
    (tmp_path / "build" / f"build-{key}" / "source").mkdir(parents=True)
    assert run()["changed"]
    assert list((tmp_path / "build").iterdir()) == []


def test_what_another_run_has_built_meanwhile_is_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run()
    answers = iter([None, first["manifest"]])
    monkeypatch.setattr(source_wheel, "built", lambda _folder: next(answers))
    second = run(executable="/nonexistent/uv")
    assert not second["changed"]
    assert second["wheel"] == first["wheel"]


def test_a_patch_that_the_source_has_already(
    run: Run, patch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(source_wheel.AnsibleModule, "warn", lambda _module, warning: warnings.append(warning))
    files = {
        "demo-1.0/pyproject.toml": PYPROJECT,
        "demo-1.0/backend.py": BACKEND,
        "demo-1.0/demo.py": DEMO.replace("line 5\n", "line five\n"),
    }
    result = run(source=str(make_source(tmp_path / "fixed.tar.gz", files)), patches=[patch])
    assert result["changed"]
    assert result["manifest"]["patches"][0]["state"] == "already in the source"
    assert warnings == [f"The patch {patch} is already in the source and was not needed. Take it out of the list."]


def test_patches_are_applied_in_order(run: Run, patch: str, tmp_path: Path) -> None:
    second = tmp_path / "six.patch"
    second.write_text(
        "--- a/demo.py\n+++ b/demo.py\n@@ -4,5 +4,5 @@\n line 4\n line five\n-line 6\n+line six\n line 7\n line 8\n",
        encoding="utf-8",
    )
    result = run(patches=[patch, str(second)])
    assert result.get("msg") is None
    assert content(result["wheel"]) == DEMO.replace("line 5\n", "line five\n").replace("line 6\n", "line six\n")
    swapped = run(patches=[str(second), patch])
    assert swapped["msg"].startswith(f"The patch {second} does not fit demo-1.0: demo.py, hunk 1: ")


def test_a_patch_that_does_not_fit(run: Run, patch: str, tmp_path: Path) -> None:
    Path(patch).write_text(PATCH.replace("line 4", "line four"), encoding="utf-8")
    assert run(patches=[patch])["msg"] == (
        f"The patch {patch} does not fit demo-1.0: demo.py, hunk 1: the lines that it replaces are not "
        "there around line 3. Make it again for this source, or take it out of the list."
    )
    assert list((tmp_path / "build").iterdir()) == []


def test_a_patch_without_content(run: Run, patch: str) -> None:
    Path(patch).write_text("", encoding="utf-8")
    assert run(patches=[patch])["msg"] == (
        f"patches: found no hunk (@@ -... +... @@) in {patch}; needed a patch in the unified format."
    )


def test_a_patch_that_is_missing(run: Run, patch: str) -> None:
    Path(patch).unlink()
    assert run(patches=[patch])["msg"] == (
        f"patches: found no {patch} on the host; needed a patch. Correct the path, or copy it there."
    )
    assert run(patches=[patch], check=True)["changed"]


def test_no_patch_program(run: Run, patch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = source_wheel.AnsibleModule.get_bin_path
    monkeypatch.setattr(
        source_wheel.AnsibleModule, "get_bin_path", lambda self, name: None if name == "patch" else found(self, name)
    )
    assert run(patches=[patch])["msg"] == (
        "patches: found no program patch on the host; needed GNU patch. Run: apt-get install patch"
    )


def test_a_failed_build_shows_the_first_error_and_keeps_the_log(run: Run, tmp_path: Path) -> None:
    result = run(environment={"BREAK": "1"})
    (log,) = (tmp_path / "wheels").glob("*/build.log")
    lines = log.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, start=1) if "demo.cpp" in line)
    assert result["msg"] == (
        f"demo-1.0 could not be built. The first error, at line {number} of {log} on the host:\n"
        "demo.cpp:4:12: error: 'thing' was not declared in this scope"
    )
    assert list((tmp_path / "build").iterdir()) == []
    assert run(environment={"BREAK": "1"}, check=True)["changed"]


def test_a_wrong_archive(run: Run, source: Path) -> None:
    assert run(sha256="0" * 64)["msg"] == (
        f"source: {source} has SHA-256 {sha256(source)}; needed {'0' * 64}. Remove the file and download it again, or "
        "correct the hash if this is the file that is meant."
    )


def test_a_missing_archive(run: Run) -> None:
    assert run(source="/nonexistent.tar.gz", sha256="0" * 64)["msg"] == (
        f"source: found no /nonexistent.tar.gz on the host; needed a file with SHA-256 {'0' * 64}. Download it there."
    )


def test_a_wrong_file_for_the_build(run: Run, source: Path) -> None:
    files = [{"variable": "DATA", "path": str(source), "sha256": "0" * 64}]
    assert run(environment_files=files)["msg"].startswith(f"environment_files, DATA: {source} has SHA-256 ")


def test_what_is_no_archive(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("hello", encoding="utf-8")
    assert run(source=str(path))["msg"] == (
        f"source: {path} cannot be unpacked (file could not be opened successfully:\n"
        + run(source=str(path))["msg"].split(":\n", 1)[1]
    )
    assert run(source=str(path))["msg"].endswith("; needed a tar archive.")


def test_an_archive_with_several_folders(run: Run, tmp_path: Path) -> None:
    path = make_source(tmp_path / "two.tar.gz", {"a/x": "", "b/x": ""})
    assert run(source=str(path))["msg"] == f"source: found a, b in {path}; needed one folder with all in it."


def test_an_archive_that_leads_out_of_its_folder(run: Run, tmp_path: Path) -> None:
    path = make_source(tmp_path / "evil.tar.gz", {"demo/x": ""}, link=("demo/out", "/etc"))
    assert run(source=str(path))["msg"] == (
        f"source: {path} is not safe to unpack: demo/out leads out of the archive's folder. Take the archive from its "
        "origin."
    )


def test_uv_is_missing(run: Run) -> None:
    assert run(executable="/nonexistent/uv")["msg"] == (
        "executable: found no /nonexistent/uv on the host; needed uv. Install it there."
    )


def test_the_environment_is_missing(run: Run) -> None:
    assert run(python="/nonexistent/python")["msg"].startswith(
        "python: /nonexistent/python does not run; needed the interpreter of an environment with the build's tools. "
    )
    assert run(python="/nonexistent/python", check=True)["changed"]


def test_a_folder_that_cannot_be_made(run: Run, tmp_path: Path) -> None:
    (tmp_path / "build").touch()
    assert run()["msg"].startswith(f"{tmp_path}/build")
