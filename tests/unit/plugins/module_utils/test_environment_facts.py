# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the probe's lines mean, and which versions packages ask for."""

from __future__ import annotations

import json

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._environment_facts import (
    Damage,
    Environment,
    Metadata,
    parse_probe,
    pin,
    satisfies,
)
from hypothesis import given
from hypothesis import strategies as st


def test_the_parts_that_were_told_are_kept_when_the_rest_is_missing() -> None:
    lines = [
        '{"begin": "metadata"}',
        '{"stage": "metadata", "versions": {"vllm": "0.24.0"}, "damaged": {"torch": [{"file": "a.so", "size": null}]}}',
        '{"begin": "torch"}',
    ]
    environment = parse_probe("\n".join(lines), "one\n\ntwo\n", -11)
    assert environment.metadata == Metadata({"vllm": "0.24.0"}, damaged={"torch": (Damage("a.so", None, None),)})
    assert (environment.torch, environment.found_extensions) == (None, None)
    assert (environment.during, environment.killed_by, environment.words) == ("torch", "SIGSEGV", "one\ntwo")
    assert not environment.given_up


@pytest.mark.parametrize(
    ("rc", "stdout", "during", "killed_by", "given_up"),
    [
        (0, '{"begin": "platform"}\n{"stage": "end"}', "", None, False),
        (124, '{"begin": "vllm._C"}', "vllm._C", None, True),
        (-99, "", "its start", "signal 99", False),
        (1, "no JSON\n[1]\n7\n", "its start", None, False),
    ],
)
def test_how_it_ended(rc: int, stdout: str, during: str, killed_by: str | None, given_up: bool) -> None:
    environment = parse_probe(stdout, "", rc)
    assert (environment.during, environment.killed_by, environment.given_up) == (during, killed_by, given_up)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["versions", "requirements", "damaged", "library_path", "cpu_flags", "found", "chosen", "needs", "name", "mapped"]
)
STAGES = ["metadata", "torch", "torchvision", "extensions", "extension", "flash_attn", "libraries", "device", "end"]


@given(st.lists(st.tuples(st.sampled_from(STAGES), st.dictionaries(KEYS, JSON, max_size=4)), max_size=6), st.text())
def test_answers_of_another_shape_are_no_error(answers: list[tuple[str, dict[str, object]]], noise: str) -> None:
    lines = [json.dumps({"stage": stage, **answer}) for stage, answer in answers]
    assert isinstance(parse_probe("\n".join([*lines, noise]), noise, 0), Environment)


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
