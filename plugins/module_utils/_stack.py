# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""One consistent stack for a host, or what stands against it.

A stack is a driver branch with a flavour of kernel modules, the CUDA runtime, torch, vLLM and Python, and what a build
from source needs beside them. The choice depends on nothing but the arguments of :func:`resolve`, and each part of it
has a reason.
"""

from __future__ import annotations

import typing as t

from . import _compatibility as compatibility
from ._distributions import DISTRIBUTIONS, Distribution, distribution
from ._errors import NemotronError
from ._model_needs import need_of
from ._problem import describe_all
from ._stack_driver import choose_driver
from ._stack_host import CPU, CUDA, PYTHONS, Resolution, names
from ._stack_vllm import Situation, choose_release
from ._vllm_releases import fits_python

if t.TYPE_CHECKING:
    from collections.abc import Iterable

    from ._problem import Problem
    from ._stack_host import Machine, Wishes
    from ._vllm_releases import VllmRelease

_PREFERRED_PYTHON = "3.12"


def resolve(wishes: Wishes, machine: Machine) -> Resolution:
    """Return a stack with the reasons for it, or the conflicts because of which there is none."""
    for name, version in (("nemotron_serve_vllm_version", wishes.vllm_version), ("conda_env_python", wishes.python)):
        _refuse_no_version(name, version)
    result = Resolution()
    system = _system(machine, result)
    device = _device(wishes, machine, result)
    if result.conflicts or system is None:
        return result
    model = need_of(wishes.model) if wishes.model else None
    release = choose_release(Situation(wishes, machine, system, model), device, result)
    if release is None:
        return result
    driver = choose_driver(wishes, machine, release, result) if device == CUDA else None
    stack = {
        "device": device,
        "driver": driver,
        "cuda": release.cuda,
        "torch": release.torch,
        "vllm": release.version,
        "python": _python(wishes, release, result),
        "glibc": release.glibc,
        "toolkit": _toolkit(wishes, release, result),
        "compiler": _compiler(wishes, system, release, result),
    }
    if not result.conflicts:
        result.stack = stack
    return result


def refusal(conflicts: Iterable[Problem]) -> str:
    """Return the text for a host that no stack fits."""
    return describe_all("There is no stack that fits this host and these wishes:", conflicts)


def _refuse_no_version(name: str, version: str) -> None:
    if version == "auto":
        return
    try:
        compatibility.version_tuple(version)
    except NemotronError as error:
        raise NemotronError(f"{name}: {error}") from error


def _system(machine: Machine, result: Resolution) -> Distribution | None:
    system = distribution(machine.distribution, machine.version)
    if system is None:
        result.against(
            "unsupported-distribution",
            f"{machine.distribution or 'an unknown distribution'} {machine.version}".strip(),
            "one of " + ", ".join(f"{row.name} {row.version}" for row in DISTRIBUTIONS),
            "Reinstall the server with one of these.",
        )
    if machine.architecture != "x86_64":
        result.against(
            "unsupported-architecture",
            machine.architecture or "an unknown processor",
            "x86_64",
            "Rent a server with such a processor.",
        )
    return system


def _device(wishes: Wishes, machine: Machine, result: Resolution) -> str:
    gpus = names(machine.gpus)
    if wishes.device == CUDA and not machine.gpus:
        result.against(
            "vllm-finds-no-device",
            "no NVIDIA GPU on the PCI bus",
            "one, as nemotron_serve_device is cuda",
            "Rent a server with a GPU, or set nemotron_serve_device to cpu or leave it out.",
        )
    elif wishes.device == "auto" and machine.gpus:
        result.because(f"device cuda: the host has {gpus}.")
        return CUDA
    elif wishes.device == "auto":
        result.because("device cpu: the host has no NVIDIA GPU.")
        return CPU
    elif wishes.device == CPU and machine.gpus:
        result.because(f"device cpu: asked for, although the host has {gpus}.")
    else:
        result.because(f"device {wishes.device}: asked for.")
    return wishes.device


def _python(wishes: Wishes, release: VllmRelease, result: Resolution) -> str:
    if wishes.python != "auto":
        result.because(f"Python {wishes.python}: of the lock; vLLM {release.version} needs {release.python}.")
        return wishes.python
    fitting = [python for python in PYTHONS if fits_python(release.python, python)]
    chosen = _PREFERRED_PYTHON if _PREFERRED_PYTHON in fitting else fitting[-1]
    result.because(f"Python {chosen}: vLLM {release.version} needs {release.python}.")
    return chosen


def _toolkit(wishes: Wishes, release: VllmRelease, result: Resolution) -> str | None:
    if not release.cuda or not (wishes.build or wishes.jit):
        return None
    purpose = "vLLM is built from source" if wishes.build else "kernels are compiled at run time"
    result.because(f"CUDA toolkit {release.cuda}: {purpose}, and it must be that of torch {release.torch}.")
    return release.cuda


def _compiler(wishes: Wishes, system: Distribution, release: VllmRelease, result: Resolution) -> dict[str, str] | None:
    if not wishes.build or not release.gcc:
        return None
    enough = compatibility.version_tuple(system.gcc) >= compatibility.version_tuple(release.gcc)
    source = "distribution" if enough else "conda-forge"
    result.because(
        f"gcc {release.gcc} or newer from {'the ' if enough else ''}{source}: {system.name} {system.version} has "
        f"{system.gcc}, and a build of vLLM {release.version} needs {release.gcc}."
    )
    return {"gcc": release.gcc, "from": source}
