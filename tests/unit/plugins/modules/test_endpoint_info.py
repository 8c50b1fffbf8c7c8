# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module against a real HTTP server on loopback that behaves as vLLM does."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import endpoint_info

Ask = Callable[..., dict[str, Any]]
PIECE_SECONDS = 0.02


class Server(ThreadingHTTPServer):
    """What the test may change about the answers."""

    daemon_threads = True
    answer = "It is Berlin."
    streamed = ("It is", " Berlin.")
    key: str | None = None
    health = 200
    status = 200
    breaks_stream = False
    cuts_its_error = False
    seconds = 0.0
    tokens = 4
    requests: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.0"

    def log_message(self, *args: Any) -> None:
        pass

    def reply(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refused(self) -> bool:
        if self.server.key and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            self.reply(401, {"error": f"Unauthorized: {self.headers.get('Authorization')}"})
            return True
        return False

    def do_GET(self) -> None:
        if self.path == "/health":
            self.send_response(self.server.health)
            self.end_headers()
        elif not self.refused():
            self.reply(200, {"data": [{"id": "nano"}]})

    def do_POST(self) -> None:
        if self.refused():
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        time.sleep(self.server.seconds)
        if self.server.cuts_its_error:
            self.send_response(500)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b'{"error":')
        elif self.server.status != 200:
            self.reply(self.server.status, {"error": {"message": "EngineCore encountered an issue."}})
        elif not body["stream"]:
            self.reply(200, {"choices": [{"message": {"content": self.server.answer}}]})
        else:
            self.stream()

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if self.server.breaks_stream:
            self.send_header("Content-Length", "100000")
        self.end_headers()
        for text in self.server.streamed:
            self.event({"choices": [{"delta": {"content": text}}]})
            time.sleep(PIECE_SECONDS)
        if not self.server.breaks_stream:
            self.event({"choices": [], "usage": {"completion_tokens": self.server.tokens}})
            self.wfile.write(b"data: [DONE]\n\n")

    def event(self, content: Any) -> None:
        self.wfile.write(f"data: {json.dumps(content)}\n\n".encode())
        self.wfile.flush()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.requests = []
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def ask(server: Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(endpoint_info, "DEATH_SECONDS", 0.0)

    def call(**arguments: Any) -> dict[str, Any]:
        defaults = {"url": f"http://127.0.0.1:{server.server_port}", "model": "nano", "timeout": 10}
        with patch_module_args({**defaults, **arguments}), pytest.raises(SystemExit):
            endpoint_info.main()
        result: dict[str, Any] = json.loads(capfd.readouterr().out)
        return result

    return call


def test_a_good_endpoint(ask: Ask) -> None:
    result = ask()
    assert result["ok"] is True
    assert [check["name"] for check in result["checks"]] == ["models", "answer", "stream", "alive"]
    times = result["timings"]
    assert times["completion_tokens"] == 4
    # As the pieces came, not all at the end.
    assert 0 < times["ttft_ms"] <= times["total_ms"] - PIECE_SECONDS * 1000 * 0.9
    assert PIECE_SECONDS * 1000 * 0.9 <= times["itl_ms"] <= times["total_ms"]
    assert "failed" not in result
    assert "msg" not in result


def test_proxies_of_the_environment_are_not_used_for_loopback(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask()["ok"] is True


def test_only_the_checks_that_were_asked_for(ask: Ask, server: Server) -> None:
    result = ask(checks=["models"])
    assert [check["name"] for check in result["checks"]] == ["models", "alive"]
    assert result["timings"] == {}
    assert server.requests == []


def test_a_wrong_answer_fails_with_what_was_asked_found_and_needed(ask: Ask, server: Server) -> None:
    server.answer, server.streamed = "It is Paris.", ("It is", " Paris.")
    result = ask()
    assert result["failed"] is True
    assert result["msg"] == (
        f"http://127.0.0.1:{server.server_port} does not answer as it must:\n"
        "- answer: asked What is the capital of Germany?; found It is Paris.; needed an answer that matches Berlin"
    )


def test_not_strict_reports_without_failing(ask: Ask, server: Server) -> None:
    server.answer = "It is Paris."
    result = ask(strict=False)
    assert result["ok"] is False
    assert "failed" not in result
    assert "found It is Paris." in result["msg"]


def test_an_engine_that_dies_on_the_first_request(ask: Ask, server: Server) -> None:
    server.status, server.health = 500, 503
    result = ask(strict=False)
    found = {check["name"]: check["found"] for check in result["checks"] if not check["ok"]}
    assert found["answer"] == 'HTTP 500: {"error": {"message": "EngineCore encountered an issue."}}'
    assert found["alive"] == "HTTP 503"
    assert "it ended with HTTP 500" in found["stream"]


def test_a_stream_that_breaks_off(ask: Ask, server: Server) -> None:
    server.breaks_stream = True
    (check,) = [check for check in ask(strict=False)["checks"] if check["name"] == "stream"]
    assert check["ok"] is False
    assert check["found"].startswith("2 pieces: It is Berlin.; it ended with a connection that was cut before the end")


def test_a_missing_key_is_shown_as_the_server_says_it(ask: Ask, server: Server) -> None:
    server.key = "sesame"
    result = ask(strict=False)
    assert result["checks"][0]["found"] == 'HTTP 401: {"error": "Unauthorized: None"}'


def test_a_wrong_key_is_not_shown_even_if_the_server_shows_it(ask: Ask, server: Server, tmp_path: Path) -> None:
    server.key = "sesame"
    key = tmp_path / "key"
    key.write_text("wrong-canary\n", encoding="utf-8")
    for given in ({"api_key": "wrong-canary"}, {"api_key_file": str(key)}):
        result = ask(strict=False, **given)
        assert result["checks"][0]["found"].startswith('HTTP 401: {"error": "Unauthorized: Bearer ')
        assert "canary" not in json.dumps(result)


def test_a_key_from_a_file_is_sent_and_not_shown(ask: Ask, server: Server, tmp_path: Path) -> None:
    server.key = "sesame-canary"
    key = tmp_path / "key"
    key.write_text("sesame-canary\n", encoding="utf-8")
    result = ask(api_key_file=str(key))
    assert result["ok"] is True
    assert "sesame-canary" not in json.dumps(result)


def test_a_key_as_option_is_not_shown(ask: Ask, server: Server) -> None:
    server.key = "sesame-canary"
    result = ask(api_key="sesame-canary")
    assert result["ok"] is True
    assert "sesame-canary" not in json.dumps(result)


def test_an_empty_key_file_is_an_error(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "none"
    result = ask(api_key_file=str(path))
    assert result["msg"] == (
        f"api_key_file: found no key in {path}; needed a file on the host whose first line is the key."
    )


def test_a_key_file_that_cannot_be_read_is_an_error(ask: Ask, tmp_path: Path) -> None:
    assert ask(api_key_file=str(tmp_path))["msg"] == (
        f"api_key_file: found no way to read {tmp_path} (Is a directory); "
        "needed a file on the host whose first line is the key."
    )


BAD_INPUT = [
    ({"api_key": "canary\nX-Other: 1"}, "api_key: found a key with blanks, line breaks or letters outside ASCII;"),
    ({"expect": "("}, "expect: found '(' (missing ), unterminated subpattern at position 0);"),
    ({"url": "127.0.0.1:8000"}, "url: found '127.0.0.1:8000'; needed the address of the server without a path,"),
    ({"url": "http://127.0.0.1:8000/v1"}, "url: found 'http://127.0.0.1:8000/v1'; needed the address"),
]


@pytest.mark.parametrize(("arguments", "beginning"), BAD_INPUT)
def test_bad_input_is_refused_before_anything_is_asked(
    ask: Ask, server: Server, arguments: dict[str, Any], beginning: str
) -> None:
    result = ask(**arguments)
    assert result["failed"] is True
    assert result["msg"].startswith(beginning)
    assert "canary" not in json.dumps(result)
    assert server.requests == []


def test_a_server_that_is_silent(ask: Ask, server: Server) -> None:
    server.seconds = 1.5
    result = ask(timeout=1, strict=False, checks=["answer", "stream"])
    found = {check["name"]: check["found"] for check in result["checks"]}
    url = f"http://127.0.0.1:{server.server_port}"
    assert found["answer"] == f"no answer from {url}: silence for 1 s (timeout)"
    assert found["stream"] == "0 pieces: ; it ended with a broken connection (silence for 1 s (timeout))"


def test_an_error_that_is_cut_in_the_middle(ask: Ask, server: Server) -> None:
    server.cuts_its_error = True
    result = ask(strict=False, checks=["answer"])
    assert result["checks"][0]["found"].startswith("HTTP 500: IncompleteRead(9 bytes read")


def test_an_answer_of_one_token_may_come_in_one_piece(ask: Ask, server: Server) -> None:
    server.answer, server.streamed, server.tokens = "4", ("4",), 2
    assert ask(expect="4")["ok"] is True
    server.tokens = 9
    assert ask(expect="4", strict=False)["ok"] is False


def test_nobody_listens(ask: Ask) -> None:
    result = ask(url="http://127.0.0.1:9", strict=False)
    assert result["ok"] is False
    assert result["checks"][0]["found"].startswith("no answer from http://127.0.0.1:9: ")
    assert all(not check["ok"] for check in result["checks"])


def test_the_question_goes_out_as_given(ask: Ask, server: Server) -> None:
    ask(
        question="What is 2+2?",
        expect="berlin",
        system_prompt="Be brief.",
        chat_template_kwargs={"enable_thinking": False},
    )
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2+2?"},
    ]
    assert server.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}


class Host:
    """A systemctl and a journalctl that answer as the test says; molecule/systemd_unit has the real ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state()
        self.journal("")

    def state(self, **changes: str) -> None:
        properties = {
            "LoadState": "loaded",
            "ActiveState": "active",
            "SubState": "running",
            "InvocationID": "aa11",
            **changes,
        }
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        (self.folder / "show").write_text(text, encoding="utf-8")

    def afterwards(self, **changes: str) -> None:
        """Let systemctl tell this from its second answer on."""
        (self.folder / "show").rename(self.folder / "first")
        self.state(**changes)

    def journal(self, text: str) -> None:
        (self.folder / "journal").write_text(text, encoding="utf-8")

    @property
    def asked(self) -> str:
        """What journalctl was asked for."""
        return (self.folder / "asked").read_text(encoding="utf-8")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    programs = {
        "systemctl": f"cd {tmp_path}; [ -e first ] && {{ cat first; rm first; exit; }}; cat show",
        "journalctl": f'echo "$@" >{tmp_path}/asked; cat {tmp_path}/journal',
    }
    for name, script in programs.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return Host(tmp_path)


ENGINE_ERROR = "(EngineCore pid=7) ERROR 12-01 11:18:56 [core.py:1512] RuntimeError: Boolean value is ambiguous\n"


def alive(result: dict[str, Any]) -> dict[str, Any]:
    """Return the check that follows the others."""
    check: dict[str, Any] = result["checks"][-1]
    assert check["name"] == "alive"
    return check


def test_a_unit_that_runs_on(ask: Ask, host: Host) -> None:
    result = ask(unit="vllm")
    assert result["ok"] is True
    assert alive(result)["found"] == "HTTP 200"
    assert "engine_error" not in result


def test_an_engine_that_died_is_named_with_its_error(ask: Ask, host: Host, server: Server) -> None:
    server.status, server.health = 500, 503
    host.journal(ENGINE_ERROR)
    host.afterwards(ActiveState="activating", SubState="auto-restart")
    result = ask(unit="vllm")
    assert alive(result)["found"] == "HTTP 503; vllm is activating (auto-restart)"
    assert result["engine_error"] == "RuntimeError: Boolean value is ambiguous"
    assert result["msg"].endswith("\n- the engine's error: RuntimeError: Boolean value is ambiguous")
    assert "--since" not in host.asked
    assert "_SYSTEMD_INVOCATION_ID=aa11" in host.asked


def test_a_process_that_was_replaced_is_noticed_though_it_answers(ask: Ask, host: Host) -> None:
    host.afterwards(InvocationID="bb22")
    result = ask(unit="vllm", strict=False)
    assert alive(result)["ok"] is False
    assert alive(result)["found"] == "HTTP 200; vllm ended, was started again and is active (running)"


def test_a_unit_that_does_not_exist_is_said_so(ask: Ask, host: Host) -> None:
    host.state(LoadState="not-found", ActiveState="inactive", SubState="dead", InvocationID="")
    result = ask(unit="vlm", strict=False)
    assert alive(result)["found"] == "HTTP 200; unit: systemd knows no vlm"
    assert result["engine_error"] is None


def test_errors_of_long_ago_are_not_the_reason_of_a_wrong_answer(ask: Ask, host: Host) -> None:
    before = int(time.time())
    ask(unit="vllm", expect="Atlantis")
    since = int(host.asked.split("--since=@")[1].split()[0])
    assert before <= since <= time.time()
