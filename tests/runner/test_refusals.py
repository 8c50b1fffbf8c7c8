# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bad input is refused before the first change, with what was given, what is allowed and what to change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Droplet
from deployment import run

MODEL = "/srv/models/smollm2-135m-instruct"
# /usr/lib/os-release of a release that is no longer maintained.
FOCAL = r'NAME="Ubuntu"\nVERSION="20.04.6 LTS (Focal Fossa)"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="20.04"\n'

REFUSALS = [
    pytest.param(
        {"conda_env_backend": "pip"}, ["conda_env: value of conda_env_backend must be one of: uv, got: pip"], id="value"
    ),
    pytest.param(
        {"nemotron_serve_prot": 8001},
        ["nemotron_serve_prot is no variable of nemotron_serve.", "nemotron_serve_port"],
        id="misspelled variable",
    ),
    pytest.param(
        {"nemotron_serve_model": "/srv/models/none"}, ["/srv/models/none", "nemotron_serve_model"], id="no such model"
    ),
    pytest.param(
        {"nemotron_serve_model_revision": "0" * 40},
        ["0" * 40, "nemotron_serve_model_revision"],
        id="wrong checksum",
    ),
    pytest.param(
        {"nemotron_root": "/home/me/nemotron"}, ["root-hidden-from-service", "nemotron_root"], id="root below /home"
    ),
    pytest.param(
        {"systemd_unit_environment": {"VLLM_USE_V1": "1"}},
        [
            "environment-variable-ignored: found VLLM_USE_V1 in systemd_unit_environment",
            "It is read from 0.6.4 to 0.11.0",
        ],
        id="variable that vLLM ignores",
    ),
    pytest.param(
        {"nemotron_serve_port": 22}, ["port-in-use: found port 22 taken by", "nemotron_serve_port"], id="port taken"
    ),
    pytest.param(
        {"nemotron_serve_options": {"max-modle-len": 2048}},
        ["nemotron_serve_options", "max-modle-len", "max-model-len"],
        id="unknown option of vLLM",
    ),
    pytest.param({"nemotron_root": "/run/small"}, ["disk: found", "nemotron_root"], id="little disk"),
    pytest.param(
        {"nemotron_serve_cpu_kvcache_gib": 4096},
        ["memory: found", "nemotron_serve_cpu_kvcache_gib"],
        id="little memory",
    ),
    pytest.param(
        {"cgroup_v1_state": "legacy"},
        ["found a container, which has no kernel of its own and no /usr/sbin/update-grub"],
        id="no boot loader",
    ),
]


def fingerprint(droplet: Droplet) -> str:
    """Return what a deployment would change first: packages, users, units, and the folder of the collection."""
    return droplet.ssh("dpkg-query -W; getent passwd; ls -A /opt /srv /etc/systemd/system /etc/apt")


@pytest.mark.parametrize(("variables", "expected"), REFUSALS)
def test_refused_before_the_first_change(bare: Droplet, variables: dict[str, Any], expected: list[str]) -> None:
    bare.ssh(
        "sudo mkdir -p /run/small && (mountpoint -q /run/small || sudo mount -t tmpfs -o size=64m none /run/small)"
    )
    before = fingerprint(bare)
    outcome = run("site.yml", bare.inventories, variables=variables)
    assert outcome.status == "failed"
    assert len(outcome.failures) == 1
    for words in expected:
        assert words in outcome.failures[0]
    assert not any(outcome.changed.values())
    assert fingerprint(bare) == before


def test_an_unreachable_host_stops_all_before_the_first_change(bare: Droplet, tmp_path: Path) -> None:
    other = tmp_path / "other.ini"
    other.write_text("[droplets]\nnobody ansible_host=127.0.0.1 ansible_port=9\n", encoding="utf-8")
    before = fingerprint(bare)
    outcome = run("site.yml", [*bare.inventories, other])
    assert outcome.status == "failed"
    assert outcome.unreachable == {"nobody": 1}
    assert not any(outcome.changed.values())
    assert fingerprint(bare) == before


def test_an_unsupported_distribution_is_named(bare: Droplet) -> None:
    bare.ssh(f"printf '{FOCAL}' | sudo tee /run/os-release")
    bare.ssh("sudo mount --bind /run/os-release /usr/lib/os-release")
    try:
        outcome = run("site.yml", bare.inventories)
    finally:
        bare.ssh("sudo umount /usr/lib/os-release")
    assert "unsupported-distribution: found Ubuntu 20.04; needed one of Debian 12, Debian 13" in outcome.failures[0]


def test_verify_without_a_deployment_says_that_nothing_answers(bare: Droplet) -> None:
    outcome = run("playbooks/verify.yml", bare.inventories)
    (failure,) = outcome.failures
    assert failure.startswith("verify | Require that the endpoint answers: ")
    assert "Connection refused" in failure


def test_an_empty_inventory_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.ini"
    empty.write_text("[other]\n", encoding="utf-8")
    outcome = run("site.yml", [empty])
    assert outcome.status == "failed"
    assert "has no host that matches" in outcome.failures[0]
