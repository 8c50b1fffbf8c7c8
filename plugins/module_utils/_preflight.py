# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Whether a host can carry a deployment, decided before anything is changed on it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ._problem import Problem

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GIB = 1 << 30
# ProtectHome=yes and PrivateTmp=yes: https://www.freedesktop.org/software/systemd/man/systemd.exec.html#Sandboxing
_HIDDEN_FROM_SERVICE = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # noqa: S108  (no file is made there)


@dataclass(frozen=True)
class Host:
    """What was found on a host; sizes in bytes."""

    distribution: str
    major_version: str
    architecture: str
    memory_bytes: int
    free_bytes: Mapping[str, int]
    gpus: tuple[str, ...]
    """Names of the NVIDIA GPUs that a stack could use."""
    port_owner: str | None


@dataclass(frozen=True)
class Space:
    """Room that a path needs: bytes, what they are for, and the variable that moves them elsewhere."""

    path: str
    needed_bytes: int
    purpose: str
    variable: str


@dataclass(frozen=True)
class Need:
    """What a deployment asks of a host; sizes in bytes."""

    distributions: Mapping[str, Sequence[str]]
    architectures: Sequence[str]
    memory_bytes: int
    space: Sequence[Space]
    device: str
    port: int
    root: str
    """Folder below which the service finds all that it needs."""


def parse_os_release(text: str) -> tuple[str, str]:
    """Return (name, major version) as Ansible's facts call them, for example ("Debian", "12")."""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    name = fields.get("ID", "unknown").strip("\"'")
    version = fields.get("VERSION_ID", "unknown").strip("\"'")
    return name[:1].upper() + name[1:], version if name == "ubuntu" else version.split(".")[0]


def parse_mem_total(meminfo: str) -> int:
    """Return the bytes of MemTotal in /proc/meminfo, or 0 when it is not there."""
    for line in meminfo.splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return 0


def problems(host: Host, need: Need) -> list[Problem]:
    """Return every reason against the deployment, in a fixed order; an empty list means that it can go on."""
    return [
        *_platform(host, need),
        *_device(host, need),
        *_room(host, need),
        *_port(host, need),
        *_root(need),
    ]


def _platform(host: Host, need: Need) -> list[Problem]:
    found = []
    if host.major_version not in need.distributions.get(host.distribution, ()):
        allowed = ", ".join(
            f"{name} {version}" for name in sorted(need.distributions) for version in need.distributions[name]
        )
        found.append(
            Problem(
                "unsupported-distribution",
                f"{host.distribution} {host.major_version}",
                f"one of {allowed}",
                "Reinstall the server with one of these.",
            )
        )
    if host.architecture not in need.architectures:
        found.append(
            Problem(
                "unsupported-architecture",
                host.architecture,
                " or ".join(need.architectures),
                "The locked packages exist for these processors; rent a server that has one.",
            )
        )
    return found


def _device(host: Host, need: Need) -> list[Problem]:
    if need.device != "cpu" or not host.gpus:
        return []
    return [
        Problem(
            "gpu-unused",
            f"{', '.join(host.gpus)} and a CPU stack",
            "a stack that uses the GPU",
            "This version of the collection serves on the CPU only; to do that here all the same, "
            "set preflight_allow_unused_gpu to true.",
        )
    ]


def _room(host: Host, need: Need) -> list[Problem]:
    found = []
    if host.memory_bytes < need.memory_bytes:
        found.append(
            Problem(
                "memory",
                _gib(host.memory_bytes),
                f"{_gib(need.memory_bytes)} for the weights, the KV cache and the server",
                "Serve a smaller model, lower nemotron_serve_cpu_kvcache_gib, or rent a server with more memory.",
            )
        )
    for space in need.space:
        free = host.free_bytes.get(space.path, 0)
        if free < space.needed_bytes:
            found.append(
                Problem(
                    "disk",
                    f"{_gib(free)} free for {space.path}",
                    f"{_gib(space.needed_bytes)} for {space.purpose}",
                    f"Free some space, or set {space.variable} to a folder on a larger disk.",
                )
            )
    return found


def _port(host: Host, need: Need) -> list[Problem]:
    if host.port_owner is None:
        return []
    return [
        Problem(
            "port-in-use",
            f"port {need.port} taken by {host.port_owner}",
            "a port that nothing listens on",
            "Stop that program or choose another nemotron_serve_port. "
            "vLLM can start all the same and silently share the requests.",
        )
    ]


def _root(need: Need) -> list[Problem]:
    hidden = next((folder for folder in _HIDDEN_FROM_SERVICE if f"{need.root.rstrip('/')}/".startswith(folder)), None)
    if hidden is None:
        return []
    return [
        Problem(
            "root-hidden-from-service",
            f"nemotron_root {need.root}",
            f"a folder that is not below {hidden.rstrip('/')}, which the unit's sandbox hides from the server",
            "Set nemotron_root to another folder, for example /opt/nemotron or /srv/nemotron.",
        )
    ]


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
