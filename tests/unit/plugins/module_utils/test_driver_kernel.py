# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kernels and what follows them."""

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _driver_kernel
from ansible_collections.nemotron.vllm.plugins.module_utils._distributions import distribution
from ansible_collections.nemotron.vllm.plugins.module_utils._dpkg_status import Package
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_kernel import Kernel
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("release", "flavour", "order"),
    [
        ("6.1.0-50-amd64", "amd64", (6, 1, 0, 50)),
        ("6.1.0-50-cloud-amd64", "cloud-amd64", (6, 1, 0, 50)),
        ("6.12.117+deb13-rt-amd64", "rt-amd64", (6, 12, 117, 13)),
        ("6.12.9+bpo-cloud-amd64", "cloud-amd64", (6, 12, 9)),
        ("6.5.0-0.deb12.4-amd64", "amd64", (6, 5, 0, 0, 12, 4)),
        ("5.15.0-203-generic", "generic", (5, 15, 0, 203)),
        ("6.8.0-1035-nvidia-lowlatency", "nvidia-lowlatency", (6, 8, 0, 1035)),
        ("6.6.87.2-microsoft-standard-WSL2", None, (6, 6, 87, 2, 2)),
        ("", None, ()),
    ],
)
def test_a_release_has_a_flavour_and_an_order(release: str, flavour: str | None, order: tuple[int, ...]) -> None:
    assert _driver_kernel.flavour_of(release) == flavour
    assert _driver_kernel.order(release) == order


def test_the_newest_kernel() -> None:
    kernels = [Kernel("6.1.0-9-amd64"), Kernel("6.1.0-50-amd64"), Kernel("5.10.0-99-amd64")]
    assert _driver_kernel.newest(kernels) == Kernel("6.1.0-50-amd64")
    assert _driver_kernel.newest([]) is None


def meta(name: str, release: str) -> Package:
    return Package(name, depends=f"linux-image-{release} (= 1.0)")


@pytest.mark.parametrize(
    ("system", "release", "packages", "expected"),
    [
        (("Debian", "12"), "6.1.0-50-amd64", [], "amd64"),
        (("Debian", "13"), "6.12.117+deb13-cloud-amd64", [], "cloud-amd64"),
        (("Debian", "12"), "6.18.44-fc-v1147", [], None),
        (("Debian", "12"), "6.1.0-50-amd64", [meta("linux-image-amd64", "6.1.0-50-amd64")], "amd64"),
        (("Ubuntu", "22.04"), "5.15.0-203-generic", [], "generic"),
        (("Ubuntu", "22.04"), "6.8.0-45-generic", [], "generic-hwe-22.04"),
        (("Ubuntu", "24.04"), "6.8.0-149-generic", [], "generic"),
        (("Ubuntu", "24.04"), "6.17.0-40-lowlatency", [], "lowlatency-hwe-24.04"),
        (("Ubuntu", "24.04"), "6.17.0-1014-nvidia", [], "nvidia-hwe-24.04"),
        (("Ubuntu", "22.04"), "5.15.0-1063-aws", [], "aws-lts-22.04"),
        (("Ubuntu", "22.04"), "6.8.0-1035-oracle", [], "oracle"),
        (("Ubuntu", "24.04"), "6.8.0-1035-ibm", [], None),
        (("Ubuntu", "24.04"), "6.8.0-1035-ibm", [meta("linux-image-ibm", "6.8.0-1035-ibm")], "ibm"),
        (
            ("Ubuntu", "22.04"),
            "6.8.0-45-generic",
            [
                meta("linux-image-virtual-hwe-22.04", "6.8.0-45-generic"),
                meta("linux-image-generic", "5.15.0-203-generic"),
            ],
            "generic-hwe-22.04",
        ),
        (
            ("Ubuntu", "24.04"),
            "6.8.0-149-generic",
            [meta("linux-image-virtual", "6.8.0-149-generic"), meta("linux-image-generic-6.8", "6.8.0-149-generic")],
            "generic-6.8",
        ),
        (("Ubuntu", "24.04"), "6.8.0-149-generic", [meta("linux-image-virtual", "6.8.0-149-generic")], "generic"),
        (
            ("Debian", "12"),
            "6.1.0-50-amd64",
            [Package("linux-image-rt-amd64", state="config-files", depends="linux-image-6.1.0-50-amd64")],
            "amd64",
        ),
    ],
)
def test_the_meta_package_that_a_kernel_comes_from(
    system: tuple[str, str], release: str, packages: list[Package], expected: str | None
) -> None:
    row = distribution(*system)
    assert row
    assert _driver_kernel.followed(release, packages, row) == expected


@pytest.mark.parametrize(
    ("release", "flavour", "expected"),
    [
        ("6.8.0-149-generic", "generic-hwe-22.04", "generic-hwe-22.04"),
        ("6.8.0-1035-aws", "aws", "aws"),
        ("6.8.0-1035-ibm", "ibm", None),
        ("6.8.0-149-generic", None, None),
        ("6.1.0-50-amd64", "amd64", None),
    ],
)
def test_kernels_with_signed_modules(release: str, flavour: str | None, expected: str | None) -> None:
    assert _driver_kernel.signed_modules(release, flavour) == expected


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("Linux version 6.1.0-50-amd64 (d@d) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU) 2.40)", "gcc-12"),
        ("Linux version 6.8.0-45-generic (b@l) (x86_64-linux-gnu-gcc-12 (Ubuntu 12.3.0-1ubuntu1) 12.3.0, G", "gcc-12"),
        ("Linux version 5.15.0-91-generic (b@l) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld", "gcc-11"),
        ("Linux version 6.18.44 (b@s) (gcc (GCC) 15.3.0, GNU ld", None),
        ("Linux version 6.6.1 (b@s) (clang version 17.0.6, LLD 17.0.6)", None),
        ("", None),
    ],
)
def test_the_compiler_of_a_kernel(version: str, expected: str | None) -> None:
    assert _driver_kernel.compiler_of(version, "11.4") == expected


@given(st.text())
def test_any_text(text: str) -> None:
    _driver_kernel.flavour_of(text)
    _driver_kernel.order(text)
    _driver_kernel.compiler_of(text, text)
