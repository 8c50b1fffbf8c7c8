# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The architectures in a shared object, from one built here by the layout and one header of vLLM 0.24.0's wheel."""

from __future__ import annotations

import contextlib
import struct

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._fatbin import Architectures, architectures
from hypothesis import given
from hypothesis import strategies as st

PTX, CUBIN = 1, 2
COMPRESSED, ONLY_THIS, FAMILY = 0x8011, 0x100000, 0x1200000

# The first 80 bytes of .nv_fatbin in vllm/_moe_C_stable_libtorch.abi3.so: a header and that of an entry for sm_75.
RECORDED = bytes.fromhex(
    "50ed55ba01001000f8d5030000000000020001014000000088720000000000008272000000000000080001004b000000"
    "000000000000000011800000000000000000000000000000e02e080000000000"
)


def entry(kind: int, number: int, flags: int = COMPRESSED, version: tuple[int, int] = (9, 0), size: int = 24) -> bytes:
    header = struct.pack("<HHIQQHHIQQ", kind, 0x101, 64, size, size, version[1], version[0], number, 0, flags)
    return header.ljust(64, b"\0") + b"\xaa" * size


def fatbin(*entries: bytes) -> bytes:
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


def shared_object(section: bytes, name: str = ".nv_fatbin", kind: int = 1) -> bytes:
    """Return an ELF file with a section of this name, and the one with the names."""
    names = b"\0" + name.encode() + b"\0.shstrtab\0"
    start = 64
    table = start + len(section) + len(names)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    headers = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    headers += struct.pack("<IIQQQQIIQQ", 1, kind, 0, 0, start, len(section), 0, 0, 8, 0)
    headers += struct.pack("<IIQQQQIIQQ", len(name) + 2, 3, 0, 0, start + len(section), len(names), 0, 0, 1, 0)
    return head + section + names + headers


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (b"", Architectures()),
        (fatbin(entry(CUBIN, 90)), Architectures(("sm_90",))),
        (fatbin(entry(CUBIN, 90, COMPRESSED | ONLY_THIS)), Architectures(("sm_90a",))),
        (fatbin(entry(CUBIN, 100, COMPRESSED | FAMILY)), Architectures(("sm_100f",))),
        (fatbin(entry(PTX, 80, version=(8, 7))), Architectures(("compute_80",), (8, 7))),
        (
            fatbin(entry(CUBIN, 120), entry(CUBIN, 75))
            + b"\0" * 16
            + fatbin(entry(PTX, 90, version=(8, 7)), entry(PTX, 80, version=(9, 0)), entry(CUBIN, 75)),
            Architectures(("sm_75", "sm_120", "compute_80", "compute_90"), (9, 0)),
        ),
        (fatbin(entry(16, 90)), Architectures()),
        (RECORDED, Architectures(("sm_75",))),
    ],
)
def test_architectures(section: bytes, expected: Architectures) -> None:
    assert architectures(shared_object(section)) == expected
    assert architectures(shared_object(section, "__nv_relfatbin")) == expected


def test_other_sections_and_those_without_bytes_are_passed_over() -> None:
    section = fatbin(entry(CUBIN, 90))
    assert architectures(shared_object(section, ".text")) == Architectures()
    assert architectures(shared_object(section, ".nv_fatbin", kind=8)) == Architectures()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no 64-bit little-endian shared object: it begins with b''"),
        (b"version https://git-lfs", "no 64-bit little-endian shared object: it begins with b'vers'"),
        (b"\x7fELF\x01\x01".ljust(64, b"\0"), "no 64-bit little-endian shared object: it begins with b'\\x7fELF'"),
        (shared_object(fatbin(entry(CUBIN, 90)))[:-20], "a shared object that is cut short"),
        (shared_object(b"")[:30], "a shared object that is cut short"),
    ],
)
def test_what_is_no_shared_object(data: bytes, message: str) -> None:
    with pytest.raises(NemotronError) as caught:
        architectures(data)
    assert str(caught.value) == message


@given(st.binary(max_size=300))
def test_any_section_comes_to_an_end(section: bytes) -> None:
    assert isinstance(architectures(shared_object(fatbin(section) + section)), Architectures)


@given(st.binary(max_size=200))
def test_any_file_is_read_or_refused(rest: bytes) -> None:
    with contextlib.suppress(NemotronError):
        architectures(b"\x7fELF\x02\x01" + rest)
