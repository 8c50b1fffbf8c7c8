# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which cgroup hierarchy a host has and can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _cgroup
from ansible_collections.nemotron.vllm.plugins.module_utils._cgroup import CgroupHost
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host

UNIFIED = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0\n"
LEGACY = """\
proc /proc proc rw 0 0
tmpfs /sys/fs/cgroup tmpfs ro,nosuid,nodev,noexec,size=4096k,nr_inodes=1024,mode=755,inode64 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,nosuid,nodev,noexec,relatime,xattr,name=systemd 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,nodev,noexec,relatime,memory 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
"""
HYBRID = LEGACY.replace(
    "cgroup /sys/fs/cgroup/systemd", "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/systemd"
)


@pytest.mark.parametrize(
    ("mounts", "mode"),
    [
        pytest.param(UNIFIED, "unified", id="v2"),
        pytest.param(LEGACY, "legacy", id="v1"),
        pytest.param(HYBRID, "hybrid", id="both"),
        pytest.param("", None, id="nothing mounted"),
        pytest.param("cgroup2 /sys/fs/cgroup.old cgroup2 rw 0 0\nshort line\n", None, id="somewhere else"),
    ],
)
def test_the_mode_is_told_by_the_mounts(mounts: str, mode: str | None) -> None:
    assert _cgroup.mode_of(_cgroup.mounted(mounts)) == mode


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("systemd 252 (252.39-1~deb12u2)\n+PAM +AUDIT\n", 252),
        ("systemd 257 (257.9-1~deb13u1)\n", 257),
        ("", None),
        ("bash: systemctl: command not found", None),
    ],
)
def test_the_version_of_systemd(said: str, version: int | None) -> None:
    assert _cgroup.systemd_version(said) == version


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        pytest.param("CONFIG_MEMCG=y\nCONFIG_CPUSETS=y\n", (), id="6.1, where they are no options"),
        pytest.param(
            "CONFIG_MEMCG=y\n# CONFIG_MEMCG_V1 is not set\n# CONFIG_CPUSETS_V1 is not set\n",
            ("memory", "cpuset"),
            id="Debian's 6.12",
        ),
        pytest.param("CONFIG_MEMCG_V1=y\n# CONFIG_CPUSETS_V1 is not set\n", ("cpuset",), id="one of them"),
        pytest.param("", (), id="no file"),
    ],
)
def test_controllers_that_a_kernel_lacks(config: str, missing: tuple[str, ...]) -> None:
    assert _cgroup.controllers_left_out(config) == missing


def host(systemd: int | None = 252, mode: str = "unified", **others: object) -> CgroupHost:
    return CgroupHost(mode, systemd, "6.12.57+deb13-amd64", **others)  # type: ignore[arg-type]


V1 = ("systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=1")
BOTH = ("systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=0")
FORCE = "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
MEMORY = ("cgroup_enable=memory", "swapaccount=1")
PLANS = [
    pytest.param("default", host(), True, (), id="nothing wished for"),
    pytest.param("default", host(259, "legacy"), True, (), id="nothing wished for, whatever it has"),
    pytest.param("legacy", host(252), False, (*V1, *MEMORY), id="Debian 12"),
    pytest.param("legacy", host(252, "legacy"), True, (*V1, *MEMORY), id="Debian 12, booted"),
    pytest.param("legacy", host(252, "hybrid"), False, (*V1, *MEMORY), id="hybrid is not legacy"),
    pytest.param("hybrid", host(252), False, (*BOTH, *MEMORY), id="hybrid"),
    pytest.param("legacy", host(255), False, (*V1, *MEMORY), id="the last without the parameter that insists"),
    pytest.param("legacy", host(256), False, (*V1, FORCE, *MEMORY), id="the first with it"),
    pytest.param("hybrid", host(257), False, (*BOTH, FORCE, *MEMORY), id="the last that can"),
    pytest.param("unified", host(252, "legacy"), False, (), id="back"),
    pytest.param("unified", host(259), True, (), id="back, where there is nothing else"),
]


@pytest.mark.parametrize(("state", "found", "reached", "present"), PLANS)
def test_how_a_host_comes_to_a_state(state: str, found: CgroupHost, *, reached: bool, present: tuple[str, ...]) -> None:
    plan = _cgroup.plan(state, found, memory=True, swap=True, without_controllers=False)
    assert (plan.reached, plan.present, plan.conflicts) == (reached, present, ())


def test_memory_and_swap_can_be_left_to_the_kernel() -> None:
    assert _cgroup.plan("legacy", host(), memory=False, swap=False, without_controllers=False).present == V1


def test_the_way_back_takes_out_all_that_the_way_there_set() -> None:
    names = {"systemd.unified_cgroup_hierarchy", "systemd.legacy_systemd_cgroup_controller"}
    back = _cgroup.plan("unified", host(), memory=True, swap=True, without_controllers=False).absent
    there = _cgroup.plan("legacy", host(257), memory=True, swap=True, without_controllers=True).present
    assert {wish if wish in back else wish.partition("=")[0] for wish in there} == set(back)
    assert names < set(back)


LACKING = host(257, missing_controllers=("memory", "cpuset"))
REFUSED = [
    pytest.param(
        host(258),
        "cgroup-v1-impossible: found systemd 258 and cgroup_v1_state legacy; needed systemd before 258, the first that "
        "can do nothing but cgroup v2. Set cgroup_v1_state to default; vLLM needs no cgroup v1.",
        id="too new",
    ),
    pytest.param(
        host(None),
        "cgroup-no-systemd: found no systemd that tells its version; needed systemd before 258, which mounts the "
        "cgroups of a host. Set cgroup_v1_state to default.",
        id="no systemd",
    ),
    pytest.param(
        LACKING,
        "cgroup-v1-without-controllers: found Linux 6.12.57+deb13-amd64, which was built without the memory and cpuset "
        "controller for cgroup v1; needed a kernel that has it; without it, limits are accepted and not enforced. Set "
        "cgroup_v1_state to default, or cgroup_v1_accept_missing_controllers to true if no limits are needed.",
        id="a kernel without the controllers",
    ),
]


@pytest.mark.parametrize(("found", "message"), REFUSED)
def test_what_cannot_be_had_is_refused(found: CgroupHost, message: str) -> None:
    plan = _cgroup.plan("legacy", found, memory=True, swap=True, without_controllers=False)
    assert [problem.describe() for problem in plan.conflicts] == [message]


def test_missing_controllers_can_be_accepted() -> None:
    assert not _cgroup.plan("legacy", LACKING, memory=True, swap=True, without_controllers=True).conflicts


SHORT = [
    pytest.param("default", host(), [], id="nothing wished for"),
    pytest.param("legacy", host(252, "legacy", v1_controllers=("memory",), swap_accounted=True), [], id="all there"),
    pytest.param("legacy", host(252), ["cgroup-mode"], id="still v2"),
    pytest.param("unified", host(252, "hybrid"), ["cgroup-mode"], id="still hybrid"),
    pytest.param("legacy", host(252, "legacy", v1_controllers=("cpu",)), ["cgroup-v1-memory"], id="no memory"),
    pytest.param("legacy", host(257, "legacy", missing_controllers=("memory",)), [], id="no memory, as told before"),
    pytest.param(
        "hybrid",
        host(252, "hybrid", v1_controllers=("memory",), swap_accounted=False),
        ["cgroup-v1-swap"],
        id="no swap accounting",
    ),
]


@pytest.mark.parametrize(("state", "found", "codes"), SHORT)
def test_what_a_booted_host_lacks(state: str, found: CgroupHost, codes: list[str]) -> None:
    assert [problem.code for problem in _cgroup.shortcomings(state, found, swap=True)] == codes


def test_a_host_is_read(tmp_path: Path) -> None:
    files = {
        "proc/mounts": LEGACY,
        "proc/sys/kernel/osrelease": "6.12.57\n",
        "boot/config-6.12.57": "# CONFIG_CPUSETS_V1 is not set\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "1\n",
        "commands/systemctl_--version": "systemd 257 (257.9)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert _cgroup.gather(Host(str(tmp_path))) == CgroupHost(
        mode="legacy",
        systemd=257,
        kernel="6.12.57",
        v1_controllers=("cpu", "cpuacct", "memory"),
        missing_controllers=("cpuset",),
        swap_accounted=False,
    )


def test_an_empty_folder_is_a_host_of_which_nothing_is_known(tmp_path: Path) -> None:
    assert _cgroup.gather(Host(str(tmp_path))) == CgroupHost(None, None, "")
