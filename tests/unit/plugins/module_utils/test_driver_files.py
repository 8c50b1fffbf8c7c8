# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parsers never raise anything but NemotronError, whatever a host says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _driver_files, _nvidia_smi
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from hypothesis import given
from hypothesis import strategies as st

REPORT = (
    Path(__file__).resolve().parents[3] / "fixtures" / "roots" / "h200" / "commands" / "nvidia-smi_-q_-x"
).read_text(encoding="utf-8")
LEAVES = list(re.finditer(r">([^<>\n]+)</", REPORT))

OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (nixbld@)  \nGCC version: 15\n"
)
PROPRIETARY = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\nGCC version: 11\n"
)
LDCONFIG = """\
3 libs found in cache `/etc/ld.so.cache'
\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda/compat/libcuda.so.1
\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1
\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/libcuda.so.1
"""
STATUS = """\
Package: nvidia-driver-580-server-open
Status: install ok installed
Version: 580.159.04-0ubuntu0.24.04.1

Package: nvidia-dkms-570
Status: deinstall ok config-files
Version: 570.1-1

Package: nvidia-container-toolkit
Status: hold ok installed
Version: 1.17.0-1

Package: nvidia-fabricmanager
Status: hold ok installed
Version: 1:580.159.04-1
"""


@given(st.text())
def test_any_text(text: str) -> None:
    try:
        _nvidia_smi.parse(text)
    except NemotronError as error:
        assert str(error).startswith("nvidia-smi -q -x: ")  # noqa: PT017  (it may raise, and must not in any other way)
    _driver_files.version_of_proc(text)
    _driver_files.flavour_of_proc(text)
    _driver_files.flavour_of_license(text)
    _driver_files.version_of_library(text)
    _driver_files.library_paths(text, "libcuda.so.1")
    _driver_files.driver_packages(text)
    _driver_files.fabric_manager_version(text)
    _driver_files.version_that_nvml_says(text)
    _driver_files.secure_boot_of_mokutil(text)


@given(st.integers(0, len(REPORT)))
def test_a_report_that_is_cut_anywhere(length: int) -> None:
    if length >= len(REPORT.rstrip()):
        assert len(_nvidia_smi.parse(REPORT[:length]).gpus) == 1
    else:
        with pytest.raises(NemotronError, match="is no whole XML document"):
            _nvidia_smi.parse(REPORT[:length])


@given(st.sampled_from(LEAVES), st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="<>&")))
def test_a_report_with_any_value_in_any_place(leaf: re.Match[str], value: str) -> None:
    report = _nvidia_smi.parse(REPORT[: leaf.start(1)] + value + REPORT[leaf.end(1) :])
    assert len(report.gpus) == 1


@given(st.binary())
def test_any_efi_variable(content: bytes) -> None:
    assert (_driver_files.secure_boot_of_efivar(content) is None) == (len(content) != 5)


@pytest.mark.parametrize(
    ("text", "version", "flavour"),
    [(OPEN, "580.159.04", "open"), (PROPRIETARY, "535.129.03", "proprietary"), ("", None, None), ("NVRM", None, None)],
)
def test_the_loaded_module(text: str, version: str | None, flavour: str | None) -> None:
    assert (_driver_files.version_of_proc(text), _driver_files.flavour_of_proc(text)) == (version, flavour)


@pytest.mark.parametrize(("said", "flavour"), [("NVIDIA\n", "proprietary"), ("Dual MIT/GPL\n", "open"), ("", None)])
def test_the_licence_of_a_module(said: str, flavour: str | None) -> None:
    assert _driver_files.flavour_of_license(said) == flavour


def test_libraries_come_in_the_loader_s_order_and_for_this_processor() -> None:
    assert _driver_files.library_paths(LDCONFIG, "libcuda.so.1") == (
        "/usr/local/cuda/compat/libcuda.so.1",
        "/lib/x86_64-linux-gnu/libcuda.so.1",
    )


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("libcuda.so.580.159.04", "580.159.04"),
        ("libnvidia-ml.so.535.288.01", "535.288.01"),
        ("libcuda.so.1", None),
        ("libcuda.so", None),
    ],
)
def test_the_version_in_a_library_s_name(name: str, version: str | None) -> None:
    assert _driver_files.version_of_library(name) == version


def test_packages_of_the_driver_that_are_installed() -> None:
    assert _driver_files.driver_packages(STATUS) == {"nvidia-driver-580-server-open": "580.159.04-0ubuntu0.24.04.1"}
    assert _driver_files.fabric_manager_version(STATUS) == "580.159.04"


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("SecureBoot enabled\n", True),
        ("SecureBoot disabled\nPlatform is in Setup Mode\n", False),
        ("EFI variables are not supported on this system\n", None),
    ],
)
def test_what_mokutil_says(said: str, state: bool | None) -> None:
    assert _driver_files.secure_boot_of_mokutil(said) is state
