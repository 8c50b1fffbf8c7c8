# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is planned for the driver of a host, and what stands against it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _driver_host, _gpu_facts
from ansible_collections.nemotron.vllm.plugins.module_utils._dpkg_status import Package
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_host import DriverHost, Key
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_kernel import Kernel
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_plan import Plan, Planned, plan
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_situation import Wishes
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host

ROOTS = Path(__file__).resolve().parents[3] / "fixtures" / "roots"
BOOKWORM = {"distribution": "Debian", "version": "12.7", "architecture": "x86_64"}
NOBLE = {"distribution": "Ubuntu", "version": "24.04", "architecture": "x86_64"}
NO_DRIVER = {"loaded": None, "on_disk": None, "user_space": None, "flavour": None, "installed_by": None}
H100 = {"name": "NVIDIA H100", "architecture": "Hopper", "compute_capability": "9.0"}
V100 = {"name": "Tesla V100", "architecture": "Volta", "compute_capability": "7.0"}
B200 = {"name": "NVIDIA B200", "architecture": "Blackwell", "compute_capability": "10.0"}
DEBIAN_KERNEL = Kernel("6.1.0-50-amd64", headers=True)
DEBIAN = DriverHost(
    kernel="6.1.0-50-amd64",
    kernels=(DEBIAN_KERNEL,),
    packages=(Package("linux-image-amd64", depends="linux-image-6.1.0-50-amd64 (= 6.1.176-1)"),),
    key=Key("/var/lib/dkms/mok.pub"),
)
UBUNTU = DriverHost(
    kernel="6.8.0-45-generic",
    kernels=(Kernel("6.8.0-45-generic", headers=True),),
    packages=(
        Package("linux-generic", depends="linux-image-generic (= 6.8.0-45.45)"),
        Package("linux-image-generic", depends="linux-image-6.8.0-45-generic"),
    ),
    key=Key("/var/lib/shim-signed/mok/MOK.der"),
)


def gpu(*gpus: dict[str, str], **others: Any) -> dict[str, Any]:
    """Return GPU facts of a host without a driver, unless others say so."""
    smi = {"path": None, "ok": False, "said": ""}
    facts = {"driver": NO_DRIVER, "gpus": list(gpus), "nvidia_smi": smi, "nvswitch": 0, "secure_boot": None}
    return {**facts, "nouveau": False, "nova_core": False, **others}


def driver(version: str, flavour: str = "open", by: str = "package", *, loaded: bool = True) -> dict[str, Any]:
    return {
        "loaded": version if loaded else None,
        "on_disk": version,
        "user_space": version,
        "flavour": flavour,
        "installed_by": by,
    }


def stack(branch: str, flavour: str = "open", action: str = "install") -> dict[str, str]:
    return {"branch": branch, "flavour": flavour, "action": action, "minimum": "580.65.06"}


def make(
    facts: dict[str, Any],
    driver_of_stack: dict[str, str] | None,
    os_facts: dict[str, str] | None = None,
    host: DriverHost = DEBIAN,
    **wishes: Any,
) -> Planned:
    return plan(Wishes(**wishes), driver_of_stack, facts, os_facts or BOOKWORM, host)


def test_a_host_without_a_gpu_is_left_alone() -> None:
    planned = make(gpu(), None)
    assert (planned.plan.action, planned.conflicts) == ("none", [])
    assert planned.reasons == ["no driver: no NVIDIA device on this host."]


def test_a_stack_on_the_cpu_needs_no_driver() -> None:
    planned = make(gpu(H100), None)
    assert (planned.plan.action, planned.conflicts) == ("none", [])
    assert planned.reasons == ["no driver: the stack computes on the CPU."]


def test_a_good_driver_is_kept_whatever_else_is_wished_for() -> None:
    facts = gpu(H100, driver=driver("580.159.04"), nvidia_smi={"path": "/usr/bin/nvidia-smi", "ok": True, "said": ""})
    planned = make(facts, stack("580", action="keep"), method="runfile", replace=True)
    assert (planned.plan.action, planned.plan.packages, planned.plan.purge) == ("keep", [], [])
    assert planned.conflicts == []
    assert planned.reasons == ["driver 580.159.04 kept: it works and runs the stack."]


def test_a_driver_that_must_not_be_touched() -> None:
    planned = make(gpu(H100), stack("580"), manage=False)
    assert (planned.plan.action, planned.plan.packages) == ("none", [])
    assert planned.reasons == ["driver not touched: nvidia_driver_manage is false."]


INSTALLED = [
    pytest.param(
        gpu(H100),
        stack("580"),
        BOOKWORM,
        {},
        ("nvidia", "dkms", "nvidia-driver-pinning-580", ["linux-headers-amd64"]),
        id="Debian's archive is too old: NVIDIA's repository",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        NOBLE,
        {},
        ("distribution", "distribution", "nvidia-headless-no-dkms-580-server-open", []),
        id="Ubuntu has it with signed modules",
    ),
    pytest.param(
        gpu(H100, secure_boot=True),
        stack("620"),
        NOBLE,
        {},
        ("distribution", "distribution", "nvidia-headless-no-dkms-580-server-open", []),
        id="Secure Boot: a branch with signed modules instead of the stack's",
    ),
    pytest.param(
        gpu(),
        None,
        BOOKWORM,
        {"require_gpu": False, "branch": 535, "flavour": "proprietary", "method": "distribution"},
        ("distribution", "dkms", "nvidia-kernel-dkms", ["linux-headers-amd64"]),
        id="an image that is built without a GPU",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        BOOKWORM,
        {"method": "runfile", "runfile_version": "580.159.04", "runfile_sha256": "0" * 64},
        ("runfile", "dkms", "dkms", ["linux-headers-amd64"]),
        id="a .run file that is pinned",
    ),
]


@pytest.mark.parametrize(("facts", "wanted", "os_facts", "wishes", "expected"), INSTALLED)
def test_where_a_driver_comes_from(
    facts: dict[str, Any],
    wanted: dict[str, str] | None,
    os_facts: dict[str, str],
    wishes: dict[str, Any],
    expected: tuple[str, str, str, list[str]],
) -> None:
    planned = make(facts, wanted, os_facts, DEBIAN if os_facts == BOOKWORM else UBUNTU, **wishes)
    found = planned.plan
    assert planned.conflicts == []
    assert found.action == "install"
    assert (found.method, found.signed_by, found.packages[0], found.headers) == expected
    assert "cuda" not in found.packages, "cuda brings the newest driver, whatever the branch"
    assert found.blacklist_modules == ["nouveau", "nova_core"]


DEBIAN_535 = dataclasses.replace(
    DEBIAN,
    packages=(
        *DEBIAN.packages,
        Package("nvidia-kernel-dkms", "535.261.03-1"),
        Package("libcuda1", "535.261.03-1"),
        Package("nvidia-smi", "535.261.03-1", state="config-files"),
    ),
)
WITH_535 = driver("535.261.03", "proprietary")
CONFLICTS = [
    pytest.param(
        gpu(H100, driver=WITH_535),
        stack("580", action="replace"),
        DEBIAN_535,
        {},
        "driver-of-another-method: found branch 535 from the distribution with proprietary kernel modules; needed "
        "branch 580 with open kernel modules, method nvidia. Set nvidia_driver_replace to true, so that the old one is "
        "purged first.",
        id="another method",
    ),
    pytest.param(
        gpu(H100, driver={**WITH_535, "installed_by": "both"}),
        stack("580", action="replace"),
        dataclasses.replace(DEBIAN_535, runfile=True),
        {},
        "driver-mixed-install-methods: found a driver from packages and one from NVIDIA's .run installer; needed one "
        "of them. Set nvidia_driver_replace to true, so that both are removed and one is installed; or remove the one "
        "from .run with nvidia-uninstall --silent.",
        id="a mixed install",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        dataclasses.replace(DEBIAN, reboot_required=True, reboot_for=("libc6",)),
        {},
        "reboot-pending: found a reboot that libc6 asked for; needed the host rebooted before a driver is installed. "
        "Reboot it, or set nvidia_driver_reboot to true.",
        id="a pending reboot",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        dataclasses.replace(DEBIAN, boot_free=90 * 1024**2, initramfs=80 * 1024**2),
        {},
        "boot-too-full: found 90 MiB free in /boot; needed 160 MiB, twice the initramfs of 80 MiB, as the initramfs is "
        "made anew beside the old one. Remove old kernels with apt-get autoremove --purge.",
        id="no room in /boot",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        dataclasses.replace(DEBIAN, kernels=(Kernel(DEBIAN.kernel, offered=False),)),
        {},
        "kernel-headers-missing: found kernel 6.1.0-50-amd64 without headers, and no package with them; needed "
        "linux-headers-6.1.0-50-amd64, for which the module is built. Run apt-get update. If Debian has them no more, "
        "install linux-image-amd64 and linux-headers-amd64, and reboot.",
        id="no headers to be had",
    ),
    pytest.param(
        gpu(H100, secure_boot=True),
        stack("580"),
        dataclasses.replace(DEBIAN, key=Key("/var/lib/dkms/mok.pub", exists=True, enrolled=False)),
        {},
        "secure-boot-key-not-enrolled: found Secure Boot on, and modules that DKMS signs with /var/lib/dkms/mok.pub, "
        "which is not enrolled; needed a key that the firmware trusts, since the kernel says of others: Key was "
        "rejected by service. Run mokutil --import /var/lib/dkms/mok.pub and give a password. Reboot, and at the "
        "console press a key within 10 seconds, choose Enroll MOK and give the password. Or turn Secure Boot off at "
        "the provider.",
        id="Secure Boot and a key that is not enrolled",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        DEBIAN,
        {"method": "runfile", "runfile_version": "580.159.04"},
        "runfile-not-pinned: found nvidia_driver_method runfile without nvidia_driver_runfile_sha256; needed both, "
        "since the file is run as root. Set nvidia_driver_runfile_sha256, or nvidia_driver_method to auto.",
        id="a .run file without its checksum",
    ),
    pytest.param(
        gpu(H100),
        stack("580"),
        DEBIAN,
        {"method": "distribution"},
        "driver-branch-not-in-archive: found nvidia_driver_method distribution and branch 580 with open modules; "
        "needed one that Debian 12 has: 535 (open and proprietary). Set nvidia_driver_method to nvidia or auto.",
        id="Debian's archive is too old",
    ),
    pytest.param(
        gpu(V100),
        stack("580"),
        DEBIAN,
        {},
        "gpu-requires-proprietary-kernel-module: found Tesla V100 (Volta) and branch 580 with open kernel modules; "
        "needed proprietary kernel modules, the only ones that run it. Set nvidia_driver_flavour to proprietary or "
        "auto.",
        id="open modules on Volta",
    ),
    pytest.param(
        gpu(B200),
        stack("580", "proprietary"),
        DEBIAN,
        {},
        "gpu-requires-open-kernel-module: found NVIDIA B200 (Blackwell) and branch 580 with proprietary kernel "
        "modules; needed open kernel modules, the only ones that run it. Set nvidia_driver_flavour to open or auto.",
        id="proprietary modules on Blackwell",
    ),
]


@pytest.mark.parametrize(("facts", "wanted", "host", "wishes", "message"), CONFLICTS)
def test_what_stands_against_a_driver(
    facts: dict[str, Any], wanted: dict[str, str], host: DriverHost, wishes: dict[str, Any], message: str
) -> None:
    assert [problem.describe() for problem in make(facts, wanted, host=host, **wishes).conflicts] == [message]


def test_another_driver_is_purged_on_request_alone() -> None:
    planned = make(gpu(H100, driver=WITH_535), stack("580", action="replace"), host=DEBIAN_535, replace=True)
    assert planned.conflicts == []
    assert (planned.plan.action, planned.plan.reboot_required) == ("replace", True)
    assert planned.plan.purge == ["nvidia-kernel-dkms", "libcuda1", "nvidia-smi"]


def test_a_pending_reboot_is_done_first_where_it_is_allowed() -> None:
    planned = make(gpu(H100), stack("580"), host=dataclasses.replace(DEBIAN, reboot_required=True), reboot=True)
    assert (planned.conflicts, planned.plan.reboot_first) == ([], True)


def test_a_driver_that_an_ended_run_installed_is_finished() -> None:
    facts = gpu(V100, driver=driver("535.261.03", "proprietary", loaded=False), nouveau=True)
    wanted = {**stack("535", "proprietary"), "minimum": "525.60.13"}
    planned = make(facts, wanted, host=DEBIAN_535)
    assert planned.conflicts == []
    assert (planned.plan.action, planned.plan.packages, planned.plan.reboot_required) == ("finish", [], True)
    assert "driver 535.261.03 finished: it is installed, and no module of it is loaded." in planned.reasons


def test_with_the_key_enrolled_secure_boot_is_no_obstacle() -> None:
    host = dataclasses.replace(DEBIAN, key=Key("/var/lib/dkms/mok.pub", exists=True, enrolled=True))
    planned = make(gpu(H100, secure_boot=True), stack("580"), host=host)
    assert (planned.plan.action, planned.conflicts) == ("install", [])


def test_nvswitches_get_their_fabric_manager() -> None:
    planned = make(gpu(H100, nvswitch=4), stack("580"), NOBLE, UBUNTU)
    assert planned.plan.fabric_manager == ["nvidia-fabricmanager-580"]


def test_removal_takes_all_that_is_there() -> None:
    planned = make(gpu(V100, driver=WITH_535), None, host=DEBIAN_535, state="absent")
    assert planned.plan.action == "remove"
    assert planned.plan.purge == ["nvidia-kernel-dkms", "libcuda1", "nvidia-smi"]
    assert planned.plan.reboot_required
    assert make(gpu(V100), None, state="absent").plan == Plan()


def test_a_removed_driver_is_loaded_until_the_host_is_rebooted() -> None:
    assert make(gpu(V100, driver=WITH_535), None, state="absent").plan == Plan(reboot_required=True)


@pytest.mark.parametrize("state", ["unpacked", "half-configured", "half-installed"])
def test_a_driver_whose_packages_were_interrupted_is_completed(state: str) -> None:
    packages = [
        dataclasses.replace(package, state=state) for package in DEBIAN_535.packages if package.name == "libcuda1"
    ]
    host = dataclasses.replace(
        DEBIAN_535, packages=(*DEBIAN_535.packages[:2], *packages), half_configured=("libcuda1", *"abcdef")
    )
    wanted = {**stack("535", "proprietary"), "minimum": "525.60.13"}
    planned = make(gpu(V100, driver=driver("535.261.03", "proprietary", loaded=False)), wanted, host=host)
    assert planned.conflicts == []
    assert (planned.plan.action, planned.plan.packages[0]) == ("install", "nvidia-kernel-dkms")
    assert planned.reasons[-2:] == [
        "driver completed: found branch 535 from the distribution with proprietary kernel modules, and not all of it.",
        "packages finished first: the installation of libcuda1, a, b, c, d and 2 more ended early.",
    ]


def test_the_driver_of_an_image_is_told_by_the_kernel_that_it_will_boot() -> None:
    kernel = dataclasses.replace(DEBIAN_KERNEL, module="535.261.03")
    facts = gpu(driver={**WITH_535, "loaded": None, "on_disk": None})
    wishes = {"require_gpu": False, "branch": 535, "flavour": "proprietary", "method": "distribution"}
    built = dataclasses.replace(DEBIAN_535, kernel="6.18.44-builder", kernels=(kernel,))
    assert make(facts, None, host=built, **wishes).plan.action == "finish"
    not_built = dataclasses.replace(built, kernels=(DEBIAN_KERNEL,))
    assert make(facts, None, host=not_built, **wishes).plan.action == "install"


@pytest.mark.parametrize("root", sorted(path.name for path in ROOTS.iterdir() if path.is_dir()))
@pytest.mark.parametrize("os_facts", [BOOKWORM, NOBLE])
def test_a_captured_host_gets_a_plan_or_its_conflicts(root: str, os_facts: dict[str, str]) -> None:
    host = Host(str(ROOTS / root))
    planned = plan(Wishes(), stack("580"), _gpu_facts.gather(host, "nvidia-smi"), os_facts, _driver_host.gather(host))
    assert planned.reasons or planned.conflicts
