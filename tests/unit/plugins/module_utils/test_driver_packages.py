# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of packages, by distribution, source, branch and flavour."""

from __future__ import annotations

import re

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _driver_packages as packages
from ansible_collections.nemotron.vllm.plugins.module_utils._distributions import DISTRIBUTIONS, distribution


def test_every_distribution_has_an_archive() -> None:
    assert set(packages.ARCHIVES) == {(row.name, row.version) for row in DISTRIBUTIONS}
    for row in DISTRIBUTIONS:
        archive = packages.archive(row)
        assert row.archive_driver in archive.branches
        assert set(archive.replaced.values()) <= set(archive.branches)
        assert not set(archive.replaced) & set(archive.branches)


@pytest.mark.parametrize(
    ("system", "branch", "flavour", "signed_for", "names"),
    [
        (
            ("Debian", "12"),
            535,
            "proprietary",
            None,
            ("nvidia-kernel-dkms", "libcuda1", "nvidia-smi", "nvidia-persistenced", "nvidia-modprobe"),
        ),
        (
            ("Debian", "13"),
            550,
            "open",
            None,
            ("nvidia-open-kernel-dkms", "libcuda1", "nvidia-smi", "nvidia-persistenced", "nvidia-modprobe"),
        ),
        (
            ("Ubuntu", "22.04"),
            580,
            "open",
            "generic-hwe-22.04",
            (
                "nvidia-headless-no-dkms-580-server-open",
                "linux-modules-nvidia-580-server-open-generic-hwe-22.04",
                "nvidia-utils-580-server",
                "nvidia-modprobe",
            ),
        ),
        (
            ("Ubuntu", "24.04"),
            580,
            "proprietary",
            None,
            (
                "nvidia-headless-no-dkms-580-server",
                "nvidia-dkms-580-server",
                "nvidia-utils-580-server",
                "nvidia-modprobe",
            ),
        ),
    ],
)
def test_the_distribution_s_archive(
    system: tuple[str, str], branch: int, flavour: str, signed_for: str | None, names: tuple[str, ...]
) -> None:
    row = distribution(*system)
    assert row
    assert packages.from_archive(row, branch, flavour, signed_for) == names


@pytest.mark.parametrize(
    ("system", "branch", "flavour", "names"),
    [
        (
            ("Debian", "13"),
            620,
            "open",
            (
                "nvidia-driver-pinning-620",
                "nvidia-driver-cuda",
                "nvidia-kernel-open-dkms",
                "nvidia-persistenced",
                "nvidia-modprobe",
            ),
        ),
        (
            ("Debian", "12"),
            580,
            "proprietary",
            (
                "nvidia-driver-pinning-580",
                "nvidia-driver-cuda",
                "nvidia-kernel-dkms",
                "nvidia-persistenced",
                "nvidia-modprobe",
            ),
        ),
        (
            ("Ubuntu", "24.04"),
            620,
            "open",
            (
                "nvidia-driver-pinning-620",
                "libnvidia-compute",
                "nvidia-dkms-open",
                "nvidia-persistenced",
                "nvidia-modprobe",
            ),
        ),
        (
            ("Ubuntu", "22.04"),
            580,
            "open",
            (
                "nvidia-driver-pinning-580",
                "libnvidia-compute-580",
                "nvidia-dkms-580-open",
                "nvidia-utils-580",
                "nvidia-compute-utils-580",
                "nvidia-modprobe",
            ),
        ),
    ],
)
def test_nvidia_s_repository(system: tuple[str, str], branch: int, flavour: str, names: tuple[str, ...]) -> None:
    row = distribution(*system)
    assert row
    assert packages.from_repository(row, branch, flavour) == names
    assert "cuda" not in names


def test_the_repository_of_each_distribution() -> None:
    assert [packages.repository_url(row).rpartition("repos/")[2] for row in DISTRIBUTIONS] == [
        "debian12/x86_64",
        "debian13/x86_64",
        "ubuntu2204/x86_64",
        "ubuntu2404/x86_64",
    ]
    assert packages.repository_branches() == (580, 590, 595, 610, 615, 620)


@pytest.mark.parametrize(
    ("method", "subnet_manager", "names"),
    [
        ("distribution", False, ("nvidia-fabricmanager-580",)),
        ("nvidia", False, ("nvidia-fabricmanager",)),
        ("nvidia", True, ("nvidia-fabricmanager", "nvlsm")),
    ],
)
def test_fabric_manager(method: str, subnet_manager: bool, names: tuple[str, ...]) -> None:
    assert packages.fabric_manager(method, 580, subnet_manager=subnet_manager) == names


DRIVER_S = [
    "cuda-drivers",
    "cuda-drivers-580",
    "firmware-nvidia-gsp",
    "glx-alternative-nvidia",
    "libcuda1",
    "libegl-nvidia0",
    "libgl1-nvidia-glvnd-glx",
    "libnvcuvid1",
    "libnvidia-cfg1",
    "libnvidia-compute",
    "libnvidia-compute-580-server",
    "libnvidia-ml1",
    "libnvidia-nscq",
    "libnvsdm",
    "libnvidia-ptxjitcompiler1",
    "libxnvctrl0",
    "linux-modules-nvidia-580-server-open-generic",
    "nvidia-alternative",
    "linux-objects-nvidia-580-server-open-6.8.0-45-generic",
    "nvidia-compute-utils",
    "nvidia-dkms-open",
    "nvidia-dkms-580-server",
    "nvidia-driver",
    "nvidia-driver-580-server-open",
    "nvidia-driver-cuda",
    "nvidia-driver-pinning-620",
    "nvidia-fabricmanager",
    "nvidia-fabricmanager-580",
    "nvidia-firmware-580-580.95.05",
    "nvidia-headless-no-dkms-580-server",
    "nvidia-imex",
    "nvidia-kernel-common",
    "nvidia-kernel-dkms",
    "nvidia-kernel-open-dkms",
    "nvidia-modprobe",
    "nvidia-open",
    "nvidia-open-kernel-dkms",
    "nvidia-persistenced",
    "nvidia-settings",
    "nvidia-smi",
    "nvidia-cuda-mps",
    "nvidia-utils-580-server",
    "nvlsm",
    "xserver-xorg-video-nvidia",
]
OTHERS = [
    "cuda-compat-13-0",
    "cuda-toolkit-13-0",
    "libcudart12",
    "libnvidia-container1",
    "libnvidia-container-tools",
    "linux-image-nvidia",
    "linux-modules-6.8.0-1010-nvidia",
    "linux-nvidia",
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "nvidia-cuda-toolkit",
    "nvidia-cuda-dev",
    "nvidia-docker2",
    "nvidia-profiler",
    "openssh-server",
]


@pytest.mark.parametrize(
    ("name", "expected"), [*((name, True) for name in DRIVER_S), *((name, False) for name in OTHERS)]
)
def test_what_belongs_to_a_driver(name: str, expected: bool) -> None:
    assert packages.of_the_driver(name) is expected
    # unattended-upgrades matches each pattern by itself.
    assert any(re.match(pattern, name) for pattern in packages.OF_THE_DRIVER) is expected


def test_patterns_stand_in_a_string_of_apt_s_configuration() -> None:
    assert not [pattern for pattern in packages.OF_THE_DRIVER if re.search(r'["\\;{}\s]', pattern)]
