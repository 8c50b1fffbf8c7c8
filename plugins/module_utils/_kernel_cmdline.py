# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Kernel parameters: how the kernel reads a command line, and whether it has what is wished for.

Source: https://docs.kernel.org/admin-guide/kernel-parameters.html
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of these, every occurrence counts; of all others, the last one does.
REPEATABLE = frozenset(
    {
        "acpi_osi",
        "blacklist",
        "cgroup_disable",
        "cgroup_enable",
        "console",
        "crashkernel",
        "dyndbg",
        "earlycon",
        "earlyprintk",
        "hugepages",
        "hugepagesz",
        "initcall_blacklist",
        "ip",
        "memmap",
        "modprobe.blacklist",
        "module_blacklist",
        "rd.driver.blacklist",
        "rd.driver.pre",
        "systemd.mask",
        "systemd.setenv",
        "systemd.wants",
        "video",
    }
)
_NAME = re.compile(r"[A-Za-z0-9_.:/-]+")
# A shell reads the drop-in and GRUB's own language the menu that is made of it; these mean something to either.
_UNSAFE = re.compile(r"""["'\\$`\x00-\x1f\x7f]""")


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter; a value of None means that it stands without one."""

    name: str
    value: str | None = None

    @property
    def key(self) -> str:
        """The name as the kernel compares it: - and _ are the same."""
        return self.name.replace("-", "_")

    @property
    def repeatable(self) -> bool:
        """Whether several of this name count."""
        return self.key in {name.replace("-", "_") for name in REPEATABLE}

    def __str__(self) -> str:
        """Return the parameter as it is written on a command line."""
        if self.value is None:
            return self.name
        return f'{self.name}="{self.value}"' if " " in self.value else f"{self.name}={self.value}"


def split(command_line: str) -> tuple[Parameter, ...]:
    """Return the parameters of a command line; double quotes keep spaces, around a value or the whole parameter."""
    words = re.findall(r'(?:"[^"]*"?|[^"\s])+', command_line)
    return tuple(_parameter(word.replace('"', "")) for word in words)


def _parameter(word: str) -> Parameter:
    name, equals, value = word.partition("=")
    return Parameter(name, value if equals else None)


def parse(option: str, wishes: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the parameters of an option, C(name) or C(name=value) each; NemotronError if one could not be written."""
    return tuple(_checked(option, wish) for wish in wishes)


def _checked(option: str, wish: str) -> Parameter:
    name, equals, value = wish.strip().partition("=")
    # Quotes around a value are how it is written on a command line; they are put back where they are needed.
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    if not _NAME.fullmatch(name):
        raise NemotronError(
            f"{option}: found {wish!r}; needed one kernel parameter as name or name=value, whose name has letters, "
            "digits and _ . : / -. Give several as items of the list."
        )
    if _UNSAFE.search(value):
        raise NemotronError(
            f"{option}: found {wish!r}; needed a value without quotes inside, backslash, $, ` and control characters, "
            "which GRUB would change."
        )
    return Parameter(name, value if equals else None)


def refuse_contradiction(present: Iterable[Parameter], absent: Sequence[Parameter]) -> None:
    """Raise NemotronError if a parameter is wished to be there and not to be there, or to have two values."""
    values: dict[str, Parameter] = {}
    for wish in present:
        unwished = next((item for item in absent if means(item, wish)), None)
        if unwished:
            raise NemotronError(
                f"found {wish} in present and {unwished} in absent; needed one of them. Remove the other."
            )
        other = values.setdefault(wish.key, wish)
        if other != wish and not wish.repeatable:
            raise NemotronError(f"present: found {other} and {wish}; needed one of them, as the last one would win.")


def means(unwished: Parameter, parameter: Parameter) -> bool:
    """Tell whether a wish for absence means a parameter: one without a value means all values."""
    return unwished.key == parameter.key and unwished.value in (None, parameter.value)


def lacking(parameters: Sequence[Parameter], present: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the wishes that a command line does not fulfil."""
    return tuple(wish for wish in present if not _in_effect(wish, parameters))


def _in_effect(wish: Parameter, parameters: Sequence[Parameter]) -> bool:
    values = [parameter.value for parameter in parameters if parameter.key == wish.key]
    return wish.value in (values if wish.repeatable else values[-1:])


def lingering(parameters: Iterable[Parameter], absent: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters of a command line that should not be there."""
    return tuple(parameter for parameter in parameters if any(means(item, parameter) for item in absent))
