# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the plan for a driver depends on beside the GPU facts: kernels, packages, DKMS, keys and room in /boot.

Nothing here raises for what a host lacks or says; what cannot be read is None or empty.
"""

from __future__ import annotations

import os
import re
import typing as t
from dataclasses import dataclass

from . import _dpkg_status
from ._driver_kernel import Kernel, newest
from ._driver_module import modinfo
from ._driver_packages import of_the_driver
from ._triple_host import has_headers

if t.TYPE_CHECKING:
    from ._dpkg_status import Package
    from ._host import Host

_MODULES = "/lib/modules"
# An update of the initramfs can be written there without a kernel: /lib/modules/KERNEL with nothing but DKMS's modules
# is what is left of one that was removed.
_OF_AN_IMAGE = frozenset({"kernel", "modules.builtin", "modules.order"})
_REBOOT_REQUIRED = ("/run/reboot-required", "/var/run/reboot-required")
_RUNFILE = "/usr/bin/nvidia-uninstall"
# https://github.com/dell/dkms/blob/main/dkms.in (prepare_signing): Ubuntu's key is made by update-secureboot-policy
_UBUNTU_KEY, _KEY = "/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub"
_DKMS_CONFIGURATION = "/etc/dkms/framework.conf"
# HGX boards from B200 on have no NVSwitch on the PCI bus, but InfiniBand devices that manage them, named so in their
# vital product data: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
_INFINIBAND, _MANAGES_NVSWITCHES = "/sys/class/infiniband", b"SW_MNG"


@dataclass(frozen=True)
class Key:
    """The key that DKMS signs modules with."""

    path: str
    exists: bool = False
    enrolled: bool | None = None
    """Whether the firmware trusts it; None if that is not to be told."""
    requested: bool = False
    """Whether it waits for somebody at the console."""


@dataclass(frozen=True)
class DkmsBuild:
    """One line of C(dkms status) about a module of NVIDIA."""

    module: str
    version: str
    kernel: str | None
    state: str
    """added, built or installed."""


@dataclass(frozen=True)
class DriverHost:
    """What the plan asks of a host."""

    kernel: str = ""
    """Release of the running kernel; empty if it is not to be told."""
    version: str = ""
    """/proc/version, which names the compiler."""
    kernels: tuple[Kernel, ...] = ()
    reboot_required: bool = False
    """Whether a package asks for a reboot."""
    reboot_for: tuple[str, ...] = ()
    """The packages that do."""
    boot_free: int | None = None
    """Bytes."""
    initramfs: int | None = None
    """Bytes of the largest one."""
    packages: tuple[Package, ...] = ()
    """Those of the driver and of the kernel."""
    half_configured: tuple[str, ...] = ()
    """All packages whose installation did not end, not only the driver's."""
    key: Key = Key(_KEY)
    signer: str = ""
    """Who signed the module on disk."""
    runfile: bool = False
    """Whether NVIDIA's .run installer was here."""
    dkms: tuple[DkmsBuild, ...] = ()
    nvswitch_managers: int = 0
    """InfiniBand devices that manage NVSwitches."""

    @property
    def running(self) -> Kernel | None:
        """The running kernel, if it is one of those that are installed."""
        return next((kernel for kernel in self.kernels if kernel.release == self.kernel), None)

    @property
    def next(self) -> Kernel | None:
        """The kernel that the host boots next."""
        return newest(self.kernels)

    @property
    def driver(self) -> tuple[Package, ...]:
        """The driver's packages that are there, those with nothing but their configuration too."""
        return tuple(package for package in self.packages if of_the_driver(package.name) and package.there)


def gather(host: Host) -> DriverHost:
    """Return what the plan asks of a host."""
    packages = _dpkg_status.parse(host.read("/var/lib/dpkg/status") or "")
    asking = (host.read("/run/reboot-required.pkgs") or host.read("/var/run/reboot-required.pkgs") or "").split()
    kernel = (host.read("/proc/sys/kernel/osrelease") or host.ask(["uname", "-r"]).stdout).strip()
    return DriverHost(
        kernel=kernel,
        version=(host.read("/proc/version") or "").strip(),
        kernels=_kernels(host),
        reboot_required=any(host.exists(path) for path in _REBOOT_REQUIRED),
        reboot_for=tuple(dict.fromkeys(asking)),
        boot_free=_free(host, "/boot"),
        initramfs=_largest_initramfs(host),
        packages=tuple(
            package for package in packages if of_the_driver(package.name) or package.name.startswith("linux-")
        ),
        half_configured=tuple(package.name for package in packages if package.half),
        key=_key(host),
        signer=modinfo(host, "signer"),
        runfile=host.exists(_RUNFILE),
        dkms=dkms_builds(host.ask(["dkms", "status"]).stdout),
        nvswitch_managers=sum(
            _MANAGES_NVSWITCHES in (host.read_bytes(f"{_INFINIBAND}/{name}/device/vpd") or b"")
            for name in host.names(_INFINIBAND)
        ),
    )


def _kernels(host: Host) -> tuple[Kernel, ...]:
    releases = [name for name in host.names(_MODULES) if _OF_AN_IMAGE & set(host.names(f"{_MODULES}/{name}"))]
    lists = any("_Packages" in name for name in host.names("/var/lib/apt/lists"))
    return tuple(_kernel(host, release, lists=lists) for release in releases)


def _kernel(host: Host, release: str, *, lists: bool) -> Kernel:
    headers = has_headers(host, release)
    offered = None
    if lists and not headers:
        policy = host.ask(["apt-cache", "policy", f"linux-headers-{release}"])
        offered = bool(re.search(r"Candidate: (?!\(none\))", policy.stdout)) if policy.ok else None
    return Kernel(release, headers, offered, modinfo(host, "version", release) or None)


def _free(host: Host, folder: str) -> int | None:
    if not host.live:
        return None
    try:
        state = os.statvfs(folder)
    except OSError:
        return None
    return state.f_bavail * state.f_frsize


def _largest_initramfs(host: Host) -> int | None:
    sizes = []
    for name in host.names("/boot"):
        if name.startswith("initrd.img-"):
            try:
                sizes.append(os.path.getsize(host.path(f"/boot/{name}")))
            except OSError:
                continue
    return max(sizes, default=None)


def _key(host: Host) -> Key:
    ubuntu = "ID=ubuntu" in (host.read("/etc/os-release") or "").splitlines()
    given = re.search(r'^mok_certificate="?([^"\n]+?)"?\s*$', host.read(_DKMS_CONFIGURATION) or "", re.MULTILINE)
    path = given[1] if given else _UBUNTU_KEY if ubuntu else _KEY
    if not host.exists(path):
        return Key(path)
    enrolled, requested = enrolment(host.ask(["mokutil", "--test-key", path]).stdout)
    return Key(path, exists=True, enrolled=enrolled, requested=requested)


def enrolment(said: str) -> tuple[bool | None, bool]:
    """Return whether a key is enrolled, and whether that was asked for, from C(mokutil --test-key).

    Its exit status is 0 for a key that is not enrolled.
    """
    if "is already in the enrollment request" in said:
        return False, True
    if "is not enrolled" in said or " is blocked in " in said:
        return False, False
    return (True, False) if re.search(r" is already (enrolled|in )", said) else (None, False)


def dkms_builds(said: str) -> tuple[DkmsBuild, ...]:
    """Return the lines of C(dkms status) about NVIDIA's modules; before DKMS 3 a comma stands for the slash."""
    builds = []
    for line in said.splitlines():
        match = re.fullmatch(
            r"(nvidia[^/,\s]*)(?:/|, )([^,:\s]+)(?:, ([^,:\s]+), [^,:\s]+)?: ([a-z-]+)\b.*", line.strip()
        )
        if match:
            builds.append(DkmsBuild(match[1], match[2], match[3], match[4]))
    return tuple(builds)
