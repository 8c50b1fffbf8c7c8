# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the probe's lines mean."""

from __future__ import annotations

import json

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._environment_facts import (
    Damage,
    Environment,
    Metadata,
    parse_probe,
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
