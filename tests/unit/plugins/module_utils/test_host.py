# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the host that is looked at, live and captured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host, recording_name

HANG = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), "begun", flush=True)
time.sleep(600)
"""


@pytest.fixture
def captured(tmp_path: Path) -> Host:
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/version").write_bytes(b"NVRM version: \xff 580\n")
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/libcuda.so.1").symlink_to("libcuda.so.580.159.04")
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands/nvidia-smi_-q_-x").write_text("<nvidia_smi_log/>")
    (tmp_path / "commands/modinfo_nvidia").write_text("")
    (tmp_path / "commands/modinfo_nvidia.rc").write_text("1\n")
    (tmp_path / "commands/modinfo_nvidia.stderr").write_text("modinfo: ERROR: Module nvidia not found.\n")
    return Host(str(tmp_path))


def test_a_captured_host_gives_its_files(captured: Host) -> None:
    assert captured.read("/proc/driver/nvidia/version") == "NVRM version: \ufffd 580\n"
    assert captured.read("/proc/none") is None
    assert captured.read("/proc/driver") is None
    assert captured.names("/proc/driver") == ("nvidia",)
    assert captured.names("/none") == ()
    assert captured.link("/usr/lib/libcuda.so.1") == "libcuda.so.580.159.04"
    assert captured.link("/proc/driver/nvidia/version") is None
    assert captured.exists("/usr/lib/libcuda.so.1")
    assert not captured.exists("/usr/lib/libcuda.so")
    assert not captured.live


def test_a_captured_host_gives_what_its_programs_said(captured: Host) -> None:
    assert captured.ask(["nvidia-smi", "-q", "-x"]).stdout == "<nvidia_smi_log/>"
    refused = captured.ask(["modinfo", "nvidia"])
    assert (refused.rc, refused.stderr) == (1, "modinfo: ERROR: Module nvidia not found.\n")


def test_a_captured_host_runs_nothing(captured: Host) -> None:
    asked = captured.ask([sys.executable, "-c", "print('ran')"])
    assert (asked.rc, asked.stdout) == (127, "")


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["nvidia-smi", "-q", "-x"], "nvidia-smi_-q_-x"),
        (["/usr/bin/nvidia-smi", "--query-gpu=name,uuid"], "usr_bin_nvidia-smi_--query-gpu=name,uuid"),
        (["modinfo", "-F", "version", "../nvidia"], "modinfo_-F_version_.._nvidia"),
    ],
)
def test_names_of_recordings(argv: list[str], name: str) -> None:
    assert recording_name(argv) == name


def test_this_host_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    host = Host()
    said = host.ask([sys.executable, "-c", "import os; print(os.environ['LC_ALL'])"])
    assert (host.live, said.rc, said.stdout) == (True, 0, "C\n")


def test_a_missing_program_is_an_answer() -> None:
    asked = Host().ask(["no-such-program"])
    assert (asked.rc, asked.stdout) == (127, "")
    assert "No such file" in asked.stderr


def test_a_program_that_hangs_is_given_up_and_ended() -> None:
    asked = Host(timeout=0.5).ask([sys.executable, "-c", HANG])
    assert asked.rc == 124
    assert asked.stderr.endswith("given up after 0.5 seconds")
    pid, word = asked.stdout.split()
    assert word == "begun"
    assert not Path(f"/proc/{pid}").exists()


def test_an_unreadable_file_is_told_from_a_missing_one(captured: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not captured.unreadable("/proc/driver/nvidia/version")
    assert not captured.unreadable("/proc/none")

    def refuse(*_args: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    assert captured.unreadable("/proc/driver/nvidia/version")
    assert captured.read("/proc/driver/nvidia/version") is None
