# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import driver_plan_info

DEBIAN = {"distribution": "Debian", "version": "12.7", "architecture": "x86_64"}
NO_DRIVER = {"loaded": None, "on_disk": None, "user_space": None, "flavour": None, "installed_by": None}
H100 = {"name": "NVIDIA H100", "architecture": "Hopper", "compute_capability": "9.0"}
GPU = {
    "driver": NO_DRIVER,
    "gpus": [H100],
    "nvidia_smi": {"path": None, "ok": False, "said": ""},
    "nvswitch": 0,
    "secure_boot": None,
    "nouveau": False,
    "nova_core": False,
}
STACK = {"branch": "580", "flavour": "open", "action": "install", "minimum": "580.65.06"}


def run(root: Path, capsys: pytest.CaptureFixture[str], **parameters: Any) -> dict[str, Any]:
    usual = {"root": str(root), "os": DEBIAN, "gpu": GPU, "stack_driver": STACK}
    with patch_module_args({**usual, **parameters}), pytest.raises(SystemExit):
        driver_plan_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_plan_with_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(tmp_path, capsys)
    assert not result.get("changed")
    assert (result["plan"]["action"], result["plan"]["method"], result["conflicts"]) == ("install", "nvidia", [])
    assert "driver installed: no package and no .run installer has one here." in result["reasons"]


def test_a_conflict_fails_only_if_it_should(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(tmp_path, capsys, method="runfile", runfile_version="580.159.04")
    assert result["failed"]
    assert result["msg"] == (
        "The driver of this host cannot be brought there:\n"
        "- runfile-not-pinned: found nvidia_driver_method runfile without nvidia_driver_runfile_sha256; needed both, "
        "since the file is run as root. Set nvidia_driver_runfile_sha256, or nvidia_driver_method to auto."
    )
    told = run(tmp_path, capsys, method="runfile", runfile_version="580.159.04", strict=False)
    assert not told.get("failed")
    assert told["conflicts"][0]["code"] == "runfile-not-pinned"


def test_a_stack_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(tmp_path, capsys, stack_driver={"branch": "new"})
    assert result["failed"]
    assert result["msg"] == (
        "stack_driver: found branch 'new' and flavour None; needed the driver of the stack that "
        "nemotron.vllm.stack_info returns."
    )


def test_no_such_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none", capsys)["msg"] == (
        f"root: found no folder {tmp_path}/none; needed one with a captured host, or / for this host."
    )
