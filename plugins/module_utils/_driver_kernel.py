# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The kernels of a host, and the packages that follow them: headers, and modules that Ubuntu signed."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from collections.abc import Iterable

    from ._distributions import Distribution
    from ._dpkg_status import Package

# 6.1.0-50-cloud-amd64, 6.12.117+deb13-amd64, 6.5.0-0.deb12.4-amd64, 6.8.0-1035-nvidia-lowlatency
_RELEASE = re.compile(r"(\d[\d.]*(?:\+[a-z]+\d*)?(?:-\d[\da-z.]*)?)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")

# https://packages.debian.org/bookworm/linux-headers-amd64, .../linux-headers-cloud-amd64, .../linux-headers-rt-amd64
_DEBIAN = ("amd64", "cloud-amd64", "rt-amd64")
# Ubuntu's first kernel of a release. Later ones have meta packages with -hwe-, while those of clouds keep the plain
# name for the newest and have -lts- for the first: https://ubuntu.com/kernel/lifecycle and
# https://packages.ubuntu.com/noble/linux-modules-nvidia-580-server-open-generic and its similar packages.
_FIRST = {"22.04": "5.15", "24.04": "6.8"}
_HWE = ("generic", "lowlatency", "nvidia")
_LTS = ("aws", "azure", "gcp", "oracle")
# The kernels for which Ubuntu has linux-modules-nvidia-*: the similar packages of
# https://packages.ubuntu.com/resolute/linux-modules-nvidia-580-server-open-nvidia
_SIGNED = (*_HWE, *_LTS)
# Images for virtual machines have linux-image-virtual, whose kernel is the generic one:
# https://packages.ubuntu.com/noble/linux-image-virtual
_VIRTUAL = "virtual"


@dataclass(frozen=True)
class Kernel:
    """A kernel that is installed."""

    release: str
    headers: bool = False
    """Whether modules can be built for it."""
    offered: bool | None = None
    """Whether apt knows a package with the headers that it lacks; None if apt has no lists, or they are there."""
    module: str | None = None
    """Version of the NVIDIA module that it would load."""


def flavour_of(release: str) -> str | None:
    """Return the flavour in a kernel's release, cloud-amd64 for 6.1.0-50-cloud-amd64."""
    match = _RELEASE.fullmatch(release)
    return match[2] if match else None


def order(release: str) -> tuple[int, ...]:
    """Return what releases are compared by, without the flavour."""
    match = _RELEASE.fullmatch(release)
    return tuple(int(number) for number in re.findall(r"\d+", match[1] if match else release))


def newest(kernels: Iterable[Kernel]) -> Kernel | None:
    """Return the kernel that the host boots next."""
    return max(kernels, key=lambda kernel: order(kernel.release), default=None)


def followed(release: str, packages: Iterable[Package], system: Distribution) -> str | None:
    """Return the flavour in the name of the meta package that brings the next kernel, generic-hwe-22.04 for example.

    The meta package that is installed tells it best; None if neither that nor the release tells.
    """
    metas = [
        package.name.partition("linux-image-")[2]
        for package in packages
        if package.installed and package.name.startswith("linux-image-") and package.needs(f"linux-image-{release}")
    ]
    if metas:
        return _real(min(metas, key=lambda name: (name.startswith(_VIRTUAL), len(name), name)))
    flavour = flavour_of(release)
    if system.name == "Debian":
        return flavour if flavour in _DEBIAN else None
    first = release.startswith(f"{_FIRST.get(system.version, '')}.")
    if flavour in _HWE:
        return flavour if first else f"{flavour}-hwe-{system.version}"
    if flavour in _LTS:
        return f"{flavour}-lts-{system.version}" if first else flavour
    return None


def _real(flavour: str) -> str:
    return f"generic{flavour[len(_VIRTUAL) :]}" if flavour.startswith(_VIRTUAL) else flavour


def signed_modules(release: str, flavour: str | None) -> str | None:
    """Return the flavour of the meta package with the modules that Ubuntu signed; None for a kernel that has none."""
    return flavour if flavour and flavour_of(release) in _SIGNED else None


def compiler_of(version: str, gcc: str) -> str | None:
    """Return the package with the compiler that built a kernel, from /proc/version.

    I(gcc) is the version of the distribution's own, which may stand there without a number in its name.
    """
    match = re.search(r"\((?:[a-z0-9_]+-linux-gnu-)?gcc(?:-(\d+))? \(.*?\) (\d+)\.", version)
    if not match:
        return None
    if match[1]:
        return f"gcc-{match[1]}"
    return f"gcc-{match[2]}" if match[2] == gcc.partition(".")[0] else None
