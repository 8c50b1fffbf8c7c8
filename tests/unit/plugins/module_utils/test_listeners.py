# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _listeners

# Recorded on Debian 12: sshd on 22, and an established connection to it.
PROC_NET_TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 8131 1 00000000 100 0 0 10 0
   1: 0B4D000A:0016 014D000A:D5F2 01 00000000:00000000 02:000A7C1E 00000000     0        0 9544 3 00000000 20 4 30 10 -1
"""
PROC_NET_TCP6 = """\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when
   0: 00000000000000000000000000000000:1F40 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 77
"""


@pytest.mark.parametrize(
    ("text", "port", "expected"),
    [
        (PROC_NET_TCP, 22, {"8131"}),
        (PROC_NET_TCP, 54770, set()),
        (PROC_NET_TCP, 8000, set()),
        (PROC_NET_TCP6, 8000, {"77"}),
        ("", 22, set()),
    ],
)
def test_listening_inodes(text: str, port: int, expected: set[str]) -> None:
    assert _listeners.listening_inodes(text, port) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0::/system.slice/vllm-nemotron.service\n", "vllm-nemotron.service"),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"),
        ("12:pids:/x.service\n1:name=systemd:/system.slice/ssh.service\n", "ssh.service"),
        ("0::/system.slice/vllm-nemotron.service/workers\n", "vllm-nemotron.service"),
        ("0::/\n", ""),
        ("", ""),
    ],
)
def test_unit_of_cgroup(text: str, expected: str) -> None:
    assert _listeners.unit_of_cgroup(text) == expected


def test_a_real_listener_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert [listener.pid for listener in _listeners.listeners(port)] == [os.getpid()]
    assert _listeners.listeners(port) == []


def test_a_socket_without_a_visible_process(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(PROC_NET_TCP, encoding="utf-8")
    (listener,) = _listeners.listeners(22, str(tmp_path))
    assert listener.describe() == "a program that this user cannot see"


def test_a_program_that_ends_while_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net").mkdir()
    table = tmp_path / "net" / "tcp"
    table.write_text(PROC_NET_TCP, encoding="utf-8")

    def no_sockets(proc: str) -> list[tuple[int, str]]:
        table.unlink()
        return []

    monkeypatch.setattr(_listeners, "_sockets", no_sockets)
    assert _listeners.listeners(22, str(tmp_path)) == []


@pytest.mark.parametrize(
    ("listener", "expected"),
    [
        (_listeners.Listener(7, "nginx", "nginx.service"), "nginx (process 7 of nginx.service)"),
        (_listeners.Listener(7, "python3", ""), "python3 (process 7)"),
    ],
)
def test_describe(listener: _listeners.Listener, expected: str) -> None:
    assert listener.describe() == expected
