# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Something that stands against what the user wants."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Problem:
    """One reason why something cannot be had, and the way out."""

    code: str
    found: str
    needed: str
    fix: str

    def describe(self) -> str:
        """Return the sentence for the user."""
        return f"{self.code}: found {self.found}; needed {self.needed}. {self.fix}"


def describe_all(heading: str, problems: Iterable[Problem]) -> str:
    """Return one text for the user."""
    return "\n- ".join([heading, *(problem.describe() for problem in problems)])
