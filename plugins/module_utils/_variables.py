# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which variables of an inventory the roles do not know, and what was probably meant."""

from __future__ import annotations

import difflib
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


@dataclass(frozen=True)
class UnknownVariable:
    """A variable that begins like a role's and that no role reads."""

    name: str
    role: str
    nearest: tuple[str, ...]

    def describe(self) -> str:
        """Return the sentence for the user."""
        meant = f" Did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        return f"{self.name} is no variable of {self.role}.{meant}"


def unknown_variables(
    names: Iterable[str],
    options_by_role: Mapping[str, Collection[str]],
    shared: Collection[str],
) -> list[UnknownVariable]:
    """Return the misspelled variables among C(names), sorted.

    A name counts as meant for a role when it begins with the role's name and an underscore, and as meant for the
    whole collection when it begins with C(nemotron_); C(shared) are the variables that several roles read.
    """
    known = {name for options in options_by_role.values() for name in options} | set(shared)
    roles = sorted(options_by_role, key=len, reverse=True)
    found = []
    for name in sorted(set(names) - known):
        owner = next((role for role in roles if name.startswith(f"{role}_")), None)
        if owner is None and not name.startswith("nemotron_"):
            continue
        prefix = f"{owner}_" if owner else "nemotron_"
        candidates = options_by_role[owner] if owner else shared
        found.append(UnknownVariable(name, owner or "this collection", _nearest(name, candidates, prefix)))
    return found


def _nearest(name: str, candidates: Iterable[str], prefix: str) -> tuple[str, ...]:
    # The prefix is common to all and would make every name look alike.
    stems = sorted(candidate[len(prefix) :] for candidate in candidates)
    matches = difflib.get_close_matches(name[len(prefix) :], stems, n=2, cutoff=0.6)
    return tuple(prefix + match for match in matches)
