# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The states of packages, and that no status file makes the parser raise."""

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._dpkg_status import Package, parse
from hypothesis import given
from hypothesis import strategies as st

STATUS = """\
Package: libcuda1
Status: hold ok installed
Maintainer: Debian NVIDIA Maintainers <pkg-nvidia-devel@lists.alioth.debian.org>
Version: 535.261.03-1
Depends: nvidia-support, nvidia-alternative (= 535.261.03-1)
Description: NVIDIA CUDA Driver Library
 Status: this is a description.

Package: nvidia-kernel-dkms
Status: install ok half-configured
Version: 535.261.03-1

Package: nvidia-smi
Status: deinstall ok config-files
Version: 535.247.01-1

Package: broken
Status: install reinstreq unpacked

Package: without-a-status

Status: install ok installed

Package: gone
Status: purge ok not-installed
"""


def test_the_states_of_packages() -> None:
    packages = {package.name: package for package in parse(STATUS)}
    assert list(packages) == ["libcuda1", "nvidia-kernel-dkms", "nvidia-smi", "broken", "gone"]
    assert packages["libcuda1"] == Package(
        "libcuda1",
        "535.261.03-1",
        "hold",
        "installed",
        "ok",
        "Debian NVIDIA Maintainers <pkg-nvidia-devel@lists.alioth.debian.org>",
        "nvidia-support, nvidia-alternative (= 535.261.03-1)",
    )
    states = {name: (each.installed, each.held, each.half, each.there) for name, each in packages.items()}
    assert states == {
        "libcuda1": (True, True, False, True),
        "nvidia-kernel-dkms": (False, False, True, True),
        "nvidia-smi": (False, False, False, True),
        "broken": (False, False, True, True),
        "gone": (False, False, False, False),
    }


@pytest.mark.parametrize(
    ("depends", "needs"),
    [
        ("linux-image-6.1.0-50-amd64 (= 6.1.176-1)", True),
        ("libc6, linux-image-6.1.0-50-amd64", True),
        ("linux-image-unsigned | linux-image-6.1.0-50-amd64:any", True),
        ("linux-image-6.1.0-50-amd64-unsigned", False),
        ("other-linux-image-6.1.0-50-amd64", False),
        ("", False),
    ],
)
def test_dependencies(depends: str, needs: bool) -> None:
    assert Package("linux-image-amd64", depends=depends).needs("linux-image-6.1.0-50-amd64") is needs


@given(st.text())
def test_any_text(text: str) -> None:
    parse(text)
    parse(f"Package: {text}\nStatus: {text}\n")
