# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""A host to look at: this one, or one that was captured into a folder with its files and what its programs said.

A captured host is a folder that has the files at their places, and in C(commands/) the output of each program under the
name that :func:`recording_name` gives it, beside it C(NAME.rc) for an exit status other than 0 and C(NAME.stderr).
"""

from __future__ import annotations

import os
import re
import typing as t
from dataclasses import dataclass

from ._command import Completed, run_limited

if t.TYPE_CHECKING:
    from collections.abc import Sequence

_MISSING_PROGRAM = 127


def recording_name(argv: Sequence[str]) -> str:
    """Return the file name for the output of a program: its arguments, what is no plain character as C(_)."""
    return re.sub(r"[^A-Za-z0-9.=,-]+", "_", " ".join(argv)).strip("_")


@dataclass(frozen=True)
class Host:
    """Reads files and asks programs; neither raises, since what cannot be read is a finding about the host."""

    root: str = "/"
    timeout: float = 10.0
    """Seconds after which a program is given up."""

    @property
    def live(self) -> bool:
        """Whether this is the host that we run on."""
        return os.path.realpath(self.root) == "/"

    def path(self, path: str) -> str:
        """Return where an absolute path of the host lies for us."""
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if it is not there or cannot be read."""
        content = self.read_bytes(path)
        return None if content is None else content.decode("utf-8", errors="replace")

    def read_bytes(self, path: str) -> bytes | None:
        """Return a file's bytes, or None if it is not there or cannot be read."""
        try:
            with open(self.path(path), "rb") as stream:
                return stream.read()
        except OSError:
            return None

    def unreadable(self, path: str) -> bool:
        """Tell whether a file is there and may not be read, as some may by root alone."""
        try:
            with open(self.path(path), "rb"):
                return False
        except PermissionError:
            return True
        except OSError:
            return False

    def exists(self, path: str) -> bool:
        """Tell whether there is something at a path, even a link that leads nowhere."""
        return os.path.lexists(self.path(path))

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names in a folder, none if there is no such folder."""
        try:
            return tuple(sorted(os.listdir(self.path(folder))))
        except OSError:
            return ()

    def link(self, path: str) -> str | None:
        """Return what a symbolic link says, or None if there is none."""
        try:
            return os.readlink(self.path(path))
        except OSError:
            return None

    def ask(self, argv: Sequence[str], timeout: float | None = None) -> Completed:
        """Return what a program says, in the C locale; rc 127 means that it is not there, 124 that it was given up."""
        if self.live:
            return run_limited(argv, self.timeout if timeout is None else timeout)
        recording = self.path("commands/" + recording_name(argv))
        if not os.path.exists(recording):
            return Completed(tuple(argv), _MISSING_PROGRAM, "", f"{argv[0]}: not among the recorded commands")
        name = "commands/" + recording_name(argv)
        rc = (self.read(name + ".rc") or "0").strip()
        return Completed(
            tuple(argv), int(rc) if rc.isdigit() else 1, self.read(name) or "", self.read(name + ".stderr") or ""
        )
