# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The choice of the driver that a host is to have: from where, which branch, and who signs its modules."""

from __future__ import annotations

import typing as t

from . import _compatibility as compatibility
from . import _driver_packages as packages
from ._driver_packages import DISTRIBUTION, NVIDIA, RUNFILE
from ._driver_situation import AUTO, Target, fits
from ._errors import NemotronError
from ._triple_host import known_version

if t.TYPE_CHECKING:
    from ._driver_situation import Situation
    from ._stack_host import Resolution


def choose_target(situation: Situation, result: Resolution) -> Target | None:
    """Return the driver that the host is to have, or note why it cannot be had."""
    choose = {DISTRIBUTION: _from_distribution, NVIDIA: _from_repository, RUNFILE: _from_runfile}
    adopted = _adopted(situation, result)
    return adopted or choose.get(situation.wishes.method, _from_anywhere)(situation, result)


def _adopted(situation: Situation, result: Resolution) -> Target | None:
    """Return the driver that is installed and not loaded yet, if it will do: an earlier run may have been ended."""
    wishes, installed, wanted = situation.wishes, situation.installed, situation.wanted
    loaded = known_version((situation.gpu.get("driver") or {}).get("loaded"))
    if (
        installed.method not in (DISTRIBUTION, NVIDIA, RUNFILE)
        or installed.branch is None
        or installed.flavour is None
        or installed.version is None
        or wishes.method not in (AUTO, installed.method)
        or wishes.branch not in (None, installed.branch)
        or wishes.flavour not in (AUTO, installed.flavour)
        or (wishes.method == RUNFILE and wishes.runfile_version not in ("", installed.version))
        or (loaded and compatibility.same_driver(loaded, installed.version))
        or not wanted.enough(installed.branch)
        or not fits(installed.branch, installed.flavour, situation.gpus)
    ):
        return None
    if (installed.branch, installed.flavour) != (wanted.branch, wanted.flavour):
        result.because(f"driver {installed.version}: kept to, as it is installed and runs the stack.")
    return Target(installed.method, installed.branch, installed.flavour, _signed_of(situation))


def _signed_of(situation: Situation) -> str | None:
    """Return the kernel's flavour if the modules that are installed are those that the distribution signed."""
    signed = any(name.startswith("linux-modules-nvidia-") for name in situation.installed.packages)
    return situation.signed_for if signed else None


def _others(situation: Situation) -> list[int]:
    """Return the branches of the archive that would do, the best first."""
    archive, wanted = situation.archive, situation.wanted
    numbers = [
        number
        for number, flavours in archive.branches.items()
        if wanted.flavour in flavours and wanted.enough(number) and fits(number, wanted.flavour, situation.gpus)
    ]
    return sorted(numbers, key=lambda number: (not _long_term(number), -number))


def _long_term(number: int) -> bool:
    branch = compatibility.branch_of(str(number))
    return bool(branch and branch.long_term)


def _from_anywhere(situation: Situation, result: Resolution) -> Target | None:
    """Return the distribution's driver if it has the branch, else NVIDIA's."""
    wanted, archive = situation.wanted, situation.archive
    place = f"the archive of {situation.system.name} {situation.system.version}"
    if not situation.archive_has_fabric_manager:
        result.because(f"method nvidia: {place} has not the Fabric Manager that the host's NVSwitches need.")
        return _from_repository(situation, result)
    if wanted.flavour in archive.branches.get(wanted.branch, ()):
        result.because(f"method distribution: {place} has branch {wanted.branch}.")
        return _from_distribution(situation, result)
    if situation.secure_boot and situation.signed_for and situation.wishes.branch is None and _others(situation):
        branch = _others(situation)[0]
        result.because(
            f"method distribution with branch {branch} instead of {wanted.branch}: Secure Boot is on, and "
            f"{situation.system.name} has signed modules of it."
        )
        return _of_archive(situation, branch, result)
    has = ", ".join(map(str, archive.branches))
    result.because(f"method nvidia: {place} has {has} and not branch {wanted.branch} with {wanted.flavour} modules.")
    return _from_repository(situation, result)


def _from_distribution(situation: Situation, result: Resolution) -> Target | None:
    wanted, archive, system = situation.wanted, situation.archive, situation.system
    if wanted.flavour in archive.branches.get(wanted.branch, ()):
        return _of_archive(situation, wanted.branch, result)
    others = " or ".join(map(str, _others(situation)))
    comes = archive.replaced.get(wanted.branch)
    result.against(
        "driver-branch-not-in-archive",
        f"nvidia_driver_method distribution and branch {wanted.branch} with {wanted.flavour} modules"
        + (f", whose packages bring {comes} by now" if comes else ""),
        f"one that {system.name} {system.version} has: "
        + ", ".join(f"{number} ({' and '.join(flavours)})" for number, flavours in archive.branches.items()),
        f"Set {f'nvidia_driver_branch to {others}, or ' if others else ''}nvidia_driver_method to nvidia or auto.",
    )
    return None


def _of_archive(situation: Situation, branch: int, result: Resolution) -> Target:
    signed_for = situation.signed_for
    if signed_for:
        result.because(f"modules signed by {situation.system.name}: it has them for the kernel flavour {signed_for}.")
    else:
        result.because("modules built with DKMS: the distribution has none for this kernel.")
    return Target(DISTRIBUTION, branch, situation.wanted.flavour, signed_for)


def _from_repository(situation: Situation, result: Resolution) -> Target | None:
    wanted, branches = situation.wanted, packages.repository_branches()
    if wanted.branch in branches:
        return Target(NVIDIA, wanted.branch, wanted.flavour)
    result.against(
        "driver-branch-not-in-repository",
        f"branch {wanted.branch} from NVIDIA's repository",
        f"one that it can be held to with nvidia-driver-pinning: {', '.join(map(str, branches))}",
        "Set nvidia_driver_branch to one of these or leave it out.",
    )
    return None


def _from_runfile(situation: Situation, result: Resolution) -> Target | None:
    wishes = situation.wishes
    missing = [
        name
        for name, value in (
            ("nvidia_driver_runfile_version", wishes.runfile_version),
            ("nvidia_driver_runfile_sha256", wishes.runfile_sha256),
        )
        if not value
    ]
    if missing:
        result.against(
            "runfile-not-pinned",
            f"nvidia_driver_method runfile without {' and '.join(missing)}",
            "both, since the file is run as root",
            f"Set {' and '.join(missing)}, or nvidia_driver_method to auto.",
        )
        return None
    version = known_version(wishes.runfile_version)
    if not version:
        raise NemotronError(
            f"nvidia_driver_runfile_version: found {wishes.runfile_version!r}; needed a driver version as 580.159.04."
        )
    result.because(f"method runfile: asked for, with version {version}.")
    return Target(RUNFILE, compatibility.version_tuple(version)[0], situation.wanted.flavour)
