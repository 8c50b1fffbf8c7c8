# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _systemd_quoting as quoting
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", '"plain"'),
        ("two words", '"two words"'),
        ("", '""'),
        ("100%", '"100%%"'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("it's", '"it\'s"'),
    ],
)
def test_quote(word: str, expected: str) -> None:
    assert quoting.quote(word) == expected


def test_command_line() -> None:
    assert quoting.command_line(["/bin/sh", "-c", "echo $HOME"]) == '"/bin/sh" "-c" "echo $$HOME"'


def test_environment_lines_are_sorted_and_keep_the_dollar() -> None:
    assert quoting.environment_lines({"B": "$x", "A": True, "C": 3, "D": False}) == [
        '"A=1"',
        '"B=$x"',
        '"C=3"',
        '"D=0"',
    ]


def test_a_variable_that_is_null_is_left_out() -> None:
    assert quoting.environment_lines({"A": None, "B": "", "C": 0}) == ['"B="', '"C=0"']


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"A": [1]}, "found a list in A; needed a text, a number or a boolean."),
        ({"A": {"b": 1}}, "found a dict in A; needed a text, a number or a boolean."),
        ({"A B": "1"}, "found 'A B'; needed the name of an environment variable: letters, digits and _."),
        ({"1A": "1"}, "found '1A'; needed the name of an environment variable: letters, digits and _."),
        ({"A=B": "1"}, "found 'A=B'; needed the name of an environment variable: letters, digits and _."),
        ({"": "1"}, "found ''; needed the name of an environment variable: letters, digits and _."),
    ],
)
def test_what_no_environment_can_hold_is_refused(environment: dict[str, Any], message: str) -> None:
    with pytest.raises(NemotronError) as error:
        quoting.environment_lines(environment)
    assert str(error.value) == message


def test_a_line_break_is_refused() -> None:
    message = r"found a line break in 'a\nb'; needed a word that fits on one line of a systemd unit."
    with pytest.raises(NemotronError) as error:
        quoting.quote("a\nb")
    assert str(error.value) == message
