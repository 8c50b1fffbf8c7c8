# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the choice of a driver depends on: wishes, the stack, the host; and what the choice is."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from . import _compatibility as compatibility
from . import _driver_kernel
from . import _driver_packages as packages
from ._driver_installed import Installed
from ._errors import NemotronError
from ._triple_host import known_version

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._distributions import Distribution
    from ._driver_host import DriverHost
    from ._driver_packages import Archive
    from ._triple_host import Gpu

AUTO = "auto"


@dataclass(frozen=True)
class Wishes:
    """What the user wants, each the variable nvidia_driver_ of its name."""

    state: str = "present"
    manage: bool = True
    method: str = AUTO
    branch: int | None = None
    flavour: str = AUTO
    replace: bool = False
    require_gpu: bool = True
    reboot: bool = False
    runfile_version: str = ""
    runfile_sha256: str = ""


@dataclass(frozen=True)
class Wanted:
    """What the stack asks for."""

    branch: int
    flavour: str
    minimum: str | None = None
    """The oldest driver that runs its CUDA."""

    def enough(self, branch: int) -> bool:
        """Tell whether a branch runs the stack's CUDA; the newest release of it is taken for granted."""
        return self.minimum is None or branch >= compatibility.version_tuple(self.minimum)[0]


@dataclass(frozen=True)
class Situation:
    """All that the choice depends on."""

    wishes: Wishes
    wanted: Wanted
    gpu: Mapping[str, t.Any]
    gpus: tuple[Gpu, ...]
    system: Distribution
    host: DriverHost
    installed: Installed = field(default_factory=Installed)

    @property
    def archive(self) -> Archive:
        """The distribution's archive."""
        return packages.archive(self.system)

    @property
    def secure_boot(self) -> bool:
        """Whether the firmware lets the kernel load signed modules only."""
        return bool(self.gpu.get("secure_boot"))

    @property
    def kernel(self) -> str:
        """Release of the kernel that the host boots next."""
        return self.host.next.release if self.host.next else self.host.kernel

    @property
    def follows(self) -> str | None:
        """The flavour in the name of the kernel's meta package."""
        return _driver_kernel.followed(self.kernel, self.host.packages, self.system)

    @property
    def signed_for(self) -> str | None:
        """The same, for a kernel that the distribution signs NVIDIA's modules for."""
        return _driver_kernel.signed_modules(self.kernel, self.follows) if self.archive.signed else None

    @property
    def nvswitches(self) -> bool:
        """Whether the GPUs are behind NVSwitches."""
        return bool(self.gpu.get("nvswitch")) or self.host.nvswitch_managers > 0

    @property
    def subnet_manager(self) -> bool:
        """Whether those are of the kind that needs NVIDIA's subnet manager."""
        blackwell = any(gpu.architecture == "Blackwell" for gpu in self.gpus)
        return self.host.nvswitch_managers > 0 or (self.nvswitches and blackwell)

    @property
    def archive_has_fabric_manager(self) -> bool:
        """Whether the distribution's archive has what the NVSwitches need, if there are any."""
        return not self.nvswitches or (self.archive.fabric_manager and not self.subnet_manager)


@dataclass(frozen=True)
class Target:
    """The driver to have."""

    method: str
    branch: int
    flavour: str
    signed_for: str | None = None
    """The flavour of the kernel's meta package whose modules the distribution signed; None for DKMS."""


def wanted_from(stack_driver: Mapping[str, t.Any]) -> Wanted:
    """Return what the driver part of a stack asks for; NemotronError if it is none."""
    branch, flavour = known_version(str(stack_driver.get("branch") or "")), stack_driver.get("flavour")
    minimum = known_version(stack_driver.get("minimum")) if stack_driver.get("minimum") else None
    if not branch or flavour not in (compatibility.OPEN, compatibility.PROPRIETARY):
        raise NemotronError(
            f"stack_driver: found branch {stack_driver.get('branch')!r} and flavour {flavour!r}; needed the driver of "
            "the stack that nemotron.vllm.stack_info returns."
        )
    return Wanted(compatibility.version_tuple(branch)[0], str(flavour), minimum)


def fits(number: int, flavour: str, gpus: Iterable[Gpu]) -> bool:
    """Tell whether a branch has modules of a flavour that run these GPUs."""
    branch = compatibility.branch_of(str(number))
    if branch is not None and flavour not in branch.flavours:
        return False
    return not any(unfit(number, flavour, gpu) for gpu in gpus)


def unfit(number: int, flavour: str, gpu: Gpu) -> str:
    """Return the code of what keeps a branch and a flavour from running a GPU; empty if nothing does."""
    branch, capability = compatibility.branch_of(str(number)), compatibility.capability_of(gpu.compute_capability or "")
    if gpu.architecture:
        allowed = compatibility.flavours_for(gpu.architecture, gpu.name)
        if flavour not in allowed:
            return f"gpu-requires-{allowed[0]}-kernel-module"
        if branch and not compatibility.branch_runs(branch, gpu.architecture):
            return "driver-branch-dropped-gpu-generation"
    if capability and number < compatibility.version_tuple(capability.minimum_driver)[0]:
        return "driver-older-than-gpu"
    return ""
