# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The runtime layer of the version triple: the CUDA of torch and its libraries, on this driver and for these GPUs."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from ._compatibility import cuda_for_driver, minimum_driver, runs_cuda, version_tuple
from ._environment_facts import Environment, Metadata
from ._errors import NemotronError
from ._triple_host import driver_version, gpus_of, known_version
from ._violations import RUNTIME, Violation

if t.TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ._fatbin import Architectures

LOCK, BRANCH, BUILD = "conda_env_lock", "nvidia_driver_branch", "vllm_build_method"
SERVER_ENVIRONMENT = "systemd_unit_environment"
_SYSTEM_NOT_INITIALISED = "802"
_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)")
_CUDA_LIBRARY = re.compile(r"lib(cu(?!da\.so)|nv|nccl)")

# The driver's newest PTX is that of its own CUDA: https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes
_CUDA_OF_PTX = {
    (7, 8): "11.8",
    **{(8, minor): f"12.{minor}" for minor in range(6)},
    (8, 6): "12.7",
    (8, 7): "12.8",
    (8, 8): "12.9",
}


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit that a build would use."""

    path: str
    version: str


@dataclass(frozen=True)
class Runtime:
    """What the runtime layer asks of a host beside its environment."""

    architectures: Mapping[str, Architectures] = field(default_factory=dict)
    """What device code vLLM's extensions hold, by name."""
    unreadable: tuple[str, ...] = ()
    """What is wrong with the files of extensions that are no shared objects, in words."""
    toolkits: tuple[Toolkit, ...] = ()


def cuda_of_ptx(version: tuple[int, int]) -> str:
    """Return the CUDA release that came with a version of the PTX language; from 9.0 on both count alike."""
    return _CUDA_OF_PTX.get(version, f"{version[0] + 4}.{version[1]}")


def cuda_version(version: str) -> tuple[int, ...] | None:
    """Return (major, minor) of a CUDA version, None if it is none."""
    try:
        numbers = version_tuple(".".join(version.split(".")[:2]))
    except NemotronError:
        return None
    return numbers if len(numbers) > 1 else None


def runtime_wheel(metadata: Metadata) -> tuple[str, str] | None:
    """Return (name, version) of NVIDIA's wheel with the CUDA runtime, whose name has no number from CUDA 13 on."""
    names = [name for name in metadata.versions if re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", name)]
    return max(((name, metadata.versions[name]) for name in names), key=lambda item: item[1], default=None)


def driver_cuda(gpu: Mapping[str, t.Any]) -> str | None:
    """Return the newest CUDA that the driver runs natively."""
    told = (gpu.get("driver") or {}).get("cuda")
    version = driver_version(gpu)
    return told if isinstance(told, str) and cuda_version(told) else cuda_for_driver(version) if version else None


def runs(architecture: str, capability: str) -> bool:
    """Tell whether machine code as sm_90 runs on a compute capability as 9.0 without being compiled.

    Source: https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#gpu-feature-list
    """
    match = _ARCHITECTURE.fullmatch(architecture)
    numbers = cuda_version(capability)
    if not match or not numbers or match.group(1) != "sm" or int(match.group(2)) != numbers[0]:
        return False
    return int(match.group(3)) == numbers[1] if match.group(4) == "a" else int(match.group(3)) <= numbers[1]


def compiles_for(architecture: str, capability: str) -> bool:
    """Tell whether a driver can compile intermediate code as compute_80 for a compute capability as 9.0."""
    match = _ARCHITECTURE.fullmatch(architecture)
    numbers = cuda_version(capability)
    if not match or not numbers or match.group(1) != "compute":
        return False
    own = (int(match.group(2)), int(match.group(3)))
    return own == numbers if match.group(4) else own <= numbers


def runtime_violations(
    gpu: Mapping[str, t.Any], environment: Environment, runtime: Runtime, *, building: bool
) -> Iterator[Violation]:
    """Yield where CUDA of torch, of its libraries, of the driver and of the GPUs do not fit."""
    metadata, torch = environment.metadata or Metadata(), environment.torch
    wheel = runtime_wheel(metadata)
    cuda = (torch.cuda if torch else "") or (wheel[1] if wheel else "")
    if torch and torch.cuda and wheel and (cuda_version(torch.cuda) or ())[:1] != (cuda_version(wheel[1]) or ())[:1]:
        yield Violation(
            "wheel-and-torch-differ-in-cuda-major",
            RUNTIME,
            f"torch {torch.version} for CUDA {torch.cuda} and {wheel[0]} {wheel[1]}",
            "one major release of CUDA in all packages",
            "Install the environment anew from a lock, so that all its packages are of one set.",
            LOCK,
        )
    if gpu.get("gpus") and cuda_version(cuda):
        yield from _driver_too_old(gpu, cuda)
        yield from _device_code(gpu, environment, runtime)
    yield from _library_path(environment)
    if building and torch and torch.cuda:
        yield from _toolkits(torch.cuda, runtime.toolkits)


def _driver_too_old(gpu: Mapping[str, t.Any], cuda: str) -> Iterator[Violation]:
    version = driver_version(gpu)
    try:
        if not version or runs_cuda(version, cuda):
            return
        minimum = minimum_driver(cuda)
    except NemotronError:
        return
    major_minor = ".".join(cuda.split(".")[:2])
    yield Violation(
        "cuda-runtime-newer-than-driver",
        RUNTIME,
        f"CUDA {major_minor} in the environment and driver {version}, which runs CUDA {driver_cuda(gpu)}",
        f"driver {minimum} or newer for CUDA {major_minor}",
        f"Install driver branch {version_tuple(minimum)[0]} or newer, or choose a vLLM whose wheels are for CUDA "
        f"{driver_cuda(gpu)} or older.",
        BRANCH,
    )


def _device_code(gpu: Mapping[str, t.Any], environment: Environment, runtime: Runtime) -> Iterator[Violation]:
    """Yield what has no code for one of the GPUs, or only code that this driver cannot compile."""
    torch = environment.torch
    native = driver_cuda(gpu)
    holders: list[tuple[str, Sequence[str], str, str]] = []
    if torch and torch.architectures:
        # torch does not say which PTX it has: it is of the CUDA that torch was compiled with.
        holders.append((f"torch {torch.version}", torch.architectures, torch.cuda, LOCK))
    for name, found in runtime.architectures.items():
        # The attention kernels of one generation each are chosen by the GPU, and have others beside them.
        if found.names and name.startswith(("_C", "_moe_C")):
            ptx = cuda_of_ptx(found.ptx) if found.ptx else ""
            holders.append((f"vLLM's {name}", found.names, ptx, BUILD))
    capabilities = {item.compute_capability: item.name for item in gpus_of(gpu) if item.compute_capability}
    for capability in environment.device.capabilities if environment.device else ():
        capabilities.setdefault(capability, "the GPU")
    for capability, gpu_name in capabilities.items():
        for holder, names, ptx_cuda, variable in holders:
            if any(runs(name, capability) for name in names):
                continue
            if not any(compiles_for(name, capability) for name in names):
                yield Violation(
                    "no-kernel-image-for-gpu",
                    RUNTIME,
                    f"{holder} with code for {', '.join(names)} and {gpu_name} of compute capability {capability}",
                    f"code for compute capability {capability}",
                    f"Choose a release whose wheels have it, or build with TORCH_CUDA_ARCH_LIST={capability}.",
                    variable,
                )
            elif native and (cuda_version(ptx_cuda) or ()) > (cuda_version(native) or ()):
                yield Violation(
                    "ptx-newer-than-driver-can-jit",
                    RUNTIME,
                    f"{holder} with only PTX of CUDA {ptx_cuda} for {gpu_name} and a driver for CUDA {native}",
                    f"a driver for CUDA {ptx_cuda}, or machine code for compute capability {capability}",
                    f"Install a newer driver branch, or build with TORCH_CUDA_ARCH_LIST={capability}.",
                    BRANCH,
                )


def _library_path(environment: Environment) -> Iterator[Violation]:
    """Yield folders of LD_LIBRARY_PATH whose libraries come before those that torch brings along."""
    for folder, shadows in (environment.metadata or Metadata()).library_path:
        names = [name for name in shadows if not name.startswith(("libcuda.so", "libstdc++", "libgcc_s"))]
        if names:
            cuda = any(_CUDA_LIBRARY.match(name) for name in names)
            yield Violation(
                "ld-library-path-shadows-cuda-library" if cuda else "ld-library-path-shadows-library",
                RUNTIME,
                f"LD_LIBRARY_PATH with {folder}, where {_some(names)} "
                f"{'is' if len(names) == 1 else 'are'} found before torch's own",
                "the libraries that torch was made with",
                f"Take {folder} out of LD_LIBRARY_PATH of the server; torch needs none.",
                SERVER_ENVIRONMENT,
            )


def _some(names: Sequence[str], most: int = 3) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _toolkits(cuda: str, toolkits: Sequence[Toolkit]) -> Iterator[Violation]:
    """Yield toolkits of another CUDA than torch's, which a build must not mix."""
    if not toolkits:
        yield Violation(
            "toolkit-missing-for-build",
            RUNTIME,
            "no nvcc and no /usr/local/cuda",
            f"the CUDA toolkit {cuda}",
            f"Install cuda-toolkit-{cuda.replace('.', '-')}, or serve with vLLM's wheel.",
            BUILD,
        )
    for toolkit in toolkits:
        if cuda_version(toolkit.version) != cuda_version(cuda):
            yield Violation(
                "nvcc-differs-from-torch-cuda",
                RUNTIME,
                f"{toolkit.path} of CUDA {toolkit.version} and torch for CUDA {cuda}",
                f"the CUDA toolkit {cuda}",
                f"Install cuda-toolkit-{cuda.replace('.', '-')} and set CUDA_HOME to it.",
                BUILD,
            )


def device_violations(gpu: Mapping[str, t.Any], environment: Environment) -> Iterator[Violation]:
    """Yield why no GPU is found though nothing above explains it."""
    device, platform = environment.device, environment.platform
    error = device.error if device else ""
    if re.search(rf"\b{_SYSTEM_NOT_INITIALISED}\b", error):
        yield Violation(
            "fabric-manager-not-running" if gpu.get("nvswitch") else "fabric-not-ready-provider-side",
            RUNTIME,
            f"CUDA's words: {error.splitlines()[0]}",
            "the NVSwitch fabric ready",
            "Start nvidia-fabricmanager, or where the provider runs it, ask the provider.",
        )
        return
    too_old = re.search(r"driver on your system is too old \(found version (\d+)\)", error)
    if too_old:
        number = int(too_old.group(1)[:9])
        torch = environment.torch
        yield Violation(
            "cuda-runtime-newer-than-driver",
            RUNTIME,
            f"torch for CUDA {torch.cuda if torch else '?'} and a driver that runs CUDA "
            f"{number // 1000}.{number % 1000 // 10}",
            "a driver for torch's CUDA",
            "Install a newer driver branch, or choose a vLLM whose wheels are for the driver's CUDA.",
            BRANCH,
        )
        return
    if platform and platform.name == "UnspecifiedPlatform":
        yield Violation(
            "vllm-finds-no-device",
            RUNTIME,
            "a vLLM that finds no device" + (f"; torch says: {error.splitlines()[0]}" if error else ""),
            "a GPU that NVML shows",
            "Repair the driver, and see that the server may open /dev/nvidia*.",
        )
    elif device and (error or not device.available):
        yield Violation(
            "vllm-finds-no-device",
            RUNTIME,
            f"torch without a GPU: {error.splitlines()[0] if error else 'it says that CUDA is not available'}",
            "a GPU that CUDA opens",
            "Repair the driver, and see that the server may open /dev/nvidia*.",
        )


def known_toolkits(toolkits: Mapping[str, str | None]) -> tuple[Toolkit, ...]:
    """Return those of some toolkits whose version is known, by path."""
    return tuple(Toolkit(path, version) for path, version in toolkits.items() if version and known_version(version))


def toolkit_version(nvcc: str, version_json: str) -> str | None:
    """Return the CUDA of a toolkit from C(nvcc --version), else from its version.json; None if neither tells."""
    match = re.search(r"release (\d+\.\d+)", nvcc) or re.search(
        r'"cuda"\s*:\s*\{[^{}]*"version"\s*:\s*"(\d+\.\d+)', version_json
    )
    return match.group(1) if match else None
