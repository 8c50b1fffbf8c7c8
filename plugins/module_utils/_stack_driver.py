# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The choice between the driver that a host has and a branch to install."""

from __future__ import annotations

import typing as t

from . import _compatibility as compatibility
from ._stack_host import distinct, flavours, names

if t.TYPE_CHECKING:
    from collections.abc import Mapping

    from ._stack_host import HostDriver, Machine, Resolution, Wishes
    from ._vllm_releases import VllmRelease

_FLAVOURS = (compatibility.OPEN, compatibility.PROPRIETARY)


def choose_driver(
    wishes: Wishes, machine: Machine, release: VllmRelease, result: Resolution
) -> dict[str, t.Any] | None:
    """Choose between the driver that is there and a branch to install."""
    cuda, driver = release.cuda or "", machine.driver
    minimum = compatibility.minimum_driver(cuda)
    if machine.nvswitches:
        result.because("Fabric Manager of the driver's exact version: the host has NVSwitches.")
    if not wishes.driver_manage and driver:
        result.because(f"driver {driver.version}: kept, as nvidia_driver_manage is false.")
        if driver.trouble:
            result.against(
                "driver-cannot-be-kept",
                f"driver {driver.version}, but {driver.trouble}; nvidia_driver_manage false",
                "a driver that works",
                "Set nvidia_driver_manage to true, or mend the driver.",
            )
        return _driver_part(driver.version, driver.flavour, minimum, "keep")
    if driver and not _why_not_kept(wishes, driver, cuda):
        result.because(f"driver {driver.version}: kept, as it works and runs CUDA {cuda} (needs {minimum} or newer).")
        return _driver_part(driver.version, driver.flavour, minimum, "keep")
    branch = _branch(wishes, machine, result)
    flavour = _flavour(wishes, machine, branch, result) if branch else None
    if branch is None or flavour is None:
        return None
    if driver:
        result.because(f"driver {driver.version}: replaced, as {_why_not_kept(wishes, driver, cuda)}.")
    return _driver_part(str(branch.number), flavour, minimum, "replace" if driver else "install")


def _driver_part(version: str, flavour: str, minimum: str, action: str) -> dict[str, t.Any]:
    branch = compatibility.version_tuple(version)[0]
    return {"branch": str(branch), "minimum": minimum, "flavour": flavour, "action": action}


def _why_not_kept(wishes: Wishes, driver: HostDriver, cuda: str) -> str:
    """Return why the driver that is there is not kept; empty if it is."""
    if driver.trouble:
        return driver.trouble
    if not compatibility.runs_cuda(driver.version, cuda):
        return f"CUDA {cuda} needs {compatibility.minimum_driver(cuda)} or newer"
    if wishes.driver_branch not in (None, compatibility.version_tuple(driver.version)[0]):
        return f"nvidia_driver_branch is {wishes.driver_branch}"
    if driver.flavour and wishes.driver_flavour not in ("auto", driver.flavour):
        return f"nvidia_driver_flavour is {wishes.driver_flavour}"
    return ""


def _branch(wishes: Wishes, machine: Machine, result: Resolution) -> compatibility.Branch | None:
    for gpu in distinct(machine.gpus):
        if not compatibility.capability_of(gpu.compute_capability):
            result.because(f"{gpu.name}: not known here, and taken to be newer than every GPU that is.")
    if wishes.driver_branch is not None:
        return _given_branch(wishes.driver_branch, machine, result)
    branch = compatibility.newest_long_term_branch(gpu.compute_capability for gpu in machine.gpus)
    if branch is None:
        result.against(
            "driver-branch-dropped-gpu-generation",
            names(machine.gpus),
            "one long-term branch that runs all of them",
            "Use GPUs of one generation in a host.",
        )
        return None
    result.because(
        f"driver branch {branch.number}: the newest long-term branch that runs {names(machine.gpus)}; NVIDIA maintains "
        f"it until {branch.end_of_life}."
    )
    return branch


def _given_branch(number: int, machine: Machine, result: Resolution) -> compatibility.Branch | None:
    branch = compatibility.branch_of(str(number))
    if branch is None:
        result.against(
            "unknown-driver-branch",
            f"nvidia_driver_branch {number}",
            f"one of {', '.join(str(row.number) for row in compatibility.BRANCHES)}",
            "Set nvidia_driver_branch to one of these or leave it out.",
        )
        return None
    capabilities = {gpu.name: compatibility.capability_of(gpu.compute_capability) for gpu in machine.gpus}
    for name, capability in capabilities.items():
        if capability and not compatibility.branch_runs(branch, capability.architecture):
            result.against(
                "driver-branch-dropped-gpu-generation",
                f"{name} ({capability.architecture}) and nvidia_driver_branch {number}",
                "a branch that runs it; 580 is the last one for Maxwell, Pascal and Volta",
                "Set nvidia_driver_branch to 580 or leave it out.",
            )
        elif capability and number < compatibility.version_tuple(capability.minimum_driver)[0]:
            result.against(
                "driver-older-than-gpu",
                f"{name} and nvidia_driver_branch {number}",
                f"driver {capability.minimum_driver} or newer, the first that runs it",
                "Choose a newer branch or leave nvidia_driver_branch out.",
            )
    if result.conflicts:
        return None
    result.because(f"driver branch {number}: asked for.")
    return branch


def _flavour(wishes: Wishes, machine: Machine, branch: compatibility.Branch, result: Resolution) -> str | None:
    suited = {gpu.name: flavours(gpu) for gpu in machine.gpus}
    wanted = _FLAVOURS if wishes.driver_flavour == "auto" else (wishes.driver_flavour,)
    offered = [flavour for flavour in wanted if flavour in branch.flavours]
    for flavour in offered:
        if all(flavour in able for able in suited.values()):
            why = "asked for" if wishes.driver_flavour != "auto" else _why_flavour(flavour, suited, branch)
            result.because(f"{flavour} kernel modules: {why}.")
            return flavour
    given = "" if wishes.driver_flavour == "auto" else f", and nvidia_driver_flavour {wishes.driver_flavour}"
    for name, able in suited.items():
        if not set(able) & set(offered):
            result.against(
                f"gpu-requires-{able[0]}-kernel-module",
                f"{name} with branch {branch.number}, which has {' and '.join(branch.flavours)} kernel modules{given}",
                f"{' or '.join(able)} kernel modules",
                f"Set nvidia_driver_flavour to {able[0]} or auto"
                + ("." if able[0] in branch.flavours else " and choose another nvidia_driver_branch."),
            )
    if not result.conflicts:
        result.against(
            "gpu-requires-open-kernel-module",
            names(machine.gpus),
            "kernel modules of one flavour that runs all of them",
            "Use GPUs from Turing on, or only older ones, in a host.",
        )
    return None


def _why_flavour(flavour: str, suited: Mapping[str, tuple[str, ...]], branch: compatibility.Branch) -> str:
    name = next((name for name, flavours in suited.items() if flavours == (flavour,)), None)
    if name:
        return f"{name} runs with no others"
    if branch.flavours == (flavour,):
        return f"branch {branch.number} has no others"
    return "NVIDIA recommends them from Turing on"
