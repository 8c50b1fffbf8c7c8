# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Folders that the user of a service can enter."""

from __future__ import annotations

import os

# What lies below the collection's root is read by the service, which runs as a user of its own.
_OPEN = 0o755


def open_folder(path: str) -> None:
    """Let all users enter a folder and list it, whatever the umask was when it was made."""
    os.chmod(path, _OPEN)


def make_open_folder(path: str) -> None:
    """Make a folder, and those above it, that all users can enter; folders that exist are left as they are."""
    if not os.path.isdir(path):
        make_open_folder(os.path.dirname(path))
        os.mkdir(path)
        open_folder(path)
