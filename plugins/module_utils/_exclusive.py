# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""One run at a time: what a killed run left working on the host is waited for."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import typing as t

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 1800


@contextlib.contextmanager
def exclusive(folder: str) -> Iterator[None]:
    """Hold a folder against other runs; the lock ends with the process, however that ends.

    When the controller of a run is killed, the module that it has started goes on by itself.
    """
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    give_up = time.monotonic() + PATIENCE_SECONDS
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= give_up:
                    raise NemotronError(
                        f"{folder}: another run has been working here for {PATIENCE_SECONDS} s; needed to be alone. "
                        f"See who it is with: fuser -v {folder}"
                    ) from error
                time.sleep(0.5)
        yield
    finally:
        os.close(descriptor)
