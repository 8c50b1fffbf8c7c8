#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: endpoint_info
short_description: Ask a running endpoint and judge its answers
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Sends real requests to an OpenAI-compatible endpoint. C(/health) is not enough; a vLLM server has been seen to
    answer it with 200 and to die on the first request.
  - Says for each check what was asked, what was found and what is needed.
  - After the checks the server must still be alive, and be the same process as before.
  - No proxy of the environment is used for an address on loopback.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  url:
    description: Address of the server without a path, for example V(http://127.0.0.1:8000).
    type: str
    required: true
  api_key:
    description: Sent as a bearer token.
    type: str
  api_key_file:
    description: A file on the host whose first line is the key. Mutually exclusive with O(api_key).
    type: path
  model:
    description: The name under which the model is served.
    type: str
    required: true
  checks:
    description:
      - V(models) asks whether C(/v1/models) names the model.
      - V(answer) asks the question; the answer must match O(expect).
      - V(stream) asks it again as a stream, which must come in more than one piece and be the same text. An answer of
        a single token may come in one piece.
    type: list
    elements: str
    choices: [models, answer, stream]
    default: [models, answer, stream]
  question:
    description: A question whose answer can be checked.
    type: str
    default: What is the capital of Germany?
  expect:
    description: A regular expression that must be found in the answer, upper or lower case alike.
    type: str
    default: Berlin
  system_prompt:
    description: A system message before the question.
    type: str
  max_tokens:
    description: How long the answer may be. Reasoning counts as well.
    type: int
    default: 64
  chat_template_kwargs:
    description: Passed to the model's chat template, for example C(enable_thinking=false).
    type: dict
    default: {}
  unit:
    description: The systemd unit of the server. Its journal tells why a check failed.
    type: str
  timeout:
    description: How long the server may be silent during a request, in seconds.
    type: int
    default: 120
  strict:
    description: Fail when a check fails.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Ask the endpoint
  nemotron.vllm.endpoint_info:
    url: http://127.0.0.1:8000
    model: nano-4b
    chat_template_kwargs:
      enable_thinking: false
    unit: vllm-nemotron.service

- name: Ask about arithmetic, and report without failing
  nemotron.vllm.endpoint_info:
    url: http://127.0.0.1:8000
    model: nano-4b
    question: What is 2+2?
    expect: "4|four"
    strict: false
  register: endpoint
"""

RETURN = r"""
ok:
  description: Whether every check has passed.
  returned: always
  type: bool
checks:
  description: What was asked, found and needed.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The check; V(alive) is the one that follows the others.
      type: str
    ok:
      description: Whether it has passed.
      type: bool
    asked:
      description: The request.
      type: str
    found:
      description: What came.
      type: str
    needed:
      description: What must come.
      type: str
timings:
  description: Times of the streamed answer in milliseconds; empty when no stream was asked for.
  returned: always
  type: dict
  contains:
    ttft_ms:
      description: From the request to the first piece of the reasoning or the answer.
      type: float
    itl_ms:
      description: Mean time between the pieces after the first; a piece is mostly one token.
      type: float
    total_ms:
      description: From the request to the last token.
      type: float
    completion_tokens:
      description: Length of the answer as the server counts it.
      type: int
msg:
  description: Every check that failed, as sentences.
  returned: when a check failed
  type: str
engine_error:
  description:
    - The line of the unit's journal that most likely tells why a check failed. While the server lives, only what it has
      logged during the checks counts.
  returned: when a check failed and O(unit) is given
  type: str
"""

import contextlib
import http.client
import json
import socket
import time
import typing as t
import urllib.error
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url
from ansible_collections.nemotron.vllm.plugins.module_utils import _endpoint, _service_state, _startup_log
from ansible_collections.nemotron.vllm.plugins.module_utils._base_url import BaseUrl, parse_base_url
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text

# An engine that dies takes its API server with it within three seconds.
DEATH_SECONDS = 4.0
BROKEN = (OSError, http.client.HTTPException)


class Client:
    """Sends requests to one server."""

    def __init__(self, url: BaseUrl, timeout: int, key: str | None) -> None:
        self.url = url.text
        self.timeout = timeout
        self.use_proxy = not url.is_loopback
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self.headers["Authorization"] = f"Bearer {key}"

    def open(self, path: str, body: dict[str, t.Any] | None = None) -> t.Any:
        """Send a request; return the open response."""
        return open_url(
            self.url + path,
            method="GET" if body is None else "POST",
            data=None if body is None else json.dumps(body).encode(),
            headers=self.headers,
            timeout=self.timeout,
            use_proxy=self.use_proxy,
        )

    def ask(self, path: str, body: dict[str, t.Any] | None = None) -> _endpoint.Reply:
        """Send a request; return the whole reply, whatever its status."""
        try:
            with contextlib.closing(self.open(path, body)) as response:
                return _endpoint.Reply(response.status, response.read().decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            return self._refusal(error)
        except BROKEN as error:
            return _endpoint.Reply(0, f"no answer from {self.url}: {self._describe(error)}")

    def _refusal(self, error: urllib.error.HTTPError) -> _endpoint.Reply:
        """Return a reply whose status is an error; the connection may be cut before its body has come."""
        try:
            body = error.read().decode("utf-8", "replace")
        except BROKEN as broken:
            body = self._describe(broken)
        return _endpoint.Reply(error.code, body)

    def _describe(self, error: Exception) -> str:
        """Return what happened to a connection."""
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, socket.timeout):
            return f"silence for {self.timeout} s (timeout)"
        return str(reason) or type(reason).__name__

    def stream(self, path: str, body: dict[str, t.Any]) -> _endpoint.Stream:
        """Send a request; return the pieces of the reply with the time at which each arrived."""
        start = time.monotonic()
        events: list[tuple[float, dict[str, t.Any]]] = []
        # A connection that is cut reads like one that has ended; only the last line tells the difference.
        broken: str | None = "a connection that was cut before the end"
        try:
            with contextlib.closing(self.open(path, body)) as response:
                for line in iter(response.readline, b""):
                    if _endpoint.is_last_line(line.decode("utf-8", "replace")):
                        broken = None
                    event = _endpoint.read_event(line.decode("utf-8", "replace"))
                    if event is not None:
                        events.append((time.monotonic() - start, event))
        except urllib.error.HTTPError as error:
            broken = self._refusal(error).describe()
        except BROKEN as error:
            broken = f"a broken connection ({self._describe(error)})"
        return _endpoint.collect(events, broken)


class Unit:
    """The systemd unit behind the endpoint; none when the user named none."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.name = module.params["unit"]
        self.since = int(time.time())
        self.invocation_id = self.show().invocation_id if self.name else ""

    def show(self) -> _service_state.Service:
        """Return systemd's present view."""
        properties = ",".join(_service_state.PROPERTIES)
        return _service_state.parse_show(
            run(self.module, ["systemctl", "show", self.name, f"--property={properties}"]).stdout
        )

    def engine_error(self, *, alive: bool) -> str | None:
        """Return the line of its journal that names why the engine died, or why it did not answer as it must.

        A server that is still alive may have logged errors long ago that have nothing to do with this.
        """
        if not self.invocation_id:
            return None
        argv = ["journalctl", "--no-pager", "--output=cat", "--lines=2000"]
        if alive:
            argv.append(f"--since=@{self.since}")
        argv += [f"_SYSTEMD_INVOCATION_ID={self.invocation_id}", "+", f"INVOCATION_ID={self.invocation_id}"]
        return _startup_log.root_cause(run(self.module, argv).stdout)

    def alive(self, health: _endpoint.Reply) -> _endpoint.Check:
        """Judge whether the server that was asked is still there."""
        found = health.describe() if health.body else f"HTTP {health.status}"
        problem = self._problem() if self.name else None
        return _endpoint.Check(
            "alive",
            ok=health.status == http.client.OK and not problem,
            asked="GET /health after the other checks",
            found=f"{found}; {problem}" if problem else found,
            needed="HTTP 200 from the same process",
        )

    def _problem(self) -> str | None:
        """Tell what has become of the unit, or None when it runs as before."""
        service = self.show()
        if service.load_state != "loaded":
            return f"unit: systemd knows no {self.name}"
        state = f"is {service.active_state} ({service.sub_state})"
        if service.invocation_id != self.invocation_id:
            return f"{self.name} ended, was started again and {state}"
        return None if service.active_state == "active" else f"{self.name} {state}"


def examine(client: Client, unit: Unit, parameters: dict[str, t.Any]) -> tuple[list[_endpoint.Check], dict[str, t.Any]]:
    """Ask everything that was asked for; return the checks and the times."""
    question = _endpoint.Question(
        model=parameters["model"],
        text=parameters["question"],
        expect=parameters["expect"],
        system_prompt=parameters["system_prompt"],
        max_tokens=parameters["max_tokens"],
        chat_template_kwargs=parameters["chat_template_kwargs"],
    )
    checks, timings = [], {}
    if "models" in parameters["checks"]:
        checks.append(_endpoint.judge_models(client.ask("/v1/models"), question.model))
    if {"answer", "stream"} & set(parameters["checks"]):
        reply = client.ask("/v1/chat/completions", question.body(stream=False))
        if "answer" in parameters["checks"]:
            checks.append(_endpoint.judge_answer(reply, question))
        if "stream" in parameters["checks"]:
            stream = client.stream("/v1/chat/completions", question.body(stream=True))
            checks.append(_endpoint.judge_stream(stream, _endpoint.answer_text(reply), question))
            timings = _endpoint.timings(stream)
    if not all(check.ok for check in checks):
        time.sleep(DEATH_SECONDS)
    checks.append(unit.alive(client.ask("/health")))
    return checks, timings


def key_of(module: AnsibleModule) -> str | None:
    """Return the API key and keep it out of the output; raise NemotronError when there should be one and is none."""
    option, key = "api_key", module.params["api_key"]
    if module.params["api_key_file"]:
        option, path = "api_key_file", module.params["api_key_file"]
        try:
            lines = (read_text(path) or "").splitlines()
        except OSError as error:
            raise NemotronError(
                f"{option}: found no way to read {path} ({error.strerror}); "
                "needed a file on the host whose first line is the key."
            ) from error
        key = lines[0].strip() if lines else ""
        if not key:
            raise NemotronError(
                f"{option}: found no key in {path}; needed a file on the host whose first line is the key."
            )
        # Ansible hides the values of options by itself, and cannot know of this one.
        module.no_log_values.add(key)
    if key:
        _endpoint.require_key(option, key)
    return key


def main() -> None:
    """Ask, judge, report."""
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "api_key": {"type": "str", "no_log": True},
            "api_key_file": {"type": "path", "no_log": False},
            "model": {"type": "str", "required": True},
            "checks": {
                "type": "list",
                "elements": "str",
                "choices": ["models", "answer", "stream"],
                "default": ["models", "answer", "stream"],
            },
            "question": {"type": "str", "default": "What is the capital of Germany?"},
            "expect": {"type": "str", "default": "Berlin"},
            "system_prompt": {"type": "str"},
            "max_tokens": {"type": "int", "default": 64, "no_log": False},
            "chat_template_kwargs": {"type": "dict", "default": {}},
            "unit": {"type": "str"},
            "timeout": {"type": "int", "default": 120},
            "strict": {"type": "bool", "default": True},
        },
        mutually_exclusive=[("api_key", "api_key_file")],
        supports_check_mode=True,
    )
    try:
        _endpoint.require_pattern("expect", module.params["expect"])
        client = Client(parse_base_url("url", module.params["url"]), module.params["timeout"], key_of(module))
    except NemotronError as error:
        module.fail_json(msg=str(error))
    unit = Unit(module)
    checks, timings = examine(client, unit, module.params)
    failed = [check for check in checks if not check.ok]
    result: dict[str, t.Any] = {"ok": not failed, "checks": [asdict(check) for check in checks], "timings": timings}
    if failed:
        lines = [check.describe() for check in failed]
        result["engine_error"] = unit.engine_error(alive=checks[-1].ok)
        if result["engine_error"]:
            lines.append(f"the engine's error: {result['engine_error']}")
        result["msg"] = f"{client.url} does not answer as it must:\n- " + "\n- ".join(lines)
        if module.params["strict"]:
            module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
