# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the choice of a stack depends on, and what comes of it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from . import _compatibility as compatibility
from ._problem import Problem

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CPU, CUDA = "cpu", "cuda"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""Those that a choice is made from, oldest first."""


@dataclass(frozen=True)
class HostGpu:
    """A GPU as far as the choice of a stack depends on it; what is not known is empty."""

    name: str
    architecture: str
    compute_capability: str


@dataclass(frozen=True)
class HostDriver:
    """The driver that a host has."""

    version: str
    flavour: str
    trouble: str
    """Why it cannot be kept as it is; empty for one that works."""


@dataclass(frozen=True)
class Machine:
    """The host that the stack is for."""

    distribution: str
    version: str
    architecture: str
    gpus: tuple[HostGpu, ...]
    driver: HostDriver | None
    nvswitches: int = 0


@dataclass(frozen=True)
class Wishes:
    """What the user wants; empty or auto leaves the choice to us."""

    vllm_version: str = "auto"
    model: str = ""
    device: str = "auto"
    driver_manage: bool = True
    driver_branch: int | None = None
    driver_flavour: str = "auto"
    python: str = "auto"
    build: bool = False
    jit: bool = False


@dataclass
class Resolution:
    """The outcome."""

    stack: dict[str, t.Any] | None = None
    reasons: list[str] = field(default_factory=list)
    conflicts: list[Problem] = field(default_factory=list)

    def because(self, reason: str) -> None:
        """Note why something was chosen."""
        self.reasons.append(reason)

    def against(self, code: str, found: str, needed: str, fix: str) -> None:
        """Note a conflict."""
        self.conflicts.append(Problem(code, found, needed, fix))


def machine_from_facts(gpu: Mapping[str, t.Any], os_facts: Mapping[str, t.Any]) -> Machine:
    """Return the host from the facts of gpu_facts and of its operating system: distribution, version, architecture."""
    gpus = tuple(
        HostGpu(found.get("name") or "", found.get("architecture") or "", found.get("compute_capability") or "")
        for found in gpu.get("gpus") or ()
    )
    return Machine(
        str(os_facts.get("distribution") or ""),
        str(os_facts.get("version") or ""),
        str(os_facts.get("architecture") or ""),
        gpus,
        _driver_from_facts(gpu, gpus),
        int(gpu.get("nvswitch") or 0),
    )


def _driver_from_facts(gpu: Mapping[str, t.Any], gpus: Sequence[HostGpu]) -> HostDriver | None:
    driver = gpu.get("driver") or {}
    loaded, on_disk, user_space = (driver.get(name) or "" for name in ("loaded", "on_disk", "user_space"))
    version = loaded or on_disk or user_space
    if not version:
        return None
    flavour = driver.get("flavour") or ""
    unsuited = [found for found in gpus if flavour and flavour not in flavours(found)]
    others = [f"{name} {other}" for name, other in (("on disk", on_disk), ("in user space", user_space)) if other]
    if not loaded:
        trouble = "its kernel module is not loaded"
    elif any(not compatibility.same_driver(loaded, other) for other in (on_disk, user_space) if other):
        trouble = f"loaded is {loaded}, but {' and '.join(others)}"
    elif unsuited:
        trouble = f"its {flavour} kernel modules cannot run {unsuited[0].name}"
    elif gpu.get("nvidia_smi", {}).get("path") and not gpu["nvidia_smi"].get("ok"):
        said = (gpu["nvidia_smi"].get("said") or "nothing").strip().splitlines()
        trouble = f"nvidia-smi fails and says {said[0] if said else 'nothing'}"
    else:
        trouble = ""
    return HostDriver(version, flavour, trouble)


def flavours(gpu: HostGpu) -> tuple[str, ...]:
    """Return the flavours of kernel modules that run a GPU; an unknown one is newer than all that are known."""
    if gpu.architecture not in compatibility.ARCHITECTURES:
        return (compatibility.OPEN,)
    return compatibility.flavours_for(gpu.architecture, gpu.name)


def distinct(gpus: Sequence[HostGpu]) -> list[HostGpu]:
    """Return each kind of GPU once."""
    return list(dict.fromkeys(gpus))


def names(gpus: Sequence[HostGpu]) -> str:
    """Return the GPUs in words, as 8 NVIDIA H200."""
    counts: dict[str, int] = {}
    for gpu in gpus:
        name = gpu.name or "unknown NVIDIA GPU"
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
