# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The GPU architectures that a shared object holds code for.

nvcc puts device code into the ELF sections C(.nv_fatbin) and C(__nv_relfatbin), as fat binaries one after another. Each
has a header and entries, one an architecture. NVIDIA documents none of it: C(fatbinary_section.h) of the CUDA toolkit
has the magic number, and the fields are those of https://github.com/n-eiling/cuda-fatbin-decompression. The flags were
found in the wheel of vLLM 0.24.0, whose FlashAttention 3 is compiled for sm_90a alone.
"""

from __future__ import annotations

import mmap
import struct
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Iterator

_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")
_FATBIN_MAGIC = 0xBA55ED50
_FATBIN_HEADER = struct.Struct("<IHHQ")
"""Magic, version, size of this header, size of the entries."""
_ENTRY_HEADER = struct.Struct("<HHIQ8xHHI8xQ")
"""Kind, version, size of this header, size of the payload, minor and major version of the code, architecture, flags."""
_PTX, _CUBIN = 1, 2
_ONLY_THIS, _THIS_FAMILY = 1 << 20, 1 << 21
"""Flags of code made for sm_90a, which no other capability runs, and for sm_100f, which its family does."""

_ELF_MAGIC = b"\x7fELF"
_ELF64_LITTLE = (2, 1)
_ELF_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_NO_BITS = 8
_ALIGNMENT = 8

Buffer = t.Union[bytes, mmap.mmap]


@dataclass(frozen=True)
class Architectures:
    """What device code there is."""

    names: tuple[str, ...] = ()
    """As C(torch.cuda.get_arch_list) writes them: sm_90 is machine code, compute_90 intermediate code (PTX)."""
    ptx: tuple[int, int] | None = None
    """The newest version of the PTX language in use, (9, 0) for that of CUDA 13.0."""


def architectures(data: Buffer) -> Architectures:
    """Return the architectures in the bytes of a shared object, none if it has no device code.

    NemotronError says what the bytes are when they are none, for a sentence that names the file.
    """
    found: set[tuple[int, int, str]] = set()
    ptx: set[tuple[int, int]] = set()
    try:
        for start, end in _sections(data):
            for kind, version, number, variant in _entries(data, start, end):
                found.add((kind, number, variant))
                if kind == _PTX:
                    ptx.add(version)
    except (struct.error, OverflowError) as error:
        raise NemotronError("a shared object that is cut short") from error
    machine = [f"sm_{number}{variant}" for kind, number, variant in sorted(found) if kind == _CUBIN]
    intermediate = [f"compute_{number}{variant}" for kind, number, variant in sorted(found) if kind == _PTX]
    return Architectures((*machine, *intermediate), max(ptx, default=None))


def _sections(data: Buffer) -> Iterator[tuple[int, int]]:
    """Return where the sections with device code begin and end."""
    if bytes(data[:4]) != _ELF_MAGIC or tuple(data[4:6]) != _ELF64_LITTLE:
        raise NemotronError(f"no 64-bit little-endian shared object: it begins with {bytes(data[:4])!r}")
    _kind, _machine, _version, _entry, _programs, table, *rest = _ELF_HEADER.unpack_from(data, 0)
    _flags, _size, _program_size, _program_count, entry_size, count, names_index = rest
    headers = [_SECTION_HEADER.unpack_from(data, table + index * entry_size) for index in range(count)]
    if names_index >= len(headers):
        return
    names_start = headers[names_index][4]
    longest = max(map(len, _SECTIONS)) + 1
    for name, kind, _flags, _address, offset, size, *_rest in headers:
        label = bytes(data[names_start + name : names_start + name + longest]).partition(b"\0")[0]
        if label in _SECTIONS and kind != _NO_BITS:
            yield offset, min(offset + size, len(data))


def _entries(data: Buffer, start: int, end: int) -> Iterator[tuple[int, tuple[int, int], int, str]]:
    """Return (kind, version of the code, architecture, variant) of each entry between two offsets."""
    position = start
    while position + _FATBIN_HEADER.size <= end:
        magic, _version, header_size, size = _FATBIN_HEADER.unpack_from(data, position)
        if magic != _FATBIN_MAGIC:
            # Bytes of nothing may align the next fat binary.
            position += _ALIGNMENT
            continue
        position += max(header_size, _FATBIN_HEADER.size)
        entries_end = min(position + size, end)
        while position + _ENTRY_HEADER.size <= entries_end:
            kind, _version, header_size, payload, minor, major, number, flags = _ENTRY_HEADER.unpack_from(
                data, position
            )
            if kind in (_PTX, _CUBIN):
                variant = "f" if flags & _THIS_FAMILY else "a" if flags & _ONLY_THIS else ""
                yield kind, (major, minor), number, variant
            position += max(header_size, _ENTRY_HEADER.size) + payload
        position = entries_end
