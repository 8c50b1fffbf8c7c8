# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""vLLM built from source: what the patch is for, and a build that is killed."""

from __future__ import annotations

import pytest
from conftest import Droplet, run_until
from deployment import run

SOURCE = {"vllm_build_method": "source"}


def test_without_the_patch_the_run_fails_at_the_checked_answer(droplet: Droplet) -> None:
    outcome = run("site.yml", droplet.inventories, variables={**SOURCE, "vllm_build_patches": []})
    assert outcome.status == "failed", outcome.output[-4000:]
    (failure,) = outcome.failures
    assert "Require that the endpoint answers" in failure
    assert "the engine's error: RuntimeError: Boolean value of Tensor with more than one value is ambiguous" in failure
    assert droplet.verdict()["ok"] is False


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        ("Build the wheel", 3),
        ("Install the wheel beside", 2),
    ],
)
def test_killed_in_the_middle(droplet: Droplet, task: str, seconds: float) -> None:
    run_until(droplet, task, seconds, SOURCE)


def test_repeating_it_with_the_patch_ends_in_an_answer(droplet: Droplet) -> None:
    outcome = run("site.yml", droplet.inventories, variables=SOURCE)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert droplet.verdict()["ok"] is True
    command = droplet.ssh("systemctl show --property ExecStart vllm-nemotron.service")
    assert "/bin/vllm serve --config" in command
    vllm = command.partition("path=")[2].partition(" ")[0]
    assert "0.32.0" in droplet.ssh(f"{vllm} --version")


def test_a_second_run_changes_nothing(droplet: Droplet) -> None:
    outcome = run("site.yml", droplet.inventories, variables=SOURCE)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []
