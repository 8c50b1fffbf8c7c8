# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the distributions bring along that a stack rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """One release of a distribution."""

    name: str
    """As C(ansible_facts['distribution']) has it."""
    version: str
    python: str
    """Of the package python3."""
    glibc: str
    gcc: str
    """Of the package gcc."""
    systemd: str
    kernel_headers: str
    """The package that keeps the headers in step with the kernel; some providers have a flavour of their own."""
    archive_driver: int
    """The newest driver branch in the distribution's own archive."""
    driver_package: str
    """Its package of a driver; C({branch}) stands for the branch, C({open}) for -open where modules are open."""
    nvidia_repository: str
    """Its folder in https://developer.download.nvidia.com/compute/cuda/repos."""


# https://packages.debian.org and https://packages.ubuntu.com, and for the repositories
# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/.
DISTRIBUTIONS = (
    Distribution(
        "Debian", "12", "3.11", "2.36", "12.2", "252", "linux-headers-amd64", 535, "nvidia-driver", "debian12"
    ),
    Distribution(
        "Debian", "13", "3.13", "2.41", "14.2", "257", "linux-headers-amd64", 550, "nvidia-driver", "debian13"
    ),
    Distribution(
        "Ubuntu",
        "22.04",
        "3.10",
        "2.35",
        "11.4",
        "249",
        "linux-headers-generic",
        580,
        "nvidia-driver-{branch}-server{open}",
        "ubuntu2204",
    ),
    Distribution(
        "Ubuntu",
        "24.04",
        "3.12",
        "2.39",
        "13.2",
        "255",
        "linux-headers-generic",
        580,
        "nvidia-driver-{branch}-server{open}",
        "ubuntu2404",
    ),
)


def distribution(name: str, version: str) -> Distribution | None:
    """Return the row of a distribution; None for one that is not in the table.

    A point release as 12.7 counts as its release 12; Ubuntu's releases are told by both numbers.
    """
    return next(
        (row for row in DISTRIBUTIONS if row.name == name and f"{version}.".startswith(f"{row.version}.")), None
    )
