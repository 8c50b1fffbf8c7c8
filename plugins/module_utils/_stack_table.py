# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The stacks of several hosts as lines that a person reads."""

from __future__ import annotations

import textwrap
import typing as t

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WIDTH = 110
_HEADER = ("HOST", "GPUS", "DRIVER NOW", "DRIVER", "CUDA", "TORCH", "VLLM", "PYTHON", "FITS")


def lines(hosts: Mapping[str, Mapping[str, t.Any]]) -> list[str]:
    """Return a table with a row for each host, and below it the conflicts and the reasons of each.

    A host is a dictionary with what gpu_facts found, C(gpu), what version_triple found wrong with its driver,
    C(violations), and what stack_info returned: C(stack), C(reasons), C(conflicts).
    """
    table = _align([_HEADER, *(_row(name, host) for name, host in hosts.items())])
    return [*table, *(line for name, host in hosts.items() for line in _paragraph(name, host))]


def _row(name: str, host: Mapping[str, t.Any]) -> tuple[str, ...]:
    gpu, stack = host["gpu"], host["stack"] or {}
    return (
        name,
        _gpus(gpu["gpus"]),
        gpu["driver"]["loaded"] or "none",
        _driver(stack),
        stack.get("cuda") or ("-" if stack else "?"),
        stack.get("torch") or "?",
        stack.get("vllm") or "?",
        stack.get("python") or "?",
        "yes" if stack else "NO",
    )


def _gpus(gpus: Sequence[Mapping[str, t.Any]]) -> str:
    counts: dict[str, int] = {}
    for gpu in gpus:
        counts[gpu["name"]] = counts.get(gpu["name"], 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in counts.items()) or "none"


def _driver(stack: Mapping[str, t.Any]) -> str:
    driver = stack.get("driver")
    if driver:
        return f"{driver['action']} {driver['branch']} {driver['flavour']}".strip()
    return "-" if stack else "?"


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _paragraph(name: str, host: Mapping[str, t.Any]) -> list[str]:
    against = [
        f"{problem['code']}: found {problem['found']}; needed {problem['needed']}. {problem['fix']}"
        for problem in (*host["violations"], *host["conflicts"])
    ]
    marked = [("! ", sentence) for sentence in (*host["gpu"]["problems"], *against)]
    marked += [("  ", reason) for reason in host["reasons"]]
    wrapped = [
        line
        for mark, sentence in marked
        for line in textwrap.wrap(
            sentence, _WIDTH, initial_indent=f"  {mark}", subsequent_indent="    ", break_long_words=False
        )
    ]
    return ["", f"{name}:", *wrapped]
