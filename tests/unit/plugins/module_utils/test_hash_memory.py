# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _hash_memory
from ansible_collections.nemotron.vllm.plugins.module_utils._hash_memory import memorise, remembered_sha256


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wheel"
    path.write_text("one", encoding="utf-8")
    memory = {str(path): memorise(str(path), "remembered")}
    monkeypatch.setattr(_hash_memory, "sha256_of_file", lambda _path: pytest.fail("the file was read"))
    assert remembered_sha256(str(path), memory) == "remembered"


def test_a_file_of_the_same_size_and_time_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    path.write_text("one", encoding="utf-8")
    memory = {str(path): memorise(str(path), "remembered")}
    before = path.stat()
    path.write_text("two", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert remembered_sha256(str(path), memory) == "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"


def test_a_file_that_is_not_remembered_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    path.write_text("one", encoding="utf-8")
    assert remembered_sha256(str(path), {}) == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
