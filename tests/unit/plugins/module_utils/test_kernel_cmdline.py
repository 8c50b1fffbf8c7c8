# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a command line is read, and whether it has what is wished for."""

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _kernel_cmdline as kernel_cmdline
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._kernel_cmdline import Parameter
from hypothesis import given
from hypothesis import strategies as st

LINES = [
    pytest.param("", [], id="empty"),
    pytest.param("ro quiet\n", [("ro", None), ("quiet", None)], id="words"),
    pytest.param("root=UUID=1-2 a= b", [("root", "UUID=1-2"), ("a", ""), ("b", None)], id="equals signs"),
    pytest.param('dyndbg="file x +p" ro', [("dyndbg", "file x +p"), ("ro", None)], id="quotes around a value"),
    pytest.param('"dyndbg=file x +p" ro', [("dyndbg", "file x +p"), ("ro", None)], id="quotes around all, as GRUB"),
    pytest.param('ro a="never closed b', [("ro", None), ("a", "never closed b")], id="a quote without its end"),
    pytest.param("a=1 a=2  a=1", [("a", "1"), ("a", "2"), ("a", "1")], id="several of a name"),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_command_line_is_split_as_the_kernel_does(line: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(parameter.name, parameter.value) for parameter in kernel_cmdline.split(line)] == expected


EFFECTS = [
    pytest.param("a=1", "a=1", True, id="there"),
    pytest.param("a=1 a=2", "a=1", False, id="the last one wins"),
    pytest.param("a=2 a=1", "a=1", True, id="the last one is ours"),
    pytest.param("A=1", "a=1", False, id="case counts"),
    pytest.param("foo-bar=1", "foo_bar=1", True, id="dash and underscore are the same"),
    pytest.param("console=tty0 console=ttyS0", "console=tty0", True, id="a repeatable one need not be last"),
    pytest.param("quiet=1", "quiet", False, id="with a value is something else"),
    pytest.param("", "quiet", False, id="not there"),
]


@pytest.mark.parametrize(("line", "wish", "fulfilled"), EFFECTS)
def test_what_is_in_effect(line: str, wish: str, *, fulfilled: bool) -> None:
    lacking = kernel_cmdline.lacking(kernel_cmdline.split(line), kernel_cmdline.parse("present", [wish]))
    assert (not lacking) is fulfilled


ABSENCES = [
    pytest.param("a=1 b a", "a", ["a=1", "a"], id="every value"),
    pytest.param("console=tty0 console=ttyS0", "console=tty0", ["console=tty0"], id="one value"),
    pytest.param("ab=1 b", "a", [], id="only whole names"),
]


@pytest.mark.parametrize(("line", "wish", "found"), ABSENCES)
def test_what_should_not_be_there(line: str, wish: str, found: list[str]) -> None:
    lingering = kernel_cmdline.lingering(kernel_cmdline.split(line), kernel_cmdline.parse("absent", [wish]))
    assert [str(parameter) for parameter in lingering] == found


@pytest.mark.parametrize(
    ("wish", "parameter", "written"),
    [
        ("quiet", Parameter("quiet"), "quiet"),
        (" a=b=c ", Parameter("a", "b=c"), "a=b=c"),
        ('dyndbg="file x +p"', Parameter("dyndbg", "file x +p"), 'dyndbg="file x +p"'),
        ("dyndbg=file x +p", Parameter("dyndbg", "file x +p"), 'dyndbg="file x +p"'),
    ],
)
def test_a_wish_is_read_and_written(wish: str, parameter: Parameter, written: str) -> None:
    assert kernel_cmdline.parse("present", [wish]) == (parameter,)
    assert str(parameter) == written


REFUSED = [
    pytest.param(
        "quiet splash",
        "present: found 'quiet splash'; needed one kernel parameter as name or name=value, whose name has letters, "
        "digits and _ . : / -. Give several as items of the list.",
        id="two in one",
    ),
    pytest.param(
        "",
        "present: found ''; needed one kernel parameter as name or name=value, whose name has letters, "
        "digits and _ . : / -. Give several as items of the list.",
        id="nothing",
    ),
    pytest.param(
        "a=$(reboot)",
        "present: found 'a=$(reboot)'; needed a value without quotes inside, backslash, $, ` and control characters, "
        "which GRUB would change.",
        id="shell code",
    ),
    pytest.param(
        "a=b\nc",
        "present: found 'a=b\\nc'; needed a value without quotes inside, backslash, $, ` and control characters, "
        "which GRUB would change.",
        id="two lines",
    ),
]


@pytest.mark.parametrize(("wish", "message"), REFUSED)
def test_what_could_not_be_written_is_refused(wish: str, message: str) -> None:
    with pytest.raises(NemotronError) as caught:
        kernel_cmdline.parse("present", [wish])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("present", "absent", "message"),
    [
        (["a=1"], ["a"], "found a=1 in present and a in absent; needed one of them. Remove the other."),
        (["a-b=1"], ["a_b=1"], "found a-b=1 in present and a_b=1 in absent; needed one of them. Remove the other."),
        (["a=1", "a=2"], [], "present: found a=1 and a=2; needed one of them, as the last one would win."),
    ],
)
def test_a_contradiction_is_refused(present: list[str], absent: list[str], message: str) -> None:
    with pytest.raises(NemotronError) as caught:
        kernel_cmdline.refuse_contradiction(
            kernel_cmdline.parse("present", present), kernel_cmdline.parse("absent", absent)
        )
    assert str(caught.value) == message


def test_other_values_may_be_absent_while_one_is_present() -> None:
    present = kernel_cmdline.parse("present", ["console=ttyS0", "console=tty1", "a=1"])
    kernel_cmdline.refuse_contradiction(present, kernel_cmdline.parse("absent", ["console=tty0", "a=2"]))


@given(st.text())
def test_no_command_line_is_too_odd(line: str) -> None:
    kernel_cmdline.split(line)
