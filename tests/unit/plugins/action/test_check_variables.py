# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.task import Task
from ansible.template import Templar
from ansible_collections.nemotron.vllm.plugins.action.check_variables import ActionModule

SPEC = """
argument_specs:
  main:
    options:
      web_port: {type: int, required: true}
      web_mode: {type: str, choices: [fast, safe], default: safe}
      web_engine: {type: str, required: true}
"""


@pytest.fixture
def roles_path(tmp_path: Path) -> Path:
    (tmp_path / "web" / "meta").mkdir(parents=True)
    (tmp_path / "web" / "meta" / "argument_specs.yml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def check(roles_path: Path, variables: dict[str, Any], roles: tuple[str, ...] = ("web",)) -> dict[str, Any]:
    loader = DataLoader()
    task = Task()
    task.action = "nemotron.vllm.check_variables"
    task.args = {"roles": list(roles), "roles_path": str(roles_path), "given_later": ["web_engine"], "shared": []}
    action = ActionModule(
        task=task,
        connection=SimpleNamespace(_shell=SimpleNamespace(tmpdir=None)),
        play_context=SimpleNamespace(check_mode=False, diff=False),
        loader=loader,
        templar=Templar(loader=loader, variables=variables),
        shared_loader_obj=None,
    )
    return action.run(task_vars=variables)


def test_good_variables_pass(roles_path: Path) -> None:
    result = check(roles_path, {"web_port": "80", "web_mode": "fast", "other": 1})
    assert result["problems"] == []
    assert not result.get("failed")


def test_all_problems_are_reported_at_once(roles_path: Path) -> None:
    result = check(roles_path, {"web_port": "eighty", "web_mode": "slow", "web_prot": 1})
    assert result["failed"]
    assert result["problems"][0] == "web_prot is no variable of web. Did you mean web_port?"
    assert len(result["problems"]) == 3
    assert "web: argument 'web_port' is of type str and we were unable to convert to int" in result["problems"][1]
    assert result["problems"][2] == "web: value of web_mode must be one of: fast, safe, got: slow"
    assert result["msg"].startswith("Nothing was changed, because these variables cannot be right:\n- web_prot is no")


def test_a_missing_required_variable_is_named(roles_path: Path) -> None:
    assert check(roles_path, {})["problems"] == ["web: missing required arguments: web_port"]


def test_a_role_without_specification_is_an_error(roles_path: Path) -> None:
    with pytest.raises(AnsibleError, match="The role shop has no readable argument specification at"):
        check(roles_path, {}, roles=("shop",))
