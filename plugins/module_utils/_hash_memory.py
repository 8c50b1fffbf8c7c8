# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Hashes of files that are remembered, so that a large file is read again only when it may have changed."""

from __future__ import annotations

import os
import typing as t

from ._files import sha256_of_file

if t.TYPE_CHECKING:
    from collections.abc import Mapping


def stamp(path: str) -> list[int]:
    """Return what changes whenever a file's content does: size, time of its content and time of its inode."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def remembered_sha256(path: str, memory: Mapping[str, t.Any]) -> str:
    """Return a file's SHA-256, from memory when its stamp is the remembered one."""
    known = memory.get(path)
    if isinstance(known, dict) and known.get("stamp") == stamp(path):
        return str(known["sha256"])
    return sha256_of_file(path)


def memorise(path: str, sha256: str) -> dict[str, t.Any]:
    """Return what C(remembered_sha256) wants to find in its memory under this path."""
    return {"sha256": sha256, "stamp": stamp(path)}
