# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module with the real uv, offline, and packages made on the spot."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import uv_env

UV = Path(sys.executable).parent / "uv"
PYTHON = "{}.{}".format(*sys.version_info[:2])

Run = Callable[..., dict[str, Any]]


def make_wheel(folder: Path, name: str, version: str, code: str = "VALUE = 1\n") -> Path:
    """Write a wheel with one module and one command."""
    folder.mkdir(exist_ok=True)
    stem = f"{name}-{version}"
    files = {
        f"{name}/__init__.py": code,
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": f"[console_scripts]\n{name}-command = {name}:VALUE\n",
    }
    record = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}"
        for path, text in files.items()
    ]
    files[f"{stem}.dist-info/RECORD"] = "\n".join([*record, f"{stem}.dist-info/RECORD,,"]) + "\n"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name_inside, text in files.items():
            archive.writestr(name_inside, text)
    return path


def lock_of(*wheels: Path) -> str:
    return "".join(
        "{}=={} --hash=sha256:{}\n".format(*wheel.name.split("-")[:2], hashlib.sha256(wheel.read_bytes()).hexdigest())
        for wheel in wheels
    )


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    return tmp_path / "wheelhouse"


@pytest.fixture
def lock(wheelhouse: Path) -> str:
    return lock_of(make_wheel(wheelhouse, "alpha", "1.0"), make_wheel(wheelhouse, "beta", "2.0"))


@pytest.fixture
def run(tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the module and returns its result."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    # The interpreter of whoever runs the tests may well be their own.
    monkeypatch.setattr(uv_env, "closed_folder", lambda _path: None)

    def call(*, check: bool = False, **options: Any) -> dict[str, Any]:
        arguments = {
            "prefix": str(tmp_path / "env"),
            "python": sys.executable,
            "executable": str(UV),
            "cache_dir": str(tmp_path / "cache"),
            "find_links": [str(wheelhouse)],
            "_ansible_check_mode": check,
            "_ansible_tmpdir": str(tmp_path),
            **options,
        }
        with patch_module_args(arguments), pytest.raises(SystemExit):
            uv_env.main()
        return json.loads(capfd.readouterr().out)

    return call


def packages_folder(tmp_path: Path) -> Path:
    return tmp_path / "env" / "lib" / f"python{PYTHON}" / "site-packages"


def marker(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "env" / "nemotron-env.json").read_text(encoding="utf-8"))


def test_create_and_create_again(run: Run, lock: str, tmp_path: Path) -> None:
    predicted = run(lock_content=lock, check=True)
    assert not (tmp_path / "env").exists()
    made = run(lock_content=lock)
    assert made["changed"]
    assert made["packages"] == {"alpha": "1.0", "beta": "2.0"}
    assert made["python"] == str(tmp_path / "env" / "bin" / "python")
    assert made["python_version"].startswith(PYTHON + ".")
    assert made["reasons"] == ["there is no environment yet"]
    assert made["diff"]["before"] == ""
    assert made["diff"]["after"] == f"state: complete\npython: {sys.executable}\nalpha==1.0\nbeta==2.0\n"
    assert marker(tmp_path)["complete"] is True
    assert (tmp_path / "env" / "nemotron-env.lock").read_text(encoding="utf-8") == lock
    assert {key: predicted[key] for key in ("changed", "diff", "reasons", "packages")} == {
        key: made[key] for key in ("changed", "diff", "reasons", "packages")
    }
    for check in (False, True):
        again = run(lock_content=lock, check=check)
        assert not again["changed"]
        assert again["diff"]["before"] == again["diff"]["after"]


def test_nothing_runs_uv_when_nothing_is_off(run: Run, lock: str) -> None:
    run(lock_content=lock)
    assert not run(lock_content=lock, executable="/nonexistent/uv")["changed"]


def test_the_lock_does_not_reach_the_log_or_the_invocation(run: Run, lock: str) -> None:
    result = run(lock_content=lock)
    assert result["invocation"]["module_args"]["lock_content"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    assert "--hash" not in json.dumps(result)


def damage_file(packages: Path) -> None:
    # Written in place, this also changes uv's cache, which the file is linked from.
    with (packages / "alpha" / "__init__.py").open("a", encoding="utf-8") as stream:
        stream.write("VALUE = 2\n")


def remove_folder(packages: Path) -> None:
    shutil.rmtree(packages / "alpha")


def interrupt_installation(packages: Path) -> None:
    (packages / "alpha-1.0.dist-info" / "INSTALLER").unlink()
    (packages / "alpha" / "__init__.py").unlink()


def remove_package(packages: Path) -> None:
    shutil.rmtree(packages / "alpha")
    shutil.rmtree(packages / "alpha-1.0.dist-info")


def add_package(packages: Path) -> None:
    shutil.copytree(packages / "alpha-1.0.dist-info", packages / "gamma-3.0.dist-info")
    metadata = packages / "gamma-3.0.dist-info" / "METADATA"
    metadata.unlink()
    metadata.write_text("Metadata-Version: 2.1\nName: gamma\nVersion: 3.0\n", encoding="utf-8")
    record = packages / "gamma-3.0.dist-info" / "RECORD"
    record.unlink()
    record.write_text("gamma-3.0.dist-info/METADATA,,\n", encoding="utf-8")


BY_HAND: list[tuple[Callable[[Path], None], str]] = [
    (damage_file, "alpha 1.0 is damaged: alpha/__init__.py has 20 bytes instead of 10"),
    (remove_folder, "alpha 1.0 is damaged: alpha/__init__.py is missing"),
    (interrupt_installation, "alpha 1.0 is damaged: its installation was interrupted"),
    (remove_package, "alpha 1.0 is missing"),
    (add_package, "gamma 3.0 is there and not in the lock"),
]


@pytest.mark.parametrize(("change", "reason"), BY_HAND, ids=[case[0].__name__ for case in BY_HAND])
def test_a_change_by_hand_is_found_and_put_right(
    run: Run, lock: str, tmp_path: Path, change: Callable[[Path], None], reason: str
) -> None:
    run(lock_content=lock)
    change(packages_folder(tmp_path))
    predicted = run(lock_content=lock, check=True)
    assert predicted["changed"]
    assert predicted["reasons"] == [reason]
    mended = run(lock_content=lock)
    assert mended.get("msg") is None
    assert mended["reasons"] == [reason]
    assert mended["diff"]["before"] != mended["diff"]["after"]
    assert (packages_folder(tmp_path) / "alpha" / "__init__.py").read_text(encoding="utf-8") == "VALUE = 1\n"
    assert not run(lock_content=lock)["changed"]


def test_another_version_by_hand(run: Run, lock: str, tmp_path: Path, wheelhouse: Path) -> None:
    other = lock_of(make_wheel(wheelhouse, "alpha", "1.1"), wheelhouse / "beta-2.0-py3-none-any.whl")
    run(lock_content=other)
    result = run(lock_content=lock)
    assert result["reasons"] == ["alpha is 1.1 instead of 1.0", "its lock was another one"]
    assert "-alpha==1.1" in diff_lines(result)
    assert "+alpha==1.0" in diff_lines(result)


def diff_lines(result: dict[str, Any]) -> list[str]:
    before, after = result["diff"]["before"].splitlines(), result["diff"]["after"].splitlines()
    return [f"-{line}" for line in before if line not in after] + [f"+{line}" for line in after if line not in before]


def test_an_interrupted_run_is_finished(run: Run, lock: str, tmp_path: Path) -> None:
    broken = lock.replace("alpha==1.0", "alpha==9.0")
    assert run(lock_content=broken)["failed"]
    assert marker(tmp_path)["complete"] is False
    finished = run(lock_content=lock)
    assert finished["reasons"] == ["an earlier run was interrupted", "alpha 1.0 is missing", "beta 2.0 is missing"]
    assert not run(lock_content=lock)["changed"]


def test_what_another_run_has_done_meanwhile_is_not_done_again(
    run: Run, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(lock_content=lock)
    real = uv_env.judge
    plans = iter([uv_env._uv_env.Plan(("there was a reason",), recreate=False, reinstall=())])
    monkeypatch.setattr(uv_env, "judge", lambda module: (*real(module)[:3], next(plans, real(module)[3])))
    assert not run(lock_content=lock, executable="/nonexistent/uv")["changed"]


def test_an_environment_cut_short_does_not_change_the_hosts_packages(run: Run, lock: str, tmp_path: Path) -> None:
    run(lock_content=lock)
    (tmp_path / "env" / "pyvenv.cfg").unlink()
    assert run(lock_content=lock)["reasons"] == ["its Python does not run"]
    assert not run(lock_content=lock)["changed"]


def test_a_removed_interpreter_is_made_again(run: Run, lock: str, tmp_path: Path) -> None:
    run(lock_content=lock)
    (tmp_path / "env" / "bin" / "python").unlink()
    result = run(lock_content=lock)
    assert result["reasons"] == ["its Python does not run"]
    assert "-state: its Python does not run" in diff_lines(result)
    assert not run(lock_content=lock)["changed"]


def test_another_python_makes_the_environment_anew(run: Run, lock: str, tmp_path: Path) -> None:
    run(lock_content=lock)
    (packages_folder(tmp_path) / "left.pth").touch()
    result = run(lock_content=lock, python=PYTHON)
    assert result["reasons"][0].endswith(f"(asked for as {sys.executable}) instead of {PYTHON}")
    assert not (packages_folder(tmp_path) / "left.pth").exists()


def test_a_wheel_of_the_same_version_is_replaced_when_it_was_built_again(
    run: Run, lock: str, tmp_path: Path, wheelhouse: Path
) -> None:
    wheel = make_wheel(tmp_path / "built", "vllm", "0.32.0")
    made = run(lock_content=lock, wheels=[str(wheel)])
    assert made["packages"] == {"alpha": "1.0", "beta": "2.0", "vllm": "0.32.0"}
    assert not run(lock_content=lock, wheels=[str(wheel)])["changed"]
    make_wheel(tmp_path / "built", "vllm", "0.32.0", "VALUE = 3\n")
    again = run(lock_content=lock, wheels=[str(wheel)])
    assert again["reasons"] == [f"{wheel} is not the build that was installed"]
    assert (packages_folder(tmp_path) / "vllm" / "__init__.py").read_text(encoding="utf-8") == "VALUE = 3\n"
    assert run(lock_content=lock)["reasons"] == ["vllm 0.32.0 is there and not in the lock"]


def test_the_lock_as_a_file(run: Run, lock: str, tmp_path: Path) -> None:
    path = tmp_path / "lock.txt"
    predicted = run(lock=str(path), check=True)
    assert predicted["changed"]
    assert predicted["diff"]["after"].splitlines()[-1] == f"the packages of {path}"
    path.write_text(lock, encoding="utf-8")
    assert run(lock=str(path))["changed"]
    assert not run(lock_content=lock)["changed"]


@pytest.mark.parametrize("check", [True, False])
def test_a_foreign_folder_is_refused_and_left_alone(run: Run, lock: str, tmp_path: Path, check: bool) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "thesis.txt").write_text("years", encoding="utf-8")
    for state in ("present", "absent"):
        assert run(lock_content=lock, state=state, check=check)["msg"] == (
            f"{tmp_path}/env was not made by this module and is left as it is: found a folder with thesis.txt; needed "
            "an environment with a nemotron-env.json, an empty folder or nothing. Move it away, or choose another "
            "prefix."
        )
    assert (tmp_path / "env" / "thesis.txt").read_text(encoding="utf-8") == "years"


def test_a_file_is_refused(run: Run, lock: str, tmp_path: Path) -> None:
    (tmp_path / "env").touch()
    assert "found a file; needed an environment" in run(lock_content=lock)["msg"]


def test_absent(run: Run, lock: str, tmp_path: Path) -> None:
    run(lock_content=lock)
    assert run(state="absent", check=True)["changed"]
    assert (tmp_path / "env").exists()
    removed = run(state="absent")
    assert removed["changed"]
    assert removed["diff"]["after"] == ""
    assert "alpha==1.0" in removed["diff"]["before"]
    assert not (tmp_path / "env").exists()
    assert not run(state="absent")["changed"]


def test_a_wrong_hash_names_the_package(run: Run, lock: str) -> None:
    sha256 = lock.split("sha256:")[1][:64]
    message = run(lock_content=lock.replace(sha256, "0" * 64))["msg"]
    assert message.splitlines()[0].endswith(
        "env: the packages could not be installed. alpha==1.0: the file that the index or mirror offers is not the one "
        "in the lock, and was not installed. Ask another index (index_url, extra_index_urls, find_links), or make the "
        "lock again if the new file is meant."
    )


def test_an_unreachable_index(run: Run, lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    result = run(lock_content=lock, index_url="http://user:s3cret@127.0.0.1:9/simple", find_links=[])
    assert (
        result["msg"]
        .splitlines()[0]
        .startswith(
            f"{tmp_path}/env: the packages could not be installed. http://127.0.0.1:9/simple/alpha/ could not be "
            "fetched. See that the host reaches it, or set index_url to a mirror that it reaches."
        )
    )
    assert "s3cret" not in json.dumps(result)


def test_an_unknown_python(run: Run, lock: str, tmp_path: Path) -> None:
    assert run(lock_content=lock, python="/nonexistent/python")["msg"].splitlines()[0] == (
        f"{tmp_path}/env: the environment could not be made. /nonexistent/python was not found on the host. Install "
        "it, or give a version or the path of an interpreter as python."
    )


def test_uv_is_missing(run: Run, lock: str) -> None:
    assert run(lock_content=lock, executable="/nonexistent/uv")["msg"] == (
        "executable: found no /nonexistent/uv on the host; needed uv. Install it there."
    )


def test_lock_or_wheel_missing(run: Run, lock: str) -> None:
    assert run(lock="/nonexistent/lock.txt")["msg"] == (
        "/nonexistent/lock.txt: found no such file on the host; needed the lock. Correct lock, or copy it there."
    )
    assert run(lock_content=lock, wheels=["/nonexistent/gamma-1-py3-none-any.whl"])["msg"] == (
        "wheels: found no /nonexistent/gamma-1-py3-none-any.whl on the host; needed a wheel. Correct the path, or "
        "build it."
    )


def test_a_wheel_that_the_lock_has_too(run: Run, lock: str) -> None:
    assert run(lock_content=lock, wheels=["/w/alpha-2.0-py3-none-any.whl"])["msg"] == (
        "wheels: /w/alpha-2.0-py3-none-any.whl is the package alpha, which lock_content has at 1.0; needed a package "
        "that is not in the lock. Take it out of one of them."
    )


def test_what_uv_left_wrong_is_an_error(run: Run, lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(lock_content=lock)
    damage_file(packages_folder(tmp_path))
    monkeypatch.setattr(uv_env, "run_uv", lambda *_arguments: None)
    assert run(lock_content=lock)["msg"] == (
        f"{tmp_path}/env is not what was asked for although uv reports success: alpha 1.0 is damaged: "
        "alpha/__init__.py has 20 bytes instead of 10. Either two of the packages bring the same file, or uv's "
        "cache (cache_dir) is damaged: remove it and run again."
    )
    assert marker(tmp_path)["complete"] is False


@pytest.mark.parametrize(
    "case",
    [
        (
            "python",
            "/root",
            "python: found an interpreter that only its owner can use, because of the permissions of /root; needed one "
            "for all users. Give another python, or set python_install_dir.",
        ),
        (
            "bin",
            "/opt/nemotron",
            "prefix: found that only its owner can use /opt/nemotron, on the way to {prefix}; needed an environment "
            "for all users. Run: chmod o+rx /opt/nemotron",
        ),
    ],
)
def test_what_only_root_can_use_is_refused(
    run: Run, lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, str]
) -> None:
    part, closed, message = case
    monkeypatch.setattr(uv_env, "closed_folder", lambda path: closed if path.endswith(part) else None)
    for _twice in range(2):
        assert run(lock_content=lock)["msg"] == message.format(prefix=tmp_path / "env")


def test_closed_folder() -> None:
    assert uv_env.closed_folder("/bin/sh") is None


def test_closed_folder_names_what_is_closed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    python = tmp_path / "mine" / "python"
    python.touch(mode=0o755)
    closed = uv_env.closed_folder(str(python))
    assert closed is not None
    assert str(tmp_path / "mine").startswith(closed)


def test_an_address_that_cannot_be_read(run: Run, lock: str) -> None:
    assert run(lock_content=lock, index_url="http://[")["msg"] == (
        "http://[: found an address that cannot be read (Invalid IPv6 URL); needed a URL or a path."
    )


def test_a_folder_that_cannot_be_made(run: Run, lock: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run(lock_content=lock, prefix=str(tmp_path / "file" / "env"))["msg"] == (
        f"{tmp_path}/file: File exists. See to it and run again."
    )
