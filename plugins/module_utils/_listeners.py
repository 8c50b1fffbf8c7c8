# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which process listens on a TCP port, and which systemd unit it belongs to.

vLLM can bind with SO_REUSEPORT: 0.24 always did, 0.32 does with several API servers. A second server on a taken port
then starts without an error and gets a share of the requests. Only a look at the listeners beforehand prevents that.
"""

from __future__ import annotations

import os
import typing as t
from dataclasses import dataclass

from ._files import read_text

if t.TYPE_CHECKING:
    from collections.abc import Iterator

# The state LISTEN, see include/net/tcp_states.h of the Linux kernel.
_TCP_LISTEN = "0A"
_LOCAL_ADDRESS, _STATE, _INODE = 1, 3, 9


@dataclass(frozen=True)
class Listener:
    """A process that listens; C(unit) is the systemd unit of its control group, empty when there is none."""

    pid: int
    program: str
    unit: str

    def describe(self) -> str:
        """Return the words for a message."""
        if not self.pid:
            return self.program
        unit = f" of {self.unit}" if self.unit else ""
        return f"{self.program} (process {self.pid}{unit})"


def listening_inodes(proc_net_tcp: str, port: int) -> set[str]:
    """Return the socket inodes that listen on a port, from the text of /proc/net/tcp or /proc/net/tcp6."""
    found = set()
    for line in proc_net_tcp.splitlines()[1:]:
        fields = line.split()
        if len(fields) <= _INODE or fields[_STATE] != _TCP_LISTEN:
            continue
        if int(fields[_LOCAL_ADDRESS].rsplit(":", 1)[1], 16) == port:
            found.add(fields[_INODE])
    return found


def unit_of_cgroup(proc_cgroup: str) -> str:
    """Return the innermost service or scope in the text of /proc/PID/cgroup, or an empty string."""
    for line in proc_cgroup.splitlines():
        # Version 2 has one line, 0::PATH; version 1 has a line for each controller.
        if line.startswith("0::") or ":name=systemd:" in line:
            for part in reversed(line.split("/")):
                if part.endswith((".service", ".scope")):
                    return part
    return ""


def listeners(port: int, proc: str = "/proc") -> list[Listener]:
    """Return the processes that listen on a port, by process id; one that is not visible has the process id 0."""
    inodes = _inodes(port, proc)
    if not inodes:
        return []
    found = {pid for pid, inode in _sockets(proc) if inode in inodes}
    if found:
        return [_listener(pid, proc) for pid in sorted(found)]
    # Either its process is hidden, or it has ended since the table was read.
    return [Listener(0, "a program that this user cannot see", "")] if inodes & _inodes(port, proc) else []


def _inodes(port: int, proc: str) -> set[str]:
    tables = (read_text(os.path.join(proc, "net", table)) or "" for table in ("tcp", "tcp6"))
    return set().union(*(listening_inodes(text, port) for text in tables))


def _sockets(proc: str) -> Iterator[tuple[int, str]]:
    for name in os.listdir(proc):
        if not name.isdigit():
            continue
        try:
            descriptors = os.listdir(os.path.join(proc, name, "fd"))
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                target = os.readlink(os.path.join(proc, name, "fd", descriptor))
            except OSError:
                continue
            if target.startswith("socket:["):
                yield int(name), target[len("socket:[") : -1]


def _listener(pid: int, proc: str) -> Listener:
    program = (read_text(os.path.join(proc, str(pid), "comm")) or "a program that has just ended").strip()
    return Listener(pid, program, unit_of_cgroup(read_text(os.path.join(proc, str(pid), "cgroup")) or ""))
