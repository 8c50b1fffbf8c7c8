# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import cgroup_info


def run(capsys: pytest.CaptureFixture[str], **parameters: Any) -> dict[str, Any]:
    with patch_module_args(parameters), pytest.raises(SystemExit):
        cgroup_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
        "proc/sys/kernel/osrelease": "6.8.0\n",
        "commands/systemctl_--version": "systemd 259 (259)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_host_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, root=str(root))
    assert not result.get("changed")
    assert (result["mode"], result["systemd"], result["reached"], result["conflicts"]) == ("unified", 259, True, [])


def test_a_conflict_fails_only_if_it_should(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, root=str(root), state="hybrid")
    assert result["failed"]
    assert result["msg"] == (
        "cgroup-v1-impossible: found systemd 259 and cgroup_v1_state hybrid; needed systemd before 258, the first that "
        "can do nothing but cgroup v2. Set cgroup_v1_state to default; vLLM needs no cgroup v1."
    )
    told = run(capsys, root=str(root), state="hybrid", strict=False)
    assert not told.get("failed")
    assert told["conflicts"][0]["code"] == "cgroup-v1-impossible"


def test_a_boot_that_did_not_help(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "commands/systemctl_--version").write_text("systemd 252 (252)\n", encoding="utf-8")
    result = run(capsys, root=str(root), state="legacy", booted=True)
    assert result["msg"] == (
        "cgroup-mode: found unified cgroup hierarchy; needed legacy. Reboot if that was not done; else look for what "
        "else sets kernel parameters, and at the journal."
    )


def test_no_such_root(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, root="/nonexistent")["msg"] == (
        "root: found no folder /nonexistent; needed one with a captured host, or /."
    )
