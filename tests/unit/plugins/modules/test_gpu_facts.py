# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import gpu_facts

ROOTS = Path(__file__).resolve().parents[3] / "fixtures" / "roots"
SLEEPER = "#!/bin/sh\nexec sleep 600\n"


def run(capsys: pytest.CaptureFixture[str], **parameters: Any) -> dict[str, Any]:
    """Run the module in check mode and return what it printed."""
    with patch_module_args({"_ansible_check_mode": True, **parameters}), pytest.raises(SystemExit):
        gpu_facts.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def program(folder: Path, text: str) -> str:
    path = folder / "nvidia-smi"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_captured_host(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, root=str(ROOTS / "h200"))
    assert list(result["ansible_facts"]) == ["nemotron_gpu"]
    assert not result.get("changed")
    assert [gpu["name"] for gpu in result["ansible_facts"]["nemotron_gpu"]["gpus"]] == ["NVIDIA H200"]


def test_this_host_without_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    facts = run(capsys, nvidia_smi="no-such-nvidia-smi")["ansible_facts"]["nemotron_gpu"]
    assert facts["nvidia_smi"] == {"path": None, "ok": False, "rc": None, "said": ""}


def test_this_host_with_a_program_that_hangs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = program(tmp_path, SLEEPER)
    facts = run(capsys, nvidia_smi=path, timeout=0.2)["ansible_facts"]["nemotron_gpu"]
    assert facts["nvidia_smi"] == {"path": path, "ok": False, "rc": 124, "said": "given up after 0.2 seconds"}
    assert facts["problems"] == [f"{path} -q -x: given up after 0.2 seconds; expected an answer."]


def test_this_host_with_a_program_that_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = program(tmp_path, "#!/bin/sh\necho No devices were found\nexit 6\n")
    facts = run(capsys, nvidia_smi=path)["ansible_facts"]["nemotron_gpu"]
    assert facts["nvidia_smi"] == {"path": path, "ok": False, "rc": 6, "said": "No devices were found"}
    assert facts["problems"] == [f"{path} -q -x: ended with 6 and said No devices were found"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"root": "/none"}, "root: found no folder /none; needed one with a captured host, or / for this host."),
        ({"timeout": 0}, "timeout: found 0; needed a number of seconds greater than 0."),
        ({"timeout": -1.5}, "timeout: found -1.5; needed a number of seconds greater than 0."),
    ],
)
def test_bad_input_is_refused(capsys: pytest.CaptureFixture[str], parameters: dict[str, Any], message: str) -> None:
    result = run(capsys, **parameters)
    assert (result["failed"], result["msg"]) == (True, message)
