# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _service_state as states

# Recorded on Debian 12 (systemd 252).
SHOW = """Result=success
NRestarts=0
ExecMainCode=0
ExecMainStatus=0
MainPID=695
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
InvocationID=6a1f0c0de2d94a0c8b9fb8d1f6e5a0c1
"""
RUNNING = states.parse_show(SHOW)


def test_parse_show() -> None:
    assert (
        states.Service(
            load_state="loaded",
            active_state="active",
            sub_state="running",
            result="success",
            main_pid=695,
            killed=False,
            exit_status="0",
            restarts=0,
            invocation_id="6a1f0c0de2d94a0c8b9fb8d1f6e5a0c1",
            enabled=True,
        )
        == RUNNING
    )


@pytest.mark.parametrize("text", ["", "garbage\n", "MainPID=\nNRestarts=x\n"])
def test_parse_show_of_nothing(text: str) -> None:
    service = states.parse_show(text)
    assert (service.main_pid, service.restarts, service.running, service.enabled) == (0, 0, False, False)


FINGERPRINTS = [
    {"/a": "1"},
    {"/a": "2"},
    {"/a": None},
    {"/a": ""},
    {"/a": "-"},
    {"/b": "1"},
    {"/a": "1", "/b": "1"},
    {},
]


def test_every_difference_changes_the_fingerprint() -> None:
    assert len({states.fingerprint_of(contents) for contents in FINGERPRINTS}) == len(FINGERPRINTS)


def test_the_order_of_files_does_not() -> None:
    assert states.fingerprint_of({"/a": "1", "/b": "2"}) == states.fingerprint_of({"/b": "2", "/a": "1"})


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ("HOME=/x\0NEMOTRON_FINGERPRINT=abc\0", "abc"),
        ("NOT_NEMOTRON_FINGERPRINT=abc\0", None),
        ("", None),
    ],
)
def test_fingerprint_in_environment(environ: str, expected: str | None) -> None:
    assert states.fingerprint_in_environment(environ) == expected


def test_a_drop_in_gives_back_its_fingerprint() -> None:
    line = states.drop_in("abc").splitlines()[-1]
    assert states.fingerprint_in_environment(line.removeprefix("Environment=") + "\0") == "abc"


@pytest.mark.parametrize(
    ("change", "started_with", "expected"),
    [
        ({}, "abc", []),
        ({"active_state": "activating", "sub_state": "start"}, "abc", []),
        ({}, "old", ["its files have changed since it was started"]),
        ({}, None, ["its files have changed since it was started"]),
        ({"active_state": "inactive", "main_pid": 0}, None, ["it is inactive"]),
        ({"active_state": "activating", "sub_state": "auto-restart", "main_pid": 0}, "abc", ["it is activating"]),
        ({"active_state": "failed", "main_pid": 0, "result": "oom-kill"}, "abc", ["it is failed (oom-kill)"]),
        ({"active_state": "", "main_pid": 0}, None, ["it is not loaded"]),
    ],
)
def test_reasons_to_restart(change: dict[str, Any], started_with: str | None, expected: list[str]) -> None:
    assert states.reasons_to_restart(dataclasses.replace(RUNNING, **change), started_with, "abc") == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, None),
        ({"active_state": "activating", "sub_state": "start"}, None),
        ({"active_state": "failed", "result": "exit-code", "exit_status": "1"}, "it failed (exit-code, exit status 1)"),
        (
            {"active_state": "failed", "result": "start-limit-hit"},
            "it failed so often that systemd has given up (start limit)",
        ),
        (
            {"active_state": "failed", "result": "signal", "killed": True, "exit_status": "9"},
            "it failed (signal, signal 9)",
        ),
        ({"active_state": "inactive"}, "its process ended (success, exit status 0)"),
        ({"active_state": "deactivating"}, "its process ended (success, exit status 0)"),
        (
            {"active_state": "activating", "sub_state": "auto-restart"},
            "its process ended (success, exit status 0) and systemd starts it again",
        ),
        (
            {"active_state": "activating", "sub_state": "auto-restart-queued"},
            "its process ended (success, exit status 0) and systemd starts it again",
        ),
        (
            {"invocation_id": "other", "restarts": 3, "result": "exit-code", "exit_status": "1"},
            "its process ended (exit-code, exit status 1) and systemd starts it again, 3 times so far",
        ),
        ({"invocation_id": "other"}, "its process ended (success, exit status 0) and systemd starts it again"),
    ],
)
def test_end_of(change: dict[str, Any], expected: str | None) -> None:
    assert states.end_of(dataclasses.replace(RUNNING, **change), RUNNING.invocation_id) == expected


@pytest.mark.parametrize(("code", "killed"), [("0", False), ("1", False), ("2", True), ("3", True), ("", False)])
def test_a_process_that_was_killed(code: str, killed: bool) -> None:
    assert states.parse_show(f"ExecMainCode={code}\n").killed is killed
