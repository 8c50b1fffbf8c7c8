# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The probe, run by a real interpreter in an environment with stand-ins for torch and vLLM."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _environment_probe

TORCH = """
    import types
    __version__ = "2.13.0+cpu"
    version = types.SimpleNamespace(cuda=None)
    _C = types.SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=True, _cuda_getArchFlags=lambda: "sm_80 sm_90")
    cpu = types.SimpleNamespace(_is_avx512_supported=lambda: {avx512}, _is_avx512_bf16_supported=lambda: {bf16})
    cuda = types.SimpleNamespace(
        is_available=lambda: True, init=lambda: None, device_count=lambda: 2, get_device_capability=lambda i: (9, i)
    )
    print("torch talks on standard output")
"""
PLATFORMS = "class CpuPlatform:\n    device_type = 'cpu'\ncurrent_platform = CpuPlatform()\n"


class Serving:
    """An environment in a folder, with a function that runs the probe in it."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.python = folder / "bin" / "python"
        self.packages = folder / "lib" / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"
        self.write("torch/__init__.py", TORCH.format(avx512=True, bf16=True))
        self.write("torch/lib/libc10.so", "library")
        self.write("vllm/__init__.py", "")
        self.write("vllm/platforms.py", PLATFORMS)
        self.package("torch", "2.13.0+cpu", record="torch/lib/libc10.so,sha256=x,7\ntorch/__init__.py,sha256=x,1\n")
        self.package("vllm", "0.32.0+cpu", "Requires-Dist: torch==2.13.0+cpu\nRequires-Dist: numpy\n")

    def write(self, path: str, text: str) -> Path:
        target = self.packages / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
        return target

    def package(self, name: str, version: str, more: str = "", record: str = "") -> None:
        folder = f"{name}-{version}.dist-info"
        self.write(f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}")
        self.write(f"{folder}/RECORD", record)

    def ask(self, *arguments: str, **variables: str) -> tuple[list[dict[str, Any]], int]:
        """Return (the lines, the exit status)."""
        completed = subprocess.run(
            [self.python, "-I", "-B", "-c", inspect.getsource(_environment_probe), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
        )
        return [json.loads(line) for line in completed.stdout.splitlines()], completed.returncode

    def stages(self, *arguments: str, **variables: str) -> dict[str, dict[str, Any]]:
        lines, rc = self.ask(*arguments, **variables)
        assert rc == 0
        return {line.get("name") or line["stage"]: line for line in lines if "stage" in line}


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    return Serving(tmp_path / "env")


def test_metadata(serving: Serving, tmp_path: Path) -> None:
    serving.package("NVIDIA_cuda-runtime.cu12", "12.9.79")
    serving.package("numpy", "2.0")
    (serving.packages / "broken-1.dist-info").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "libc10.so").write_text("other")
    told = serving.stages(LD_LIBRARY_PATH=f"{tmp_path}/old:/nowhere")["metadata"]
    assert told["versions"] == {"torch": "2.13.0+cpu", "vllm": "0.32.0+cpu", "nvidia-cuda-runtime-cu12": "12.9.79"}
    assert told["requirements"] == {"vllm": ["torch==2.13.0+cpu"]}
    assert told["library_path"] == [
        {"folder": f"{tmp_path}/old", "shadows": ["libc10.so"]},
        {"folder": "/nowhere", "shadows": []},
    ]
    assert told["damaged"] == {}
    assert told["python"] == "{}.{}.{}".format(*sys.version_info[:3])
    assert told["vllm_folder"] == str(serving.packages / "vllm")


def test_shared_libraries_that_are_not_as_they_were_installed(serving: Serving) -> None:
    library = serving.write("torch/lib/libc10.so", "another library")
    damage = {"file": "torch/lib/libc10.so", "size": 15, "recorded": 7}
    assert serving.stages()["metadata"]["damaged"] == {"torch": [damage]}
    library.unlink()
    assert serving.stages()["metadata"]["damaged"] == {"torch": [{**damage, "size": None}]}


def test_all_stages_come_in_order_and_alone_on_standard_output(serving: Serving) -> None:
    lines, rc = serving.ask("device")
    assert rc == 0
    assert [line.get("stage") or f"begin {line['begin']}" for line in lines] == [
        "begin metadata",
        "metadata",
        "begin torch",
        "torch",
        "begin extensions",
        "extensions",
        "begin libraries",
        "libraries",
        "begin platform",
        "platform",
        "end",
    ]
    assert lines[9] == {"stage": "platform", "error": None, "name": "CpuPlatform", "device": "cpu"}


def test_a_torch_for_cuda_is_asked_for_its_devices(serving: Serving) -> None:
    text = TORCH.format(avx512=True, bf16=True).replace("cuda=None", 'cuda="13.0"')
    serving.write("torch/__init__.py", text)
    assert "device" not in serving.stages()
    told = serving.stages("device")
    assert told["torch"]["architectures"] == ["sm_80", "sm_90"]
    assert told["device"] == {"stage": "device", "error": None, "available": True, "capabilities": ["9.0", "9.1"]}
    refusing = 'def refuse():\n    raise RuntimeError("Error 803")\ncuda.init = refuse\n'
    serving.write("torch/__init__.py", textwrap.dedent(text) + refusing)
    assert serving.stages("device")["device"]["error"] == "RuntimeError: Error 803"


ALL = ("_C", "_C_AVX2", "_C_AVX512")


@pytest.mark.parametrize(
    ("names", "avx512", "bf16", "expected"),
    [
        (ALL, True, True, ("_C", "avx512_bf16")),
        (ALL, True, False, ("_C_AVX512", "avx512dq")),
        (ALL, False, False, ("_C_AVX2", "avx2")),
        (("_C", "_C_AVX2"), True, False, ("_C", "avx512dq")),
        (("_C", "_C_AVX2"), False, False, ("_C_AVX2", "avx2")),
        (("_C",), False, False, ("_C", None)),
    ],
)
def test_the_extension_for_this_processor(
    serving: Serving, names: tuple[str, ...], avx512: bool, bf16: bool, expected: tuple[str, str | None]
) -> None:
    serving.write("torch/__init__.py", TORCH.format(avx512=avx512, bf16=bf16))
    for name in names:
        serving.write(f"vllm/{name}.abi3.so", "no library")
    serving.write("vllm/spinloop.abi3.so", "not asked for")
    told = serving.stages()
    assert sorted(told["extensions"]["found"]) == sorted(names)
    chosen = told["extensions"]["chosen"]
    assert (chosen, (told["extensions"]["needs"] or [None])[-1]) == expected
    assert [name for name in names if name in told] == [chosen]
    path = serving.packages / f"vllm/{chosen}.abi3.so"
    assert told[chosen]["error"] == f"ImportError: {path}: file too short"


def test_extensions_for_gpus_are_all_loaded(serving: Serving) -> None:
    for name in ("_C_stable_libtorch", "_moe_C_stable_libtorch", "vllm_flash_attn/_vllm_fa3_C", "_flashmla_C"):
        serving.write(f"vllm/{name}.abi3.so", "no library")
    told = serving.stages()
    assert told["extensions"]["chosen"] is None
    assert {"_C_stable_libtorch", "_moe_C_stable_libtorch", "_vllm_fa3_C"} < set(told)
    assert "_flashmla_C" not in told


def test_flash_attn_is_loaded_where_it_is(serving: Serving) -> None:
    serving.write("flash_attn_2_cuda.py", 'raise ImportError("undefined symbol: _ZN3c105Error")')
    assert serving.stages()["flash_attn"]["error"] == "ImportError: undefined symbol: _ZN3c105Error"


def test_torchvision_is_loaded_where_it_is(serving: Serving) -> None:
    serving.write("torchvision/__init__.py", 'raise RuntimeError("operator torchvision::nms does not exist")')
    assert serving.stages()["torchvision"]["error"] == "RuntimeError: operator torchvision::nms does not exist"
    serving.write("torchvision/__init__.py", '__version__ = "0.28.0"')
    serving.write("torchvision/ops.py", "")
    serving.write("torchvision/extension.py", "def _has_ops():\n    return False\n")
    assert serving.stages()["torchvision"] == {
        "stage": "torchvision",
        "error": "torchvision's compiled operators could not be loaded",
        "version": "0.28.0",
    }


def test_what_was_found_before_a_crash_is_kept(serving: Serving) -> None:
    serving.write("torch/__init__.py", "import os\nos.abort()\n")
    lines, rc = serving.ask()
    assert rc == -6
    assert lines[-1] == {"begin": "torch"}
    assert lines[1]["versions"]["vllm"] == "0.32.0+cpu"


def test_a_torch_that_does_not_import(serving: Serving) -> None:
    serving.write("torch/__init__.py", 'raise ImportError("libc10.so: cannot open shared object file")')
    told = serving.stages()
    assert told["torch"]["error"] == "ImportError: libc10.so: cannot open shared object file"
    assert not {"extensions", "platform"} & set(told)
    assert "libraries" in told
