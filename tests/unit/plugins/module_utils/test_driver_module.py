# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module is found under each of its names."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_module import modinfo
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host, recording_name


@pytest.mark.parametrize(
    ("said", "version"),
    [
        pytest.param({"modinfo -F version nvidia": "580.159.04\n"}, "580.159.04", id="NVIDIA's own name"),
        pytest.param({"modinfo -F version nvidia-current": "535.309.01\n"}, "535.309.01", id="Debian's"),
        pytest.param({"modinfo -F version nvidia-current-open": "535.309.01\n"}, "535.309.01", id="Debian's, open"),
        pytest.param({"modinfo -k 6.1.0 -F version nvidia": "1.2\n"}, "", id="another kernel's"),
        pytest.param({}, "", id="none"),
    ],
)
def test_the_version_of_the_module(said: dict[str, str], version: str, tmp_path: Path) -> None:
    (tmp_path / "commands").mkdir()
    for command, text in said.items():
        (tmp_path / "commands" / recording_name(command.split())).write_text(text, encoding="utf-8")
    assert modinfo(Host(str(tmp_path)), "version") == version


def test_of_a_kernel_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "modinfo_-k_6.1.0_-F_version_nvidia-current").write_text("535.1\n", encoding="utf-8")
    assert modinfo(Host(str(tmp_path)), "version", "6.1.0") == "535.1"
