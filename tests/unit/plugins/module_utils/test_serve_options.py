# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.nemotron.vllm.plugins.module_utils import _serve_options
from ansible_collections.nemotron.vllm.plugins.module_utils._serve_options import Wishes
from ansible_collections.nemotron.vllm.plugins.module_utils._vllm_options import recorded
from hypothesis import given
from hypothesis import strategies as st

PARSER = recorded("0.32.0")


def wish(
    options: dict[str, Any],
    defaults: dict[str, Any] | None = None,
    reasons: dict[str, str] | None = None,
    variables: dict[str, str] | None = None,
) -> Wishes:
    return Wishes(
        options, {"model": "/m"} if defaults is None else defaults, reasons or {}, variables or {}, "my_options"
    )


def text_of(wishes: Wishes, *header: str) -> str:
    settings, problems = _serve_options.settle(PARSER, wishes)
    assert problems == []
    return _serve_options.render(settings, header)


def problems_of(wishes: Wishes) -> list[str]:
    return [problem.describe() for problem in _serve_options.settle(PARSER, wishes)[1]]


def test_the_whole_file() -> None:
    wishes = wish(
        {
            "seed": 7,
            "max_model_len": "16k",
            "enable_prefix_caching": False,
            "async-scheduling": True,
            "disable-log-stats": False,
            "speculative-config": {"method": "ngram", "limits": {"low": [1, 2], "high": 1e-05}, "on": True},
            "allowed-origins": ["*"],
            "served-model-name": ["a", "two words"],
            "port": 8001,
            "no-enable-chunked-prefill": True,
            "tokenizer": "true",
            "dtype": None,
        },
        {"model": "/models/a", "host": "127.0.0.1", "enforce-eager": True, "dtype": "float32"},
        {"model": "Why this one.", "enforce_eager": "Two\n\nlines.", "dtype": "unused", "block-size": "unused"},
    )
    assert text_of(wishes, "Header.", "More.") == (
        "# Header.\n"
        "# More.\n"
        "\n"
        "# Why this one.\n"
        "model: /models/a\n"
        "served-model-name:\n"
        "  - a\n"
        '  - "two words"\n'
        'host: "127.0.0.1"\n'
        "port: 8001\n"
        'allowed-origins: "[\\"*\\"]"\n'
        "async-scheduling: true\n"
        "no-enable-chunked-prefill: true\n"
        "no-enable-prefix-caching: true\n"
        "\n"
        "# Two\n"
        "#\n"
        "# lines.\n"
        "enforce-eager: true\n"
        'max-model-len: "16k"\n'
        "seed: 7\n"
        "speculative-config:\n"
        "  method: ngram\n"
        "  limits:\n"
        "    low: [1, 2]\n"
        "    high: 1.0e-05\n"
        '  "on": true\n'
        'tokenizer: "true"\n'
    )


def test_a_reason_for_a_default_goes_when_its_value_goes() -> None:
    reasons = {"max-num-seqs": "Because."}
    defaults = {"model": "/m", "max-num-seqs": 4}
    assert "# Because." in text_of(wish({}, defaults, reasons))
    assert "# Because." in text_of(wish({"max_num_seqs": 4}, defaults, reasons))
    assert "# Because." not in text_of(wish({"max_num_seqs": 5}, defaults, reasons))


def test_without_reasons() -> None:
    settings, _problems = _serve_options.settle(PARSER, wish({}, None, {"model": "Because."}))
    assert _serve_options.render(settings, with_reasons=False) == "model: /m\n"


def test_an_opposite_name_turns_off_where_there_is_no_other() -> None:
    settings, problems = _serve_options.settle(recorded("0.33.0"), wish({"disable-log-requests": True}))
    assert problems == []
    assert _serve_options.render(settings) == "model: /m\nno-enable-log-requests: true\n"


PROBLEMS = [
    (
        {"disable_log_requests": True},
        "disable-log-requests: vLLM 0.32.0 does not have it: requests are not logged unless enable-log-requests is "
        "true; leave it out (https://github.com/vllm-project/vllm/pull/29402). Change my_options.",
    ),
    (
        {"max-num-seq": 4},
        "max-num-seq: vLLM 0.32.0 has no such option; max-num-seqs is the nearest name. Change my_options.",
    ),
    ({"port": 70000}, "port: found 70000; needed a whole number, at least 1 and at most 65535. Change my_options."),
    ({"max-num-seqs": True}, "max-num-seqs: found true; needed a whole number, at least 1. Change my_options."),
    ({"enforce-eager": "true"}, 'enforce-eager: found "true"; needed true or false. Change my_options.'),
    ({"no-enforce-eager": 1}, "no-enforce-eager: found 1; needed true or false. Change my_options."),
    (
        {"api_key": ["hunter2"]},
        "api-key: found a secret, which every user of the host could read in the file; needed the variable "
        "VLLM_API_KEY in the environment file of the service. Change my_options.",
    ),
    (
        {"config": "/other.yaml"},
        "config: it has no place in a configuration file, because a configuration file cannot name another one. "
        "Change my_options.",
    ),
    (
        {"max-model-len": 5, "max_model_len": 6},
        "max-model-len: found the same option twice, as max-model-len and as max_model_len; needed it once. "
        "Change my_options.",
    ),
    (
        {"enforce-eager": True, "no-enforce-eager": True},
        "no-enforce-eager: found the same option twice, as enforce-eager and as no-enforce-eager; needed it once. "
        "Change my_options.",
    ),
    (
        {"kv-transfer-config": "x" * 200, "dtype": "y" * 200},
        f'dtype: found "{"y" * 96}...; needed one of auto, bfloat16, float, float16, float32, half. Change my_options.',
    ),
]


@pytest.mark.parametrize(("options", "expected"), PROBLEMS)
def test_problems(options: dict[str, Any], expected: str) -> None:
    assert problems_of(wish(options)) == [expected]


def test_all_problems_are_told_at_once_and_with_their_own_variables() -> None:
    wishes = wish(
        {"modle": 1, "host": "0.0.0.0"},
        {"model": "/m", "host": "127.0.0.1", "port": -1},
        None,
        {"port": "my_port", "host": "my_host"},
    )
    assert problems_of(wishes) == [
        "port: found -1; needed a whole number, at least 1 and at most 65535. Change my_port.",
        "modle: vLLM 0.32.0 has no such option; model is the nearest name. Change my_options.",
        "host: found it in my_options, and it has a variable of its own. Change my_host.",
    ]


def test_a_model_is_needed() -> None:
    expected = ["model: found none; needed the folder or the name of the model. Change my_model."]
    assert problems_of(wish({}, {}, None, {"model": "my_model"})) == expected
    assert problems_of(wish({}, {"model": None}, None, {"model": "my_model"})) == expected


def test_unknown_options_are_marked() -> None:
    problem = _serve_options.settle(PARSER, wish({"max-num-seq": 4}))[1][0]
    assert (problem.unknown, problem.nearest) == (True, "max-num-seqs")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(
        ["yes", "NO", "~", "1_000", "1:30", "0x1f", "1e5", "-", "a: b", "a #b", "null", "=", "<<", "2026-12-01"]
    ),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@given(TREES)
def test_yaml_is_read_back_as_it_was(value: Any) -> None:
    text = "\n".join(_serve_options.yaml_lines("key", value))
    assert yaml.safe_load(text) == {"key": value}


MASKED = [
    ("api-key: hunter2\nport: 1\n", "api-key: ********\nport: 1\n"),
    ("api_key:\n  - hunter2\n  - hunter3\nport: 1\n", "api_key: ********\nport: 1\n"),
    ("hf-token:\n- hunter2\nport: 1\n", "hf-token: ********\nport: 1\n"),
    ("hf-token : hunter2", "hf-token : ********"),
    ("port: 1\n", "port: 1\n"),
]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_secrets_of_others_are_masked(text: str, masked: str) -> None:
    assert _serve_options.mask_secrets(text) == masked


def test_fingerprint() -> None:
    assert _serve_options.fingerprint("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
