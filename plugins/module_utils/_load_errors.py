# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the dynamic loader means when it refuses a shared object, and whose symbol it is that it misses."""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSING_LIBRARY = "missing library"
MISSING_SYMBOL = "missing symbol"
OLD_LIBRARY = "library without a version"
NO_LIBRARY = "no library"
OTHER = "other"

TORCH, VLLM, DRIVER, CUDA, CXX, OPENMP = "torch", "vLLM", "driver", "CUDA library", "C++ library", "OpenMP library"

# The words of glibc's elf/dl-lookup.c, dl-load.c and dl-version.c.
_PATTERNS = (
    (OLD_LIBRARY, re.compile(r"(?P<file>\S+): version [`'](?P<name>[A-Z]+_[\w.]+)' not found")),
    (
        MISSING_SYMBOL,
        re.compile(r"(?:(?P<file>\S+): )?undefined symbol: (?P<name>[\w@.]+)(?:, version (?P<version>\S+))?"),
    ),
    (MISSING_LIBRARY, re.compile(r"(?P<name>[^\s/]+\.so[\w.]*): cannot open shared object file")),
    (
        NO_LIBRARY,
        re.compile(
            r"(?P<file>\S+): (?P<name>file too short|invalid ELF header|wrong ELF class\S*|ELF load command[^\n]*|"
            r"cannot read file data|cannot open shared object file)"
        ),
    ),
)

# A nested name of the Itanium C++ ABI that begins with one of torch's namespaces, as in _ZN3c10... and _ZNR5torch...;
# torch among the types of the arguments does not count. C names: the stable ABI and what libtorch_cpu.so exports.
_TORCH = re.compile(
    r"_ZT?[VIS]?N?[KVRO]*(3c10|2at|5torch|6caffe2|10headeronly)|(aoti_)?torch_|THPVariable|Sleef_|dnnl_|_ZN4dnnl"
)
_CUDA = re.compile(r"(__)?(nvJitLink|cublas|cusparse|cusolver|cufft|curand|cudnn|nccl|nvrtc|cuda[A-Z])|__cuda")
_DRIVER = re.compile(r"cu[A-Z]\w+")
_OPENMP = re.compile(r"(GOMP|omp|__kmpc)_")
_CXX = re.compile(r"_Z(T[VIST])?(N?[KR]*S[tadios]|NKSt|NSt|St|T[VIST]St|T[VIST]NSt|N10__cxxabiv1)|__cxa_|__gxx_")


@dataclass(frozen=True)
class LoadError:
    """What is wrong, by which name, in which file."""

    kind: str
    name: str = ""
    file: str = ""
    version: str = ""

    @property
    def owner(self) -> str:
        """Whose symbol it is."""
        return owner_of(self.name, self.version)


def parse_load_error(text: str) -> LoadError:
    """Return what an ImportError or OSError of the dynamic loader says; kind OTHER when it is none of its errors."""
    for kind, pattern in _PATTERNS:
        match = pattern.search(text)
        if match:
            found = match.groupdict()
            return LoadError(kind, found["name"], found.get("file") or "", found.get("version") or "")
    return LoadError(OTHER)


def owner_of(symbol: str, version: str = "") -> str:
    """Return which library should have a symbol; vLLM itself for one that is no one else's.

    I(version) is the symbol's version, as GLIBCXX_3.4.21, which names the library best.
    """
    if version.startswith(("GLIBCXX_", "CXXABI_")):
        return CXX
    if version.startswith(("OMP_", "GOMP_", "OACC_")):
        return OPENMP
    for owner, pattern in ((TORCH, _TORCH), (CUDA, _CUDA), (DRIVER, _DRIVER), (OPENMP, _OPENMP), (CXX, _CXX)):
        if pattern.match(symbol):
            return owner
    return CUDA if version.startswith("lib") else VLLM


def string_abi(symbol: str) -> str | None:
    """Return which std::string a mangled C++ name was compiled with: old, new, or None if there is none in it.

    The old one is abbreviated as Ss: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-compression
    """
    if "__cxx11" in symbol:
        return "new"
    # Names are written with their length in front, and may have Ss in them too.
    rest = re.sub(r"^_Z", "", symbol)
    bare = ""
    while rest:
        length = re.match(r"\d+", rest)
        if length:
            rest = rest[length.end() + int(length.group()[:6]) :]
        else:
            bare += rest[0]
            rest = rest[1:]
    return "old" if "Ss" in bare else None
