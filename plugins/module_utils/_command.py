# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Running programs with a fixed locale and a typed result."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible.module_utils.basic import AnsibleModule


# As the shell and timeout(1) of GNU coreutils have them.
_RC_MISSING = 127
_RC_GIVEN_UP = 124
_SECONDS_TO_DIE = 1.0


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
        return Completed(tuple(argv), _RC_MISSING, "", str(error))
    return Completed(tuple(argv), rc, stdout, stderr)


def run_limited(argv: Sequence[str], timeout: float, environment: Mapping[str, str] | None = None) -> Completed:
    """Run a program in the C locale for at most some seconds; one that is given up is a result with rc 124.

    One that even SIGKILL does not end, since it waits inside a driver, is left behind: reading on would hang too.
    Without I(environment) the program gets our own.
    """
    variables = {**(os.environ if environment is None else environment), "LC_ALL": "C", "LANGUAGE": "C"}
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Completed(tuple(argv), _RC_MISSING, "", str(error))
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = _last_words(process)
        stderr += f"\ngiven up after {timeout:g} seconds".encode()
        return Completed(tuple(argv), _RC_GIVEN_UP, _text(stdout), _text(stderr))
    return Completed(tuple(argv), process.returncode, _text(stdout), _text(stderr))


def _last_words(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return what a killed program had printed, nothing if it does not end."""
    try:
        return process.communicate(timeout=_SECONDS_TO_DIE)
    except subprocess.TimeoutExpired:
        return b"", b""


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")


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
