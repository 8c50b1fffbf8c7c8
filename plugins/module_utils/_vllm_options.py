# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which options a vLLM has, what they are called now if they were called otherwise, and which values fit."""

from __future__ import annotations

import difflib
import json
import math
import re
import typing as t
from dataclasses import dataclass

from ._vllm_recorded import RECORDED

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_JSON_TYPES = frozenset({"loads", "parse_dataclass", "union_dict_and_str"})
_INT_TYPES = frozenset({"int", "human_readable_int", "human_readable_int_or_auto"})
# vLLM's human_readable_int: 16k is 16000 and 16K is 16384.
_HUMAN_INT = re.compile(r"\d+(\.\d+)?[kmgtKMGT]")
_LIMIT_WORDS = (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than"))

# Values of these would be read by every user of the host, and be shown in diffs.
SECRETS = {
    "api-key": "VLLM_API_KEY",
    "hf-token": "HF_TOKEN",
}

# Options that make no sense in the file that --config names.
OUT_OF_PLACE = {
    "config": "a configuration file cannot name another one",
    "headless": "a server without an endpoint has nothing that could be verified",
    "help": "it prints the help and ends the server",
    "version": "it prints the version and ends the server",
}

# The parser lets these pass, and the server fails with them.
_MORE_BOUNDS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "port": (("ge", 1), ("le", 65535)),
    "grpc-port": (("ge", 0), ("le", 65535)),
}

_V0 = "https://github.com/vllm-project/vllm/issues/18571"
_GONE_WITH_V0 = ("it belonged to vLLM's V0 engine, which is gone, and nothing replaces it; leave it out", _V0)
_SPECULATIVE = (
    "it is now a key of the dictionary speculative-config",
    "https://github.com/vllm-project/vllm/pull/40455",
)
_MULTI_STEP = (
    "multi-step scheduling is gone, and nothing replaces it; leave it out",
    "https://github.com/vllm-project/vllm/pull/22779",
)
_ROPE = (
    "set it inside the dictionary hf-overrides",
    "https://github.com/vllm-project/vllm/pull/28006",
)
# Options of other versions that people still write: (what to do instead, source).
FORMER: Mapping[str, tuple[str, str]] = {
    "device": (
        "the device is decided by the build of vLLM that is installed; leave it out",
        "https://github.com/vllm-project/vllm/pull/21349",
    ),
    "disable-log-requests": (
        "requests are not logged unless enable-log-requests is true; leave it out",
        "https://github.com/vllm-project/vllm/pull/29402",
    ),
    "guided-decoding-backend": (
        "it is now the key backend of the dictionary structured-outputs-config",
        "https://github.com/vllm-project/vllm/pull/22772",
    ),
    "swap-space": (
        "it had no effect any more and was taken out; leave it out",
        "https://github.com/vllm-project/vllm/pull/36216",
    ),
    "rope-scaling": _ROPE,
    "rope-theta": _ROPE,
    "num-scheduler-steps": _MULTI_STEP,
    "multi-step-stream-outputs": _MULTI_STEP,
    "speculative-model": _SPECULATIVE,
    "num-speculative-tokens": _SPECULATIVE,
    "ngram-prompt-lookup-max": _SPECULATIVE,
    "ngram-prompt-lookup-min": _SPECULATIVE,
    "speculative-disable-by-batch-size": _SPECULATIVE,
    "speculative-draft-tensor-parallel-size": _SPECULATIVE,
    "speculative-max-model-len": _SPECULATIVE,
    "speculative-model-quantization": _SPECULATIVE,
    "max-seq-len-to-capture": ("the sizes are now given as cudagraph-capture-sizes", _V0),
    "max-context-len-to-capture": ("the sizes are now given as cudagraph-capture-sizes", _V0),
    "worker-use-ray": ("write distributed-executor-backend: ray", _V0),
    "tool-call-parser-plugin": (
        "the option is called tool-parser-plugin",
        "https://docs.vllm.ai/en/stable/features/tool_calling/",
    ),
    **dict.fromkeys(
        (
            "disable-async-output-proc",
            "disable-frontend-multiprocessing",
            "disable-logprobs-during-spec-decoding",
            "enable-prompt-adapter",
            "long-lora-scaling-factors",
            "lora-extra-vocab-size",
            "max-prompt-adapter-token",
            "max-prompt-adapters",
            "num-lookahead-slots",
            "override-neuron-config",
            "preemption-mode",
            "prompt-adapters",
            "qlora-adapter-name-or-path",
            "quantization-param-path",
            "scheduler-delay-factor",
            "spec-decoding-acceptance-method",
            "speculative-disable-mqa-scorer",
            "tokenizer-pool-extra-config",
            "tokenizer-pool-size",
            "tokenizer-pool-type",
            "typical-acceptance-sampler-posterior-alpha",
            "typical-acceptance-sampler-posterior-threshold",
            "use-v2-block-manager",
        ),
        _GONE_WITH_V0,
    ),
}


@dataclass(frozen=True)
class Option:
    """An option of the server: a switch can be turned on and off, a flag only on, the others have values."""

    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    type: str = "str"
    choices: tuple[str, ...] = ()
    count: int | None = None
    bounds: tuple[tuple[str, float], ...] = ()
    deprecated: bool = False

    @property
    def is_bool(self) -> bool:
        """Whether it is there or not, instead of having a value."""
        return self.kind in ("switch", "flag")

    @property
    def is_json(self) -> bool:
        """Whether its value is written as JSON on a command line."""
        return self.type in _JSON_TYPES

    def needed(self) -> str:
        """Return which values are allowed, in words."""
        if self.is_bool:
            return "true or false"
        if self.choices:
            words = f"one of {', '.join(self.choices)}"
            return f"a list with {words}" if self.kind == "list" else words
        if self.is_json:
            return "a dictionary"
        words = {"int": "a whole number", "float": "a number"}.get(
            "int" if self.type in _INT_TYPES else self.type, "text"
        )
        limits = [f"{word} {dict(self.bounds)[key]:.10g}" for key, word in _LIMIT_WORDS if key in dict(self.bounds)]
        words += f", {' and '.join(limits)}" if limits else ""
        if self.kind == "list":
            return f"a list of {self.count} values" if self.count else f"a list, each item {words}"
        return f"true or {words}" if self.kind == "optional" else words


@dataclass(frozen=True)
class Parser:
    """All options of one vLLM."""

    version: str
    options: tuple[Option, ...]

    def find(self, name: str) -> tuple[Option, bool] | None:
        """Return (the option, whether this name turns it on) for one of its names, or None."""
        for option in self.options:
            if name == option.name or name in option.aliases:
                return option, True
            if name in option.negative:
                return option, False
        return None

    def nearest(self, name: str) -> str:
        """Return the name that was probably meant, or an empty text."""
        names = [name for option in self.options for name in (option.name, *option.aliases, *option.negative)]
        matches = difflib.get_close_matches(name.lstrip("-"), names, n=1, cutoff=0.6)
        return matches[0] if matches else ""

    def why_unknown(self, name: str) -> str:
        """Return why there is no such option here and what to do."""
        if name in FORMER:
            advice, source = FORMER[name]
            return f"vLLM {self.version} does not have it: {advice} ({source})"
        if "." in name and self.find(name.split(".", 1)[0]):
            return f"write {name.split('.', 1)[0]} with a dictionary as its value instead of a name with dots"
        nearest = self.nearest(name)
        return f"vLLM {self.version} has no such option" + (f"; {nearest} is the nearest name" if nearest else "")


def parse_probe(text: str) -> tuple[Parser, str]:
    """Return (the options, the parser's error or an empty text) from what C(_vllm_probe) prints."""
    answer = json.loads(text)
    return Parser(answer["version"], tuple(_option(row) for row in answer["options"])), answer["error"]


def _option(row: Mapping[str, t.Any]) -> Option:
    return Option(
        name=row["names"][0],
        aliases=tuple(row["names"][1:]),
        negative=tuple(row["negative"]),
        kind=row["kind"],
        type=row["type"],
        choices=tuple(row["choices"]),
        count=row["count"],
        bounds=tuple(sorted(row["bounds"].items())) or _MORE_BOUNDS.get(row["names"][0], ()),
        deprecated=row["deprecated"],
    )


def recorded(version: str | None) -> Parser:
    """Return the recorded options of a version, or of the one nearest to it; the newest when none is given."""
    wanted = _order(version) if version else max(map(_order, RECORDED))
    nearest = min(RECORDED, key=lambda known: (known != version, abs(_order(known) - wanted)))
    lines = re.sub(r"\n +", " ", RECORDED[nearest]).strip().splitlines()
    return Parser(nearest, tuple(_recorded_option(line) for line in lines))


def _order(version: str) -> int:
    major, minor = (int(number) for number in re.findall(r"\d+", version + ".0.0")[:2])
    return major * 1000 + minor


def _recorded_option(line: str) -> Option:
    head, _in, choices = line.partition(" in ")
    names, kind, *rest = head.split()
    name, *aliases = names.split("|")
    kind, _colon, value_type = kind.partition(":")
    pairs = [word.partition("=")[::2] for word in rest]
    limits = {key for key, _word in _LIMIT_WORDS}
    negative = [f"no-{name}"] if kind == "switch" else []
    counts = [int(value) for key, value in pairs if key == "count"]
    return Option(
        name=name,
        aliases=tuple(aliases),
        negative=(*negative, *(value for key, value in pairs if key == "off")),
        kind=kind,
        type=value_type or "str",
        choices=tuple(choices.split()),
        count=counts[0] if counts else None,
        bounds=tuple((key, float(value)) for key, value in pairs if key in limits) or _MORE_BOUNDS.get(name, ()),
        deprecated="deprecated" in rest,
    )


def fits(option: Option, value: object) -> bool:
    """Tell whether a value can be given to an option in a configuration file."""
    if option.is_bool:
        return isinstance(value, bool)
    if option.kind == "optional" and isinstance(value, bool):
        return True
    if option.kind in ("list", "append"):
        items = value if isinstance(value, list) else [value]
        # The file can give an appending option once, and vLLM leaves out an option whose list is empty.
        expected = 1 if option.kind == "append" else option.count or len(items)
        return bool(items) and len(items) == expected and all(_item_fits(option, item) for item in items)
    return _item_fits(option, value)


def _item_fits(option: Option, value: object) -> bool:
    if option.is_json:
        return isinstance(value, (dict, list, str)) and _is_json(value)
    if isinstance(value, (bool, dict, list)) or not isinstance(value, (int, float, str)):
        return False
    if option.choices:
        # Some options take any spelling: moe-backend turns dashes into underscores.
        return str(value) in option.choices or (
            option.type == "<lambda>" and str(value).lower().replace("-", "_") in option.choices
        )
    if option.type in _INT_TYPES:
        return _int_fits(option, value)
    if option.type == "float":
        number = _number(value)
        return number is not None and _within(number, option.bounds)
    return value != ""


def _int_fits(option: Option, value: float | str) -> bool:
    if isinstance(value, float):
        return False
    if option.type != "int" and isinstance(value, str) and _HUMAN_INT.fullmatch(value):
        return True
    if option.type == "human_readable_int_or_auto" and value == "auto":
        return True
    number = _number(value) if re.fullmatch(r"-?\d+", str(value)) else None
    return number is not None and _within(number, option.bounds)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _number(value: float | str) -> float | None:
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _within(number: float, bounds: Sequence[tuple[str, float]]) -> bool:
    limits = dict(bounds)
    return (
        limits.get("ge", number) <= number <= limits.get("le", number)
        and ("gt" not in limits or number > limits["gt"])
        and ("lt" not in limits or number < limits["lt"])
    )
