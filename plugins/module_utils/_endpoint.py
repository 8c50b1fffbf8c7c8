# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Questions for an OpenAI-compatible endpoint, and the judgement of its answers.

The requests and responses are those of vLLM, see https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html.
"""

from __future__ import annotations

import json
import re
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN_CHARACTERS = 300
_DONE = "[DONE]"


@dataclass(frozen=True)
class Check:
    """One thing that was asked of an endpoint, what came, and what must come."""

    name: str
    ok: bool
    asked: str
    found: str
    needed: str

    def describe(self) -> str:
        """Return the sentence for the user."""
        return f"{self.name}: asked {self.asked}; found {self.found}; needed {self.needed}"


@dataclass(frozen=True)
class Reply:
    """A response: its HTTP status (0 when there was none) and its body, or what went wrong."""

    status: int
    body: str

    def describe(self) -> str:
        """Return status and body as the server gave them, cut to a readable length."""
        return shorten(f"HTTP {self.status}: {self.body}" if self.status else self.body)


@dataclass(frozen=True)
class Stream:
    """A streamed answer: seconds since the request and text of each piece, and the error that ended it, if any."""

    pieces: tuple[tuple[float, str], ...]
    error: str | None
    tokens: int | None

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(text for seconds, text in self.pieces)


@dataclass(frozen=True)
class Question:
    """What is asked; C(expect) is a regular expression that must be found in the answer, whatever the case."""

    model: str
    text: str
    expect: str
    system_prompt: str | None
    max_tokens: int
    chat_template_kwargs: Mapping[str, t.Any]

    def body(self, *, stream: bool) -> dict[str, t.Any]:
        """Return the request for /v1/chat/completions, made so that asking twice gives the same answer."""
        messages = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        body: dict[str, t.Any] = {
            "model": self.model,
            "messages": [*messages, {"role": "user", "content": self.text}],
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "seed": 0,
            "stream": stream,
        }
        if self.chat_template_kwargs:
            body["chat_template_kwargs"] = dict(self.chat_template_kwargs)
        if stream:
            body["stream_options"] = {"include_usage": True}
        return body


def judge_models(reply: Reply, model: str) -> Check:
    """Judge the answer of /v1/models."""
    names = _model_names(reply)
    return Check(
        "models",
        ok=names is not None and model in names,
        asked="GET /v1/models",
        found=reply.describe() if names is None else ", ".join(names) or "no model",
        needed=model,
    )


def judge_answer(reply: Reply, question: Question) -> Check:
    """Judge a whole answer."""
    message = _message(reply)
    answer = (message or {}).get("content") or ""
    if message is None:
        found = reply.describe()
    elif answer:
        found = shorten(answer)
    elif message.get("reasoning") or message.get("reasoning_content"):
        found = f"no answer: all {question.max_tokens} tokens went into reasoning"
    else:
        found = "an empty answer"
    return Check(
        "answer",
        ok=re.search(question.expect, answer, re.IGNORECASE) is not None,
        asked=question.text,
        found=found,
        needed=f"an answer that matches {question.expect}",
    )


def judge_stream(stream: Stream, whole: str | None, question: Question) -> Check:
    """Judge a streamed answer beside the whole one; C(whole) is None when there was no whole answer."""
    text = stream.text
    several = len(stream.pieces) > 1
    found = f"{len(stream.pieces)} pieces: {shorten(text)}"
    if stream.error:
        found += f"; it ended with {shorten(stream.error)}"
    return Check(
        "stream",
        ok=several and not stream.error and text == whole,
        asked=f"{question.text} (streamed)",
        found=found,
        needed=f"more than one piece, together {shorten(whole) if whole else 'the answer that comes unstreamed'}",
    )


def answer_text(reply: Reply) -> str | None:
    """Return the text of a whole answer, None when the reply is none."""
    message = _message(reply)
    return None if message is None else message.get("content") or ""


def is_last_line(line: str) -> bool:
    """Tell whether a line of a server-sent event stream says that the stream is complete."""
    return line.startswith("data:") and line[len("data:") :].strip() == _DONE


def read_event(line: str) -> dict[str, t.Any] | None:
    """Return the JSON of one line of a server-sent event stream; None for lines that carry none."""
    if not line.startswith("data:"):
        return None
    data = line[len("data:") :].strip()
    if data in ("", _DONE):
        return None
    try:
        event = json.loads(data)
    except ValueError:
        return {"error": {"message": f"not JSON: {shorten(data)}"}}
    return event if isinstance(event, dict) else {"error": {"message": f"not an object: {shorten(data)}"}}


def collect(events: Sequence[tuple[float, Mapping[str, t.Any]]], broken: str | None) -> Stream:
    """Return the stream that consists of these events, each with its seconds since the request.

    C(broken) says how the connection ended when it did not end by itself.
    """
    pieces, error, tokens = [], broken, None
    for seconds, event in events:
        if "error" in event:
            detail = event["error"]
            error = detail.get("message", str(detail)) if isinstance(detail, dict) else str(detail)
        tokens = (event.get("usage") or {}).get("completion_tokens", tokens)
        for choice in event.get("choices") or []:
            text = (choice.get("delta") or {}).get("content")
            if text:
                pieces.append((seconds, text))
    return Stream(tuple(pieces), error, tokens)


def timings(stream: Stream) -> dict[str, float | int | None]:
    """Return the times of a stream in milliseconds: to the first token, between tokens, to the last."""
    if not stream.pieces:
        return {"ttft_ms": None, "itl_ms": None, "total_ms": None, "completion_tokens": stream.tokens}
    first, last = stream.pieces[0][0], stream.pieces[-1][0]
    gaps = len(stream.pieces) - 1
    return {
        "ttft_ms": round(first * 1000, 1),
        "itl_ms": round((last - first) / gaps * 1000, 1) if gaps else None,
        "total_ms": round(last * 1000, 1),
        "completion_tokens": stream.tokens,
    }


def shorten(text: str) -> str:
    """Return a text on one line and of a readable length."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + " ..."


def _json(reply: Reply) -> t.Any:
    try:
        return json.loads(reply.body)
    except ValueError:
        return None


def _model_names(reply: Reply) -> list[str] | None:
    content = _json(reply)
    if reply.status != 200 or not isinstance(content, dict):  # noqa: PLR2004  (the one status that is success)
        return None
    return [str(entry.get("id")) for entry in content.get("data") or []]


def _message(reply: Reply) -> dict[str, t.Any] | None:
    content = _json(reply)
    try:
        message = content["choices"][0]["message"]
    except (KeyError, IndexError, TypeError):
        return None
    return message if isinstance(message, dict) else None
