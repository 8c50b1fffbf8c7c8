# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The driver layer of the version triple: kernel module and libraries are one driver, for these GPUs."""

from __future__ import annotations

import typing as t

from ._compatibility import (
    OPEN,
    branch_of,
    branch_runs,
    capability_of,
    flavours_for,
    same_driver,
    version_tuple,
)
from ._triple_host import DriverHost, Gpu, driver_version, gpus_of, known_version, wanted_branch
from ._violations import DRIVER, Violation

if t.TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BRANCH, FLAVOUR = "nvidia_driver_branch", "nvidia_driver_flavour"
_RELOAD = (
    "Stop what uses the GPUs and load the module anew (rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe "
    "nvidia), or reboot."
)


def driver_violations(gpu: Mapping[str, t.Any], host: DriverHost) -> Iterator[Violation]:
    """Yield what is wrong with the driver of a host that has GPUs."""
    gpus = gpus_of(gpu)
    driver = gpu.get("driver") or {}
    other_owner = list(_other_owner(gpu, gpus, loaded=bool(driver.get("loaded"))))
    yield from other_owner
    if not driver.get("loaded") and not other_owner:
        yield _not_loaded(gpu, host, gpus)
    yield from _versions(driver, host)
    yield from _modules_for(gpus, driver, driver_version(gpu))
    if driver.get("loaded") and driver.get("uvm") is False:
        yield Violation(
            "nvidia-uvm-not-loaded",
            DRIVER,
            "the module nvidia loaded and nvidia_uvm or /dev/nvidia-uvm missing",
            "both, since CUDA does not start without them",
            "Run modprobe nvidia_uvm and nvidia-modprobe -c 0 -u, and have the module loaded at boot.",
        )
    yield from _fabric(gpu, driver)


def _other_owner(gpu: Mapping[str, t.Any], gpus: Sequence[Gpu], *, loaded: bool) -> Iterator[Violation]:
    """Yield another kernel driver that has the GPUs."""
    for module, fact, code in (
        ("nouveau", "nouveau", "nouveau-owns-gpu"),
        ("nova_core", "nova_core", "nova-core-owns-gpu"),
    ):
        owned = [item.name for item in gpus if item.kernel_driver in (module, module.replace("_", "-"))]
        if owned or (gpu.get(fact) and not loaded):
            yield Violation(
                code,
                DRIVER,
                f"the kernel driver {module} on {', '.join(owned)}" if owned else f"the kernel module {module} loaded",
                "the GPUs left to the driver nvidia",
                f"Blacklist {module} (in /etc/modprobe.d, with options {module} modeset=0), rebuild the initramfs and "
                "reboot.",
                BRANCH,
            )


def _not_loaded(gpu: Mapping[str, t.Any], host: DriverHost, gpus: Sequence[Gpu]) -> Violation:
    """Return why no NVIDIA module is loaded."""
    driver = gpu.get("driver") or {}
    kernel = host.kernel or "the running kernel"
    if not (driver.get("on_disk") or driver.get("user_space") or driver.get("installed_by")):
        return Violation(
            "driver-not-installed",
            DRIVER,
            f"{', '.join(item.name for item in gpus) or 'a GPU'} and no NVIDIA driver",
            "a driver",
            f"Install the driver, branch {wanted_branch(gpus)}.",
            BRANCH,
        )
    if not driver.get("on_disk"):
        if host.headers is False:
            return Violation(
                "kernel-headers-missing-after-kernel-upgrade",
                DRIVER,
                f"a driver without a module for kernel {kernel}, whose headers are missing",
                f"a module for kernel {kernel}",
                f"Install linux-headers-{kernel} and the meta package that brings the headers of the next kernel too, "
                "then run dkms autoinstall and modprobe nvidia.",
            )
        return Violation(
            "module-not-built-for-running-kernel",
            DRIVER,
            f"a driver without a module for kernel {kernel}",
            f"a module for kernel {kernel}",
            "Run dkms autoinstall, or install the driver from packages that follow the kernel.",
            BRANCH,
        )
    if gpu.get("secure_boot"):
        return Violation(
            "secure-boot-rejects-module",
            DRIVER,
            f"the module {driver['on_disk']} on disk and not loaded, with Secure Boot on",
            "a module that is signed with a key that the firmware trusts",
            "Install the modules that the distribution signed (linux-modules-nvidia-*), enrol the key of DKMS at the "
            "console, or turn Secure Boot off.",
            BRANCH,
        )
    return Violation(
        "driver-module-not-loaded",
        DRIVER,
        f"the module {driver['on_disk']} on disk and not loaded",
        "the module loaded",
        "Run modprobe nvidia and read what the kernel says of it (dmesg).",
    )


def _versions(driver: Mapping[str, t.Any], host: DriverHost) -> Iterator[Violation]:
    """Yield parts of the driver that are of different releases."""
    loaded = known_version(driver.get("loaded"))
    if driver.get("installed_by") == "both":
        yield Violation(
            "driver-mixed-install-methods",
            DRIVER,
            "a driver from packages and one from NVIDIA's .run installer"
            + (f": module {loaded}, libraries {driver.get('user_space')}" if loaded else ""),
            "one of them",
            "Remove the one from .run with nvidia-installer --uninstall, install the packages again and reboot.",
            BRANCH,
        )
    compat = host.libcuda_is_compat
    differs = loaded and host.libcuda_version and not same_driver(loaded, host.libcuda_version)
    user_space = known_version(driver.get("user_space"))
    updated = user_space and host.libcuda_version and same_driver(user_space, host.libcuda_version)
    shadowed = compat or (differs and not updated)
    if shadowed:
        yield Violation(
            "cuda-compat-library-shadows-driver",
            DRIVER,
            f"{host.libcuda} first ({host.libcuda_because})",
            f"the libcuda.so.1 of the driver {loaded or user_space or 'itself'}",
            "Take the folder out of LD_LIBRARY_PATH and /etc/ld.so.conf.d (or remove the package cuda-compat) and run "
            "ldconfig.",
            "systemd_unit_environment" if host.libcuda_because == "LD_LIBRARY_PATH" else "",
        )
    if driver.get("installed_by") == "both":
        return
    parts = {
        "module loaded": loaded,
        "module on disk": known_version(driver.get("on_disk")),
        "libraries": None if shadowed else user_space,
    }
    versions = [version for version in parts.values() if version]
    if loaded and any(not same_driver(loaded, version) for version in versions):
        yield Violation(
            "driver-userspace-upgraded-under-running-module",
            DRIVER,
            ", ".join(f"{part} {version}" for part, version in parts.items() if version),
            "one version in all",
            f"{_RELOAD} Hold the driver's packages against unattended upgrades.",
        )
    elif versions and any(not same_driver(versions[0], version) for version in versions):
        yield Violation(
            "driver-packages-half-upgraded",
            DRIVER,
            ", ".join(f"{part} {version}" for part, version in parts.items() if version),
            "one version in all",
            "Finish the upgrade of the driver's packages, all to one version.",
            BRANCH,
        )


def _modules_for(gpus: Sequence[Gpu], driver: Mapping[str, t.Any], version: str | None) -> Iterator[Violation]:
    """Yield GPUs that this driver does not run."""
    flavour = driver.get("flavour")
    branch = branch_of(version) if version else None
    seen: set[tuple[str, str]] = set()
    for gpu in gpus:
        if gpu.architecture is None:
            continue
        name = f"{gpu.name} ({gpu.architecture})"
        allowed = flavours_for(gpu.architecture, gpu.name)
        if flavour and flavour not in allowed and ("flavour", gpu.architecture) not in seen:
            seen.add(("flavour", gpu.architecture))
            wanted = allowed[0]
            yield Violation(
                f"gpu-requires-{wanted}-kernel-module",
                DRIVER,
                f"{name} and the {flavour} kernel modules",
                f"the {wanted} ones, the only ones that run it",
                f"Replace the driver's packages by those of the {wanted} flavour and reboot."
                + ("" if wanted == OPEN else f" Branch {wanted_branch(gpus)} is the newest long-term one that has it."),
                FLAVOUR,
            )
        capability = capability_of(gpu.compute_capability or "")
        if branch and not branch_runs(branch, gpu.architecture) and ("branch", gpu.architecture) not in seen:
            seen.add(("branch", gpu.architecture))
            yield Violation(
                "driver-branch-dropped-gpu-generation",
                DRIVER,
                f"{name} and driver {version}, whose branch {branch.number} runs {branch.oldest} and later",
                f"branch {wanted_branch(gpus)}",
                "Install that branch.",
                BRANCH,
            )
        elif version and capability and version_tuple(version) < version_tuple(capability.minimum_driver):
            yield Violation(
                "driver-older-than-gpu",
                DRIVER,
                f"{name} and driver {version}",
                f"driver {capability.minimum_driver} or newer",
                f"Install branch {wanted_branch(gpus)}.",
                BRANCH,
            )


def _fabric(gpu: Mapping[str, t.Any], driver: Mapping[str, t.Any]) -> Iterator[Violation]:
    """Yield what keeps GPUs behind NVSwitches from starting."""
    if not gpu.get("nvswitch"):
        return
    manager = gpu.get("fabric_manager") or {}
    installed, loaded = known_version(manager.get("installed")), known_version(driver.get("loaded"))
    if installed and loaded and not same_driver(installed, loaded):
        yield Violation(
            "fabric-manager-version-mismatch",
            DRIVER,
            f"Fabric Manager {installed} and driver {loaded}",
            f"Fabric Manager {loaded}",
            "Install nvidia-fabricmanager in exactly the driver's version, hold both together, and restart it.",
            BRANCH,
        )
    elif not installed or manager.get("running") is False:
        state = f"Fabric Manager {installed} not running" if installed else "no Fabric Manager"
        yield Violation(
            "fabric-manager-not-running",
            DRIVER,
            f"{gpu['nvswitch']} NVSwitches and {state}",
            "the service nvidia-fabricmanager running, without which CUDA says error 802",
            f"Install nvidia-fabricmanager {loaded or 'in the version of the driver'}, and enable and start it.",
            BRANCH,
        )
