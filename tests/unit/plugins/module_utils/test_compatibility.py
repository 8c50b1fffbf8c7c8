# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the tables of drivers, CUDA releases and GPUs."""

from __future__ import annotations

import re

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _compatibility as compatibility
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_ids import GPU_IDS


@pytest.mark.parametrize(
    ("version", "expected"),
    [("580.159.04", (580, 159, 4)), ("13.0", (13, 0)), ("620", (620,)), ("535.86.10\n", (535, 86, 10))],
)
def test_versions_are_numbers(version: str, expected: tuple[int, ...]) -> None:
    assert compatibility.version_tuple(version) == expected


@pytest.mark.parametrize("version", ["", "N/A", "580.", "580.x", "[Unknown Error]", "580-1", "-1"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(NemotronError) as error:
        compatibility.version_tuple(version)
    assert str(error.value) == (
        f"{version!r} is no version: needed numbers with dots between them, as 580.159.04 or 13.0."
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("580.159.04", "580.159.04", True),
        ("580.159", "580.159.04", True),
        ("570.133.07", "570.124.06", False),
        ("570.124", "570.133.07", False),
        ("535.86.10", "535.86.1", False),
    ],
)
def test_the_same_driver(one: str, other: str, same: bool) -> None:
    assert compatibility.same_driver(one, other) is same


@pytest.mark.parametrize(
    ("driver", "cuda", "runs"),
    [
        ("580.65.06", "13.0", True),
        ("580.65.05", "13.0", False),
        ("575.57.08", "13.0", False),
        ("620.70.06", "12.8", True),
        ("525.60.13", "12.8", True),
        ("525.60.11", "12.0", False),
        ("535.129.03", "12.3", True),
        ("450.80.02", "11.8", True),
    ],
)
def test_minor_version_compatibility(driver: str, cuda: str, runs: bool) -> None:
    assert compatibility.runs_cuda(driver, cuda) is runs


def test_an_unknown_cuda_major_is_refused() -> None:
    with pytest.raises(NemotronError) as error:
        compatibility.minimum_driver("14.0")
    assert str(error.value) == "CUDA 14.0: its minimum driver is not known here; known are 11.x, 12.x, 13.x."


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        ("535.129.03", "12.2"),
        ("580.159.04", "13.0"),
        ("570.86.10", "12.8"),
        ("620.70.06", "13.5"),
        ("600.1", "13.2"),
        ("700.1", "13.5"),
        ("340.108", None),
    ],
)
def test_newest_cuda_of_a_driver(driver: str, cuda: str | None) -> None:
    assert compatibility.cuda_for_driver(driver) == cuda


@pytest.mark.parametrize(
    ("pci_id", "expected"),
    [
        ("10de:2335", ("NVIDIA H200 SXM 141GB", "Hopper", "9.0")),
        ("10DE:20B5", ("NVIDIA A100 PCIe 80GB", "Ampere", "8.0")),
        ("10de:2236", ("NVIDIA A10", "Ampere", "8.6")),
        ("10de:1db5", ("NVIDIA Tesla V100 SXM2 32GB", "Volta", "7.0")),
        ("10de:1eb8", ("NVIDIA Tesla T4", "Turing", "7.5")),
        ("10de:26b9", ("NVIDIA L40S", "Ada Lovelace", "8.9")),
        ("10de:2901", ("NVIDIA B200", "Blackwell", "10.0")),
        ("10de:3182", ("NVIDIA B300 SXM6 AC", "Blackwell", "10.3")),
        ("10de:2bb5", ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "Blackwell", "12.0")),
        ("10de:2e12", ("NVIDIA GB10", "Blackwell", "12.1")),
        ("10de:ffff", None),
        ("1002:2335", None),
        ("nonsense", None),
    ],
)
def test_gpus_are_known_by_their_pci_id(pci_id: str, expected: tuple[str, str, str] | None) -> None:
    gpu = compatibility.gpu_by_pci_id(pci_id)
    assert (gpu and (gpu.name, gpu.architecture, gpu.compute_capability)) == expected


def test_every_gpu_of_the_table_has_a_capability() -> None:
    assert [device for device in GPU_IDS if compatibility.gpu_by_pci_id(f"10de:{device}") is None] == []


@pytest.mark.parametrize(
    ("capability", "cuda"),
    [("9.0", "11.8"), ("8.6", "11.0"), ("10.3", "12.8"), ("12.1", "12.8"), ("13.0", None), ("5.0", None)],
)
def test_first_cuda_that_runs_on_a_gpu(capability: str, cuda: str | None) -> None:
    assert compatibility.first_cuda(capability) == cuda


@pytest.mark.parametrize(
    ("architecture", "name", "flavours"),
    [
        ("Volta", "Tesla V100", ("proprietary",)),
        ("Turing", "Tesla T4", ("open", "proprietary")),
        ("Hopper", "NVIDIA H200", ("open", "proprietary")),
        ("Hopper", "NVIDIA GH200 480GB", ("open",)),
        ("Blackwell", "NVIDIA B200", ("open",)),
    ],
)
def test_flavours_of_kernel_modules(architecture: str, name: str, flavours: tuple[str, ...]) -> None:
    assert compatibility.flavours_for(architecture, name) == flavours


@pytest.mark.parametrize(
    ("capabilities", "branch"),
    [
        (["9.0"], 620),
        (["10.0", "8.0"], 620),
        (["7.0"], 580),
        (["7.0", "9.0"], 580),
        (["6.1"], 580),
        (["13.7"], 620),
        ([], 620),
        (["7.0", "12.1"], 580),
    ],
)
def test_newest_long_term_branch(capabilities: list[str], branch: int) -> None:
    found = compatibility.newest_long_term_branch(capabilities)
    assert found is not None
    assert (found.number, found.long_term) == (branch, True)


def test_branches_of_versions() -> None:
    known = compatibility.branch_of("535.288.01")
    assert known is not None
    assert (known.number, known.end_of_life, known.flavours) == (535, "2026-06", ("open", "proprietary"))
    assert compatibility.branch_of("999.1") is None


def test_tables_are_in_order_and_agree_with_each_other() -> None:
    numbers = [branch.number for branch in compatibility.BRANCHES]
    assert numbers == sorted(numbers)
    cudas = [compatibility.version_tuple(branch.cuda) for branch in compatibility.BRANCHES]
    assert cudas == sorted(cudas)
    for branch in compatibility.BRANCHES:
        assert branch.oldest in compatibility.ARCHITECTURES
        assert branch.end_of_life is None or re.fullmatch(r"20\d\d-[01]\d", branch.end_of_life)
    for capability in compatibility.CAPABILITIES:
        assert capability.architecture in compatibility.ARCHITECTURES
        assert compatibility.version_tuple(capability.minimum_driver)
        assert compatibility.architecture_of(capability.number) is not None
    assert compatibility.architecture_of("99.0") is None
