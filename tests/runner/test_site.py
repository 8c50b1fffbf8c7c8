# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a bare server to a checked answer, again without a change, and back on its feet after every interruption."""

from __future__ import annotations

import pytest
from conftest import Droplet, run_until
from deployment import run

# The house rule that keeps a second run fast.
MOST_TASKS = 45


def test_check_mode_on_a_bare_host_changes_nothing(droplet: Droplet) -> None:
    before = droplet.ssh("dpkg-query -W; getent passwd; ls -A /opt /etc/systemd/system")
    outcome = run("site.yml", droplet.inventories, check=True)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks
    assert droplet.ssh("dpkg-query -W; getent passwd; ls -A /opt /etc/systemd/system") == before


@pytest.mark.parametrize(
    ("task", "seconds"),
    [
        ("Install the packages that uv needs", 2),
        ("Install uv", 0.5),
        ("Install the environment", 3),
        ("Keep a verified copy of the model", 0.7),
        ("Ensure the server runs and is ready", 8),
    ],
)
def test_killed_in_the_middle(droplet: Droplet, task: str, seconds: float) -> None:
    run_until(droplet, task, seconds)


def test_power_cut_in_the_middle(droplet: Droplet) -> None:
    droplet.power_cut()
    droplet.up()


def test_repeating_it_finishes_the_work(droplet: Droplet) -> None:
    outcome = run("site.yml", droplet.inventories)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert droplet.verdict()["ok"] is True


def test_a_second_run_changes_nothing(droplet: Droplet) -> None:
    pid = droplet.ssh("systemctl show --property MainPID vllm-nemotron")
    outcome = run("site.yml", droplet.inventories)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []
    assert outcome.tasks_per_host[droplet.name] <= MOST_TASKS
    assert droplet.ssh("systemctl show --property MainPID vllm-nemotron") == pid


def test_check_mode_on_a_converged_host_has_nothing_to_change(droplet: Droplet) -> None:
    outcome = run("site.yml", droplet.inventories, check=True)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []


def test_a_reboot_brings_the_answer_back(droplet: Droplet) -> None:
    droplet.power_cut()
    droplet.up()
    outcome = run("site.yml", droplet.inventories)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []


@pytest.mark.parametrize(
    "damage",
    [
        "dd if=/dev/zero of={file} bs=1 seek=4096 count=64 conv=notrunc status=none",
        "rm {file}",
        "truncate --size=-1 {file}",
    ],
    ids=["altered", "missing", "cut short"],
)
def test_a_damaged_model_file_is_put_right(droplet: Droplet, damage: str) -> None:
    file = droplet.ssh("ls /opt/nemotron/models/*/*/model.safetensors").strip()
    good = droplet.ssh(f"sha256sum {file}")
    droplet.ssh("sudo " + damage.format(file=file))
    assert damage.startswith("rm") or droplet.ssh(f"sha256sum {file}") != good
    outcome = run("site.yml", droplet.inventories)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert droplet.ssh(f"sha256sum {file}") == good


def test_verify_alone(droplet: Droplet) -> None:
    outcome = run("playbooks/verify.yml", droplet.inventories)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []


def test_a_wrong_answer_fails_and_says_so(droplet: Droplet) -> None:
    outcome = run("playbooks/verify.yml", droplet.inventories, variables={"nemotron_serve_expect": "Atlantis"})
    assert outcome.status == "failed"
    assert "Atlantis" in outcome.failures[0]
    assert droplet.verdict()["ok"] is False
