# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The choice of a stack, host by host: what is chosen, why, and what stands against it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._stack import resolve
from ansible_collections.nemotron.vllm.plugins.module_utils._stack_host import (
    HostDriver,
    HostGpu,
    Machine,
    Wishes,
    machine_from_facts,
)
from ansible_collections.nemotron.vllm.plugins.module_utils._vllm_releases import CPU_RELEASES, CUDA_RELEASES

H200 = HostGpu("NVIDIA H200", "Hopper", "9.0")
A100 = HostGpu("NVIDIA A100-SXM4-80GB", "Ampere", "8.0")
B200 = HostGpu("NVIDIA B200", "Blackwell", "10.0")
V100 = HostGpu("Tesla V100-SXM2-32GB", "Volta", "7.0")
UNKNOWN = HostGpu("NVIDIA GPU 10de:4000", "", "")
NEWEST = CUDA_RELEASES[-1]
NEWEST_CPU = CPU_RELEASES[-1]
NANO = "nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16"


def machine(
    *gpus: HostGpu,
    driver: HostDriver | None = None,
    system: tuple[str, str] = ("Debian", "12"),
    architecture: str = "x86_64",
    nvswitches: int = 0,
) -> Machine:
    return Machine(*system, architecture, gpus, driver, nvswitches)


def driver(version: str, flavour: str = "open", trouble: str = "") -> HostDriver:
    return HostDriver(version, flavour, trouble)


@pytest.mark.parametrize(
    ("wishes", "host", "expected"),
    [
        pytest.param(
            Wishes(),
            machine(),
            {"device": "cpu", "driver": None, "cuda": None, "vllm": NEWEST_CPU.version, "torch": NEWEST_CPU.torch},
            id="no GPU",
        ),
        pytest.param(
            Wishes(model=NANO),
            machine(H200),
            {
                "device": "cuda",
                "driver": {"branch": "620", "minimum": "580.65.06", "flavour": "open", "action": "install"},
                "cuda": "13.0",
                "vllm": NEWEST.version,
                "python": "3.12",
                "toolkit": None,
                "compiler": None,
            },
            id="bare H200",
        ),
        pytest.param(
            Wishes(),
            machine(H200, driver=driver("580.159.04")),
            {"driver": {"branch": "580", "minimum": "580.65.06", "flavour": "open", "action": "keep"}},
            id="working driver is kept",
        ),
        pytest.param(
            Wishes(driver_flavour="open"),
            machine(H200, driver=driver("580.159.04", "proprietary")),
            {"driver": {"branch": "620", "minimum": "580.65.06", "flavour": "open", "action": "replace"}},
            id="driver of another flavour than asked for",
        ),
        pytest.param(
            Wishes(driver_branch=595),
            machine(H200, driver=driver("580.159.04")),
            {"driver": {"branch": "595", "minimum": "580.65.06", "flavour": "open", "action": "replace"}},
            id="driver of another branch than asked for",
        ),
        pytest.param(
            Wishes(),
            machine(A100, driver=driver("535.129.03", "proprietary"), system=("Ubuntu", "22.04")),
            {
                "driver": {"branch": "620", "minimum": "580.65.06", "flavour": "open", "action": "replace"},
                "vllm": NEWEST.version,
            },
            id="old driver is replaced",
        ),
        pytest.param(
            Wishes(driver_manage=False),
            machine(A100, driver=driver("535.129.03", "proprietary"), system=("Ubuntu", "22.04")),
            {
                "driver": {"branch": "535", "minimum": "525.60.13", "flavour": "proprietary", "action": "keep"},
                "vllm": "0.19.1",
                "torch": "2.10.0",
                "cuda": "12.8",
            },
            id="old driver that must be kept",
        ),
        pytest.param(
            Wishes(),
            machine(B200, driver=driver("580.159.04", "proprietary", "its proprietary kernel modules cannot run B200")),
            {"driver": {"branch": "620", "minimum": "580.65.06", "flavour": "open", "action": "replace"}},
            id="Blackwell with the proprietary modules",
        ),
        pytest.param(
            Wishes(),
            machine(V100),
            {
                "driver": {"branch": "580", "minimum": "525.60.13", "flavour": "proprietary", "action": "install"},
                "vllm": "0.19.1",
                "cuda": "12.8",
            },
            id="Volta",
        ),
        pytest.param(
            Wishes(),
            machine(UNKNOWN),
            {"driver": {"branch": "620", "minimum": "580.65.06", "flavour": "open", "action": "install"}},
            id="GPU newer than the table",
        ),
        pytest.param(
            Wishes(vllm_version="0.33.0", build=True),
            machine(H200, driver=driver("580.159.04")),
            {"toolkit": "13.0", "compiler": {"gcc": "13", "from": "conda-forge"}},
            id="source build on Debian 12",
        ),
        pytest.param(
            Wishes(vllm_version="0.33.0", build=True),
            machine(H200, driver=driver("580.159.04"), system=("Ubuntu", "24.04")),
            {"toolkit": "13.0", "compiler": {"gcc": "13", "from": "distribution"}},
            id="source build on Ubuntu 24.04",
        ),
        pytest.param(
            Wishes(jit=True),
            machine(H200, driver=driver("580.159.04")),
            {"toolkit": "13.0", "compiler": None},
            id="JIT",
        ),
        pytest.param(
            Wishes(device="cpu"),
            machine(H200, driver=driver("580.159.04")),
            {"device": "cpu", "driver": None},
            id="CPU",
        ),
        pytest.param(
            Wishes(python="3.10"), machine(H200), {"python": "3.10"}, id="the lock's Python decides about vLLM"
        ),
        pytest.param(
            Wishes(vllm_version="9.9.9"),
            machine(H200),
            {"vllm": "9.9.9", "torch": NEWEST.torch},
            id="vLLM newer than the table",
        ),
    ],
)
def test_chosen(wishes: Wishes, host: Machine, expected: dict[str, Any]) -> None:
    resolution = resolve(wishes, host)
    assert resolution.conflicts == []
    assert resolution.stack is not None
    assert {name: resolution.stack[name] for name in expected} == expected
    assert resolution == resolve(wishes, host)


@pytest.mark.parametrize(
    ("wishes", "host", "reason"),
    [
        (Wishes(), machine(), "device cpu: the host has no NVIDIA GPU."),
        (Wishes(device="cpu"), machine(H200, H200), "device cpu: asked for, although the host has 2 NVIDIA H200."),
        (
            Wishes(),
            machine(H200),
            "driver branch 620: the newest long-term branch that runs NVIDIA H200; NVIDIA maintains it until 2029-09.",
        ),
        (Wishes(), machine(B200), "open kernel modules: NVIDIA B200 runs with no others."),
        (
            Wishes(),
            machine(H200, driver=driver("580.159.04")),
            "driver 580.159.04: kept, as it works and runs CUDA 13.0 (needs 580.65.06 or newer).",
        ),
        (
            Wishes(),
            machine(A100, driver=driver("535.129.03")),
            "driver 535.129.03: replaced, as CUDA 13.0 needs 580.65.06 or newer.",
        ),
        (
            Wishes(driver_manage=False),
            machine(A100, driver=driver("535.129.03")),
            f"vLLM 0.19.1: the newest known here that fits; {NEWEST.version} does not: found driver 535.129.03, which "
            f"runs CUDA 12.2, and nvidia_driver_manage false; needed driver 580.65.06 or newer for CUDA 13.0 of vLLM "
            f"{NEWEST.version}.",
        ),
        (
            Wishes(model=NANO),
            machine(H200),
            f"vLLM {NEWEST.version}: the newest known here; Nemotron 3 Nano needs 0.11.2 or newer.",
        ),
        (
            Wishes(model="/srv/models/own"),
            machine(H200),
            f"vLLM {NEWEST.version}: the newest known here; what /srv/models/own needs at least is not known here.",
        ),
        (
            Wishes(vllm_version="9.9.9"),
            machine(H200),
            f"vLLM 9.9.9: asked for; it is newer than the newest one known here, {NEWEST.version}, and taken to need "
            f"the same torch {NEWEST.torch}, Python and CUDA.",
        ),
        (
            Wishes(),
            machine(UNKNOWN),
            "NVIDIA GPU 10de:4000: not known here, and taken to be newer than every GPU that is.",
        ),
        (
            Wishes(),
            machine(*[H200] * 8, nvswitches=4),
            "Fabric Manager of the driver's exact version: the host has NVSwitches.",
        ),
        (
            Wishes(vllm_version="0.33.0", build=True),
            machine(H200),
            "gcc 13 or newer from conda-forge: Debian 12 has 12.2, and a build of vLLM 0.33.0 needs 13.",
        ),
    ],
)
def test_reasons(wishes: Wishes, host: Machine, reason: str) -> None:
    assert reason in resolve(wishes, host).reasons


@pytest.mark.parametrize(
    ("wishes", "host", "expected"),
    [
        pytest.param(
            Wishes(vllm_version="0.33.0", driver_manage=False),
            machine(A100, driver=driver("535.129.03", "proprietary"), system=("Ubuntu", "22.04")),
            [
                "cuda-runtime-newer-than-driver: found driver 535.129.03, which runs CUDA 12.2, and "
                "nvidia_driver_manage false; needed driver 580.65.06 or newer for CUDA 13.0 of vLLM 0.33.0. Set "
                "nvidia_driver_manage to true, so that a newer driver is installed. Or set nemotron_serve_vllm_version "
                "to 0.19.1, the newest that fits."
            ],
            id="driver 535 that must be kept and vLLM 0.33",
        ),
        pytest.param(
            Wishes(driver_manage=False),
            machine(A100),
            [
                "driver-not-installed: found no driver, and nvidia_driver_manage false; needed a driver for the GPU. "
                "Set nvidia_driver_manage to true, or install a driver."
            ],
            id="no driver, and none may be installed",
        ),
        pytest.param(
            Wishes(driver_manage=False),
            machine(H200, driver=driver("580.159.04", trouble="its kernel module is not loaded")),
            [
                "driver-cannot-be-kept: found driver 580.159.04, but its kernel module is not loaded; "
                "nvidia_driver_manage false; needed a driver that works. Set nvidia_driver_manage to true, or mend the "
                "driver."
            ],
            id="broken driver that must be kept",
        ),
        pytest.param(
            Wishes(driver_branch=535, vllm_version="0.33.0"),
            machine(A100),
            [
                "cuda-runtime-newer-than-driver: found nvidia_driver_branch 535; needed 580.65.06 or newer for CUDA "
                "13.0 of vLLM 0.33.0. Choose a newer branch or leave nvidia_driver_branch out. Or set "
                "nemotron_serve_vllm_version to 0.19.1, the newest that fits."
            ],
            id="the article's branch",
        ),
        pytest.param(
            Wishes(driver_branch=581),
            machine(A100),
            [
                "unknown-driver-branch: found nvidia_driver_branch 581; needed one of 450, 470, 510, 515, 520, 525, "
                "530, 535, 545, 550, 555, 560, 565, 570, 575, 580, 590, 595, 610, 615, 620. Set nvidia_driver_branch "
                "to one of these or leave it out."
            ],
            id="no such branch",
        ),
        pytest.param(
            Wishes(driver_branch=620),
            machine(V100),
            [
                "driver-branch-dropped-gpu-generation: found Tesla V100-SXM2-32GB (Volta) and nvidia_driver_branch "
                "620; needed a branch that runs it; 580 is the last one for Maxwell, Pascal and Volta. Set "
                "nvidia_driver_branch to 580 or leave it out."
            ],
            id="branch that dropped the GPU",
        ),
        pytest.param(
            Wishes(driver_branch=535),
            machine(B200),
            [
                "driver-older-than-gpu: found NVIDIA B200 and nvidia_driver_branch 535; needed driver 570.26 or newer, "
                "the first that runs it. Choose a newer branch or leave nvidia_driver_branch out."
            ],
            id="branch older than the GPU",
        ),
        pytest.param(
            Wishes(driver_flavour="proprietary", driver_branch=580),
            machine(B200),
            [
                "gpu-requires-open-kernel-module: found NVIDIA B200 with branch 580, which has open and proprietary "
                "kernel modules, and nvidia_driver_flavour proprietary; needed open kernel modules. Set "
                "nvidia_driver_flavour to open or auto."
            ],
            id="Blackwell and the proprietary modules",
        ),
        pytest.param(
            Wishes(driver_flavour="open"),
            machine(V100),
            [
                "gpu-requires-proprietary-kernel-module: found Tesla V100-SXM2-32GB with branch 580, which has open "
                "and proprietary kernel modules, and nvidia_driver_flavour open; needed proprietary kernel modules. "
                "Set nvidia_driver_flavour to proprietary or auto."
            ],
            id="Volta and the open modules",
        ),
        pytest.param(
            Wishes(vllm_version="0.19.1"),
            machine(V100, B200),
            [
                "gpu-requires-open-kernel-module: found Tesla V100-SXM2-32GB, NVIDIA B200; needed kernel modules of "
                "one flavour that runs all of them. Use GPUs from Turing on, or only older ones, in a host."
            ],
            id="no flavour for all",
        ),
        pytest.param(
            Wishes(vllm_version="0.33.0"),
            machine(V100),
            [
                "no-kernel-image-for-gpu: found Tesla V100-SXM2-32GB with compute capability 7.0; needed 7.5 or "
                "higher, for which the wheels of vLLM 0.33.0 hold code. Choose an older vLLM or a newer GPU. Or set "
                "nemotron_serve_vllm_version to 0.19.1, the newest that fits."
            ],
            id="GPU too old for CUDA 13",
        ),
        pytest.param(
            Wishes(vllm_version="0.6.3"),
            machine(B200),
            [
                "no-kernel-image-for-gpu: found NVIDIA B200 with compute capability 10.0 and CUDA 12.1 in vLLM 0.6.3; "
                f"needed CUDA 12.8 or newer, which knows this GPU. Choose a newer vLLM. Or set "
                f"nemotron_serve_vllm_version to {NEWEST.version}, the newest that fits."
            ],
            id="GPU newer than the wheels",
        ),
        pytest.param(
            Wishes(vllm_version="0.6.3", model=NANO),
            machine(A100),
            [
                "architecture-unknown-to-vllm: found vLLM 0.6.3; needed 0.11.2 or newer, which Nemotron 3 Nano needs. "
                f"Choose a newer vLLM or another model. Or set nemotron_serve_vllm_version to "
                f"{NEWEST.version}, the newest that fits."
            ],
            id="the article's vLLM",
        ),
        pytest.param(
            Wishes(vllm_version="0.33.0", python="3.10"),
            machine(H200),
            [
                f"python-too-old: found Python 3.10; needed {NEWEST.python}, which vLLM 0.33.0 needs. Set "
                "conda_env_python to one in that range or leave it out."
            ],
            id="Python too old",
        ),
        pytest.param(
            Wishes(python="3.15"),
            machine(H200),
            [
                f"python-newer-than-wheels: found Python 3.15; needed {NEWEST.python}, which vLLM {NEWEST.version} "
                "needs. Set conda_env_python to one in that range or leave it out."
            ],
            id="Python too new",
        ),
        pytest.param(
            Wishes(device="cuda"),
            machine(),
            [
                "vllm-finds-no-device: found no NVIDIA GPU on the PCI bus; needed one, as "
                "nemotron_serve_device is cuda. Rent a server with a GPU, or set nemotron_serve_device to cpu or leave "
                "it out."
            ],
            id="no GPU",
        ),
        pytest.param(
            Wishes(),
            machine(H200, system=("Rocky", "9.4"), architecture="aarch64"),
            [
                "unsupported-distribution: found Rocky 9.4; needed one of Debian 12, Debian 13, Ubuntu 22.04, Ubuntu "
                "24.04. Reinstall the server with one of these.",
                "unsupported-architecture: found aarch64; needed x86_64. Rent a server with such a processor.",
            ],
            id="another system",
        ),
    ],
)
def test_conflicts(wishes: Wishes, host: Machine, expected: list[str]) -> None:
    resolution = resolve(wishes, host)
    assert resolution.stack is None
    described = [conflict.describe() for conflict in resolution.conflicts]
    assert len(described) == len(expected)
    for sentence, beginning in zip(described, expected):
        assert sentence.startswith(beginning)


def test_an_unknown_version_is_refused_with_the_known_ones() -> None:
    resolution = resolve(Wishes(vllm_version="0.12.7"), machine(H200))
    assert [conflict.code for conflict in resolution.conflicts] == ["unknown-vllm-version"]
    assert resolution.conflicts[0].found == "nemotron_serve_vllm_version 0.12.7"
    assert "0.19.1" in resolution.conflicts[0].needed


FACTS: dict[str, Any] = {
    "driver": {"loaded": "580.159.04", "on_disk": "580.159.04", "user_space": "580.159.04", "flavour": "open"},
    "gpus": [{"name": "NVIDIA H200", "architecture": "Hopper", "compute_capability": "9.0"}],
    "nvidia_smi": {"path": "/usr/bin/nvidia-smi", "ok": True, "said": ""},
    "nvswitch": 4,
}
DEBIAN = {"distribution": "Debian", "version": "12.7", "architecture": "x86_64"}


def facts(**driver_facts: str | None) -> dict[str, Any]:
    return {**FACTS, "driver": {**FACTS["driver"], **driver_facts}}


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        (FACTS, HostDriver("580.159.04", "open", "")),
        ({"gpus": [], "driver": {"loaded": None, "on_disk": None, "user_space": None}}, None),
        (
            facts(loaded=None),
            HostDriver("580.159.04", "open", "its kernel module is not loaded"),
        ),
        (
            facts(user_space="580.178.04"),
            HostDriver(
                "580.159.04", "open", "loaded is 580.159.04, but on disk 580.159.04 and in user space 580.178.04"
            ),
        ),
        (facts(on_disk=None, user_space="580.159"), HostDriver("580.159.04", "open", "")),
        (
            {
                **facts(flavour="proprietary"),
                "gpus": [{"name": "NVIDIA B200", "architecture": "Blackwell", "compute_capability": "10.0"}],
            },
            HostDriver("580.159.04", "proprietary", "its proprietary kernel modules cannot run NVIDIA B200"),
        ),
        (
            {**FACTS, "nvidia_smi": {"path": "/usr/bin/nvidia-smi", "ok": False, "said": "No devices were found\n"}},
            HostDriver("580.159.04", "open", "nvidia-smi fails and says No devices were found"),
        ),
    ],
)
def test_a_driver_is_judged_from_the_facts(gpu: dict[str, Any], expected: HostDriver | None) -> None:
    assert machine_from_facts(gpu, DEBIAN).driver == expected


def test_a_machine_is_made_from_the_facts() -> None:
    assert machine_from_facts(FACTS, DEBIAN) == Machine(
        "Debian", "12.7", "x86_64", (H200,), HostDriver("580.159.04", "open", ""), 4
    )
