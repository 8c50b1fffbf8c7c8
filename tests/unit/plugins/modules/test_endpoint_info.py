# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module against a real HTTP server on loopback that behaves as vLLM does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import endpoint_info

Ask = Callable[..., dict[str, Any]]


class Server(ThreadingHTTPServer):
    """What the test may change about the answers."""

    daemon_threads = True
    answer = "It is Berlin."
    streamed = ("It is", " Berlin.")
    key: str | None = None
    health = 200
    status = 200
    breaks_stream = False
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
            self.reply(401, {"error": "Unauthorized"})
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
        if self.server.status != 200:
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
        if not self.server.breaks_stream:
            self.event({"choices": [], "usage": {"completion_tokens": 4}})
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
    assert result["timings"]["completion_tokens"] == 4
    assert result["timings"]["ttft_ms"] >= 0
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
    assert result["checks"][0]["found"] == 'HTTP 401: {"error": "Unauthorized"}'


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
