# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What C(nvidia-smi -q -x) says.

Its schema grows with each driver; only what is asked for is read, and what is missing or no number is None. Source:
https://docs.nvidia.com/deploy/nvidia-smi/
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass
from xml.etree import ElementTree

from ._errors import NemotronError

_MIB = {"KiB": 1 / 1024, "MiB": 1.0, "GiB": 1024.0}


@dataclass(frozen=True)
class SmiGpu:
    """A GPU; memory in MiB, PCIe generation and lanes as numbers, row counts as numbers."""

    pci_address: str
    name: str
    architecture: str | None
    memory_mib: int | None
    generation: int | None
    generation_max: int | None
    width: int | None
    width_max: int | None
    ecc_enabled: bool | None
    ecc_uncorrected: int | None
    rows_correctable: int | None
    rows_uncorrectable: int | None
    rows_pending: bool | None
    rows_failed: bool | None
    mig_enabled: bool | None
    mig_pending: bool | None


@dataclass(frozen=True)
class SmiReport:
    """The whole report."""

    driver: str | None
    cuda: str | None
    gpus: tuple[SmiGpu, ...]


def parse(text: str) -> SmiReport:
    """Return the report; raise NemotronError when it is none."""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except ElementTree.ParseError as error:
        raise NemotronError(f"nvidia-smi -q -x: its output is no whole XML document ({error}).") from error
    if root.tag != "nvidia_smi_log":
        raise NemotronError(f"nvidia-smi -q -x: its output is a document of {root.tag}; expected nvidia_smi_log.")
    return SmiReport(
        _version(root.findtext("driver_version")),
        _version(root.findtext("cuda_version")),
        tuple(_gpu(element) for element in root.findall("gpu")),
    )


def pci_address(text: str) -> str:
    """Return an address as the kernel writes it, 0000:00:06.0 for 00000000:00:06.0."""
    domain, _colon, rest = text.strip().lower().partition(":")
    return f"{domain[-4:]}:{rest}" if rest else domain


def _gpu(element: ElementTree.Element) -> SmiGpu:
    def text(path: str) -> str:
        return (element.findtext(path) or "").strip()

    return SmiGpu(
        pci_address=pci_address(element.get("id") or text("pci/pci_bus_id")),
        name=text("product_name") or "unknown NVIDIA GPU",
        architecture=_known(text("product_architecture")),
        memory_mib=_mib(text("fb_memory_usage/total")),
        generation=_number(text("pci/pci_gpu_link_info/pcie_gen/current_link_gen")),
        generation_max=_number(text("pci/pci_gpu_link_info/pcie_gen/max_link_gen")),
        width=_number(text("pci/pci_gpu_link_info/link_widths/current_link_width")),
        width_max=_number(text("pci/pci_gpu_link_info/link_widths/max_link_width")),
        ecc_enabled=_switch(text("ecc_mode/current_ecc")),
        ecc_uncorrected=_uncorrected(element),
        rows_correctable=_number(text("remapped_rows/remapped_row_corr")),
        rows_uncorrectable=_number(text("remapped_rows/remapped_row_unc")),
        rows_pending=_switch(text("remapped_rows/remapped_row_pending")),
        rows_failed=_switch(text("remapped_rows/remapped_row_failure")),
        mig_enabled=_switch(text("mig_mode/current_mig")),
        mig_pending=_switch(text("mig_mode/pending_mig")),
    )


def _uncorrected(element: ElementTree.Element) -> int | None:
    """Sum the errors since the driver was loaded, whose names differ between generations of GPUs."""
    volatile = element.find("ecc_errors/volatile")
    if volatile is None:
        return None
    # Up to Pascal and Volta a total for each kind of error, since Turing a count for each kind of memory.
    if volatile.find("double_bit/total") is not None:
        return _number(volatile.findtext("double_bit/total") or "")
    counts = [_number(counter.text or "") for counter in volatile.iter() if "uncorrectable" in counter.tag]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _known(text: str) -> str | None:
    return text if text and not re.match(r"N/A|Unknown|\[", text) else None


def _version(text: str | None) -> str | None:
    return text.strip() if text and re.fullmatch(r"\s*\d+(\.\d+)+\s*", text) else None


def _number(text: str) -> int | None:
    match = re.match(r"(\d+)(x|\b)", text)
    return int(match[1]) if match else None


def _mib(text: str) -> int | None:
    match = re.fullmatch(r"(\d+) (KiB|MiB|GiB)", text)
    return int(int(match[1]) * _MIB[match[2]]) if match else None


def _switch(text: str) -> bool | None:
    words: t.Mapping[str, bool] = {"Enabled": True, "Yes": True, "Disabled": False, "No": False}
    return words.get(text)
