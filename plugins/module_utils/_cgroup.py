# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The cgroup hierarchy of a host: which it has, which it can be booted with, and by which kernel parameters.

Sources: https://www.freedesktop.org/software/systemd/man/252/systemd.html#Kernel%20Command%20Line for the parameters,
https://github.com/systemd/systemd/blob/main/NEWS (CHANGES WITH 256 and 258) for the end of cgroup v1 in systemd, and
https://docs.kernel.org/admin-guide/cgroup-v1/index.html.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field

from ._problem import Problem

if t.TYPE_CHECKING:
    from ._host import Host

UNIFIED, HYBRID, LEGACY = "unified", "hybrid", "legacy"
DEFAULT = "default"
STATES = (DEFAULT, LEGACY, HYBRID, UNIFIED)

_NEEDS_FORCE, _WITHOUT_V1 = 256, 258
_FORCE = "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
_FALL_BACK = "systemd.unified_cgroup_hierarchy=0"
_NO_HYBRID = "systemd.legacy_systemd_cgroup_controller=1"
_HYBRID = "systemd.legacy_systemd_cgroup_controller=0"
_OURS = (
    "systemd.unified_cgroup_hierarchy",
    "systemd.legacy_systemd_cgroup_controller",
    "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE",
)
# What may stand among the options of a mount with v1.
_CONTROLLERS = frozenset(
    (
        "blkio",
        "cpu",
        "cpuacct",
        "cpuset",
        "devices",
        "freezer",
        "hugetlb",
        "memory",
        "misc",
        "net_cls",
        "net_prio",
        "perf_event",
        "pids",
        "rdma",
    )
)
# The kernel ignores them where memory is accounted for anyway.
_MEMORY, _SWAP = "cgroup_enable=memory", "swapaccount=1"


@dataclass(frozen=True)
class CgroupHost:
    """What decides about the hierarchy of a host."""

    mode: str | None
    """Of the running system: unified (v2), hybrid, legacy (v1), or None if it is not to be told."""
    systemd: int | None
    kernel: str
    """Release of the running kernel."""
    v1_controllers: tuple[str, ...] = ()
    """Controllers that are mounted with v1."""
    missing_controllers: tuple[str, ...] = ()
    """Of memory and cpuset, those that this kernel was built without for v1."""
    swap_accounted: bool | None = None
    """Whether v1 limits swap as well; None where the memory controller is not v1."""


@dataclass(frozen=True)
class CgroupPlan:
    """How a host comes to a state."""

    reached: bool
    """Whether the running system is in the state that is wished for."""
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    conflicts: tuple[Problem, ...] = field(default=())


def gather(host: Host) -> CgroupHost:
    """Return what decides about the hierarchy of a host."""
    mounts = mounted(host.read("/proc/self/mounts") or host.read("/proc/mounts") or "")
    kernel = (host.read("/proc/sys/kernel/osrelease") or "").strip()
    return CgroupHost(
        mode=mode_of(mounts),
        systemd=systemd_version(host.ask(["systemctl", "--version"]).stdout),
        kernel=kernel,
        v1_controllers=tuple(sorted({name for kind, names in mounts.values() if kind == "cgroup" for name in names})),
        missing_controllers=controllers_left_out(host.read(f"/boot/config-{kernel}") or ""),
        swap_accounted=_swap_accounted(host),
    )


def _swap_accounted(host: Host) -> bool | None:
    folder = "/sys/fs/cgroup/memory"
    if not host.exists(f"{folder}/memory.limit_in_bytes"):
        return None
    return host.exists(f"{folder}/memory.memsw.limit_in_bytes")


def mounted(mounts: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return type and controllers by mount point below /sys/fs/cgroup, from /proc/mounts."""
    found = {}
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) > 3 and f"{fields[1]}/".startswith("/sys/fs/cgroup/"):  # noqa: PLR2004
            options = fields[3].split(",")
            names = tuple(option for option in options if option in _CONTROLLERS)
            found[fields[1]] = (fields[2], names)
    return found


def mode_of(mounts: t.Mapping[str, tuple[str, tuple[str, ...]]]) -> str | None:
    """Return the hierarchy that systemd has mounted, as C(stat -fc %T /sys/fs/cgroup) and .../unified tell it."""
    kind = mounts.get("/sys/fs/cgroup", ("", ()))[0]
    if kind == "cgroup2":
        return UNIFIED
    if kind != "tmpfs":
        return None
    return HYBRID if mounts.get("/sys/fs/cgroup/unified", ("", ()))[0] == "cgroup2" else LEGACY


def systemd_version(said: str) -> int | None:
    """Return the number in the first line of C(systemctl --version)."""
    match = re.match(r"systemd (\d+)", said)
    return int(match[1]) if match else None


def controllers_left_out(config: str) -> tuple[str, ...]:
    """Return the controllers that a kernel was built without for v1, from /boot/config-RELEASE.

    Linux 6.11 and 6.12 made them options of their own; a kernel before has them whenever it has the controller.
    Source: https://git.kernel.org/torvalds/c/e93d4166b40a and https://git.kernel.org/torvalds/c/b0ced9d378d4
    """
    options = {"memory": "CONFIG_MEMCG_V1", "cpuset": "CONFIG_CPUSETS_V1"}
    return tuple(name for name, option in options.items() if f"# {option} is not set" in config)


def plan(state: str, host: CgroupHost, *, memory: bool, swap: bool, without_controllers: bool) -> CgroupPlan:
    """Return how a host comes to a state, or why it cannot."""
    if state == DEFAULT:
        return CgroupPlan(reached=True)
    if state == UNIFIED:
        return CgroupPlan(reached=host.mode == UNIFIED, absent=(*_OURS, _MEMORY, _SWAP))
    conflicts = tuple(_conflicts(state, host, without_controllers=without_controllers))
    present = [_FALL_BACK, _NO_HYBRID if state == LEGACY else _HYBRID]
    if host.systemd is not None and host.systemd >= _NEEDS_FORCE:
        present.append(_FORCE)
    if memory:
        present.append(_MEMORY)
    if swap:
        present.append(_SWAP)
    return CgroupPlan(reached=host.mode == state, present=tuple(present), conflicts=conflicts)


def _conflicts(state: str, host: CgroupHost, *, without_controllers: bool) -> t.Iterator[Problem]:
    if host.systemd is None:
        yield Problem(
            "cgroup-no-systemd",
            "no systemd that tells its version",
            f"systemd before {_WITHOUT_V1}, which mounts the cgroups of a host",
            "Set cgroup_v1_state to default.",
        )
    elif host.systemd >= _WITHOUT_V1:
        yield Problem(
            "cgroup-v1-impossible",
            f"systemd {host.systemd} and cgroup_v1_state {state}",
            f"systemd before {_WITHOUT_V1}, the first that can do nothing but cgroup v2",
            "Set cgroup_v1_state to default; vLLM needs no cgroup v1.",
        )
    elif host.missing_controllers and not without_controllers:
        names = " and ".join(host.missing_controllers)
        yield Problem(
            "cgroup-v1-without-controllers",
            f"Linux {host.kernel}, which was built without the {names} controller for cgroup v1",
            "a kernel that has it; without it, limits are accepted and not enforced",
            "Set cgroup_v1_state to default, or cgroup_v1_accept_missing_controllers to true if no limits are needed.",
        )


def shortcomings(state: str, host: CgroupHost, *, swap: bool) -> tuple[Problem, ...]:
    """Return what a running system lacks of the state that it was booted for."""
    if state == DEFAULT:
        return ()
    problems = []
    if host.mode != state:
        problems.append(
            Problem(
                "cgroup-mode",
                f"{host.mode or 'an unknown'} cgroup hierarchy",
                state,
                "Reboot if that was not done; else look for what else sets kernel parameters, and at the journal.",
            )
        )
    elif state != UNIFIED and "memory" not in (*host.v1_controllers, *host.missing_controllers):
        problems.append(
            Problem(
                "cgroup-v1-memory",
                f"controllers {', '.join(host.v1_controllers) or 'none'}",
                "the memory controller",
                "Look whether a kernel parameter cgroup_disable=memory is set.",
            )
        )
    elif swap and host.swap_accounted is False:
        problems.append(
            Problem(
                "cgroup-v1-swap", "no memory.memsw.limit_in_bytes", "swap accounting", "Set swapaccount=1 and reboot."
            )
        )
    return tuple(problems)
