# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a playbook of this collection from a program, as a CI job would. docs/ci.md shows this file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a run did: per host the number of changes, the names of changed tasks, and the failure messages."""

    status: str
    changed: Mapping[str, int]
    unreachable: Mapping[str, int]
    changed_tasks: Sequence[str]
    tasks_per_host: Mapping[str, int]
    failures: Sequence[str]
    output: str = field(repr=False)


def run(
    playbook: str,
    inventory: Sequence[Path],
    *,
    check: bool = False,
    variables: Mapping[str, Any] | None = None,
) -> Outcome:
    """Run a playbook to its end. A fresh folder each time: ansible-runner reuses the command line that it finds."""
    with tempfile.TemporaryDirectory() as private_data_dir:
        runner = ansible_runner.run(
            private_data_dir=private_data_dir,
            project_dir=str(CHECKOUT),
            playbook=playbook,
            inventory=[str(path) for path in inventory],
            extravars=dict(variables or {}),
            cmdline="--check --diff" if check else "--diff",
            envvars={"ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg")},
            quiet=True,
        )
        events = list(runner.events)
        return Outcome(
            status=runner.status,
            changed=dict(runner.stats["changed"]) if runner.stats else {},
            unreachable=dict(runner.stats["dark"]) if runner.stats else {},
            changed_tasks=[event["event_data"]["task"] for event in events if _changed(event)],
            tasks_per_host=_tasks_per_host(events),
            failures=[_message(event) for event in events if event["event"] in _FAILURES],
            output=runner.stdout.read(),
        )


_FAILURES = ("runner_on_failed", "runner_on_unreachable")
_ENDED = ("runner_on_ok", "runner_on_skipped", *_FAILURES)


def _changed(event: Mapping[str, Any]) -> bool:
    return event["event"] == "runner_on_ok" and bool(event["event_data"]["res"].get("changed"))


def _tasks_per_host(events: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in events:
        if event["event"] in _ENDED:
            host = event["event_data"]["host"]
            counts[host] = counts.get(host, 0) + 1
    return counts


def _message(event: Mapping[str, Any]) -> str:
    result = event["event_data"]["res"]
    return f"{event['event_data']['task']}: {result.get('msg', result)}"
