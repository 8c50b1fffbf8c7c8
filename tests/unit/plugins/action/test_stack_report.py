# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table is shown once, written for the user, and a host that no stack fits is refused after it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.task import Task
from ansible.template import Templar
from ansible_collections.nemotron.vllm.plugins.action import stack_report

CONFLICT = {
    "code": "cuda-runtime-newer-than-driver",
    "found": "driver 535.129.03",
    "needed": "driver 580.65.06 or newer",
    "fix": "Set nvidia_driver_manage to true.",
}
CPU: dict[str, Any] = {
    "gpu": {"gpus": [], "driver": {"loaded": None}, "problems": []},
    "stack": {"driver": None, "cuda": None, "torch": "2.13.0", "vllm": "0.32.0", "python": "3.11"},
    "reasons": [],
    "conflicts": [],
    "violations": [],
}
STACKS = {"cpu-1": CPU, "old": {**CPU, "stack": None, "conflicts": [CONFLICT]}}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(stack_report.display, "display", texts.append)
    return texts


def report(host: str, **arguments: Any) -> dict[str, Any]:
    task = Task()
    task.action = "nemotron.vllm.stack_report"
    task.args = {"stacks": STACKS, **arguments}
    loader = DataLoader()
    action = stack_report.ActionModule(
        task=task,
        connection=SimpleNamespace(_shell=SimpleNamespace(tmpdir=None)),
        play_context=SimpleNamespace(check_mode=True, diff=False),
        loader=loader,
        templar=Templar(loader=loader, variables={}),
        shared_loader_obj=None,
    )
    return action.run(task_vars={"inventory_hostname": host})


def test_the_first_host_shows_and_writes_the_table(shown: list[str], tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert report("cpu-1", path=str(path)) == {"changed": False}
    assert [line.split()[0] for line in shown[0].splitlines()[:3]] == ["HOST", "cpu-1", "old"]
    assert json.loads(path.read_text(encoding="utf-8")) == STACKS
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_another_host_is_refused_without_showing_it_again(shown: list[str], tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert report("old", path=str(path)) == {
        "changed": False,
        "failed": True,
        "msg": "There is no stack that fits this host and these wishes:\n- cuda-runtime-newer-than-driver: found "
        "driver 535.129.03; needed driver 580.65.06 or newer. Set nvidia_driver_manage to true.",
    }
    assert shown == []
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_named(shown: list[str], tmp_path: Path) -> None:
    with pytest.raises(AnsibleActionFail) as error:
        report("cpu-1", path=str(tmp_path / "none" / "report.json"))
    assert error.value.message == f"path: cannot write {tmp_path}/none/report.json: No such file or directory."


def test_stacks_of_another_shape_are_refused(shown: list[str]) -> None:
    with pytest.raises(AnsibleActionFail) as error:
        report("host", stacks={"host": {"gpu": {}}})
    assert error.value.message == (
        "stacks: found KeyError('stack'); needed for each host a dictionary with gpu of gpu_facts, violations of "
        "version_triple, and stack, reasons and conflicts of stack_info."
    )
