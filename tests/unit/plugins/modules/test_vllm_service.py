# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module with a systemctl and a journalctl that answer as recorded; molecule/systemd_unit has the real ones."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.module_utils import _service_state
from ansible_collections.nemotron.vllm.plugins.modules import vllm_service

Run = Callable[..., dict[str, Any]]

STOPPED = {
    "LoadState": "loaded",
    "ActiveState": "inactive",
    "SubState": "dead",
    "Result": "success",
    "MainPID": "0",
    "ExecMainStatus": "0",
    "NRestarts": "0",
    "InvocationID": "",
    "UnitFileState": "disabled",
}
RUNNING = {
    **STOPPED,
    "ActiveState": "active",
    "SubState": "running",
    "InvocationID": "aa11",
    "UnitFileState": "enabled",
}


class Host:
    """A host with one unit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.input = folder / "serve.yaml"
        self.input.write_text("model: x\n", encoding="utf-8")
        self.state(STOPPED)
        self.journal("")

    def state(self, properties: dict[str, str]) -> None:
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        (self.folder / "show").write_text(text, encoding="utf-8")

    def journal(self, text: str) -> None:
        (self.folder / "journal").write_text(text, encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        """What systemctl was asked to change."""
        log = self.folder / "calls"
        return [line for line in log.read_text(encoding="utf-8").splitlines() if line] if log.exists() else []

    @property
    def drop_in(self) -> Path:
        return self.folder / "units" / "vllm-test.service.d" / "10-fingerprint.conf"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    programs = {
        "systemctl": f'[ "$1" = show ] && exec cat {tmp_path}/show; echo "$@" >> {tmp_path}/calls',
        "journalctl": f"cat {tmp_path}/journal",
    }
    for name, script in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(vllm_service, "UNITS", str(tmp_path / "units"))
    return Host(tmp_path)


@pytest.fixture
def run(host: Host, capfd: pytest.CaptureFixture[str]) -> Run:
    def call(**arguments: Any) -> dict[str, Any]:
        defaults = {"name": "vllm-test", "inputs": [str(host.input)], "url": "http://127.0.0.1:9"}
        given = {name: value for name, value in {**defaults, **arguments}.items() if value is not None}
        with patch_module_args(given), pytest.raises(SystemExit):
            vllm_service.main()
        result: dict[str, Any] = json.loads(capfd.readouterr().out)
        return result

    return call


def test_a_stopped_service_is_enabled_and_started(host: Host, run: Run) -> None:
    result = run()
    assert result["changed"] is True
    assert result["reasons"] == ["it is inactive", "it is not started at boot"]
    assert host.calls == [
        "daemon-reload",
        "enable vllm-test.service",
        "reset-failed vllm-test.service",
        "restart vllm-test.service",
    ]
    assert f"NEMOTRON_FINGERPRINT={result['fingerprint']}" in host.drop_in.read_text(encoding="utf-8")


def test_check_mode_predicts_the_same_and_changes_nothing(host: Host, run: Run) -> None:
    result = run(_ansible_check_mode=True)
    assert (result["changed"], result["reasons"]) == (True, ["it is inactive", "it is not started at boot"])
    assert host.calls == []
    assert not host.drop_in.exists()


def started_with(host: Host, monkeypatch: pytest.MonkeyPatch, fingerprint: str) -> None:
    """Let the unit's main process be one that was started with this fingerprint."""
    host.state({**RUNNING, "MainPID": "4242"})
    real = vllm_service.read_text

    def read_text(path: str) -> str | None:
        return f"NEMOTRON_FINGERPRINT={fingerprint}\0" if path == "/proc/4242/environ" else real(path)

    monkeypatch.setattr(vllm_service, "read_text", read_text)


def present_fingerprint(host: Host) -> str:
    path = str(host.input)
    return _service_state.fingerprint_of({path: host.input.read_text(encoding="utf-8")})


def test_a_service_that_runs_what_its_files_say_is_left_alone(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint = present_fingerprint(host)
    host.drop_in.parent.mkdir(parents=True)
    host.drop_in.write_text(_service_state.drop_in(fingerprint), encoding="utf-8")
    started_with(host, monkeypatch, fingerprint)
    result = run()
    assert (result["changed"], result["reasons"], host.calls) == (False, [], [])


def test_a_process_that_was_started_from_other_files_is_restarted(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As after a run that was killed between writing the file and restarting the service.
    started_with(host, monkeypatch, "of older files")
    result = run()
    assert result["reasons"] == ["its files have changed since it was started"]
    assert host.calls[-1] == "restart vllm-test.service"


def test_check_mode_predicts_a_restart_for_files_that_would_change(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    result = run(inputs_changed=True, _ansible_check_mode=True)
    assert (result["changed"], result["reasons"]) == (True, ["its files would change"])


def refuse_restart(host: Host) -> None:
    """Let systemctl refuse a restart, as it does for a unit that is masked."""
    program = host.folder / "bin" / "systemctl"
    script = program.read_text(encoding="utf-8")
    refusal = 'if [ "$1" = restart ]; then echo "Unit vllm-test.service is masked." >&2; exit 1; fi'
    program.write_text(f"{script}{refusal}\n", encoding="utf-8")


def test_a_restart_that_systemd_refuses_is_not_taken_for_ready(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The old process runs on, and answers.
    monkeypatch.setattr(vllm_service.Unit, "healthy", lambda unit: True)
    started_with(host, monkeypatch, "of older files")
    refuse_restart(host)
    assert run()["msg"] == (
        "vllm-test.service cannot be started: systemctl restart vllm-test.service ended with 1:\n"
        "Unit vllm-test.service is masked."
    )


def test_a_first_start_that_systemd_refuses_is_an_error(host: Host, run: Run) -> None:
    refuse_restart(host)
    assert run()["msg"].startswith("vllm-test.service cannot be started: ")


def test_a_lost_drop_in_is_written_without_a_restart(host: Host, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    result = run()
    assert (result["changed"], result["reasons"]) == (True, ["its fingerprint is not recorded"])
    assert host.calls == ["daemon-reload"]
    assert host.drop_in.exists()


def test_a_service_that_is_not_started_at_boot_is_enabled_without_a_restart(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    host.state({**RUNNING, "MainPID": "4242", "UnitFileState": "disabled"})
    result = run()
    assert result["reasons"] == ["it is not started at boot"]
    assert host.calls == ["daemon-reload", "enable vllm-test.service"]


def test_a_folder_among_the_inputs_is_an_error(run: Run, tmp_path: Path) -> None:
    assert run(inputs=[str(tmp_path)])["msg"] == f"inputs: found a directory at {tmp_path}; needed a file."


def test_without_root_the_right_is_named(run: Run, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_text(path: str) -> str | None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(vllm_service, "read_text", read_text)
    assert run()["msg"] == f"vllm-test.service: found no right to use {host.input}; needed root (become: true)."


def test_a_url_that_is_none_is_refused(run: Run, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    assert run(url="127.0.0.1:8000")["msg"].startswith("url: found '127.0.0.1:8000'; needed the address")
    assert host.calls == []


@pytest.mark.parametrize(
    ("reply", "ready"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\n", True),
        (b"HTTP/1.0 503 Service Unavailable\r\n\r\n", False),
        (b"SSH-2.0-OpenSSH_9.2\r\n", False),
        (b"", False),
    ],
)
def test_ready_is_what_answers_its_health(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch, reply: bytes, ready: bool
) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    monkeypatch.setattr(vllm_service, "listeners", lambda port: [])
    # A proxy that nobody runs; it does not lead to loopback anyway.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=answer_once, args=(server, reply))
        answering.start()
        result = run(url=f"http://127.0.0.1:{server.getsockname()[1]}")
        answering.join()
    assert result["ready"] is ready


def answer_once(server: socket.socket, reply: bytes) -> None:
    """Take one connection, read the request, send this and nothing more."""
    server.settimeout(5)
    with contextlib.suppress(TimeoutError):
        connection, _address = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(reply)


def test_a_missing_input_is_an_error(host: Host, run: Run) -> None:
    host.input.unlink()
    result = run()
    assert result["msg"] == f"inputs: found no {host.input}; needed every file that defines vllm-test.service."


def test_a_taken_port_is_refused_before_the_start(host: Host, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run(url=f"http://127.0.0.1:{port}")
    assert result["failed"] is True
    assert result["msg"].startswith(f"url: found port {port} taken by ")
    assert result["msg"].endswith("vLLM can start all the same and silently share the requests.")
    assert host.calls == []
    assert not host.drop_in.exists()


def test_check_mode_predicts_that_the_port_is_refused(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run(url=f"http://127.0.0.1:{port}", _ansible_check_mode=True)
    assert result["msg"].startswith(f"url: found port {port} taken by ")


def test_a_stranger_who_answers_for_a_running_service_is_refused(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_with(host, monkeypatch, present_fingerprint(host))
    monkeypatch.setattr(vllm_service.Unit, "healthy", lambda unit: True)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run(url=f"http://127.0.0.1:{port}")
    assert result["msg"].startswith(f"url: found port {port} taken by ")


def test_watching_reports_the_phase(host: Host, run: Run) -> None:
    host.state({**RUNNING, "MainPID": "1"})
    host.journal("INFO Starting to load model /x...\n")
    result = run(watch="aa11")
    assert (result["changed"], result["ready"], result["phase"]) == (False, False, "loading the weights")
    assert result["journal"] == ["INFO Starting to load model /x..."]
    assert host.calls == []


def test_watching_a_death_names_the_reason(host: Host, run: Run) -> None:
    host.state({**RUNNING, "ActiveState": "activating", "SubState": "auto-restart", "MainPID": "0"})
    host.journal("(EngineCore pid=7) ERROR 12-01 11:18:56 [core.py:1512] ValueError: too large\nbye\n")
    result = run(watch="aa11")
    assert result["failed"] is True
    assert result["reason"] == "ValueError: too large"
    assert result["msg"] == (
        "vllm-test.service did not come up: its process ended (success, exit status 0) and systemd starts it again. "
        "The likely reason: ValueError: too large\nThe end of its journal:\n"
        "(EngineCore pid=7) ERROR 12-01 11:18:56 [core.py:1512] ValueError: too large\nbye"
    )


def test_stopping(host: Host, run: Run) -> None:
    host.state(RUNNING)
    result = run(state="stopped")
    assert (result["changed"], result["reasons"]) == (True, ["it runs", "it is started at boot"])
    assert host.calls == ["disable --now vllm-test.service"]


def test_stopping_what_is_stopped(host: Host, run: Run) -> None:
    assert run(state="stopped")["changed"] is False
    assert host.calls == []


def test_serving_needs_a_url(run: Run) -> None:
    assert run(url=None)["msg"] == "state is serving but all of the following are missing: url"
