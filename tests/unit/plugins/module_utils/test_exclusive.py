# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _exclusive
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._exclusive import exclusive


def hold(folder: Path) -> int:
    """Lock a folder as another process does: a second descriptor has a lock of its own."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def test_the_folder_is_made_and_held(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with exclusive(str(folder)), pytest.raises(BlockingIOError):
        hold(folder)
    os.close(hold(folder))


def test_it_is_let_go_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(str(tmp_path)):
        raise ZeroDivisionError
    os.close(hold(tmp_path))


def test_another_run_is_waited_for(tmp_path: Path) -> None:
    descriptor = hold(tmp_path)
    ended: list[bool] = []

    def end() -> None:
        ended.append(True)
        os.close(descriptor)

    timer = threading.Timer(0.3, end)
    timer.start()
    with exclusive(str(tmp_path)):
        assert ended == [True]


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exclusive, "PATIENCE_SECONDS", 0)
    descriptor = hold(tmp_path)
    with pytest.raises(NemotronError) as caught, exclusive(str(tmp_path)):
        pytest.fail("two runs at once")
    os.close(descriptor)
    assert str(caught.value) == (
        f"{tmp_path}: another run has been working here for 0 s; needed to be alone. See who it is with: fuser -v "
        f"{tmp_path}"
    )
