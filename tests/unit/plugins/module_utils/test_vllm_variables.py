# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._compatibility import version_tuple
from ansible_collections.nemotron.vllm.plugins.module_utils._vllm_variables import VARIABLES, is_read, problems


@pytest.mark.parametrize(
    ("name", "version", "read"),
    [
        ("VLLM_CPU_KVCACHE_SPACE", "0.32.0", True),
        ("VLLM_CPU_KVCACHE_SPACE", "99.0", True),
        ("VLLM_USE_V1", "0.6.3", False),
        ("VLLM_USE_V1", "0.6.4", True),
        ("VLLM_USE_V1", "0.11.0", True),
        ("VLLM_USE_V1", "0.11.2", False),
        ("VLLM_ATTENTION_BACKEND", "0.11.2", True),
        ("VLLM_ATTENTION_BACKEND", "0.33.0", False),
        ("VLLM_USE_FLASHINFER_MOE_FP8", "0.33.0", False),
        ("VLLM_NO_SUCH_THING", "0.33.0", False),
    ],
)
def test_since_and_until(name: str, version: str, read: bool) -> None:
    assert is_read(name, version) is read


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], []),
        (["HF_HOME", "VLLM_LOGGING_LEVEL", "CUDA_VISIBLE_DEVICES"], []),
        (
            ["VLLM_USE_V1"],
            [
                "environment-variable-ignored: found VLLM_USE_V1 in systemd_unit_environment; needed a variable that "
                "vLLM 0.33.0 reads. It is read from 0.6.4 to 0.11.0; remove it from systemd_unit_environment, and look "
                "for an option of vllm serve in its place."
            ],
        ),
        (
            ["VLLM_LOGING_LEVEL"],
            [
                "environment-variable-ignored: found VLLM_LOGING_LEVEL in systemd_unit_environment; needed a variable "
                "that vLLM 0.33.0 reads. Did you mean VLLM_LOGGING_LEVEL? If a plug-in reads it, give it in "
                "systemd_unit_environment_file; else remove it from systemd_unit_environment."
            ],
        ),
    ],
)
def test_variables_that_are_ignored(names: list[str], expected: list[str]) -> None:
    found = problems(names, "0.33.0", "systemd_unit_environment")
    assert [problem.describe() for problem in found] == expected


def test_the_table_is_whole() -> None:
    for name, (since, until) in VARIABLES.items():
        assert name.startswith("VLLM_")
        assert until is None or version_tuple(since) <= version_tuple(until)
