# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Reading, hashing and atomically replacing files."""

from __future__ import annotations

import hashlib
import os
import tempfile
import typing as t

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

_CHUNK_BYTES = 1 << 20


def sha256_of_file(path: str) -> str:
    """Return the SHA-256 of a file's content as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


def read_text(path: str) -> str | None:
    """Return a file's text, or None when there is no such file (any more, if it is one of a process under /proc)."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except (FileNotFoundError, ProcessLookupError):
        return None


def write_text(module: AnsibleModule, path: str, text: str, mode: int = 0o644) -> None:
    """Replace a file atomically, so that a reader sees the old or the new text and never a part."""
    descriptor, temporary = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    module.add_cleanup_file(temporary)
    module.atomic_move(temporary, path)
    module.set_mode_if_different(path, mode, changed=False)
