# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the files of a host and its tools say about the NVIDIA driver: one pure parser for each."""

from __future__ import annotations

import re
import typing as t

if t.TYPE_CHECKING:
    from collections.abc import Iterator

OPEN, PROPRIETARY = "open", "proprietary"
_VERSION = r"\d+(?:\.\d+)+"
_OF_THE_DRIVER = re.compile(
    r"nvidia-(driver|kernel|dkms|headless|open)\b.*|nvidia-open|libnvidia-compute.*|libcuda1|linux-modules-nvidia-.*"
)
_FABRIC_MANAGER = re.compile(r"nvidia-fabric-?manager(-\d+)?")


def version_of_proc(text: str) -> str | None:
    """Return the version in /proc/driver/nvidia/version, of the loaded module."""
    match = re.search(rf"^NVRM version:.*?\s({_VERSION})\s", text, re.MULTILINE)
    return match[1] if match else None


def flavour_of_proc(text: str) -> str | None:
    """Return the flavour of the loaded module from /proc/driver/nvidia/version."""
    if not version_of_proc(text):
        return None
    return OPEN if "Open Kernel Module" in text else PROPRIETARY


def flavour_of_license(license_text: str) -> str | None:
    """Return the flavour of a module from C(modinfo -F license nvidia)."""
    words = license_text.strip()
    if not words:
        return None
    return OPEN if "GPL" in words else PROPRIETARY


def version_of_library(name: str) -> str | None:
    """Return the version in the name of a library, 580.159.04 for libcuda.so.580.159.04."""
    match = re.search(rf"\.so\.({_VERSION})$", name)
    return match[1] if match else None


def library_paths(ldconfig: str, name: str) -> tuple[str, ...]:
    """Return where the loader finds a library of this processor, first choice first, from C(ldconfig -p)."""
    return tuple(re.findall(rf"^\s*{re.escape(name)} \([^)]*x86-64[^)]*\) => (\S+)$", ldconfig, re.MULTILINE))


def packages(dpkg_status: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of each installed package in /var/lib/dpkg/status."""
    for paragraph in dpkg_status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed") and "Package" in fields:
            yield fields["Package"], fields.get("Version", "")


def driver_packages(dpkg_status: str) -> dict[str, str]:
    """Return the installed packages of the driver with their versions."""
    return {name: version for name, version in packages(dpkg_status) if _OF_THE_DRIVER.fullmatch(name)}


def fabric_manager_version(dpkg_status: str) -> str | None:
    """Return the version of Fabric Manager without what the distribution adds to it."""
    return next(
        (
            match[1]
            for name, version in packages(dpkg_status)
            if _FABRIC_MANAGER.fullmatch(name) and (match := re.match(rf"(?:\d+:)?({_VERSION})", version))
        ),
        None,
    )


def version_that_nvml_says(said: str) -> str | None:
    """Return the version of the user space from nvidia-smi's words about a mismatch."""
    match = re.search(rf"NVML library version: ({_VERSION})", said)
    return match[1] if match else None


def secure_boot_of_efivar(content: bytes) -> bool | None:
    """Return the state in the EFI variable SecureBoot: four bytes of attributes, then the value.

    Source: https://docs.kernel.org/filesystems/efivarfs.html
    """
    return content[4] == 1 if len(content) == 5 else None  # noqa: PLR2004


def secure_boot_of_mokutil(said: str) -> bool | None:
    """Return the state that C(mokutil --sb-state) tells."""
    match = re.search(r"^SecureBoot (enabled|disabled)", said, re.MULTILINE)
    return match[1] == "enabled" if match else None
