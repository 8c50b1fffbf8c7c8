# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The facts about GPUs and their driver that the layers of the version triple share."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from ._compatibility import (
    ARCHITECTURES,
    architecture_of,
    gpu_by_pci_id,
    newest_long_term_branch,
    version_tuple,
)
from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class DriverHost:
    """What the driver layer asks of a host beside its GPU facts."""

    kernel: str | None = None
    """Release of the running kernel."""
    headers: bool | None = None
    """Whether the headers of the running kernel are there."""
    libcuda: str | None = None
    """The libcuda.so.1 that a server finds first, with its links followed."""
    libcuda_because: str = ""
    """What puts it first: LD_LIBRARY_PATH or the loader's own configuration."""

    @property
    def libcuda_version(self) -> str | None:
        """The driver version in the file's name."""
        match = re.search(r"\.so\.(\d+(\.\d+)+)$", self.libcuda or "")
        return match.group(1) if match else None

    @property
    def libcuda_is_compat(self) -> bool:
        """Whether it belongs to a cuda-compat package, which has a folder of its own below the toolkit."""
        return "/compat/" in (self.libcuda or "")


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver layer sees it."""

    name: str
    architecture: str | None
    compute_capability: str | None
    kernel_driver: str | None


def gpus_of(gpu: Mapping[str, t.Any]) -> tuple[Gpu, ...]:
    """Return the GPUs of the facts, with what their PCI ids tell where a driver has told nothing."""
    found = []
    for item in gpu.get("gpus") or ():
        by_id = gpu_by_pci_id(item.get("pci_id") or "")
        capability = item.get("compute_capability") or (by_id.compute_capability if by_id else None)
        known = architecture_of(capability) if capability else None
        architecture = item.get("architecture") or (by_id.architecture if by_id else None)
        found.append(
            Gpu(
                item.get("name") or (by_id.name if by_id else "GPU"),
                architecture if architecture in ARCHITECTURES else known.name if known else None,
                capability,
                item.get("kernel_driver"),
            )
        )
    return tuple(found)


def known_version(version: object) -> str | None:
    """Return a driver version that can be compared, None for anything else."""
    try:
        return version if isinstance(version, str) and version_tuple(version) else None
    except NemotronError:
        return None


def driver_version(gpu: Mapping[str, t.Any]) -> str | None:
    """Return the version of the driver that counts: the loaded one, else the one that will be."""
    driver = gpu.get("driver") or {}
    versions = map(known_version, (driver.get("loaded"), driver.get("on_disk"), driver.get("user_space")))
    return next((version for version in versions if version), None)


def wanted_branch(gpus: Sequence[Gpu]) -> str:
    """Return the branch to install for these GPUs, in words."""
    branch = newest_long_term_branch(gpu.compute_capability for gpu in gpus if gpu.compute_capability)
    return str(branch.number) if branch else "one that runs all GPUs of this host"
