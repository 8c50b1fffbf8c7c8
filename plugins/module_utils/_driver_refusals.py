# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What stands against a driver on a host, before anything is changed: each with the way out."""

from __future__ import annotations

import typing as t

from . import _compatibility as compatibility
from ._driver_installed import MIXED
from ._driver_kernel import order
from ._driver_packages import DISTRIBUTION, RUNFILE
from ._driver_situation import unfit
from ._triple_host import wanted_branch

if t.TYPE_CHECKING:
    from ._driver_kernel import Kernel
    from ._driver_situation import Situation, Target
    from ._stack_host import Resolution

_MIB = 1024 * 1024
# An initramfs of Debian or Ubuntu with all modules is smaller than that.
_BOOT_MIB = 100
SHOWN = 5


def kernels_to_cover(situation: Situation) -> tuple[Kernel, ...]:
    """Return the kernels that need the module: the running one and the one that is booted next."""
    host = situation.host
    return tuple(dict.fromkeys(kernel for kernel in (host.running, host.next) if kernel))


def refuse_unfit(situation: Situation, target: Target, result: Resolution) -> None:
    """Refuse a branch or a flavour that cannot run the GPUs or the stack, as a .run file of another branch can be."""
    branch = compatibility.branch_of(str(target.branch))
    seen = set()
    for gpu in situation.gpus:
        code = unfit(target.branch, target.flavour, gpu)
        if not code or (code, gpu.name) in seen:
            continue
        seen.add((code, gpu.name))
        needs_flavour = code.startswith("gpu-requires-")
        result.against(
            code,
            f"{gpu.name}{f' ({gpu.architecture})' if gpu.architecture else ''} and branch {target.branch} with "
            f"{target.flavour} kernel modules",
            f"{code.split('-')[2]} kernel modules, the only ones that run it"
            if needs_flavour
            else f"branch {wanted_branch(situation.gpus)}",
            f"Set nvidia_driver_flavour to {code.split('-')[2]} or auto."
            if needs_flavour
            else "Choose another nvidia_driver_branch or nvidia_driver_runfile_version, or leave it out.",
        )
    if branch and target.flavour not in branch.flavours:
        result.against(
            f"gpu-requires-{branch.flavours[0]}-kernel-module",
            f"{target.flavour} kernel modules and branch {target.branch}, which has {' and '.join(branch.flavours)}",
            f"{' or '.join(branch.flavours)} kernel modules",
            f"Set nvidia_driver_flavour to {branch.flavours[0]} or auto, or choose another nvidia_driver_branch.",
        )
    if not situation.wanted.enough(target.branch):
        result.against(
            "cuda-runtime-newer-than-driver",
            f"driver branch {target.branch}",
            f"driver {situation.wanted.minimum} or newer for the stack's CUDA",
            "Set nvidia_driver_runfile_version to a newer one, or nvidia_driver_method to auto.",
        )


def refuse_fabric(situation: Situation, target: Target, result: Resolution) -> None:
    """Refuse a source that has no Fabric Manager for the NVSwitches."""
    if not situation.nvswitches or (target.method == DISTRIBUTION and situation.archive_has_fabric_manager):
        return
    if target.method in (DISTRIBUTION, RUNFILE):
        what = "Fabric Manager and nvlsm" if situation.subnet_manager else "Fabric Manager"
        result.against(
            "fabric-manager-not-to-be-had",
            f"NVSwitches and nvidia_driver_method {target.method}, which has no {what}",
            f"{what} in exactly the driver's version",
            "Set nvidia_driver_method to nvidia or auto.",
        )


def refuse_other_driver(situation: Situation, target: Target, result: Resolution) -> None:
    """Refuse to put a driver beside or over another one."""
    installed = situation.installed
    if situation.wishes.replace or not installed.method:
        return
    if installed.method == MIXED:
        result.against(
            "driver-mixed-install-methods",
            "a driver from packages and one from NVIDIA's .run installer",
            "one of them",
            "Set nvidia_driver_replace to true, so that both are removed and one is installed; or remove the one from "
            ".run with nvidia-uninstall --silent.",
        )
        return
    code = (
        "driver-of-another-method"
        if installed.method != target.method
        else "driver-of-another-branch"
        if installed.branch != target.branch
        else "driver-of-another-flavour"
    )
    result.against(
        code,
        installed.describe(),
        f"branch {target.branch} with {target.flavour} kernel modules, method {target.method}",
        "Set nvidia_driver_replace to true, so that the old one is purged first.",
    )


def refuse_unknown_driver(situation: Situation, result: Resolution) -> None:
    """Refuse to install over a driver that nobody knows how to remove; one that was purged can still be loaded."""
    driver = situation.gpu.get("driver") or {}
    version = driver.get("loaded") or driver.get("on_disk")
    if version and driver.get("user_space") and not situation.wishes.replace:
        result.against(
            "driver-of-unknown-origin",
            f"driver {version}, which no package and no .run installer has",
            "one of those, or no driver",
            "Remove it as it was installed, or set nvidia_driver_replace to true, so that one is installed over it.",
        )


def pending_reboot(situation: Situation) -> str:
    """Return what asks for a reboot before a driver is installed; empty if nothing does."""
    host = situation.host
    # In an image that is being built, the running kernel is that of the builder.
    if host.next and order(host.next.release) > order(host.kernel) and (host.running or situation.gpus):
        return f"kernel {host.kernel} running and {host.next.release} installed"
    if host.reboot_required:
        names = ", ".join(host.reboot_for[:SHOWN])
        return f"a reboot that {names} asked for" if names else "/run/reboot-required"
    return ""


def refuse_pending_reboot(situation: Situation, result: Resolution) -> bool:
    """Refuse to build for a kernel that is about to go, and return whether the host is rebooted first instead."""
    pending = pending_reboot(situation)
    if not pending:
        return False
    if situation.wishes.reboot:
        result.because(f"reboot first: found {pending}.")
        return True
    result.against(
        "reboot-pending",
        pending,
        "the host rebooted before a driver is installed",
        "Reboot it, or set nvidia_driver_reboot to true.",
    )
    return False


def refuse_missing_headers(situation: Situation, result: Resolution) -> None:
    """Refuse modules that would be built for kernels without headers."""
    name, follows = situation.system.name, situation.follows
    for kernel in kernels_to_cover(situation):
        if kernel.headers or kernel.offered or (kernel.offered is None and follows):
            continue
        result.against(
            "kernel-headers-missing",
            f"kernel {kernel.release} without headers, and no package with them",
            f"linux-headers-{kernel.release}, for which the module is built",
            f"Run apt-get update. If {name} has them no more, install linux-image-{follows} and "
            f"linux-headers-{follows}, and reboot."
            if follows
            else f"Boot a kernel of {name}, or install the headers so that /lib/modules/{kernel.release}/build leads "
            "to them.",
        )


def refuse_full_boot(situation: Situation, result: Resolution) -> None:
    """Refuse to make an initramfs where there is no room for it."""
    free, size = situation.host.boot_free, situation.host.initramfs or 0
    if free is None:
        return
    needed = max(2 * size, _BOOT_MIB * _MIB)
    if free < needed:
        why = f", twice the initramfs of {size // _MIB} MiB" if 2 * size == needed else ""
        result.against(
            "boot-too-full",
            f"{free // _MIB} MiB free in /boot",
            f"{needed // _MIB} MiB{why}, as the initramfs is made anew beside the old one",
            "Remove old kernels with apt-get autoremove --purge.",
        )


def refuse_untrusted_key(situation: Situation, result: Resolution) -> None:
    """Refuse modules that the kernel would not load, before the host is rebooted without its GPU."""
    key = situation.host.key
    if not situation.secure_boot or key.enrolled:
        return
    ubuntu = situation.system.name == "Ubuntu"
    state = (
        "whose enrolment waits for somebody at the console"
        if key.requested
        else "which does not exist yet"
        if not key.exists
        else "which is not enrolled"
        if key.enrolled is False
        else "of which mokutil does not tell whether it is enrolled"
    )
    private = "/var/lib/dkms/mok.key"
    make = (
        "Run update-secureboot-policy --new-key. "
        if ubuntu
        else "Run mkdir -p /var/lib/dkms and openssl req -new -x509 -nodes -days 36500 -newkey rsa:2048 -subj "
        f"'/CN=DKMS module signing key' -keyout {private} -outform DER -out {key.path}. "
    )
    request = f"Run mokutil --import {key.path} and give a password. "
    tool = "Install mokutil. " if key.exists and key.enrolled is None else ""
    steps = tool + ("" if key.exists else make) + ("" if key.requested else request)
    signed = situation.signed_for and " Or set nvidia_driver_method to distribution, which has signed modules."
    result.against(
        "secure-boot-key-not-enrolled",
        f"Secure Boot on, and modules that DKMS signs with {key.path}, {state}",
        "a key that the firmware trusts, since the kernel says of others: Key was rejected by service",
        f"{steps}Reboot, and at the console press a key within 10 seconds, choose Enroll MOK and give the password. Or "
        f"turn Secure Boot off at the provider.{signed or ''}",
    )


def refuse_silent_driver(situation: Situation, version: str, result: Resolution) -> None:
    """Refuse to install a driver again that is whole and loaded, and does not answer."""
    said = str((situation.gpu.get("nvidia_smi") or {}).get("said") or "").strip().splitlines()
    result.against(
        "driver-does-not-answer",
        f"driver {version} loaded and on disk, and nvidia-smi says {said[0] if said else 'nothing'}",
        "a driver that answers",
        "Read what the kernel says (dmesg | grep -e NVRM -e Xid) and reboot; or set nvidia_driver_replace to true, so "
        "that it is installed anew.",
    )
