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

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN_CHARACTERS = 300
_DONE = "[DONE]"
_OK = 200
# The fields that hold what the model has generated; the reasoning's has an older and a newer name.
_ANSWER, _REASONING = "content", ("reasoning_content", "reasoning")
# An answer of one token and the end of its text cannot come in pieces.
_TOO_FEW_TOKENS = 2


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
class Piece:
    """A part of a stream: when it came, in seconds since the request, and its part of the answer.

    A part of the reasoning is a piece as well, with no text of the answer.
    """

    seconds: float
    text: str


@dataclass(frozen=True)
class Stream:
    """A streamed answer, the error that ended it, if any, and its length as the server counts it."""

    pieces: tuple[Piece, ...]
    error: str | None
    tokens: int | None

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def came_in_pieces(self) -> bool:
        """Whether it came bit by bit, as far as it is long enough to do so."""
        too_short = self.tokens is not None and self.tokens <= _TOO_FEW_TOKENS
        return len(self.pieces) > 1 or (len(self.pieces) == 1 and too_short)


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


def require_pattern(option: str, pattern: str) -> None:
    """Raise NemotronError, naming the option, when a text is no regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise NemotronError(f"{option}: found {pattern!r} ({error}); needed a regular expression.") from error


def require_key(option: str, key: str) -> None:
    """Raise NemotronError, naming the option and not the key, when a key cannot be sent in a header."""
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise NemotronError(
            f"{option}: found a key with blanks, line breaks or letters outside ASCII; needed one without."
        )


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
    answer = _answer(message or {})
    if message is None:
        found = reply.describe()
    elif answer:
        found = shorten(answer)
    elif any(message.get(name) for name in _REASONING):
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
    count = len(stream.pieces)
    found = f"{count} {'piece' if count == 1 else 'pieces'}: {shorten(text)}"
    if stream.error:
        found += f"; it ended with {shorten(stream.error)}"
    return Check(
        "stream",
        ok=stream.came_in_pieces and not stream.error and text == whole,
        asked=f"{question.text} (streamed)",
        found=found,
        needed=f"more than one piece, together {shorten(whole) if whole else 'the answer that comes unstreamed'}",
    )


def answer_text(reply: Reply) -> str | None:
    """Return the text of a whole answer, None when the reply is none."""
    message = _message(reply)
    return None if message is None else _answer(message)


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
        tokens = _dict(event.get("usage")).get("completion_tokens", tokens)
        for choice in _list(event.get("choices")):
            delta = _dict(_dict(choice).get("delta"))
            if delta.get(_ANSWER):
                pieces.append(Piece(seconds, str(delta[_ANSWER])))
            elif any(delta.get(name) for name in _REASONING):
                pieces.append(Piece(seconds, ""))
    return Stream(tuple(pieces), error, tokens)


def timings(stream: Stream) -> dict[str, float | int | None]:
    """Return the times of a stream in milliseconds: to the first token, between tokens, to the last.

    Tokens of the reasoning count, as they do for whoever waits.
    """
    if not stream.pieces:
        return {"ttft_ms": None, "itl_ms": None, "total_ms": None, "completion_tokens": stream.tokens}
    first, last = stream.pieces[0].seconds, stream.pieces[-1].seconds
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


def _dict(value: t.Any) -> dict[str, t.Any]:
    return value if isinstance(value, dict) else {}


def _list(value: t.Any) -> list[t.Any]:
    return value if isinstance(value, list) else []


def _model_names(reply: Reply) -> list[str] | None:
    content = _json(reply)
    if reply.status != _OK or not isinstance(content, dict):
        return None
    return [str(_dict(entry).get("id")) for entry in _list(content.get("data"))]


def _message(reply: Reply) -> dict[str, t.Any] | None:
    choices = _list(_dict(_json(reply)).get("choices"))
    message = _dict(choices[0]).get("message") if choices else None
    return message if isinstance(message, dict) else None


def _answer(message: Mapping[str, t.Any]) -> str:
    return str(message.get(_ANSWER) or "")
