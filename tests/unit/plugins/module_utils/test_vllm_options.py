# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _vllm_options
from ansible_collections.nemotron.vllm.plugins.module_utils._vllm_options import Option, Parser, fits

SEQS = Option("max-num-seqs", "value", type="int", bounds=(("ge", 1.0),))
LENGTH = Option("max-model-len", "value", type="human_readable_int_or_auto", bounds=(("ge", -1.0),))
SHARE = Option("gpu-memory-utilization", "value", type="float", bounds=(("gt", 0.0), ("le", 1.0)))
RATE = Option("video-pruning-rate", "value", type="float", bounds=(("ge", 0.0), ("lt", 1.0)))
EAGER = Option("enforce-eager", "switch", negative=("no-enforce-eager",))
STATS = Option("disable-log-stats", "flag")
DTYPE = Option("dtype", "value", choices=("auto", "bfloat16"))
MOE = Option("moe-backend", "value", type="<lambda>", choices=("deep_gemm",))
NAMES = Option("served-model-name", "list")
SIZES = Option("cudagraph-capture-sizes", "list", type="int")
PAIR = Option("pair", "list", type="int", count=2)
TRACES = Option("collect-detailed-traces", "list", choices=("all", "model"))
MIDDLEWARE = Option("middleware", "append")
TOKEN = Option("hf-token", "optional")
DRAFT = Option("speculative-config", "value", type="loads")
TOKENIZER = Option("tokenizer", "value")

FITTING = [
    (SEQS, 1),
    (SEQS, "256"),
    (LENGTH, 4096),
    (LENGTH, -1),
    (LENGTH, "auto"),
    (LENGTH, "16k"),
    (LENGTH, "25.6k"),
    (SHARE, 0.9),
    (SHARE, 1),
    (SHARE, "0.5"),
    (RATE, 0),
    (EAGER, True),
    (EAGER, False),
    (STATS, False),
    (DTYPE, "auto"),
    (MOE, "deep-gemm"),
    (MOE, "DEEP_GEMM"),
    (NAMES, "one"),
    (NAMES, ["one", "two", 3]),
    (SIZES, [1, 2]),
    (PAIR, [1, 2]),
    (TRACES, ["all", "model"]),
    (MIDDLEWARE, "a.b"),
    (MIDDLEWARE, ["a.b"]),
    (TOKEN, True),
    (TOKEN, "text"),
    (DRAFT, {"method": "ngram", "tokens": [1, {"deep": None}]}),
    (DRAFT, ["*"]),
    (DRAFT, '{"a": 1}'),
    (TOKENIZER, "/a/b"),
    (TOKENIZER, 5),
]

NUMBERS_FROM_ONE = "a whole number, at least 1"
NOT_FITTING = [
    (SEQS, True, NUMBERS_FROM_ONE),
    (SEQS, 0, NUMBERS_FROM_ONE),
    (SEQS, -4, NUMBERS_FROM_ONE),
    (SEQS, "-4", NUMBERS_FROM_ONE),
    (SEQS, 1.5, NUMBERS_FROM_ONE),
    (SEQS, "1.5", NUMBERS_FROM_ONE),
    (SEQS, "16k", NUMBERS_FROM_ONE),
    (SEQS, "many", NUMBERS_FROM_ONE),
    (SEQS, [4], NUMBERS_FROM_ONE),
    (SEQS, {"a": 1}, NUMBERS_FROM_ONE),
    (LENGTH, -2, "a whole number, at least -1"),
    (LENGTH, "16x", "a whole number, at least -1"),
    (SHARE, 0, "a number, more than 0 and at most 1"),
    (SHARE, 1.01, "a number, more than 0 and at most 1"),
    (SHARE, float("nan"), "a number, more than 0 and at most 1"),
    (SHARE, "much", "a number, more than 0 and at most 1"),
    (RATE, 1, "a number, at least 0 and less than 1"),
    (EAGER, "true", "true or false"),
    (EAGER, 1, "true or false"),
    (STATS, "yes", "true or false"),
    (DTYPE, "fp9", "one of auto, bfloat16"),
    (DTYPE, True, "one of auto, bfloat16"),
    (MOE, "other", "one of deep_gemm"),
    (NAMES, [], "a list, each item text"),
    (NAMES, [True], "a list, each item text"),
    (NAMES, [["nested"]], "a list, each item text"),
    (SIZES, [1, "x"], "a list, each item a whole number"),
    (PAIR, [1], "a list of 2 values"),
    (TRACES, ["none"], "a list with one of all, model"),
    (MIDDLEWARE, ["a", "b"], "text"),
    (TOKEN, {"a": 1}, "true or text"),
    (DRAFT, 3, "a dictionary"),
    (DRAFT, True, "a dictionary"),
    (DRAFT, {"a": float("inf")}, "a dictionary"),
    (TOKENIZER, "", "text"),
    (TOKENIZER, ["/a"], "text"),
    (TOKENIZER, False, "text"),
]


@pytest.mark.parametrize(("option", "value"), FITTING)
def test_values_that_fit(option: Option, value: Any) -> None:
    assert fits(option, value)


@pytest.mark.parametrize(("option", "value", "needed"), NOT_FITTING)
def test_values_that_do_not_fit(option: Option, value: Any, needed: str) -> None:
    assert not fits(option, value)
    assert option.needed() == needed


def test_infinity_is_no_number_without_limits() -> None:
    assert not fits(Option("seed", "value", type="float"), float("inf"))


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("0.6.3", "0.6.3"),
        ("0.32.0", "0.32.0"),
        ("0.33.0", "0.33.0"),
        ("0.32.4", "0.32.0"),
        ("1.2", "0.33.0"),
        (None, "0.33.0"),
    ],
)
def test_recorded_versions(version: str | None, nearest: str) -> None:
    assert _vllm_options.recorded(version).version == nearest


def test_recorded_options() -> None:
    parser = _vllm_options.recorded("0.32.0")
    assert len(parser.options) == 316
    assert parser.find("max-num-seqs") == (SEQS, True)
    assert parser.find("no-enforce-eager") == (EAGER, False)
    assert parser.find("middleware") == (MIDDLEWARE, True)
    utilization = Option(
        "gpu-memory-utilization",
        "value",
        aliases=("device-memory-utilization",),
        type="float",
        bounds=(("gt", 0.0), ("le", 1.0)),
    )
    assert parser.find("device-memory-utilization") == (utilization, True)
    dtype = parser.find("dtype")
    assert dtype is not None
    assert dtype[0].choices == ("auto", "bfloat16", "float", "float16", "float32", "half")
    deprecated = parser.find("log-config-file")
    assert deprecated is not None
    assert deprecated[0].deprecated
    assert parser.find("disable-log-requests") is None


def test_a_port_is_limited_although_the_parser_does_not_limit_it() -> None:
    found = _vllm_options.recorded("0.32.0").find("port")
    assert found is not None
    assert found[0].needed() == "a whole number, at least 1 and at most 65535"


def test_vllm_0_33_has_opposites() -> None:
    found = _vllm_options.recorded("0.33.0").find("disable-log-requests")
    assert found is not None
    option, positive = found
    assert (option.name, option.negative, positive) == (
        "enable-log-requests",
        ("no-enable-log-requests", "disable-log-requests"),
        False,
    )


def test_former_options_are_gone() -> None:
    assert [name for name in _vllm_options.FORMER if _vllm_options.recorded("0.32.0").find(name)] == []
    # 0.33 accepts it again, as the opposite of --enable-log-requests.
    there = [name for name in _vllm_options.FORMER if _vllm_options.recorded("0.33.0").find(name)]
    assert there == ["disable-log-requests"]


def test_every_option_that_0_6_3_had_is_there_or_explained() -> None:
    parser = _vllm_options.recorded("0.32.0")
    old = [option.name for option in _vllm_options.recorded("0.6.3").options]
    assert [name for name in old if not parser.find(name) and name not in _vllm_options.FORMER] == []


UNKNOWN = [
    (
        "disable-log-requests",
        "vLLM 0.32.0 does not have it: requests are not logged unless enable-log-requests is true; leave it out "
        "(https://github.com/vllm-project/vllm/pull/29402)",
    ),
    (
        "swap-space",
        "vLLM 0.32.0 does not have it: it had no effect any more and was taken out; leave it out "
        "(https://github.com/vllm-project/vllm/pull/36216)",
    ),
    ("max-num-seq", "vLLM 0.32.0 has no such option; max-num-seqs is the nearest name"),
    ("--max-num-seqs", "vLLM 0.32.0 has no such option; max-num-seqs is the nearest name"),
    ("qqqqqqqq", "vLLM 0.32.0 has no such option"),
    ("hf-overrides.rope", "write hf-overrides with a dictionary as its value instead of a name with dots"),
]


@pytest.mark.parametrize(("name", "why"), UNKNOWN)
def test_unknown_options_are_explained(name: str, why: str) -> None:
    assert _vllm_options.recorded("0.32.0").why_unknown(name) == why


def test_what_the_probe_prints_is_read() -> None:
    row = {
        "names": ["max-num-seqs"],
        "negative": [],
        "kind": "value",
        "type": "int",
        "choices": [],
        "count": None,
        "bounds": {"ge": 1},
        "deprecated": False,
    }
    port = {**row, "names": ["port", "p"], "bounds": {}}
    text = json.dumps({"version": "0.40.0", "options": [row, port], "error": "no"})
    expected = Option("port", "value", aliases=("p",), type="int", bounds=(("ge", 1), ("le", 65535)))
    assert _vllm_options.parse_probe(text) == (Parser("0.40.0", (SEQS, expected)), "no")
