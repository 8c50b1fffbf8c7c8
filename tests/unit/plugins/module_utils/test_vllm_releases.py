# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._compatibility import version_tuple
from ansible_collections.nemotron.vllm.plugins.module_utils._vllm_releases import (
    CPU_RELEASES,
    CUDA_RELEASES,
    VllmRelease,
    fits_python,
)

CUDA = {release.version: release for release in CUDA_RELEASES}
CPU = {release.version: release for release in CPU_RELEASES}


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (CUDA["0.6.3"], ("2.4.0", "12.1", ">=3.8", "2.5", "")),
        (CUDA["0.12.0"], ("2.9.0", "12.8", ">=3.10,<3.14", "2.31", "")),
        (CUDA["0.19.1"], ("2.10.0", "12.8", ">=3.10,<3.14", "2.31", "")),
        (CUDA["0.20.0"], ("2.11.0", "13.0", ">=3.10,<3.15", "2.35", "")),
        (CUDA["0.24.0"], ("2.11.0", "13.0", ">=3.10,<3.15", "2.28", "11.3")),
        (CUDA["0.33.0"], ("2.14.0", "13.0", ">=3.11,<3.15", "2.28", "13")),
        (CPU["0.32.0"], ("2.13.0", None, ">=3.11,<3.15", "2.28", "")),
    ],
)
def test_rows_that_are_known_from_elsewhere(release: VllmRelease, expected: tuple[str | None, ...]) -> None:
    assert (release.torch, release.cuda, release.python, release.glibc, release.gcc) == expected


def test_the_last_release_for_cuda_12() -> None:
    assert [row.version for row in CUDA_RELEASES if row.cuda and row.cuda.startswith("12.")][-1] == "0.19.1"


@pytest.mark.parametrize("releases", [CUDA_RELEASES, CPU_RELEASES], ids=["CUDA", "CPU"])
def test_rows_are_in_order_and_complete(releases: tuple[VllmRelease, ...]) -> None:
    versions = [version_tuple(release.version) for release in releases]
    assert versions == sorted(set(versions))
    for release in releases:
        assert version_tuple(release.torch)
        assert version_tuple(release.glibc)
        assert re.fullmatch(r">=3\.\d+(,<3\.\d+)?", release.python)


@pytest.mark.parametrize(
    ("specifier", "python", "fits"),
    [
        (">=3.10,<3.14", "3.10", True),
        (">=3.10,<3.14", "3.13.7", True),
        (">=3.10,<3.14", "3.14", False),
        (">=3.10,<3.14", "3.9", False),
        ("<3.15,>=3.11", "3.14", True),
        (">=3.8", "3.20", True),
        ("", "3.6", True),
    ],
)
def test_ranges_of_python(specifier: str, python: str, fits: bool) -> None:
    assert fits_python(specifier, python) is fits
