# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._distributions import distribution


@pytest.mark.parametrize(
    ("name", "version", "glibc"),
    [
        ("Debian", "12", "2.36"),
        ("Debian", "12.7", "2.36"),
        ("Debian", "13", "2.41"),
        ("Ubuntu", "22.04", "2.35"),
        ("Ubuntu", "24.04", "2.39"),
        ("Ubuntu", "22", None),
        ("Ubuntu", "24.10", None),
        ("Debian", "1", None),
        ("Debian", "120", None),
        ("Rocky", "9", None),
    ],
)
def test_distributions_are_known_by_name_and_version(name: str, version: str, glibc: str | None) -> None:
    row = distribution(name, version)
    assert (row and row.glibc) == glibc
