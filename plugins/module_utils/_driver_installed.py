# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which driver a host has, whole or in part: where it came from, its branch and its flavour."""

from __future__ import annotations

import re
import typing as t
from collections import Counter
from dataclasses import dataclass

from ._compatibility import OPEN, PROPRIETARY, same_driver, version_tuple
from ._driver_packages import DISTRIBUTION, NVIDIA, RUNFILE, archive
from ._triple_host import driver_version, known_version

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._distributions import Distribution
    from ._dpkg_status import Package
    from ._driver_host import DriverHost

MIXED = "mixed"

# The packages without which there is no driver; others, such as nvidia-driver-pinning-580, can be there alone.
_CORE = re.compile(
    r"nvidia-(driver(-cuda|-open|-\d.*)?|dkms.*|open|open-\d.*|headless.*|kernel-dkms|open-kernel-dkms|kernel-open-dkms)"
    r"|libnvidia-compute.*|libcuda1|cuda-drivers(-\d+)?|linux-modules-nvidia-\d.*"
)
_MODULES = re.compile(
    r"nvidia-(dkms.*|driver-\d.*|driver-open|headless.*|kernel-dkms|open-kernel-dkms|kernel-open-dkms)"
    r"|linux-modules-nvidia-\d.*"
)
# These have the version of the kernel.
_OF_A_KERNEL = "linux-modules-nvidia-"
# 580.173.02-0ubuntu0.24.04.1 in Ubuntu's updates (https://packages.ubuntu.com), 580.159.04-1ubuntu1 in NVIDIA's.
_UBUNTU_S = re.compile(r"ubuntu0\.\d\d\.\d\d")


@dataclass(frozen=True)
class Installed:
    """The driver that is there; a method of None means that there is none."""

    method: str | None = None
    """distribution, nvidia or runfile; mixed for packages and a .run installer together."""
    branch: int | None = None
    flavour: str | None = None
    packages: tuple[str, ...] = ()
    """Packages of the driver that are installed."""
    leftovers: tuple[str, ...] = ()
    """Packages of the driver that are there in any state, nothing but their configuration too."""
    version: str | None = None
    """Of the module and the libraries, where they are one driver whose installation came to its end."""

    def describe(self) -> str:
        """Return the driver in words."""
        source = {
            DISTRIBUTION: "from the distribution",
            NVIDIA: "from NVIDIA's repository",
            RUNFILE: "from a .run installer",
            MIXED: "from packages and from a .run installer",
        }.get(self.method or "", "")
        branch = f"branch {self.branch}" if self.branch else "a driver"
        flavour = f" with {self.flavour} kernel modules" if self.flavour else ""
        return f"{branch} {source}{flavour}"


def installed_driver(gpu: Mapping[str, t.Any], host: DriverHost, system: Distribution | None) -> Installed:
    """Return the driver that a host has."""
    core = [package for package in host.driver if _begun(package) and _CORE.fullmatch(package.name)]
    facts = gpu.get("driver") or {}
    method = _origin(core, system) if core else None
    if host.runfile:
        method = MIXED if core else RUNFILE
    if not method:
        return Installed(leftovers=tuple(package.name for package in host.driver))
    # In an image that is built on another machine, the running kernel is that machine's.
    built = host.next.module if host.next and not host.running else None
    on_disk, user_space = known_version(facts.get("on_disk") or built), known_version(facts.get("user_space"))
    return Installed(
        method,
        _branch(core) or _branch_of_version(driver_version(gpu)),
        _flavour(core) or facts.get("flavour"),
        tuple(package.name for package in host.driver if package.installed),
        tuple(package.name for package in host.driver),
        None if any(package.half for package in host.driver) else _one_version(on_disk, user_space),
    )


def _begun(package: Package) -> bool:
    """Tell whether more than the configuration of a package is there, be its installation interrupted."""
    return package.installed or package.half


def _origin(core: Sequence[Package], system: Distribution | None) -> str:
    if any("@nvidia.com" in package.maintainer for package in core):
        return NVIDIA
    if system and system.name == "Debian":
        return DISTRIBUTION if _branch(core) in archive(system).branches else NVIDIA
    ubuntu_s = any("-server" in package.name or _UBUNTU_S.search(package.version) for package in core)
    return DISTRIBUTION if ubuntu_s else NVIDIA


def _branch(core: Sequence[Package]) -> int | None:
    """Return the branch that most packages are of; a transitional one has the name of another."""
    numbers = Counter(
        number
        for package in core
        if not package.name.startswith(_OF_A_KERNEL)
        and (number := _branch_of_version(package.version.rpartition(":")[2].partition("-")[0]))
    )
    if numbers:
        return numbers.most_common(1)[0][0]
    match = next((match for package in core if (match := re.search(r"-(\d{3})(?:-|$)", package.name))), None)
    return int(match[1]) if match else None


def _branch_of_version(version: str | None) -> int | None:
    known = known_version(version)
    return version_tuple(known)[0] if known else None


def _flavour(core: Sequence[Package]) -> str | None:
    modules = [package.name for package in core if _MODULES.fullmatch(package.name)]
    if not modules:
        return None
    return OPEN if any("open" in name.split("-") for name in modules) else PROPRIETARY


def _one_version(on_disk: str | None, user_space: str | None) -> str | None:
    return on_disk if on_disk and user_space and same_driver(on_disk, user_space) else None
