# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of stacks: for a live server without a GPU, and for captured hosts that have one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import CHECKOUT, Droplet
from deployment import Outcome, run

ROOTS = CHECKOUT / "tests" / "fixtures" / "roots"
NANO = "nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16"
DEBIAN = {"distribution": "Debian", "version": "12", "architecture": "x86_64"}
UBUNTU_2204 = {"distribution": "Ubuntu", "version": "22.04", "architecture": "x86_64"}
UBUNTU_2404 = {"distribution": "Ubuntu", "version": "24.04", "architecture": "x86_64"}
KEEP_DRIVER = {"nvidia_driver_manage": False}
CAPTURED: dict[str, dict[str, Any]] = {
    "h200": {"root": "h200", "os": UBUNTU_2404},
    "blackwell": {"root": "drv-12-blackwell-proprietary", "os": DEBIAN},
    "a100": {"root": "a100-ubuntu2204-535", "os": UBUNTU_2204, "variables": KEEP_DRIVER},
}
TABLE = """\
HOST       GPUS                                              DRIVER NOW  DRIVER                CUDA  TORCH   VLLM    PYTHON  FITS
h200       1 x NVIDIA H200                                   580.159.04  keep 580 open         13.0  2.14.0  0.33.0  3.12    yes
blackwell  1 x NVIDIA RTX PRO 6000 Blackwell Server Edition  580.65.06   replace 620 open      13.0  2.14.0  0.33.0  3.12    yes
a100       1 x NVIDIA A100-SXM4-80GB                         535.129.03  keep 535 proprietary  12.8  2.10.0  0.19.1  3.12    yes
"""  # noqa: E501  (it is as wide as it is)


def inventory(folder: Path, hosts: dict[str, dict[str, Any]]) -> Path:
    """Write an inventory of captured hosts."""
    path = folder / "captured.yml"
    group = {
        "vars": {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": sys.executable,
        },
        "hosts": {
            name: {
                "preflight_captured_root": str(ROOTS / host["root"]),
                "preflight_os": host["os"],
                **host.get("variables", {}),
            }
            for name, host in hosts.items()
        },
    }
    path.write_text(yaml.safe_dump({"droplets": group}, sort_keys=False), encoding="utf-8")
    return path


def judge(folder: Path, hosts: dict[str, dict[str, Any]], **variables: Any) -> tuple[Outcome, dict[str, Any]]:
    """Run the playbook on captured hosts; return its outcome and the report."""
    report = folder / "report.json"
    outcome = run(
        "playbooks/preflight.yml",
        [inventory(folder, hosts)],
        variables={"nemotron_serve_model": NANO, "preflight_report": str(report), **variables},
    )
    return outcome, json.loads(report.read_text(encoding="utf-8"))


def test_a_table_and_json_for_all_hosts(tmp_path: Path) -> None:
    outcome, report = judge(tmp_path, CAPTURED)
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in outcome.output.splitlines()]
    for line in TABLE.splitlines():
        assert line in shown
    assert {name: host["stack"]["vllm"] for name, host in report.items()} == {
        "h200": "0.33.0",
        "blackwell": "0.33.0",
        "a100": "0.19.1",
    }
    assert {name: [violation["code"] for violation in host["violations"]] for name, host in report.items()} == {
        "h200": [],
        "blackwell": ["gpu-requires-open-kernel-module"],
        "a100": [],
    }
    assert (
        "open kernel modules: NVIDIA RTX PRO 6000 Blackwell Server Edition runs with no others."
        in (report["blackwell"]["reasons"])
    )


def test_a_conflict_stops_all_and_offers_the_ways_out(tmp_path: Path) -> None:
    wanted = {"nemotron_serve_vllm_version": "0.33.0", **KEEP_DRIVER}
    hosts = {**CAPTURED, "a100": {**CAPTURED["a100"], "variables": wanted}}
    outcome, report = judge(tmp_path, hosts)
    assert outcome.status == "failed"
    (failure,) = outcome.failures
    assert "refuse a host that none fits" in failure
    assert "driver 580.65.06 or newer for CUDA 13.0 of vLLM 0.33.0" in failure
    assert "Or set nemotron_serve_vllm_version to 0.19.1, the newest that fits." in failure
    assert report["a100"]["stack"] is None
    assert [conflict["code"] for conflict in report["a100"]["conflicts"]] == ["cuda-runtime-newer-than-driver"]


def test_the_article_s_inventory_on_the_article_s_server(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    outcome = run(
        "playbooks/preflight.yml",
        [
            inventory(tmp_path, {"article": {"root": "a100-ubuntu2204-535", "os": UBUNTU_2204}}),
            CHECKOUT / "inventories" / "article",
        ],
        variables={"nemotron_hosts": "article", "preflight_report": str(report)},
    )
    assert outcome.status == "successful", outcome.output[-4000:]
    stack = json.loads(report.read_text(encoding="utf-8"))["article"]["stack"]
    assert stack == {
        "device": "cuda",
        "driver": {"branch": "535", "minimum": "525.60.13", "flavour": "proprietary", "action": "keep"},
        "cuda": "12.1",
        "torch": "2.4.0",
        "vllm": "0.6.3",
        "python": "3.10",
        "glibc": "2.5",
        "toolkit": None,
        "compiler": None,
    }


@pytest.mark.parametrize("check", [True, False])
def test_a_live_server_without_a_gpu(bare: Droplet, tmp_path: Path, check: bool) -> None:
    report = tmp_path / "report.json"
    outcome = run("playbooks/preflight.yml", bare.inventories, check=check, variables={"preflight_report": str(report)})
    assert outcome.status == "successful", outcome.output[-4000:]
    assert outcome.changed_tasks == []
    found = json.loads(report.read_text(encoding="utf-8"))[bare.name]
    assert found["gpu"]["gpus"] == []
    expected = {"device": "cpu", "vllm": "0.32.0", "torch": "2.13.0", "python": "3.11", "driver": None, "cuda": None}
    assert {name: found["stack"][name] for name in expected} == expected
