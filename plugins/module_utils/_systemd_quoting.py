# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Quoting for systemd's unit files; see "Command lines" in systemd.service(5) and "Quoting" in systemd.syntax(7)."""

from __future__ import annotations

import re
import typing as t

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote(word: str) -> str:
    """Return one word so that systemd reads it as it is: in quotes, and with no specifier (%) left to expand."""
    if "\n" in word or "\0" in word:
        raise NemotronError(f"found a line break in {word!r}; needed a word that fits on one line of a systemd unit.")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def command_line(argv: Iterable[str]) -> str:
    """Return the value of ExecStart= for a command; here a dollar sign would name a variable."""
    return " ".join(quote(word).replace("$", "$$") for word in argv)


def environment_lines(environment: Mapping[str, t.Any]) -> list[str]:
    """Return the values of Environment=, one for each variable, by name; None is a variable that is not set."""
    return [
        quote(f"{name}={_text(name, environment[name])}")
        for name in sorted(environment, key=str)
        if environment[name] is not None
    ]


def _text(name: object, value: object) -> str:
    # systemd ignores a line with a name that it does not accept.
    if not _NAME.match(str(name)):
        raise NemotronError(f"found {name!r}; needed the name of an environment variable: letters, digits and _.")
    if isinstance(value, (list, dict)):
        raise NemotronError(f"found a {type(value).__name__} in {name}; needed a text, a number or a boolean.")
    # Booleans are written as programs expect them in their environment.
    return str(int(value)) if isinstance(value, bool) else str(value)
