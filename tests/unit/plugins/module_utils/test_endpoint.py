# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _endpoint as endpoint
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError

QUESTION = endpoint.Question(
    model="nano",
    text="Capital of Germany?",
    expect="berlin",
    system_prompt=None,
    max_tokens=64,
    chat_template_kwargs={},
)


def reply(status: int, content: Any) -> endpoint.Reply:
    return endpoint.Reply(status, content if isinstance(content, str) else json.dumps(content))


def answer(**message: Any) -> endpoint.Reply:
    return reply(200, {"choices": [{"message": message}]})


MODELS = [
    pytest.param(reply(200, {"data": [{"id": "nano"}, {"id": "other"}]}), True, "nano, other", id="named"),
    pytest.param(reply(200, {"data": [{"id": "other"}]}), False, "other", id="another"),
    pytest.param(reply(200, {"data": []}), False, "no model", id="none"),
    pytest.param(
        reply(401, {"error": "Unauthorized"}), False, 'HTTP 401: {"error": "Unauthorized"}', id="without a key"
    ),
    pytest.param(reply(0, "no answer from http://x: refused"), False, "no answer from http://x: refused", id="refused"),
    pytest.param(reply(200, "<html>"), False, "HTTP 200: <html>", id="not JSON"),
    pytest.param(reply(200, {"data": ["nano"]}), False, "None", id="another shape"),
    pytest.param(reply(200, {"data": 7}), False, "no model", id="a number"),
]


@pytest.mark.parametrize(("given", "ok", "found"), MODELS)
def test_judge_models(given: endpoint.Reply, ok: bool, found: str) -> None:
    check = endpoint.judge_models(given, "nano")
    assert (check.ok, check.found, check.needed) == (ok, found, "nano")


ANSWERS = [
    pytest.param(answer(content="It is BERLIN."), True, "It is BERLIN.", id="right"),
    pytest.param(answer(content="Paris"), False, "Paris", id="wrong"),
    pytest.param(answer(content=""), False, "an empty answer", id="empty"),
    pytest.param(
        answer(content=None, reasoning="berlin?"), False, "no answer: all 64 tokens went into reasoning", id="reasoning"
    ),
    pytest.param(
        reply(500, {"error": {"message": "EngineCore encountered an issue."}}),
        False,
        'HTTP 500: {"error": {"message": "EngineCore encountered an issue."}}',
        id="engine dead",
    ),
    pytest.param(reply(200, {"choices": []}), False, 'HTTP 200: {"choices": []}', id="no choice"),
    pytest.param(reply(200, {"choices": ["x"]}), False, 'HTTP 200: {"choices": ["x"]}', id="another shape"),
    pytest.param(reply(200, "[]"), False, "HTTP 200: []", id="a list"),
    pytest.param(answer(content=["Berlin"]), True, "['Berlin']", id="a list of parts"),
    pytest.param(
        answer(content=None, reasoning_content="berlin?"),
        False,
        "no answer: all 64 tokens went into reasoning",
        id="reasoning under its older name",
    ),
    pytest.param(answer(content="x" * 400), False, "x" * 300 + " ...", id="long"),
]


@pytest.mark.parametrize(("given", "ok", "found"), ANSWERS)
def test_judge_answer(given: endpoint.Reply, ok: bool, found: str) -> None:
    check = endpoint.judge_answer(given, QUESTION)
    assert (check.ok, check.found) == (ok, found)
    assert check.describe() == f"answer: asked Capital of Germany?; found {found}; needed an answer that matches berlin"


def stream(*texts: str, error: str | None = None, tokens: int | None = 9) -> endpoint.Stream:
    pieces = tuple(endpoint.Piece(float(number), text) for number, text in enumerate(texts))
    return endpoint.Stream(pieces, error, tokens)


STREAMS = [
    pytest.param(stream("Ber", "lin"), "Berlin", True, "2 pieces: Berlin", id="equal"),
    pytest.param(stream("Berlin"), "Berlin", False, "1 piece: Berlin", id="in one piece"),
    pytest.param(stream("Berlin", tokens=None), "Berlin", False, "1 piece: Berlin", id="of unknown length"),
    pytest.param(stream("4", tokens=2), "4", True, "1 piece: 4", id="a single token"),
    pytest.param(stream("", "", "4"), "4", True, "3 pieces: 4", id="a single token after reasoning"),
    pytest.param(stream(tokens=1), "", False, "0 pieces: ", id="no token"),
    pytest.param(stream("Par", "is"), "Berlin", False, "2 pieces: Paris", id="other text"),
    pytest.param(stream(), "Berlin", False, "0 pieces: ", id="nothing"),
    pytest.param(stream("Ber", "lin"), None, False, "2 pieces: Berlin", id="no whole answer"),
    pytest.param(
        stream("Ber", "lin", error="EngineCore encountered an issue"),
        "Berlin",
        False,
        "2 pieces: Berlin; it ended with EngineCore encountered an issue",
        id="died at the end",
    ),
]


@pytest.mark.parametrize(("given", "whole", "ok", "found"), STREAMS)
def test_judge_stream(given: endpoint.Stream, whole: str | None, ok: bool, found: str) -> None:
    check = endpoint.judge_stream(given, whole, QUESTION)
    assert (check.ok, check.found) == (ok, found)


EVENTS = [
    ("data: [DONE]", None),
    ("", None),
    (": comment", None),
    ('data: {"a": 1}\n', {"a": 1}),
    ("data: {broken", {"error": {"message": "not JSON: {broken"}}),
    ("data: 3", {"error": {"message": "not an object: 3"}}),
]


@pytest.mark.parametrize(("line", "expected"), EVENTS)
def test_read_event(line: str, expected: dict[str, Any] | None) -> None:
    assert endpoint.read_event(line) == expected


def delta(text: str | None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text, **more}}]}


def test_collect_keeps_the_pieces_that_hold_text() -> None:
    events = [(0.1, delta("")), (0.2, delta("Ber")), (0.4, delta("lin")), (0.5, delta(None))]
    events.append((0.6, {"choices": [], "usage": {"completion_tokens": 2}}))
    collected = endpoint.collect(events, None)
    assert collected == endpoint.Stream((endpoint.Piece(0.2, "Ber"), endpoint.Piece(0.4, "lin")), None, 2)
    assert endpoint.timings(collected) == {"ttft_ms": 200.0, "itl_ms": 200.0, "total_ms": 400.0, "completion_tokens": 2}


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_counts_for_the_times_and_not_for_the_text(name: str) -> None:
    events = [(0.1, delta(None, **{name: "Hm"})), (0.3, delta(None, **{name: "."})), (0.5, delta("Berlin"))]
    collected = endpoint.collect(events, None)
    assert collected.text == "Berlin"
    times = endpoint.timings(collected)
    assert (times["ttft_ms"], times["itl_ms"], times["total_ms"]) == (100.0, 200.0, 500.0)


@pytest.mark.parametrize(
    "event", [{"choices": 3}, {"choices": ["x"]}, {"choices": [{"delta": "x"}]}, {"usage": "many"}, {"choices": None}]
)
def test_collect_passes_over_what_it_does_not_know(event: dict[str, Any]) -> None:
    assert endpoint.collect([(0.1, event)], None) == endpoint.Stream((), None, None)


def test_collect_reports_an_error_inside_a_stream() -> None:
    assert endpoint.collect([(0.1, {"error": {"message": "dead"}})], None).error == "dead"
    assert endpoint.collect([(0.1, {"error": "dead"})], None).error == "dead"
    assert endpoint.collect([], "a broken connection").error == "a broken connection"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stream(tokens=0), {"ttft_ms": None, "itl_ms": None, "total_ms": None, "completion_tokens": 0}),
        (stream("a", tokens=1), {"ttft_ms": 0.0, "itl_ms": None, "total_ms": 0.0, "completion_tokens": 1}),
    ],
)
def test_timings_of_short_streams(given: endpoint.Stream, expected: dict[str, Any]) -> None:
    assert endpoint.timings(given) == expected


def test_a_question_is_asked_so_that_it_can_be_repeated() -> None:
    body = QUESTION.body(stream=False)
    assert (body["temperature"], body["seed"], body["stream"]) == (0, 0, False)
    assert body["messages"] == [{"role": "user", "content": "Capital of Germany?"}]
    assert "chat_template_kwargs" not in body
    assert "stream_options" not in body


def test_a_question_with_everything() -> None:
    question = endpoint.Question("m", "q", "e", "Be brief.", 8, {"enable_thinking": False})
    body = question.body(stream=True)
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["stream_options"] == {"include_usage": True}


def test_a_pattern_that_is_none_is_refused() -> None:
    endpoint.require_pattern("expect", "4|four")
    with pytest.raises(NemotronError) as error:
        endpoint.require_pattern("expect", "(4")
    assert str(error.value) == (
        "expect: found '(4' (missing ), unterminated subpattern at position 0); needed a regular expression."
    )


@pytest.mark.parametrize("key", ["sesame\nX-Other: 1", "sesame street", "s\u00e9same", "\u20ac", " "])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(NemotronError) as error:
        endpoint.require_key("api_key", key)
    assert str(error.value) == (
        "api_key: found a key with blanks, line breaks or letters outside ASCII; needed one without."
    )


def test_an_ordinary_key_is_accepted() -> None:
    endpoint.require_key("api_key", "sk-abc_DEF.123/+==")
