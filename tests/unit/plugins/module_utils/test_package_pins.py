# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requirements as vLLM's wheels have them."""

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._environment_facts import Metadata
from ansible_collections.nemotron.vllm.plugins.module_utils._package_pins import pin, satisfies
from hypothesis import given
from hypothesis import strategies as st

CPU_TORCH = (
    'torch==2.13.0+cpu; platform_machine == "x86_64" or platform_machine == "aarch64"',
    'torch==2.13.0; platform_system == "Darwin" or platform_machine == "ppc64le"',
)


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        (("torch==2.11.0",), "2.11.0"),
        (("torch (==2.11.0)",), "2.11.0"),
        (CPU_TORCH, "2.13.0+cpu"),
        (CPU_TORCH[::-1], "2.13.0+cpu"),
        (("torch>=2.11",), None),
        (("torchvision==0.26.0",), None),
        (('torch==1; extra == "zen"', "torch==2"), "2"),
        (('torch==1; python_version < "3.9"', 'torch==2; python_version >= "3.9"'), "2"),
        (('torch==1; sys_platform == "linux" and python_version in "3.11 3.12"',), "1"),
        (("torch==1; what is this", "torch==1; __import__('os')", 'torch==1; not extra == "x"'), None),
        ((), None),
    ],
)
def test_pin(requirements: tuple[str, ...], expected: str | None) -> None:
    metadata = Metadata(requirements={"vllm": requirements}, python="3.11.7", system="Linux", machine="x86_64")
    assert pin(metadata, "vllm", "torch") == expected


def test_pin_of_a_package_that_is_not_there() -> None:
    assert pin(Metadata(), None, "torch") is None


@given(st.text(max_size=30))
def test_any_marker_is_read_or_left(marker: str) -> None:
    metadata = Metadata(requirements={"vllm": (f"torch==1;{marker}",)}, python="3.11.7")
    assert pin(metadata, "vllm", "torch") in (None, "1")


@pytest.mark.parametrize(
    ("installed", "wanted", "expected"),
    [
        ("2.11.0+cu130", "2.11.0", True),
        ("2.11.0", "2.11.0+cu130", False),
        ("2.13.0+cpu", "2.13.0+cpu", True),
        ("2.13.0+CPU", "2.13.0+cpu", True),
        ("2.13", "2.13.0", True),
        ("2.11.0", "2.1.10", False),
        ("2.10", "2.1", False),
    ],
)
def test_satisfies(installed: str, wanted: str, expected: bool) -> None:
    assert satisfies(installed, wanted) is expected
