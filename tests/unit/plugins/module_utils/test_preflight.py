# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _preflight as preflight

GIB = 1 << 30
HOST = preflight.Host(
    distribution="Debian",
    major_version="12",
    architecture="x86_64",
    memory_bytes=16 * GIB,
    free_bytes={"/opt/nemotron": 50 * GIB},
    gpus=(),
    port_owner=None,
)
NEED = preflight.Need(
    distributions={"Debian": ["12", "13"], "Ubuntu": ["24.04"]},
    architectures=["x86_64"],
    memory_bytes=8 * GIB,
    space=[preflight.Space("/opt/nemotron", 4 * GIB, "the environment", "nemotron_root")],
    device="cpu",
    port=8000,
    root="/opt/nemotron",
)

CASES = [
    pytest.param({}, {}, [], id="fits"),
    pytest.param(
        {"distribution": "Fedora", "major_version": "42"},
        {},
        [
            "unsupported-distribution: found Fedora 42; needed one of Debian 12, Debian 13, Ubuntu 24.04. "
            "Reinstall the server with one of these."
        ],
        id="other distribution",
    ),
    pytest.param(
        {"major_version": "11"},
        {},
        [
            "unsupported-distribution: found Debian 11; needed one of Debian 12, Debian 13, Ubuntu 24.04. "
            "Reinstall the server with one of these."
        ],
        id="old release",
    ),
    pytest.param(
        {"architecture": "aarch64"},
        {},
        [
            "unsupported-architecture: found aarch64; needed x86_64. "
            "The locked packages exist for these processors; rent a server that has one."
        ],
        id="other processor",
    ),
    pytest.param(
        {"gpus": ("NVIDIA H200", "NVIDIA H200")},
        {},
        [
            "gpu-unused: found NVIDIA H200, NVIDIA H200 and a CPU stack; needed a stack that uses the GPU. "
            "This version of the collection serves on the CPU only; to do that here all the same, "
            "set preflight_allow_unused_gpu to true."
        ],
        id="idle GPUs",
    ),
    pytest.param({"gpus": ("NVIDIA H200",)}, {"device": "cuda"}, [], id="used GPU"),
    pytest.param(
        {"memory_bytes": 4 * GIB},
        {},
        [
            "memory: found 4.0 GiB; needed 8.0 GiB for the weights, the KV cache and the server. "
            "Serve a smaller model, lower nemotron_serve_cpu_kvcache_gib, or rent a server with more memory."
        ],
        id="little memory",
    ),
    pytest.param(
        {"free_bytes": {"/opt/nemotron": GIB}},
        {},
        [
            "disk: found 1.0 GiB free for /opt/nemotron; needed 4.0 GiB for the environment. "
            "Free some space, or set nemotron_root to a folder on a larger disk."
        ],
        id="little disk",
    ),
    pytest.param(
        {"port_owner": "nginx (process 812)"},
        {},
        [
            "port-in-use: found port 8000 taken by nginx (process 812); needed a port that nothing listens on. "
            "Stop that program or choose another nemotron_serve_port. "
            "vLLM can start all the same and silently share the requests."
        ],
        id="port taken",
    ),
    pytest.param(
        {},
        {"root": "/home/me/nemotron"},
        [
            "root-hidden-from-service: found nemotron_root /home/me/nemotron; needed a folder that is not below /home, "
            "which the unit's sandbox hides from the server. "
            "Set nemotron_root to another folder, for example /opt/nemotron or /srv/nemotron."
        ],
        id="root below /home",
    ),
    pytest.param(
        {},
        {"root": "/var/tmp"},
        [
            "root-hidden-from-service: found nemotron_root /var/tmp; needed a folder that is not below /var/tmp, "
            "which the unit's sandbox hides from the server. "
            "Set nemotron_root to another folder, for example /opt/nemotron or /srv/nemotron."
        ],
        id="root is /var/tmp",
    ),
    pytest.param({}, {"root": "/homes/nemotron"}, [], id="root that only begins like /home"),
]


@pytest.mark.parametrize(("host", "need", "expected"), CASES)
def test_problems(host: dict[str, Any], need: dict[str, Any], expected: list[str]) -> None:
    found = preflight.problems(dataclasses.replace(HOST, **host), dataclasses.replace(NEED, **need))
    assert [problem.describe() for problem in found] == expected


def test_problems_are_all_reported_at_once() -> None:
    host = dataclasses.replace(HOST, distribution="Fedora", memory_bytes=0, free_bytes={}, port_owner="nginx")
    assert [problem.code for problem in preflight.problems(host, NEED)] == [
        "unsupported-distribution",
        "memory",
        "disk",
        "port-in-use",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n', ("Debian", "12")),
        ('ID=ubuntu\nVERSION_ID="22.04"\n', ("Ubuntu", "22.04")),
        ("ID='rocky'\nVERSION_ID='9.4'\n", ("Rocky", "9")),
        ("", ("Unknown", "unknown")),
    ],
)
def test_parse_os_release(text: str, expected: tuple[str, str]) -> None:
    assert preflight.parse_os_release(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("MemTotal:       24684092 kB\nMemFree: 1 kB\n", 24684092 * 1024), ("MemFree: 1 kB\n", 0), ("", 0)],
)
def test_parse_mem_total(text: str, expected: int) -> None:
    assert preflight.parse_mem_total(text) == expected
