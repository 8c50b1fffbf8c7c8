# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._variables import unknown_variables

OPTIONS = {
    "nemotron_serve": ["nemotron_serve_model", "nemotron_serve_port"],
    "conda_env": ["conda_env_lock"],
}
SHARED = ["nemotron_root"]

CASES = [
    pytest.param(["nemotron_serve_model", "nemotron_root", "conda_env_lock"], [], id="known"),
    pytest.param(["ansible_host", "my_own", "conda_envy"], [], id="not ours"),
    pytest.param(
        ["nemotron_serve_modle"],
        ["nemotron_serve_modle is no variable of nemotron_serve. Did you mean nemotron_serve_model?"],
        id="near",
    ),
    pytest.param(["conda_env_zzz"], ["conda_env_zzz is no variable of conda_env."], id="far"),
    pytest.param(
        ["nemotron_rot"],
        ["nemotron_rot is no variable of this collection. Did you mean nemotron_root?"],
        id="shared",
    ),
    pytest.param(
        ["nemotron_serve_x", "conda_env_y"],
        ["conda_env_y is no variable of conda_env.", "nemotron_serve_x is no variable of nemotron_serve."],
        id="several, sorted",
    ),
]


@pytest.mark.parametrize(("names", "expected"), CASES)
def test_unknown_variables(names: list[str], expected: list[str]) -> None:
    assert [unknown.describe() for unknown in unknown_variables(names, OPTIONS, SHARED)] == expected
