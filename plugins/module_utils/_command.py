# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Running programs with a fixed locale and a typed result."""

from __future__ import annotations

import shlex
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible.module_utils.basic import AnsibleModule


@dataclass(frozen=True)
class Completed:
    """What a program that ended has left."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """Whether the program ended with exit status 0."""
        return self.rc == 0

    def describe(self, lines: int = 12) -> str:
        """Return the command, its exit status and the last lines that it printed, for an error message."""
        printed = [line for line in (self.stdout + "\n" + self.stderr).splitlines() if line.strip()]
        tail = "\n".join(printed[-lines:])
        return f"{shlex.join(self.argv)} ended with {self.rc}" + (f":\n{tail}" if tail else " and printed nothing")


def run(
    module: AnsibleModule,
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Run a program to its end in the C locale, which fixes its words; a missing one is a result with rc 127."""
    update = {"LC_ALL": "C", "LANGUAGE": "C", **(environment or {})}
    try:
        rc, stdout, stderr = module.run_command(
            list(argv), environ_update=update, cwd=cwd, expand_user_and_vars=False, handle_exceptions=False
        )
    except OSError as error:
        return Completed(tuple(argv), 127, "", str(error))
    return Completed(tuple(argv), rc, stdout, stderr)


def run_checked(
    module: AnsibleModule,
    argv: Sequence[str],
    what: str,
    *,
    environment: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Run a program and raise NemotronError, beginning with C(what), when it fails."""
    completed = run(module, argv, environment=environment, cwd=cwd)
    if not completed.ok:
        raise NemotronError(f"{what}: {completed.describe()}")
    return completed
