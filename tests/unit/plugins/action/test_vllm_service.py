# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The waiting on the controller, with the module's answers given in advance."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.action import vllm_service

Run = Callable[..., dict[str, Any]]

STARTED = {
    "changed": True,
    "reasons": ["it is inactive"],
    "ready": False,
    "phase": "loading",
    "invocation_id": "aa11",
}
LOADING = {**STARTED, "changed": False, "reasons": [], "journal": ["first line", "last line"]}
READY = {**STARTED, "changed": False, "reasons": [], "ready": True, "phase": "ready"}
DEAD = {"changed": False, "reasons": [], "ready": False, "failed": True, "msg": "it died"}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the user sees meanwhile."""
    lines: list[str] = []
    monkeypatch.setattr(vllm_service.display, "display", lines.append)
    return lines


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> Run:
    monkeypatch.setattr(vllm_service, "POLL_SECONDS", 0.0)

    def call(*answers: dict[str, Any], check_mode: bool = False, timeout: int | None = 600) -> dict[str, Any]:
        action = vllm_service.ActionModule(
            task=SimpleNamespace(
                args={"name": "vllm", "timeout": timeout}, async_val=0, check_mode=check_mode, diff=False
            ),
            connection=SimpleNamespace(_shell=SimpleNamespace(tmpdir=None)),
            play_context=SimpleNamespace(check_mode=check_mode, diff=False),
            loader=None,
            templar=None,
            shared_loader_obj=None,
        )
        remaining = list(answers)
        asked: list[dict[str, Any]] = []

        def answer(task_vars: Any, **more: Any) -> dict[str, Any]:
            asked.append(more)
            return remaining.pop(0) if len(remaining) > 1 else remaining[0]

        monkeypatch.setattr(action, "_call", answer)
        result = action.run(task_vars={"inventory_hostname": "droplet"})
        return {**result, "asked": asked}

    return call


def test_a_ready_service_is_asked_once(run: Run, shown: list[str]) -> None:
    result = run(READY)
    assert (result["changed"], result["ready"], result["asked"], shown) == (False, True, [{}], [])


def test_a_start_is_watched_until_it_is_ready(run: Run, shown: list[str]) -> None:
    result = run(STARTED, LOADING, READY)
    assert (result["changed"], result["ready"], result["phase"]) == (True, True, "ready")
    assert result["reasons"] == ["it is inactive"]
    assert result["asked"] == [{}, {"watch": "aa11"}, {"watch": "aa11"}]
    assert shown == ["droplet: 0 s: loading"]
    assert "journal" not in result


def test_a_phase_that_lasts_is_shown_again(run: Run, shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_service, "REPEAT_SECONDS", -1.0)
    run(STARTED, LOADING, LOADING, READY)
    assert shown == ["droplet: 0 s: loading"] * 2


def test_without_a_timeout_the_default_counts(run: Run) -> None:
    assert run(STARTED, LOADING, READY, timeout=None)["ready"] is True


def test_a_start_that_dies_fails_with_its_message(run: Run) -> None:
    result = run(STARTED, LOADING, DEAD)
    assert (result["failed"], result["msg"], result["changed"]) == (True, "it died", True)


def test_a_start_that_takes_too_long_fails(run: Run) -> None:
    result = run(STARTED, LOADING, timeout=-1)
    assert result["failed"] is True
    assert result["msg"] == (
        "vllm is not ready after -1 s; its state is still: loading. "
        "Look for the reason in its journal, or allow it more time (systemd_unit_start_timeout).\n"
        "The end of its journal:\nfirst line\nlast line"
    )
    assert (result["changed"], result["journal"]) == (True, ["first line", "last line"])


def test_check_mode_does_not_wait(run: Run) -> None:
    assert run(STARTED, check_mode=True)["asked"] == [{}]


def test_a_failure_of_the_module_is_returned(run: Run) -> None:
    result = run({"failed": True, "msg": "url: found port 8000 taken"})
    assert (result["msg"], result["asked"]) == ("url: found port 8000 taken", [{}])
