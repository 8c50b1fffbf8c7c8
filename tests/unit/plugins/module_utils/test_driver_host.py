# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is read from a host for the plan of a driver."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _driver_host
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_host import DkmsBuild, DriverHost, Key
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_kernel import Kernel
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host, recording_name
from hypothesis import given
from hypothesis import strategies as st

ROOTS = Path(__file__).resolve().parents[3] / "fixtures" / "roots"
Write = Callable[..., Host]
OLD, NEW = "6.1.0-49-amd64", "6.1.0-50-amd64"
UBUNTU_KEY = "/var/lib/shim-signed/mok/MOK.der"
DEBIAN_KEY = "/var/lib/dkms/mok.pub"
STATUS = """\
Package: nvidia-kernel-dkms
Status: hold ok installed
Version: 535.261.03-1

Package: nvidia-smi
Status: deinstall ok config-files
Version: 535.261.03-1

Package: linux-image-amd64
Status: install ok installed
Version: 6.1.176-1
Depends: linux-image-6.1.0-50-amd64 (= 6.1.176-1)

Package: postfix
Status: install ok half-configured
Version: 3.7.11
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a captured host: files by their paths, and what its programs say."""

    def write_host(files: dict[str, str], said: dict[str, str] | None = None) -> Host:
        recordings = {f"commands/{recording_name(command.split())}": text for command, text in (said or {}).items()}
        for name, text in {**files, **recordings}.items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Host(str(tmp_path))

    return write_host


def test_a_whole_host(write: Write) -> None:
    host = write(
        {
            "/proc/sys/kernel/osrelease": f"{OLD}\n",
            "/proc/version": f"Linux version {OLD}\n",
            f"/lib/modules/{OLD}/modules.builtin": "",
            f"/lib/modules/{OLD}/build/Makefile": "",
            f"/lib/modules/{NEW}/modules.builtin": "",
            "/lib/modules/6.1.0-40-amd64/updates/dkms/nvidia-current.ko": "",
            "/var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages": "",
            "/run/reboot-required": "*** System restart required ***\n",
            "/run/reboot-required.pkgs": "linux-image-6.1.0-50-amd64\nlibc6\nlibc6\n",
            "/boot/initrd.img-6.1.0-49-amd64": "x" * 300,
            "/boot/initrd.img-6.1.0-50-amd64": "x" * 200,
            "/var/lib/dpkg/status": STATUS,
            "/usr/bin/nvidia-uninstall": "",
            "/etc/os-release": 'NAME="Debian GNU/Linux"\nID=debian\n',
            DEBIAN_KEY: "",
            "/sys/class/infiniband/mlx5_0/device/vpd": "SMDL=SW_MNG",
            "/sys/class/infiniband/mlx5_1/device/vpd": "ConnectX-7",
        },
        {
            f"modinfo -k {OLD} -F version nvidia": "535.261.03\n",
            f"apt-cache policy linux-headers-{NEW}": f"linux-headers-{NEW}:\n  Candidate: 6.1.176-1\n",
            "modinfo -F signer nvidia": "DKMS module signing key\n",
            f"mokutil --test-key {DEBIAN_KEY}": f"{DEBIAN_KEY} is not enrolled\n",
            "dkms status": f"nvidia-current/535.261.03, {OLD}, x86_64: installed\n",
        },
    )
    found = _driver_host.gather(host)
    assert found == DriverHost(
        kernel=OLD,
        version=f"Linux version {OLD}",
        kernels=(Kernel(OLD, True, None, "535.261.03"), Kernel(NEW, False, True, None)),
        reboot_required=True,
        reboot_for=("linux-image-6.1.0-50-amd64", "libc6"),
        boot_free=None,
        initramfs=300,
        packages=found.packages,
        half_configured=("postfix",),
        key=Key(DEBIAN_KEY, exists=True, enrolled=False),
        signer="DKMS module signing key",
        runfile=True,
        dkms=(DkmsBuild("nvidia-current", "535.261.03", OLD, "installed"),),
        nvswitch_managers=1,
    )
    assert [package.name for package in found.packages] == ["nvidia-kernel-dkms", "nvidia-smi", "linux-image-amd64"]
    assert [(package.name, package.held) for package in found.driver] == [
        ("nvidia-kernel-dkms", True),
        ("nvidia-smi", False),
    ]
    assert (found.running, found.next) == (found.kernels[0], found.kernels[1])


def test_a_host_with_nothing(write: Write) -> None:
    found = _driver_host.gather(write({}))
    assert found == DriverHost()
    assert (found.running, found.next, found.driver) == (None, None, ())


def test_the_live_host_can_be_read() -> None:
    found = _driver_host.gather(Host())
    assert found.boot_free is None or found.boot_free >= 0


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ({f"apt-cache policy linux-headers-{NEW}": "linux-headers:\n  Candidate: (none)\n"}, False),
        ({f"apt-cache policy linux-headers-{NEW}": ""}, False),
        ({}, None),
    ],
)
def test_headers_that_apt_may_know(write: Write, said: dict[str, str], offered: bool | None) -> None:
    files = {f"/lib/modules/{NEW}/kernel/x.ko": "", "/var/lib/apt/lists/x_Packages.lz4": ""}
    assert _driver_host.gather(write(files, said)).kernels == (Kernel(NEW, False, offered),)


@pytest.mark.parametrize(
    ("files", "key"),
    [
        ({"/etc/os-release": "ID=ubuntu\n"}, Key(UBUNTU_KEY)),
        ({"/etc/os-release": "ID=debian\n"}, Key(DEBIAN_KEY)),
        (
            {
                "/etc/dkms/framework.conf": '# mok_certificate=/no\nmok_certificate="/root/own.der"\n',
                "/root/own.der": "",
            },
            Key("/root/own.der", exists=True),
        ),
    ],
)
def test_the_key_of_dkms(write: Write, files: dict[str, str], key: Key) -> None:
    assert _driver_host.gather(write(files)).key == key


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("/k is already enrolled", (True, False)),
        ("/k is already in db", (True, False)),
        ("/k is already in the enrollment request", (False, True)),
        ("/k is not enrolled", (False, False)),
        ("/k is blocked in dbx", (False, False)),
        ("EFI variables are not supported on this system", (None, False)),
        ("", (None, False)),
    ],
)
def test_what_mokutil_says_of_a_key(said: str, expected: tuple[bool | None, bool]) -> None:
    assert _driver_host.enrolment(said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "nvidia-current/535.261.03, 6.1.0-50-amd64, x86_64: installed",
            DkmsBuild("nvidia-current", "535.261.03", "6.1.0-50-amd64", "installed"),
        ),
        (
            "nvidia, 535.129.03, 5.15.0-91-generic, x86_64: built (WARNING! Missing some built modules!)",
            DkmsBuild("nvidia", "535.129.03", "5.15.0-91-generic", "built"),
        ),
        ("nvidia/595.71.05: added", DkmsBuild("nvidia", "595.71.05", None, "added")),
        ("zfs/2.1.11, 6.1.0-50-amd64, x86_64: installed", None),
        ("Error! Could not locate dkms.conf file.", None),
    ],
)
def test_what_dkms_says(said: str, expected: DkmsBuild | None) -> None:
    assert _driver_host.dkms_builds(said) == ((expected,) if expected else ())


@given(st.text())
def test_any_text(text: str) -> None:
    _driver_host.enrolment(text)
    _driver_host.dkms_builds(text)


@pytest.mark.parametrize("root", sorted(path.name for path in ROOTS.iterdir() if path.is_dir()))
def test_captured_hosts(root: str) -> None:
    found = _driver_host.gather(Host(str(ROOTS / root)))
    assert dataclasses.asdict(found)
    assert found.half_configured == ()
