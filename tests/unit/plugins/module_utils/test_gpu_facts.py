# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The facts of captured hosts; see tests/fixtures/roots/README.md for where each comes from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_facts import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host

ROOTS = Path(__file__).resolve().parents[3] / "fixtures" / "roots"
NO_COMMUNICATION = (
    "nvidia-smi -q -x: ended with 9 and said NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
    "driver. Make sure that the latest NVIDIA driver is installed and running."
)


def facts(name: str) -> dict[str, Any]:
    return gather(Host(str(ROOTS / name)))


@pytest.fixture
def h200(tmp_path: Path) -> Path:
    """A copy of the recorded H200 to change."""
    return Path(shutil.copytree(ROOTS / "h200", tmp_path / "h200", symlinks=True))


# loaded, on disk, user space, flavour, installed by, CUDA, nvidia_uvm
DRIVERS: list[tuple[str, tuple[str | bool | None, ...]]] = [
    ("h200", ("580.159.04", None, "580.159.04", "open", None, "13.0", True)),
    ("a100-ubuntu2204-535", ("535.129.03", "535.129.03", "535.129.03", "proprietary", "package", "12.2", True)),
    ("drv-01-user-space-upgraded", ("570.124.06", "570.133.07", "570.133.07", "open", "package", None, True)),
    ("drv-04-no-module-for-kernel", (None, None, "535.183.01", None, "package", None, False)),
    ("drv-08-secure-boot", (None, "535.183.01", "535.183.01", "proprietary", "package", None, False)),
    ("drv-09-nouveau", (None, "535.183.01", "535.183.01", "proprietary", "package", None, False)),
    ("drv-12-blackwell-proprietary", ("580.65.06", "580.65.06", "580.65.06", "proprietary", "package", None, True)),
    ("drv-13-volta-open", ("570.124.06", "570.124.06", "570.124.06", "open", "package", None, True)),
    ("drv-16-no-uvm", ("535.183.01", "535.183.01", "535.183.01", "proprietary", "package", "12.2", False)),
    ("fab-01-fabric-manager-differs", ("530.41.03", "530.41.03", "530.41.03", "proprietary", "package", "12.1", True)),
    ("fab-02-no-fabric-manager", ("535.183.01", "535.183.01", "535.183.01", "proprietary", "package", "12.2", True)),
    ("no-driver", (None, None, None, None, None, None, False)),
    ("no-gpu", (None, None, None, None, None, None, False)),
]


@pytest.mark.parametrize(("name", "expected"), DRIVERS)
def test_the_driver(name: str, expected: tuple[str | bool | None, ...]) -> None:
    assert tuple(facts(name)["driver"].values()) == expected


# name, PCI id, architecture, compute capability, MiB, kernel's driver
GPUS: list[tuple[str, list[tuple[str | int | None, ...]]]] = [
    ("h200", [("NVIDIA H200", "10de:2335", "Hopper", "9.0", 143771, "nvidia")]),
    ("a100-ubuntu2204-535", [("NVIDIA A100-SXM4-80GB", "10de:20b2", "Ampere", "8.0", 81920, "nvidia")]),
    ("drv-09-nouveau", [("NVIDIA RTX A6000", "10de:2230", "Ampere", "8.6", None, "nouveau")] * 3),
    (
        "drv-12-blackwell-proprietary",
        [("NVIDIA RTX PRO 6000 Blackwell Server Edition", "10de:2bb5", "Blackwell", "12.0", None, None)],
    ),
    ("drv-13-volta-open", [("NVIDIA Tesla V100 SXM2 32GB", "10de:1db5", "Volta", "7.0", None, None)]),
    ("fab-02-no-fabric-manager", [("NVIDIA A100-SXM4-80GB", "10de:20b2", "Ampere", "8.0", 81920, "nvidia")] * 2),
    ("no-driver", [("NVIDIA H100 SXM5 80GB", "10de:2330", "Hopper", "9.0", None, None)]),
    ("no-gpu", []),
]


@pytest.mark.parametrize(("name", "expected"), GPUS)
def test_the_gpus(name: str, expected: list[tuple[str | int | None, ...]]) -> None:
    keys = ("name", "pci_id", "architecture", "compute_capability", "memory_mib", "kernel_driver")
    found = facts(name)["gpus"]
    assert [tuple(gpu[key] for key in keys) for gpu in found] == expected
    assert [gpu["index"] for gpu in found] == list(range(len(expected)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("h200", {"secure_boot": None, "nouveau": False, "nova_core": False, "nvswitch": 0, "problems": []}),
        ("drv-08-secure-boot", {"secure_boot": True, "problems": [NO_COMMUNICATION]}),
        ("drv-09-nouveau", {"secure_boot": False, "nouveau": True}),
        (
            "fab-01-fabric-manager-differs",
            {"nvswitch": 2, "fabric_manager": {"installed": "530.30.02", "running": False}},
        ),
        ("fab-02-no-fabric-manager", {"nvswitch": 2, "fabric_manager": {"installed": None, "running": False}}),
        ("no-gpu", {"nvidia_smi": {"path": None, "ok": False, "rc": None, "said": ""}, "problems": []}),
        (
            "drv-01-user-space-upgraded",
            {
                "nvidia_smi": {
                    "path": "nvidia-smi",
                    "ok": False,
                    "rc": 18,
                    "said": "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133",
                },
                "problems": [
                    "nvidia-smi -q -x: ended with 18 and said Failed to initialize NVML: Driver/library version "
                    "mismatch"
                ],
            },
        ),
    ],
)
def test_the_rest(name: str, expected: dict[str, Any]) -> None:
    found = facts(name)
    assert {key: found[key] for key in expected} == expected


def test_links_memory_errors_and_partitions_of_the_recorded_h200() -> None:
    (gpu,) = facts("h200")["gpus"]
    assert gpu["pci_address"] == "0000:00:06.0"
    assert gpu["pcie"] == {"generation": 5, "generation_max": 5, "width": 16, "width_max": 16}
    assert gpu["ecc"] == {"enabled": True, "uncorrected": 0}
    assert gpu["remapped_rows"] == {"correctable": 0, "uncorrectable": 0, "pending": False, "failed": False}
    assert gpu["mig"] == {"enabled": False, "pending": False}


def test_without_a_driver_the_kernel_tells_the_link() -> None:
    (gpu,) = facts("no-driver")["gpus"]
    assert gpu["pcie"] == {"generation": 4, "generation_max": 5, "width": 16, "width_max": 16}


def test_the_user_space_is_read_from_the_words_about_a_mismatch(tmp_path: Path) -> None:
    root = shutil.copytree(ROOTS / "drv-01-user-space-upgraded", tmp_path / "root", symlinks=True)
    (root / "commands" / "ldconfig_-p").unlink()
    assert gather(Host(str(root)))["driver"]["user_space"] == "570.133"


def test_packages_and_an_installer_are_both_seen(tmp_path: Path) -> None:
    root = shutil.copytree(ROOTS / "a100-ubuntu2204-535", tmp_path / "root", symlinks=True)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/nvidia-uninstall").touch()
    assert gather(Host(str(root)))["driver"]["installed_by"] == "both"
    (root / "var/lib/dpkg/status").unlink()
    assert gather(Host(str(root)))["driver"]["installed_by"] == "runfile"


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("", "nvidia-smi -q -x: its output is no whole XML document (no element found: line 1, column 0)."),
        (
            "<nvidia_smi_log><gpu",
            "nvidia-smi -q -x: its output is no whole XML document (unclosed token: line 1, column 16).",
        ),
        ("<html/>", "nvidia-smi -q -x: its output is a document of html; expected nvidia_smi_log."),
        (
            "\x7fELF",
            "nvidia-smi -q -x: its output is no whole XML document (not well-formed (invalid token): line 1, column "
            "0).",
        ),
    ],
    ids=["empty", "truncated", "another document", "binary"],
)
def test_output_that_cannot_be_understood_is_a_problem(h200: Path, output: str, problem: str) -> None:
    (h200 / "commands/nvidia-smi_-q_-x").write_text(output)
    found = gather(Host(str(h200)))
    assert found["problems"] == [problem]
    assert not found["nvidia_smi"]["ok"]
    assert [(gpu["name"], gpu["memory_mib"]) for gpu in found["gpus"]] == [("NVIDIA H200 SXM 141GB", None)]
    assert found["driver"]["loaded"] == "580.159.04"


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("143771 MiB", "N/A", "memory_mib", None),
        ("143771 MiB", "141 GiB", "memory_mib", 144384),
        ("<current_ecc>Enabled", "<current_ecc>[Unknown Error]", "ecc", {"enabled": None, "uncorrected": 0}),
        ("<dram_uncorrectable>0", "<dram_uncorrectable>3", "ecc", {"enabled": True, "uncorrected": 3}),
        (
            "<remapped_row_pending>No",
            "<remapped_row_pending>Yes",
            "remapped_rows",
            {"correctable": 0, "uncorrectable": 0, "pending": True, "failed": False},
        ),
        ("<remapped_row_pending>No", "<remapped_row_pending>[Not Supported]", "remapped_rows", None),
        ("<pending_mig>Disabled", "<pending_mig>Enabled", "mig", {"enabled": False, "pending": True}),
    ],
)
def test_fields_of_the_report(h200: Path, old: str, new: str, key: str, expected: Any) -> None:
    report = h200 / "commands/nvidia-smi_-q_-x"
    text = report.read_text()
    assert old in text
    report.write_text(text.replace(old, new, 1))
    (gpu,) = gather(Host(str(h200)))["gpus"]
    assert gpu[key] == expected


def test_a_newer_schema_is_read_as_far_as_it_is_known(h200: Path) -> None:
    report = h200 / "commands/nvidia-smi_-q_-x"
    text = report.read_text().replace("nvsmi_device_v13.dtd", "nvsmi_device_v99.dtd")
    report.write_text(text.replace("<product_brand>", "<quantum_mode><x>1</x></quantum_mode><product_brand>"))
    assert gather(Host(str(h200))) == facts("h200")


def test_a_gpu_that_is_not_in_the_table_is_asked_for_its_capability(h200: Path) -> None:
    (h200 / "sys/bus/pci/devices/0000:00:06.0/device").write_text("0x4242\n")
    report = h200 / "commands/nvidia-smi_-q_-x"
    report.write_text(report.read_text().replace(">Hopper<", ">Rubin<"))
    (gpu,) = gather(Host(str(h200)))["gpus"]
    assert (gpu["name"], gpu["architecture"], gpu["compute_capability"]) == ("NVIDIA H200", None, None)
    told = h200 / "commands/nvidia-smi_--query-gpu=pci.bus_id,compute_cap_--format=csv,noheader"
    told.write_text("00000000:00:06.0, 9.0\n")
    (gpu,) = gather(Host(str(h200)))["gpus"]
    assert (gpu["architecture"], gpu["compute_capability"]) == ("Hopper", "9.0")


def test_a_gpu_that_nobody_knows_is_a_problem(tmp_path: Path) -> None:
    root = shutil.copytree(ROOTS / "no-driver", tmp_path / "root", symlinks=True)
    (root / "sys/bus/pci/devices/0000:01:00.0/device").write_text("0x4242\n")
    found = gather(Host(str(root)))
    assert [gpu["name"] for gpu in found["gpus"]] == ["NVIDIA GPU 10de:4242"]
    assert found["problems"] == ["GPU 0000:01:00.0: expected a PCI id that is known here; found 10de:4242."]


def test_files_that_may_not_be_read_are_a_problem(h200: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "unreadable", lambda self, path: path == "/proc/driver/nvidia/version")
    assert gather(Host(str(h200)))["problems"] == [
        "/proc/driver/nvidia/version: it may not be read; expected the rights of root. Run with become: true."
    ]
