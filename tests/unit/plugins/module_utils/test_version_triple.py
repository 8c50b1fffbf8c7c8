# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The version triple judged: recorded environments, and one broken in each way that users have reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._environment_facts import (
    Device,
    Environment,
    Extension,
    Libraries,
    Metadata,
    Package,
    Platform,
    parse_probe,
)
from ansible_collections.nemotron.vllm.plugins.module_utils._fatbin import Architectures
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_facts import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_host import DriverHost, driver_host
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_runtime import (
    Runtime,
    Toolkit,
    compiles_for,
    cuda_of_ptx,
    runs,
    toolkit_version,
)
from ansible_collections.nemotron.vllm.plugins.module_utils._version_triple import judge, triple
from ansible_collections.nemotron.vllm.plugins.module_utils._violations import Violation

PROBES = Path(__file__).resolve().parents[3] / "fixtures" / "probes"
ROOTS = PROBES.with_name("roots")
PYTHON = "/opt/nemotron/envs/vllm/bin/python"
FOLDER = "/opt/nemotron/envs/vllm/lib/python3.12/site-packages"

H200, A100, V100 = "10de:2335", "10de:20b5", "10de:1db5"
RTX_5090 = "10de:2b85"


def gpus(*pci_ids: str, **changes: Any) -> list[dict[str, Any]]:
    return [{"pci_id": pci_id, "kernel_driver": "nvidia", **changes} for pci_id in pci_ids]


def facts(driver: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return the GPU facts of a healthy host with one H200, changed."""
    healthy = {
        "loaded": "580.159.04",
        "on_disk": "580.159.04",
        "user_space": "580.159.04",
        "flavour": "open",
        "installed_by": "package",
        "cuda": "13.0",
        "uvm": True,
    }
    return {
        "driver": {**healthy, **(driver or {})},
        "gpus": gpus(H200),
        "secure_boot": False,
        "nouveau": False,
        "nova_core": False,
        "nvswitch": 0,
        "fabric_manager": {"installed": None, "running": None},
        **changes,
    }


NO_GPU = facts(dict.fromkeys(("loaded", "on_disk", "user_space", "flavour", "installed_by", "cuda")), gpus=[])
HOST = DriverHost("6.8.0-45-generic", True, "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04", "the loader's cache")
CODE = Runtime({"_C_stable_libtorch": Architectures(("sm_80", "sm_90", "sm_120", "compute_80"), (9, 0))})

METADATA = Metadata(
    versions={"vllm": "0.24.0", "torch": "2.11.0", "nvidia-cuda-runtime": "13.0.96"},
    requirements={"vllm": ("torch==2.11.0", "torchvision==0.26.0")},
    python="3.12.3",
    system="Linux",
    machine="x86_64",
    cpu_flags=frozenset({"avx2"}),
    torch_folder=f"{FOLDER}/torch",
    vllm_folder=f"{FOLDER}/vllm",
)
EXTENSION = Extension("_C_stable_libtorch", f"{FOLDER}/vllm/_C_stable_libtorch.abi3.so", 62)
TORCH = Package(version="2.11.0+cu130", cuda="13.0", cxx11_abi=True, architectures=("sm_80", "sm_90", "sm_120"))
CUDA = Environment(
    rc=0,
    metadata=METADATA,
    torch=TORCH,
    found_extensions={EXTENSION.name: EXTENSION.path},
    extensions=(EXTENSION,),
    libraries=Libraries(),
    device=Device(available=True, capabilities=("9.0",)),
    platform=Platform(name="CudaPlatform"),
)


def metadata(versions: Mapping[str, str | None] | None = None, **changes: Any) -> Environment:
    """Return the healthy environment with other versions, None for a package that is not there."""
    merged = {**METADATA.versions, **(versions or {})}
    return replace(
        CUDA,
        metadata=replace(METADATA, versions={name: each for name, each in merged.items() if each}, **changes),
    )


def torch(environment: Environment = CUDA, **changes: Any) -> Environment:
    return replace(environment, torch=replace(TORCH, **changes))


def broken_extension(error: str, environment: Environment = CUDA, **changes: Any) -> Environment:
    return replace(environment, extensions=(replace(EXTENSION, error=error, **changes),))


@dataclass(frozen=True)
class Case:
    """A host that is broken in one way, and what is said of it."""

    id: str
    code: str
    gpu: Mapping[str, Any] = field(default_factory=facts)
    host: DriverHost = HOST
    environment: Environment | None = CUDA
    runtime: Runtime = CODE
    stack: Mapping[str, Any] | None = None
    building: bool = False

    def judge(self) -> tuple[Violation, ...]:
        return judge(
            self.gpu,
            self.host,
            self.environment,
            self.runtime,
            self.stack,
            python=PYTHON,
            building=self.building,
        )


NOT_LOADED = {"loaded": None, "cuda": None, "uvm": False}
CU129 = metadata({"torch": "2.11.0+cu129", "nvidia-cuda-runtime": None, "nvidia-cuda-runtime-cu12": "12.9.79"})

# The names are those of the causes that users have reported.
CASES = [
    Case(
        "DRV-01",
        "driver-userspace-upgraded-under-running-module",
        facts({"loaded": "570.124.06", "on_disk": "570.133.07", "user_space": "570.133.07", "cuda": None}),
        replace(HOST, libcuda="/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.07"),
        environment=None,
    ),
    Case(
        "DRV-04",
        "kernel-headers-missing-after-kernel-upgrade",
        facts({**NOT_LOADED, "on_disk": None, "flavour": None}),
        replace(HOST, kernel="6.8.0-40-generic", headers=False),
        environment=None,
    ),
    Case("DRV-08", "secure-boot-rejects-module", facts(NOT_LOADED, secure_boot=True), environment=None),
    Case(
        "DRV-09",
        "nouveau-owns-gpu",
        facts(NOT_LOADED, nouveau=True, gpus=gpus(A100, A100, A100, kernel_driver="nouveau")),
        environment=None,
    ),
    Case("DRV-12", "gpu-requires-open-kernel-module", facts({"flavour": "proprietary"}, gpus=gpus(RTX_5090))),
    Case("DRV-13", "gpu-requires-proprietary-kernel-module", facts(gpus=gpus(V100)), environment=None),
    Case("DRV-16", "nvidia-uvm-not-loaded", facts({"uvm": False})),
    Case(
        "FAB-01",
        "fabric-manager-version-mismatch",
        facts(
            {"loaded": "530.41.03", "on_disk": "530.41.03", "user_space": "530.41.03", "cuda": "12.1"},
            nvswitch=6,
            fabric_manager={"installed": "530.30.02", "running": False},
        ),
        replace(HOST, libcuda="/usr/lib/x86_64-linux-gnu/libcuda.so.530.41.03"),
        environment=None,
    ),
    Case("FAB-02", "fabric-manager-not-running", facts(nvswitch=4)),
    Case(
        "CUD-01",
        "cuda-runtime-newer-than-driver",
        facts({"loaded": "570.172.08", "on_disk": "570.172.08", "user_space": "570.172.08", "cuda": "12.8"}),
        replace(HOST, libcuda=None),
    ),
    Case(
        "CUD-03",
        "cuda-compat-library-shadows-driver",
        host=replace(HOST, libcuda="/usr/local/cuda-12.9/compat/libcuda.so.575.57.08"),
    ),
    Case(
        "CUD-05",
        "no-kernel-image-for-gpu",
        facts(gpus=gpus(RTX_5090)),
        environment=torch(architectures=("sm_50", "sm_80", "sm_90")),
    ),
    Case(
        "CUD-06",
        "wheel-and-torch-differ-in-cuda-major",
        environment=broken_extension(
            "ImportError: libcudart.so.13: cannot open shared object file: No such file or directory",
            replace(CU129, torch=replace(TORCH, version="2.11.0+cu129", cuda="12.9")),
        ),
    ),
    Case(
        "ABI-01",
        "extension-built-against-another-torch",
        environment=broken_extension(
            "ImportError: /path/to/vllm/_C.abi3.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSsb"
        ),
    ),
    Case(
        "ABI-03",
        "flash-attn-built-against-another-torch",
        environment=replace(
            CUDA,
            flash_attn=Package(
                "ImportError: flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: "
                "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
            ),
        ),
    ),
    Case(
        "ABI-05",
        "ld-library-path-shadows-cuda-library",
        environment=torch(
            metadata(library_path=(("/usr/local/cuda-12.2/lib64", ("libcusparse.so.12", "libnvJitLink.so.12")),)),
            error="ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version "
            "libnvJitLink.so.12",
        ),
    ),
    Case(
        "ABI-06",
        "libstdcxx-too-old",
        environment=broken_extension(
            "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `CXXABI_1.3.15' not found"
        ),
    ),
    Case(
        "ENV-02",
        "vllm-finds-no-device",
        environment=replace(CUDA, platform=Platform(name="UnspecifiedPlatform")),
    ),
    Case(
        "ENV-06",
        "flashinfer-packages-out-of-step",
        environment=metadata({"flashinfer-python": "0.5.3", "flashinfer-cubin": "0.6.1"}),
    ),
    Case(
        "BLD-01",
        "nvcc-differs-from-torch-cuda",
        environment=replace(
            metadata({"vllm": "0.6.3", "torch": "2.4.0", "nvidia-cuda-runtime": None}, requirements={}),
            torch=replace(TORCH, version="2.4.0+cu121", cuda="12.1"),
        ),
        runtime=replace(CODE, toolkits=(Toolkit("/usr/local/cuda", "11.8"),)),
        building=True,
    ),
]

MORE = [
    Case("no driver", "driver-not-installed", {**NO_GPU, "gpus": gpus(H200, kernel_driver=None)}, environment=None),
    Case(
        "no module, with headers",
        "module-not-built-for-running-kernel",
        facts({**NOT_LOADED, "on_disk": None}),
        environment=None,
    ),
    Case("module not loaded", "driver-module-not-loaded", facts(NOT_LOADED), environment=None),
    Case(
        "nova",
        "nova-core-owns-gpu",
        facts(NOT_LOADED, gpus=gpus(H200, kernel_driver="nova_core"), nova_core=True),
        environment=None,
    ),
    Case(
        "nouveau without the name of a device's driver",
        "nouveau-owns-gpu",
        facts(NOT_LOADED, nouveau=True, gpus=gpus(H200, kernel_driver=None)),
        environment=None,
    ),
    Case(
        "both ways of installing",
        "driver-mixed-install-methods",
        facts({"installed_by": "both", "user_space": "580.95.05"}),
        replace(HOST, libcuda="/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"),
        environment=None,
    ),
    Case(
        "dropped generation",
        "driver-branch-dropped-gpu-generation",
        facts(
            {"loaded": "595.84", "on_disk": "595.84", "user_space": "595.84", "flavour": "proprietary"},
            gpus=gpus(V100),
        ),
        replace(HOST, libcuda=None),
        environment=None,
    ),
    Case(
        "GPU younger than the driver",
        "driver-older-than-gpu",
        facts(
            {"loaded": "550.54.15", "on_disk": "550.54.15", "user_space": "550.54.15"},
            gpus=gpus(RTX_5090),
        ),
        replace(HOST, libcuda=None),
        environment=None,
    ),
    Case(
        "libcuda of another driver in LD_LIBRARY_PATH",
        "cuda-compat-library-shadows-driver",
        host=replace(HOST, libcuda="/srv/lib/libcuda.so.535.54.03", libcuda_because="LD_LIBRARY_PATH"),
    ),
    Case(
        "cuda-compat in front of all programs, so that it counts as the libraries too",
        "cuda-compat-library-shadows-driver",
        facts({"user_space": "575.57.08"}),
        replace(HOST, libcuda="/usr/local/cuda-12.9/compat/libcuda.so.575.57.08"),
    ),
    Case(
        "CUDA's words about what the driver lacks",
        "nvidia-uvm-not-loaded",
        facts({"uvm": False}),
        environment=replace(CUDA, device=Device("RuntimeError: CUDA unknown error"), platform=Platform()),
    ),
    Case(
        "a toolkit of the same major",
        "nvcc-differs-from-torch-cuda",
        runtime=replace(CODE, toolkits=(Toolkit("nvcc", "13.1"),)),
        building=True,
    ),
    Case(
        "a GPU that torch knows and no table",
        "no-kernel-image-for-gpu",
        facts(gpus=gpus("10de:ffff")),
        environment=replace(CUDA, device=Device(available=True, capabilities=("13.0",))),
        runtime=Runtime(),
    ),
    Case(
        "torch without its CUDA runtime",
        "torch-library-missing",
        environment=torch(error="ImportError: libcudart.so.13: cannot open shared object file: No such file"),
    ),
    Case(
        "fabric manager stopped",
        "fabric-manager-not-running",
        facts(nvswitch=4, fabric_manager={"installed": "580.159.04", "running": False}),
        environment=None,
    ),
    Case(
        "error 802 in a virtual machine",
        "fabric-not-ready-provider-side",
        environment=replace(CUDA, device=Device("RuntimeError: Error 802: system not yet initialized")),
    ),
    Case(
        "torch says that the driver is too old",
        "cuda-runtime-newer-than-driver",
        environment=replace(
            CUDA,
            device=Device("RuntimeError: The NVIDIA driver on your system is too old (found version 12080)."),
        ),
    ),
    Case(
        "CUDA of two majors in the packages",
        "wheel-and-torch-differ-in-cuda-major",
        environment=metadata({"nvidia-cuda-runtime": None, "nvidia-cuda-runtime-cu12": "12.8.90"}),
    ),
    Case(
        "only PTX for this GPU, of a newer CUDA",
        "ptx-newer-than-driver-can-jit",
        facts({"cuda": "12.8"}),
        runtime=Runtime({"_C": Architectures(("sm_80", "compute_80"), (8, 8))}),
        environment=torch(metadata({"nvidia-cuda-runtime": "12.9.79"}), cuda="12.9"),
    ),
    Case(
        "no code in the extension",
        "no-kernel-image-for-gpu",
        facts(gpus=gpus(H200, RTX_5090)),
        runtime=Runtime({"_moe_C": Architectures(("sm_100a", "sm_120"))}),
        environment=CUDA,
    ),
    Case("no toolkit to build with", "toolkit-missing-for-build", building=True),
    Case(
        "torch of the CPU",
        "torch-is-cpu-build",
        environment=torch(
            metadata({"torch": "2.11.0+cpu", "nvidia-cuda-runtime": None}), version="2.11.0+cpu", cuda=""
        ),
    ),
    Case("no GPU", "vllm-finds-no-device", NO_GPU, replace(HOST, libcuda=None)),
    Case("torch finds no GPU", "vllm-finds-no-device", environment=replace(CUDA, device=Device())),
    Case(
        "a kernel left out",
        "kernel-group-not-compiled",
        environment=broken_extension(
            "ImportError: /e/_C.abi3.so: undefined symbol: _Z28cutlass_scaled_mm_sm100RN2at6TensorE"
        ),
    ),
    Case(
        "driver's library too old",
        "driver-library-too-old-for-symbol",
        environment=broken_extension("ImportError: /e/_C.abi3.so: undefined symbol: cuTensorMapEncodeTiled"),
    ),
    Case(
        "CUDA library from ld.so.conf",
        "ld-library-path-shadows-cuda-library",
        environment=torch(
            error="ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version x"
        ),
    ),
    Case(
        "library of the system missing",
        "system-library-missing",
        environment=broken_extension("ImportError: libnuma.so.1: cannot open shared object file: No such file"),
    ),
    Case(
        "glibc too old",
        "glibc-too-old",
        environment=broken_extension("ImportError: /lib/libc.so.6: version `GLIBC_2.38' not found"),
    ),
    Case(
        "torchvision alone",
        "torchvision-does-not-match-torch",
        environment=replace(
            metadata(
                {"torchvision": "0.25.0"}, requirements={"vllm": ("torch==2.11.0",), "torchvision": ("torch==2.10.0",)}
            )
        ),
    ),
    Case(
        "another torchvision than vLLM's",
        "torchvision-does-not-match-torch",
        environment=metadata({"torchvision": "0.25.0"}),
    ),
    Case(
        "torchvision's operators",
        "torchvision-does-not-match-torch",
        environment=replace(
            metadata({"torchvision": "0.26.0"}),
            torchvision=Package("RuntimeError: operator torchvision::nms does not exist"),
        ),
    ),
    Case(
        "another torch",
        "extension-built-against-another-torch",
        environment=torch(metadata({"torch": "2.12.1"}), version="2.12.1+cu130"),
    ),
    Case("two torches", "torch-files-of-two-versions", environment=torch(metadata(requirements={}), version="2.10.0")),
    Case(
        "torch without torch's library",
        "torch-library-missing",
        environment=torch(error="OSError: libtorch_cuda.so: cannot open shared object file: No such file"),
    ),
    Case("torch in an unknown way", "torch-does-not-import", environment=torch(error="ImportError: no numpy")),
    Case("extension in an unknown way", "extension-does-not-import", environment=broken_extension("ImportError: x")),
    Case(
        "extension cut short", "library-damaged", environment=broken_extension("ImportError: /e/_C.so: file too short")
    ),
    Case("unreadable extension", "library-damaged", runtime=replace(CODE, unreadable=("/e/_C.so: empty",))),
    Case(
        "no torch",
        "environment-without-torch",
        environment=replace(
            metadata({"torch": None}, torch_folder=""), torch=Package("ModuleNotFoundError: No module named 'torch'")
        ),
    ),
    Case(
        "extension for another processor family",
        "extension-for-another-cpu",
        environment=broken_extension("ImportError: cannot open shared object file", elf_machine=183),
    ),
    Case("crash", "environment-import-crashed", environment=replace(CUDA, rc=-11, during="vllm._moe_C")),
    Case("rc without a signal", "environment-import-crashed", environment=replace(CUDA, rc=1, during="libraries")),
    Case(
        "stack with another vLLM",
        "environment-differs-from-stack",
        stack={"device": "cuda", "vllm": "0.33.0", "torch": "2.11.0", "python": "3.12", "cuda": "13.0"},
    ),
    Case("stack with another Python", "environment-differs-from-stack", stack={"device": "cuda", "python": "3.1"}),
    Case(
        "stack with a newer driver",
        "driver-differs-from-stack",
        stack={"device": "cuda", "driver": {"branch": "620", "minimum": "620.70.06", "flavour": "open"}},
    ),
    Case(
        "stack with the other modules",
        "driver-flavour-differs-from-stack",
        stack={"device": "cuda", "driver": {"branch": "580", "minimum": "580.65.06", "flavour": "proprietary"}},
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in [*CASES, *MORE]])
def test_a_host_that_is_broken_in_one_way(case: Case) -> None:
    violations = case.judge()
    assert [violation.code for violation in violations] == [case.code], [each.describe() for each in violations]
    assert all((violation.found, violation.needed, violation.fix) for violation in violations)


def test_packages_that_were_upgraded_in_part_before_the_module_was_loaded() -> None:
    gpu = facts({**NOT_LOADED, "on_disk": "580.95.05"})
    violations = judge(gpu, HOST, None, Runtime())
    assert [each.code for each in violations] == ["driver-module-not-loaded", "driver-packages-half-upgraded"]
    assert violations[1].found == "module on disk 580.95.05, libraries 580.159.04"


HEALTHY = [
    Case("CUDA", ""),
    Case("driver alone", "", environment=None),
    Case("NVML shortens the version", "", facts({"user_space": "580.159"})),
    Case("an older driver of the same major", "", facts({"cuda": "12.0"}, gpus=gpus(A100)), environment=None),
    Case("nothing at all", "", NO_GPU, DriverHost(), environment=None),
    Case("GPU that no table knows", "", facts(gpus=gpus("10de:ffff")), environment=None),
    Case(
        "CUDA of torch in a patch release of the toolkit",
        "",
        runtime=replace(CODE, toolkits=(Toolkit("nvcc", "13.0"),)),
        building=True,
    ),
    Case(
        "attention kernels for other GPUs beside those for this one",
        "",
        runtime=Runtime({**CODE.architectures, "_vllm_fa3_C": Architectures(("sm_100a",))}),
    ),
    Case("a harmless LD_LIBRARY_PATH", "", environment=metadata(library_path=(("/x", ("libcuda.so.1",)),))),
    Case(
        "the stack that was wished",
        "",
        stack={
            "device": "cuda",
            "driver": {"branch": "580", "minimum": "580.65.06", "flavour": "open", "action": "keep"},
            "cuda": "13.0",
            "torch": "2.11.0",
            "vllm": "0.24.0",
            "python": "3.12",
        },
    ),
    Case(
        "flash-attn and flashinfer in step",
        "",
        environment=replace(
            metadata({"flashinfer-python": "0.6.12", "flashinfer-cubin": "0.6.12", "flash-attn": "2.8"}),
            flash_attn=Package(),
        ),
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in HEALTHY])
def test_a_healthy_host(case: Case) -> None:
    assert [violation.describe() for violation in case.judge()] == []


def recorded(name: str, rc: int = 0) -> Environment:
    return parse_probe((PROBES / f"{name}.jsonl").read_text(encoding="utf-8"), "", rc)


@pytest.mark.parametrize(
    ("name", "rc", "codes"),
    [
        ("cpu-ok", 0, []),
        ("cpu-ld-library-path-harmless", 0, []),
        ("cpu-extension-of-0.24.0", 0, ["extension-replaced", "extension-built-against-another-torch"]),
        ("cpu-extension-of-0.31.0", 0, ["extension-replaced"]),
        ("cpu-extension-cut-short", -7, ["environment-import-crashed", "extension-replaced"]),
        ("cpu-without-extensions", 0, ["extension-replaced", "extension-missing"]),
        ("cpu-without-vllm", 0, ["environment-without-vllm"]),
        ("cpu-torch-without-libtorch_cpu", 0, ["torch-library-missing"]),
        ("cpu-torch-without-libgomp", 0, ["torch-library-missing"]),
        (
            "cpu-torch-metadata-of-2.12.1",
            0,
            ["torch-files-of-two-versions", "extension-built-against-another-torch"],
        ),
        ("cpu-torch-2.11.0-cuda-over-it", 0, ["extension-built-against-another-torch"]),
        ("cpu-ld-library-path-libgomp", 0, ["ld-library-path-shadows-library"]),
        ("cpu-ld-library-path-libstdcxx", 0, ["libstdcxx-too-old"]),
        ("cuda-0.24.0-on-a-host-without-gpu", 0, ["vllm-finds-no-device", "driver-library-missing"]),
    ],
)
def test_recorded_environments(name: str, rc: int, codes: list[str]) -> None:
    violations = judge(NO_GPU, DriverHost(), recorded(name, rc), Runtime(), python=PYTHON)
    assert [violation.code for violation in violations] == codes, [each.describe() for each in violations]


CPU = recorded("cpu-ok")


def test_a_host_without_a_gpu_has_a_triple_too() -> None:
    layers = triple(NO_GPU, DriverHost(), CPU, Runtime())
    assert layers["driver"] is None
    assert layers["runtime"]["device"] == "cpu"
    assert layers["abi"] == {
        "python": "3.11.7",
        "torch": "2.13.0+cpu",
        "torch_needed": "2.13.0+cpu",
        "vllm": "0.32.0",
        "cxx11_abi": True,
        "extensions": [{"name": "_C", "error": None, "architectures": []}],
        "platform": "CpuPlatform",
    }


def test_the_triple_of_a_host_with_a_gpu() -> None:
    layers = triple(facts(), HOST, CUDA, CODE)
    assert layers["driver"] == {
        "loaded": "580.159.04",
        "on_disk": "580.159.04",
        "user_space": "580.159.04",
        "flavour": "open",
        "installed_by": "package",
        "cuda": "13.0",
        "libcuda": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04",
        "gpus": [{"name": "NVIDIA H200 SXM 141GB", "compute_capability": "9.0"}],
    }
    assert (layers["runtime"]["cuda"], layers["runtime"]["wheel"]) == ("13.0", "nvidia-cuda-runtime 13.0.96")
    assert layers["abi"]["extensions"][0]["architectures"] == ["sm_80", "sm_90", "sm_120", "compute_80"]
    assert triple(facts(), HOST, None, Runtime())["abi"] is None


def built_here(environment: Environment) -> Environment:
    """Return an environment with its vLLM under the name that a build gives it."""
    assert environment.metadata is not None
    versions = {"vllm": "0.32.0+cpu", "torch": "2.13.0+cpu"}
    return replace(environment, metadata=replace(environment.metadata, versions=versions, requirements={}))


@pytest.mark.parametrize("environment", [CPU, built_here(CPU), replace(built_here(CPU), torch=None)])
def test_a_cpu_stack_leaves_the_gpus_of_its_host_alone(environment: Environment) -> None:
    broken = facts({"flavour": "proprietary"}, gpus=gpus(RTX_5090))
    assert judge(broken, HOST, environment, Runtime()) == ()
    assert triple(broken, HOST, environment, Runtime())["driver"] is None


def test_a_torch_whose_library_alone_is_another() -> None:
    violations = judge(facts(), HOST, torch(version="2.10.0+cu130"), CODE)
    assert [each.code for each in violations] == [
        "torch-files-of-two-versions",
        "extension-built-against-another-torch",
    ]
    assert violations[1].found == "torch 2.10.0+cu130 and vllm 0.24.0"


def test_an_extension_that_was_replaced_is_not_to_be_built() -> None:
    _replaced, built = judge(NO_GPU, DriverHost(), recorded("cpu-extension-of-0.24.0"), Runtime())
    assert (built.fix, built.variable) == ("Install the environment anew from its lock.", "conda_env_lock")


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        (
            replace(CPU, chosen_extension="_C_AVX2", found_extensions={"_C": "/e/_C.abi3.so"}),
            "_C and a processor for which vLLM takes _C_AVX2",
        ),
        (
            replace(CPU, needed_flags=("avx512f", "avx10_2")),
            "_C, which is compiled for avx512f avx10_2, on a processor without avx10_2",
        ),
        (
            replace(CPU, rc=-4, during="vllm._C", extensions=()),
            "vllm._C, which ended by an instruction that this processor does not have (SIGILL)",
        ),
    ],
)
def test_an_extension_for_another_processor(environment: Environment, found: str) -> None:
    (violation,) = judge(NO_GPU, DriverHost(), environment, Runtime())
    assert (violation.code, violation.found) == ("extension-for-another-cpu", found)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (
            CASES[0],
            "driver-userspace-upgraded-under-running-module (driver): found module loaded 570.124.06, module on disk "
            "570.133.07, libraries 570.133.07; needed one version in all. Stop what uses the GPUs and load the module "
            "anew (rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia), or reboot. Hold the driver's "
            "packages against unattended upgrades.",
        ),
        (
            CASES[9],
            "cuda-runtime-newer-than-driver (runtime): found CUDA 13.0 in the environment and driver 570.172.08, which "
            "runs CUDA 12.8; needed driver 580.65.06 or newer for CUDA 13.0. Install driver branch 580 or newer, or "
            "choose a vLLM whose wheels are for CUDA 12.8 or older. Variable: nvidia_driver_branch.",
        ),
        (
            CASES[13],
            "extension-built-against-another-torch (abi): found vLLM's _C_stable_libtorch, which cannot be loaded: "
            "ImportError: /path/to/vllm/_C.abi3.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSsb; it was "
            "compiled with the old std::string and torch with the other; needed one that was compiled for torch "
            "2.11.0. Build it anew against the installed torch (without build isolation), or serve with vLLM's wheel. "
            "Variable: vllm_build_method.",
        ),
    ],
)
def test_the_sentence_for_the_user(case: Case, sentence: str) -> None:
    assert [violation.describe() for violation in case.judge()] == [sentence]


@pytest.mark.parametrize(
    ("architecture", "capability", "native", "compiled"),
    [
        ("sm_80", "8.0", True, False),
        ("sm_80", "8.9", True, False),
        ("sm_86", "8.0", False, False),
        ("sm_80", "9.0", False, False),
        ("sm_90a", "9.0", True, False),
        ("sm_100a", "10.3", False, False),
        ("sm_100f", "10.3", True, False),
        ("sm_120", "12.0", True, False),
        ("compute_80", "9.0", False, True),
        ("compute_90", "8.0", False, False),
        ("compute_90a", "10.0", False, False),
        ("gfx942", "9.0", False, False),
        ("sm_90", "new", False, False),
    ],
)
def test_which_code_runs_where(architecture: str, capability: str, native: bool, compiled: bool) -> None:
    assert (runs(architecture, capability), compiles_for(architecture, capability)) == (native, compiled)


@pytest.mark.parametrize(("ptx", "cuda"), [((7, 8), "11.8"), ((8, 5), "12.5"), ((8, 8), "12.9"), ((9, 0), "13.0")])
def test_cuda_of_ptx(ptx: tuple[int, int], cuda: str) -> None:
    assert cuda_of_ptx(ptx) == cuda


@pytest.mark.parametrize(
    ("nvcc", "version_json", "expected"),
    [
        ("Cuda compilation tools, release 13.0, V13.0.88\n", "", "13.0"),
        ("", '{"cuda": {"name": "CUDA SDK", "version": "12.9.1"}, "nvcc": {"version": "1.2"}}', "12.9"),
        ("", "{", None),
    ],
)
def test_toolkit_version(nvcc: str, version_json: str, expected: str | None) -> None:
    assert toolkit_version(nvcc, version_json) == expected


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("h200", []),
        ("a100-ubuntu2204-535", []),
        ("no-driver", ["driver-not-installed"]),
        ("no-gpu", []),
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
def test_captured_hosts(name: str, codes: list[str]) -> None:
    host = Host(str(ROOTS / name))
    violations = judge(gather(host), driver_host(host), None, Runtime())
    assert [violation.code for violation in violations] == codes, [each.describe() for each in violations]


def test_the_recorded_h200_fits() -> None:
    host = Host(str(ROOTS / "h200"))
    stack = {"device": "cuda", "cuda": "13.0", "torch": "2.11.0", "vllm": "0.24.0", "python": "3.12"}
    environment = recorded("cuda-0.24.0-on-h200", 0)
    assert judge(gather(host), driver_host(host), environment, Runtime(), stack) == ()
    layers = triple(gather(host), driver_host(host), environment, Runtime(), stack)
    assert (layers["driver"]["loaded"], layers["runtime"]["cuda"], layers["abi"]["torch"]) == (
        "580.159.04",
        "13.0",
        "2.11.0+cu130",
    )
    other = judge(gather(host), driver_host(host), environment, Runtime(), {**stack, "torch": "2.14.0"})
    assert [violation.code for violation in other] == ["environment-differs-from-stack"]
