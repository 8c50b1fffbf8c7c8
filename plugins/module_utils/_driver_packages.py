# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The packages that make a headless driver for computing, by distribution, source, branch and flavour.

Each table names where its rows come from. Debian's names were looked up in its archive with apt; those of Ubuntu and of
NVIDIA's repository were read, and not installed.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from . import _compatibility as compatibility
from ._compatibility import OPEN, PROPRIETARY

if t.TYPE_CHECKING:
    from ._distributions import Distribution

DISTRIBUTION, NVIDIA, RUNFILE = "distribution", "nvidia", "runfile"

_REPOSITORIES = "https://developer.download.nvidia.com/compute/cuda/repos"
# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/ubuntu.html and .../debian.html
KEYRING = "cuda-keyring_1.1-1_all.deb"
# From this branch on, the names in NVIDIA's repository for Ubuntu have no branch:
# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/recent-updates.html
_WITHOUT_BRANCH = 590


@dataclass(frozen=True)
class Archive:
    """The drivers in a distribution's own archive."""

    branches: dict[int, tuple[str, ...]]
    """Flavours of the modules by branch; a branch whose packages only lead to another one is not among them."""
    components: tuple[str, ...] = ()
    """Components of the archive that they are in; empty where those are on from the start."""
    replaced: dict[int, int] = field(default_factory=dict)
    """The branch that comes when the packages of another one are asked for."""
    signed: bool = False
    """Whether the distribution signs modules for its kernels."""
    fabric_manager: bool = False


_UBUNTU = Archive(
    # https://packages.ubuntu.com/source/noble/nvidia-graphics-drivers-580-server and those of 595 and 615; the same in
    # jammy. Of 615, open modules were seen only: linux-modules-nvidia-615-server-open-generic.
    branches={580: (OPEN, PROPRIETARY), 595: (OPEN, PROPRIETARY), 615: (OPEN,)},
    # https://packages.ubuntu.com/noble/nvidia-headless-565-server and the other transitional packages
    replaced={535: 580, 550: 580, 565: 580, 570: 580, 590: 595},
    signed=True,
    # https://packages.ubuntu.com/noble/nvidia-fabricmanager-580; the archive has no nvlsm
    fabric_manager=True,
)
# https://packages.debian.org/bookworm/nvidia-kernel-dkms (non-free), .../nvidia-open-kernel-dkms (contrib), the same in
# trixie. Modules are built with DKMS, and there is no Fabric Manager.
_DEBIAN_COMPONENTS = ("contrib", "non-free", "non-free-firmware")
ARCHIVES = {
    ("Debian", "12"): Archive({535: (OPEN, PROPRIETARY)}, _DEBIAN_COMPONENTS),
    ("Debian", "13"): Archive({550: (OPEN, PROPRIETARY)}, _DEBIAN_COMPONENTS),
    ("Ubuntu", "22.04"): _UBUNTU,
    ("Ubuntu", "24.04"): _UBUNTU,
}

# The oldest branch with a package nvidia-driver-pinning-BRANCH, without which the newest branch would come:
# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/version-locking.html#ubuntu-debian
_OLDEST_PINNED = 580


def archive(system: Distribution) -> Archive:
    """Return what the archive of a distribution has."""
    return ARCHIVES[(system.name, system.version)]


def repository_branches() -> tuple[int, ...]:
    """Return the branches that NVIDIA's repository can be held to."""
    return tuple(branch.number for branch in compatibility.BRANCHES if branch.number >= _OLDEST_PINNED)


def repository_url(system: Distribution) -> str:
    """Return the folder of NVIDIA's repository for a distribution."""
    return f"{_REPOSITORIES}/{system.nvidia_repository}/x86_64"


def from_archive(system: Distribution, branch: int, flavour: str, signed_for: str | None) -> tuple[str, ...]:
    """Return the packages from the distribution's archive.

    I(signed_for) is the kernel meta package's flavour that the distribution has signed modules for; without it they are
    built with DKMS.
    """
    if system.name == "Debian":
        # libcuda1 and nvidia-smi are held to the modules' version by nvidia-alternative.
        module = "nvidia-open-kernel-dkms" if flavour == OPEN else "nvidia-kernel-dkms"
        return (module, "libcuda1", "nvidia-smi", "nvidia-persistenced", "nvidia-modprobe")
    # https://packages.ubuntu.com/noble/nvidia-headless-no-dkms-580-server-open brings libnvidia-compute and
    # nvidia-compute-utils with nvidia-persistenced, https://packages.ubuntu.com/noble/nvidia-modprobe (multiverse).
    opened = "-open" if flavour == OPEN else ""
    module = f"nvidia-dkms-{branch}-server{opened}"
    if signed_for:
        # https://packages.ubuntu.com/noble/linux-modules-nvidia-580-server-open-generic
        module = f"linux-modules-nvidia-{branch}-server{opened}-{signed_for}"
    return (
        f"nvidia-headless-no-dkms-{branch}-server{opened}",
        module,
        f"nvidia-utils-{branch}-server",
        "nvidia-modprobe",
    )


def from_repository(system: Distribution, branch: int, flavour: str) -> tuple[str, ...]:
    """Return the packages from NVIDIA's repository; never cuda, which brings the newest driver along."""
    pinning = f"nvidia-driver-pinning-{branch}"
    if system.name == "Debian":
        # https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/debian.html (compute-only system)
        module = "nvidia-kernel-open-dkms" if flavour == OPEN else "nvidia-kernel-dkms"
        return (pinning, "nvidia-driver-cuda", module, "nvidia-persistenced", "nvidia-modprobe")
    # https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/ubuntu.html (compute-only system)
    opened = "-open" if flavour == OPEN else ""
    if branch >= _WITHOUT_BRANCH:
        return (pinning, "libnvidia-compute", f"nvidia-dkms{opened}", "nvidia-persistenced", "nvidia-modprobe")
    # nvidia-smi is in nvidia-utils there, nvidia-persistenced in nvidia-compute-utils.
    return (
        pinning,
        f"libnvidia-compute-{branch}",
        f"nvidia-dkms-{branch}{opened}",
        f"nvidia-utils-{branch}",
        f"nvidia-compute-utils-{branch}",
        "nvidia-modprobe",
    )


def fabric_manager(method: str, branch: int, *, subnet_manager: bool) -> tuple[str, ...]:
    """Return the packages of Fabric Manager; from NVIDIA's repository, the driver's exact version must be asked for.

    I(subnet_manager) is for NVSwitches of the fourth generation and later, as HGX B200 has them:
    https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/ (NVLink Subnet Manager)
    """
    # https://packages.ubuntu.com/noble/nvidia-fabricmanager-580 depends on exactly its driver. In NVIDIA's repository
    # nvidia-fabricmanager-595 is only a name that nvidia-fabricmanager provides.
    manager = f"nvidia-fabricmanager-{branch}" if method == DISTRIBUTION else "nvidia-fabricmanager"
    return (manager, "nvlsm") if subnet_manager else (manager,)


# What belongs to a driver, as Python regular expressions that are matched from the beginning of a package's name, which
# is how unattended-upgrades reads its Package-Blacklist:
# https://github.com/mvo5/unattended-upgrades/blob/master/README.md
# No name needs a branch in it. nvidia-container-toolkit and Debian's CUDA toolkit are not the driver's.
OF_THE_DRIVER = (
    "nvidia-(?!container|cuda-[^m]|docker|profiler|visual-profiler)",
    "libnvidia-(?!container)",
    "lib(egl|gl1|gles|gles1|gles2|glx)-nvidia",
    "libcuda1$",
    "libcudadebugger1$",
    "libnvcuvid1$",
    "libnvoptix1$",
    "libnvsdm",
    "libxnvctrl",
    "linux-(modules|objects|signatures)-nvidia-",
    "cuda-drivers",
    "firmware-nvidia-",
    "glx-alternative-nvidia",
    "nvlink5",
    "nvlsm$",
    "xserver-xorg-video-nvidia",
)
_OF_THE_DRIVER = re.compile("|".join(f"(?:{pattern})" for pattern in OF_THE_DRIVER))


def of_the_driver(name: str) -> bool:
    """Tell whether a package is part of a driver."""
    return bool(_OF_THE_DRIVER.match(name))
