# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The choice of vLLM, and with it of torch and CUDA."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, replace

from . import _compatibility as compatibility
from ._problem import Problem
from ._stack_host import CUDA, PYTHONS, distinct
from ._vllm_releases import CPU_RELEASES, CUDA_RELEASES, VllmRelease, fits_python

if t.TYPE_CHECKING:
    from collections.abc import Sequence

    from ._distributions import Distribution
    from ._model_needs import ModelNeed
    from ._stack_host import Machine, Resolution, Wishes

# The lowest compute capability that the wheels of vLLM hold code for, by CUDA release:
# https://docs.vllm.ai/en/latest/getting_started/installation/gpu.html. CUDA 13 has no compiler for older ones.
_LOWEST_CAPABILITY = {12: "7.0", 13: "7.5"}
# The oldest release that knows the architecture of any Nemotron Nano; an older one is taken when it is asked for only.
_OLDEST_CHOSEN = "0.10.1"


@dataclass(frozen=True)
class Situation:
    """What a release of vLLM has to fit."""

    wishes: Wishes
    machine: Machine
    system: Distribution
    model: ModelNeed | None
    """None for a model that is not known by name."""


def choose_release(situation: Situation, device: str, result: Resolution) -> VllmRelease | None:
    """Return the release that was asked for or the newest that fits; None with conflicts noted if there is none."""
    releases = CUDA_RELEASES if device == CUDA else CPU_RELEASES
    oldest = compatibility.version_tuple(_OLDEST_CHOSEN)
    fitting = [
        release
        for release in releases
        if compatibility.version_tuple(release.version) >= oldest and not obstacles(release, situation)
    ]
    if situation.wishes.vllm_version != "auto":
        return _given_release(situation, releases, fitting, result)
    if not fitting:
        result.conflicts.extend(obstacles(releases[-1], situation))
        return None
    result.because(_why_newest(fitting[-1], releases[-1], situation))
    return fitting[-1]


def _given_release(
    situation: Situation, releases: Sequence[VllmRelease], fitting: Sequence[VllmRelease], result: Resolution
) -> VllmRelease | None:
    wanted, newest = situation.wishes.vllm_version, releases[-1]
    release = next((release for release in releases if release.version == wanted), None)
    if release is None and compatibility.version_tuple(wanted) > compatibility.version_tuple(newest.version):
        result.because(
            f"vLLM {wanted}: asked for; it is newer than the newest one known here, {newest.version}, and taken to "
            f"need the same torch {newest.torch}, Python and CUDA."
        )
        release = replace(newest, version=wanted)
    elif release is None:
        result.against(
            "unknown-vllm-version",
            f"nemotron_serve_vllm_version {wanted}",
            f"one of {', '.join(row.version for row in releases)}",
            "Set nemotron_serve_vllm_version to one of these or leave it out.",
        )
        return None
    else:
        result.because(f"vLLM {wanted}: asked for.")
    found = obstacles(release, situation)
    way_out = f" Or set nemotron_serve_vllm_version to {fitting[-1].version}, the newest that fits." if fitting else ""
    result.conflicts.extend(replace(problem, fix=problem.fix + way_out) for problem in found)
    return None if found else release


def obstacles(release: VllmRelease, situation: Situation) -> list[Problem]:
    """Return what stands against a release of vLLM, in a fixed order."""
    found = [
        *_against_model(release, situation.model),
        *_against_system(release, situation.system),
        *_against_python(release, situation.wishes),
    ]
    if release.cuda:
        found += _against_gpus(release, release.cuda, situation.machine)
        found += _against_driver(release, release.cuda, situation)
    return found


def _against_model(release: VllmRelease, model: ModelNeed | None) -> list[Problem]:
    if model is None or compatibility.version_tuple(release.version) >= compatibility.version_tuple(model.minimum_vllm):
        return []
    return [
        Problem(
            "architecture-unknown-to-vllm",
            f"vLLM {release.version}",
            f"{model.minimum_vllm} or newer, which {model.family} needs",
            "Choose a newer vLLM or another model.",
        )
    ]


def _against_system(release: VllmRelease, system: Distribution) -> list[Problem]:
    if compatibility.version_tuple(release.glibc) <= compatibility.version_tuple(system.glibc):
        return []
    return [
        Problem(
            "glibc-too-old",
            f"{system.name} {system.version} with glibc {system.glibc}",
            f"glibc {release.glibc}, which the wheel of vLLM {release.version} needs",
            "Reinstall the server with a newer distribution.",
        )
    ]


def _against_python(release: VllmRelease, wishes: Wishes) -> list[Problem]:
    if wishes.python == "auto" or fits_python(release.python, wishes.python):
        return []
    wanted = compatibility.version_tuple(wishes.python)
    newer_fits = any(
        fits_python(release.python, python) for python in PYTHONS if compatibility.version_tuple(python) > wanted
    )
    return [
        Problem(
            "python-too-old" if newer_fits else "python-newer-than-wheels",
            f"Python {wishes.python}",
            f"{release.python}, which vLLM {release.version} needs",
            "Set conda_env_python to one in that range or leave it out.",
        )
    ]


def _against_gpus(release: VllmRelease, cuda: str, machine: Machine) -> list[Problem]:
    major = compatibility.version_tuple(cuda)[0]
    lowest = _LOWEST_CAPABILITY.get(major, _LOWEST_CAPABILITY[max(_LOWEST_CAPABILITY)])
    found = []
    for gpu in distinct(machine.gpus):
        first_cuda = compatibility.first_cuda(gpu.compute_capability) if gpu.compute_capability else None
        described = f"{gpu.name} with compute capability {gpu.compute_capability}"
        if first_cuda and compatibility.version_tuple(cuda) < compatibility.version_tuple(first_cuda):
            found.append(
                Problem(
                    "no-kernel-image-for-gpu",
                    f"{described} and CUDA {cuda} in vLLM {release.version}",
                    f"CUDA {first_cuda} or newer, which knows this GPU",
                    "Choose a newer vLLM.",
                )
            )
        elif gpu.compute_capability and compatibility.version_tuple(
            gpu.compute_capability
        ) < compatibility.version_tuple(lowest):
            found.append(
                Problem(
                    "no-kernel-image-for-gpu",
                    described,
                    f"{lowest} or higher, for which the wheels of vLLM {release.version} hold code",
                    "Choose an older vLLM or a newer GPU.",
                )
            )
    return found


def _against_driver(release: VllmRelease, cuda: str, situation: Situation) -> list[Problem]:
    """A driver that must be kept, or a branch that was asked for, decides about CUDA."""
    wishes, driver = situation.wishes, situation.machine.driver
    minimum = compatibility.minimum_driver(cuda)
    if not wishes.driver_manage and driver is None:
        return [
            Problem(
                "driver-not-installed",
                "no driver, and nvidia_driver_manage false",
                "a driver for the GPU",
                "Set nvidia_driver_manage to true, or install a driver.",
            )
        ]
    if not wishes.driver_manage and driver and not compatibility.runs_cuda(driver.version, cuda):
        return [
            Problem(
                "cuda-runtime-newer-than-driver",
                f"driver {driver.version}, which runs CUDA {compatibility.cuda_for_driver(driver.version)}, and "
                "nvidia_driver_manage false",
                f"driver {minimum} or newer for CUDA {cuda} of vLLM {release.version}",
                "Set nvidia_driver_manage to true, so that a newer driver is installed.",
            )
        ]
    if wishes.driver_manage and wishes.driver_branch and wishes.driver_branch < compatibility.version_tuple(minimum)[0]:
        return [
            Problem(
                "cuda-runtime-newer-than-driver",
                f"nvidia_driver_branch {wishes.driver_branch}",
                f"{minimum} or newer for CUDA {cuda} of vLLM {release.version}",
                "Choose a newer branch or leave nvidia_driver_branch out.",
            )
        ]
    return []


def _why_newest(release: VllmRelease, newest: VllmRelease, situation: Situation) -> str:
    reason = f"vLLM {release.version}: the newest known here"
    if release is not newest:
        against = obstacles(newest, situation)[0]
        reason += f" that fits; {newest.version} does not: found {against.found}; needed {against.needed}"
    if situation.model:
        reason += f"; {situation.model.family} needs {situation.model.minimum_vllm} or newer"
    elif situation.wishes.model:
        reason += f"; what {situation.wishes.model} needs at least is not known here"
    return reason + "."
