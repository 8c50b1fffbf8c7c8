# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import stack_info

DEBIAN = {"distribution": "Debian", "version": "12.7", "architecture": "x86_64"}
NO_DRIVER = {"loaded": None, "on_disk": None, "user_space": None, "flavour": None}
A100 = {"name": "NVIDIA A100-SXM4-80GB", "architecture": "Ampere", "compute_capability": "8.0"}
WITH_535 = {
    "driver": {"loaded": "535.129.03", "on_disk": "535.129.03", "user_space": "535.129.03", "flavour": "proprietary"},
    "gpus": [A100],
    "nvidia_smi": {"path": "/usr/bin/nvidia-smi", "ok": True, "said": ""},
    "nvswitch": 0,
}
NO_GPU = {"driver": NO_DRIVER, "gpus": [], "nvidia_smi": {"path": None, "ok": False, "said": ""}, "nvswitch": 0}


def run(capsys: pytest.CaptureFixture[str], **parameters: Any) -> dict[str, Any]:
    """Run the module and return what it printed."""
    with patch_module_args({"_ansible_check_mode": True, "os": DEBIAN, **parameters}), pytest.raises(SystemExit):
        stack_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_stack_is_returned_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, gpu=WITH_535, driver_manage=False)
    assert not result.get("changed")
    assert result["conflicts"] == []
    assert result["stack"] == {
        "device": "cuda",
        "driver": {"branch": "535", "minimum": "525.60.13", "flavour": "proprietary", "action": "keep"},
        "cuda": "12.8",
        "torch": "2.10.0",
        "vllm": "0.19.1",
        "python": "3.12",
        "glibc": "2.31",
        "toolkit": None,
        "compiler": None,
    }
    assert "device cuda: the host has NVIDIA A100-SXM4-80GB." in result["reasons"]


def test_a_conflict_fails_with_both_sides_and_the_ways_out(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, gpu=WITH_535, driver_manage=False, vllm_version="0.33.0")
    assert result["failed"] is True
    assert result["msg"] == (
        "There is no stack that fits this host and these wishes:\n"
        "- cuda-runtime-newer-than-driver: found driver 535.129.03, which runs CUDA 12.2, and nvidia_driver_manage "
        "false; needed driver 580.65.06 or newer for CUDA 13.0 of vLLM 0.33.0. Set nvidia_driver_manage to true, so "
        "that a newer driver is installed. Or set nemotron_serve_vllm_version to 0.19.1, the newest that fits."
    )
    assert [conflict["code"] for conflict in result["conflicts"]] == ["cuda-runtime-newer-than-driver"]


def test_a_conflict_is_only_reported_where_that_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, gpu=NO_GPU, device="cuda", strict=False)
    assert "failed" not in result
    assert result["stack"] is None
    assert [conflict["code"] for conflict in result["conflicts"]] == ["vllm-finds-no-device"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"gpu": WITH_535, "vllm_version": "newest"},
            "nemotron_serve_vllm_version: 'newest' is no version: needed numbers with dots between them, as 580.159.04 "
            "or 13.0.",
        ),
        (
            {"gpu": WITH_535, "python": "python3"},
            "conda_env_python: 'python3' is no version: needed numbers with dots between them, as 580.159.04 or 13.0.",
        ),
        (
            {"gpu": NO_GPU, "os": {"distribution": "Debian"}},
            "missing required arguments: architecture, version found in os",
        ),
        ({"gpu": NO_GPU, "device": "tpu"}, "value of device must be one of: auto, cpu, cuda, got: tpu"),
    ],
)
def test_bad_input_is_refused(capsys: pytest.CaptureFixture[str], parameters: dict[str, Any], message: str) -> None:
    result = run(capsys, **parameters)
    assert result["failed"] is True
    assert result["msg"] == message
