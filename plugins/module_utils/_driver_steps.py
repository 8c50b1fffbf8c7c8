# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The parts of a plan for a driver: packages, what DKMS needs, what is held, what is removed."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from . import _driver_packages as packages
from . import _driver_refusals as refusals
from ._driver_installed import MIXED
from ._driver_kernel import compiler_of
from ._driver_packages import DISTRIBUTION, RUNFILE

if t.TYPE_CHECKING:
    from collections.abc import Mapping

    from ._driver_host import DriverHost
    from ._driver_installed import Installed
    from ._driver_situation import Situation, Target

NONE, KEEP, INSTALL, REPLACE, REMOVE, FINISH = "none", "keep", "install", "replace", "remove", "finish"
DKMS = "dkms"
_SIGNED_MODULES = "linux-modules-nvidia-"


@dataclass
class Plan:
    """What is to be done."""

    action: str = NONE
    method: str | None = None
    branch: str | None = None
    flavour: str | None = None
    packages: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    compiler: list[str] = field(default_factory=list)
    dkms_kernels: list[str] = field(default_factory=list)
    purge: list[str] = field(default_factory=list)
    runfile_uninstall: bool = False
    hold: list[str] = field(default_factory=list)
    upgrade_blacklist: list[str] = field(default_factory=list)
    blacklist_modules: list[str] = field(default_factory=list)
    fabric_manager: list[str] = field(default_factory=list)
    repository: dict[str, str] | None = None
    components: list[str] = field(default_factory=list)
    reboot_first: bool = False
    reboot_required: bool = False
    signed_by: str = NONE
    key: dict[str, t.Any] | None = None


def kept(installed: Installed, host: DriverHost) -> Plan:
    """Return a plan that changes nothing but, if the user wants so, holds what is there."""
    if not installed.method:
        return Plan()
    signed = any(name.startswith(_SIGNED_MODULES) for name in installed.packages)
    found = Plan(
        action=KEEP,
        method=installed.method,
        branch=str(installed.branch) if installed.branch else None,
        flavour=installed.flavour,
        signed_by=DISTRIBUTION if signed or "Canonical" in host.signer else DKMS if host.signer else NONE,
    )
    add_hold(found, host, installed.packages, signed=signed)
    return found


def removal(installed: Installed, gpu: Mapping[str, t.Any]) -> Plan:
    """Return a plan after which there is no driver."""
    return Plan(
        action=REMOVE,
        method=installed.method,
        purge=list(installed.leftovers),
        runfile_uninstall=installed.method in (RUNFILE, MIXED),
        reboot_required=loaded(gpu),
    )


def loaded(gpu: Mapping[str, t.Any]) -> bool:
    """Tell whether the kernel has a module of a driver in it."""
    return bool((gpu.get("driver") or {}).get("loaded"))


def add_packages(found: Plan, situation: Situation, target: Target) -> None:
    """Add the packages to install and where they come from."""
    system, archive = situation.system, situation.archive
    if target.method == RUNFILE:
        found.packages = ["dkms", "make"]
        return
    if target.method == DISTRIBUTION:
        found.packages = list(packages.from_archive(system, target.branch, target.flavour, target.signed_for))
        found.components = list(archive.components)
    else:
        found.packages = list(packages.from_repository(system, target.branch, target.flavour))
        found.repository = {"url": packages.repository_url(system), "keyring_name": packages.KEYRING}
        # https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/debian.html: it needs packages of contrib.
        found.components = ["contrib"] if archive.components else []
    if situation.nvswitches:
        found.fabric_manager = list(
            packages.fabric_manager(target.method, target.branch, subnet_manager=situation.subnet_manager)
        )
    names = (*found.packages, *found.fabric_manager)
    add_hold(found, situation.host, names, signed=bool(target.signed_for))


def add_hold(found: Plan, host: DriverHost, names: tuple[str, ...], *, signed: bool) -> None:
    """Add what is to stay at its version.

    With modules that the distribution signed, the kernel has to stay too: were only the modules held, the next kernel
    would come without them. DKMS builds them for every kernel.
    """
    if names:
        kernel = _kernel_packages(host) if signed else []
        found.hold = [*names, *kernel]
        found.upgrade_blacklist = [*packages.OF_THE_DRIVER, *(f"{name}$" for name in kernel)]


def _kernel_packages(host: DriverHost) -> list[str]:
    """Return the meta packages that bring the next kernel."""
    names = sorted(package.name for package in host.packages if package.installed)
    flavours = [name.partition("linux-image-")[2] for name in names if name.startswith("linux-image-")]
    wanted = {
        f"linux-{part}{flavour}"
        for flavour in flavours
        for part in ("", "image-", "headers-")
        if not flavour[:1].isdigit() and not flavour.startswith("unsigned-")
    }
    return [name for name in names if name in wanted]


def add_build(found: Plan, situation: Situation) -> None:
    """Add what DKMS needs: headers that follow the kernel, those of the kernels that are there, and their compiler."""
    kernels = refusals.kernels_to_cover(situation)
    found.headers = [f"linux-headers-{kernel.release}" for kernel in kernels if not kernel.headers]
    if kernels and situation.follows:
        found.headers.append(f"linux-headers-{situation.follows}")
    found.dkms_kernels = [kernel.release for kernel in kernels if not kernel.module or found.action == REPLACE]
    # /proc/version is about the running kernel, which is another one where an image is being built.
    compiler = compiler_of(situation.host.version, situation.system.gcc) if situation.host.running else None
    found.compiler = [compiler] if compiler else []
