# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module with a stand-in for vLLM that has a real argparse parser."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import serve_config

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stand_in_vllm import make_environment, starts

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return make_environment(tmp_path / "environment")


@pytest.fixture
def run(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str]) -> Run:
    def run_module(**arguments: Any) -> dict[str, Any]:
        usual = {
            "path": str(tmp_path / "current" / "serve.yaml"),
            "cache_dir": str(tmp_path / "cache"),
            "variable": "my_options",
            "_ansible_remote_tmp": str(tmp_path_factory.mktemp("remote")),
            "_ansible_diff": True,
        }
        capfd.readouterr()
        with patch_module_args({**usual, **arguments}), pytest.raises(SystemExit):
            serve_config.main()
        result: dict[str, Any] = json.loads(capfd.readouterr().out)
        return result

    return run_module


OPTIONS = {"model": "/m", "port": 8000, "enforce-eager": False}
TEXT = (
    "# Managed by Ansible (nemotron.vllm.serve_config): what is changed here by hand is undone.\n"
    "# Accepted by the parser of vLLM 0.40.0.\n"
    "\n"
    "model: /m\n"
    "port: 8000\n"
    "no-enforce-eager: true\n"
)


def test_a_file_is_written_once(run: Run, python: Path, tmp_path: Path) -> None:
    path = tmp_path / "current" / "serve.yaml"
    first = run(python=str(python), options=OPTIONS)
    assert first["changed"]
    assert path.read_text(encoding="utf-8") == first["diff"]["after"] == TEXT
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.parent.stat().st_mode & 0o777 == 0o755
    assert (first["vllm_version"], first["checked_with"], first["unknown"]) == ("0.40.0", "parser", [])
    asked = starts(python)
    second = run(python=str(python), options=OPTIONS)
    assert not second["changed"]
    assert second["sha256"] == first["sha256"]
    assert starts(python) == asked, "a run that changes nothing must not start the environment's Python"


def test_check_mode_predicts_and_writes_nothing(run: Run, python: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    predicted = run(python=str(python), options=OPTIONS, _ansible_check_mode=True)
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before] == [tmp_path / "environment" / "starts"]
    real = run(python=str(python), options=OPTIONS)
    assert predicted["changed"]
    assert (predicted["diff"], predicted["sha256"]) == (real["diff"], real["sha256"])
    assert not run(python=str(python), options=OPTIONS, _ansible_check_mode=True)["changed"]


def test_what_was_changed_by_hand_is_undone(run: Run, python: Path, tmp_path: Path) -> None:
    run(python=str(python), options=OPTIONS)
    path = tmp_path / "current" / "serve.yaml"
    path.write_text("api-key: hunter2\n", encoding="utf-8")
    path.chmod(0o600)
    result = run(python=str(python), options=OPTIONS)
    assert result["changed"]
    assert result["diff"]["before"] == "api-key: ********\n"
    assert path.read_text(encoding="utf-8") == TEXT
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)
    assert run(python=str(python), options=OPTIONS, _ansible_check_mode=True)["changed"]
    assert run(python=str(python), options=OPTIONS)["changed"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_known_parser_is_started_only_for_another_file(run: Run, python: Path) -> None:
    run(python=str(python), options=OPTIONS)
    asked = starts(python)
    run(python=str(python), options={**OPTIONS, "port": 8001})
    assert starts(python) == asked + 1
    run(python=str(python), options=OPTIONS)
    run(python=str(python), options=OPTIONS, reasons={"port": "Because."})
    assert starts(python) == asked + 1, "files that were accepted before, and other comments, need no parser"


def test_another_build_of_vllm_is_asked_again(run: Run, python: Path) -> None:
    run(python=str(python), options=OPTIONS)
    asked = starts(python)
    record = next(python.parents[1].glob("lib/*/site-packages/*.dist-info/RECORD"))
    record.write_text("vllm/__init__.py,sha256=other,\n", encoding="utf-8")
    assert not run(python=str(python), options=OPTIONS)["changed"]
    assert starts(python) > asked


def test_a_damaged_memory_is_made_anew(run: Run, python: Path, tmp_path: Path) -> None:
    run(python=str(python), options=OPTIONS)
    memory = next((tmp_path / "cache").iterdir())
    whole = memory.read_text(encoding="utf-8")
    memory.write_text(whole[:40], encoding="utf-8")
    assert not run(python=str(python), options=OPTIONS)["changed"]
    assert memory.read_text(encoding="utf-8") == whole


def test_without_a_memory(run: Run, python: Path, tmp_path: Path) -> None:
    assert run(python=str(python), options=OPTIONS, cache_dir=None)["changed"]
    assert not (tmp_path / "cache").exists()


def test_problems_are_told_at_once_and_nothing_is_written(run: Run, python: Path, tmp_path: Path) -> None:
    options = {"model": "/m", "prot": 1, "max_num_seqs": 0, "hf-token": "hunter2", "disable-log-requests": True}
    result = run(python=str(python), options=options)
    assert result["msg"] == (
        f"{tmp_path}/current/serve.yaml was not written, because vLLM 0.40.0 could not be started with it:\n"
        "- prot: vLLM 0.40.0 has no such option; port is the nearest name. Change my_options.\n"
        "- max-num-seqs: found 0; needed a whole number, at least 1. Change my_options.\n"
        "- hf-token: found a secret, which every user of the host could read in the file; needed the variable "
        "HF_TOKEN in the environment file of the service. Change my_options."
    )
    assert result["unknown"] == [
        {"option": "prot", "nearest": "port", "why": "vLLM 0.40.0 has no such option; port is the nearest name"}
    ]
    assert "hunter2" not in json.dumps(result)
    assert not (tmp_path / "current").exists()


def test_what_only_the_parser_knows(run: Run, python: Path, tmp_path: Path) -> None:
    result = run(python=str(python), options={"model": "/m", "dtype": "float32", "enforce-eager": True})
    assert result["msg"] == (
        f"{tmp_path}/current/serve.yaml was not written, because the parser of vLLM 0.40.0 refuses the options: "
        "--enforce-eager does not go with float32. Change my_options."
    )
    again = run(python=str(python), options={"model": "/m", "dtype": "float32", "enforce-eager": True})
    assert again["msg"] == result["msg"], "a refusal must not be remembered as an acceptance"
    assert not (tmp_path / "current").exists()


def test_a_deprecated_option_is_a_warning(run: Run, python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ansible gathers warnings for the whole process, and where they end up depends on what else was imported.
    warnings: list[str] = []
    monkeypatch.setattr(serve_config.AnsibleModule, "warn", lambda _module, warning: warnings.append(warning))
    run(python=str(python), options={"model": "/m", "log-config-file": "/x"})
    assert warnings == ["log-config-file is deprecated in vLLM 0.40.0 and will be gone in a later one."]


def test_defaults_and_their_variables(run: Run, python: Path) -> None:
    arguments: dict[str, Any] = {
        "python": str(python),
        "defaults": {"model": "/m", "port": "x"},
        "variables": {"port": "my_port"},
    }
    assert (
        '- port: found "x"; needed a whole number, at least 1 and at most 65535. Change my_port.'
        in run(**arguments)["msg"]
    )


def test_a_broken_environment(run: Run, python: Path) -> None:
    package = next(python.parents[1].glob("lib/*/site-packages/vllm/entrypoints/launchers"))
    (package / "cli_args.py").write_text("import torch_that_is_not_there\n", encoding="utf-8")
    message = run(python=str(python), options=OPTIONS)["msg"]
    assert message.startswith(
        f"python: {python} could not tell the options of its vLLM; needed the interpreter of an environment in "
        "which vLLM can be imported. Repair that environment, or correct python. It ended with 1:\n"
    )
    assert message.endswith("ModuleNotFoundError: No module named 'torch_that_is_not_there'")


def test_a_bare_host(run: Run, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"python": str(tmp_path / "none" / "bin" / "python"), "vllm_version": "0.32.0"}
    result = run(**arguments, options=OPTIONS, _ansible_check_mode=True)
    assert (result["changed"], result["checked_with"], result["vllm_version"]) == (True, "record", "0.32.0")
    assert "# Compared with the options of vLLM 0.32.0.\n" in result["diff"]["after"]
    assert "- prot: " in run(**arguments, options={"model": "/m", "prot": 1}, _ansible_check_mode=True)["msg"]
    assert run(**arguments, options=OPTIONS)["msg"] == (
        f"python: found no {tmp_path}/none/bin/python on the host; needed the interpreter of the environment that "
        "serves. Install the environment first, or correct python."
    )


def test_with_a_record_alone(run: Run, tmp_path: Path) -> None:
    assert run(vllm_version="0.33.0", options=OPTIONS)["changed"]
    assert not run(vllm_version="0.33.0", options=OPTIONS)["changed"]
    assert "# Compared with the options of vLLM 0.33.0." in (tmp_path / "current" / "serve.yaml").read_text(
        encoding="utf-8"
    )


def test_the_name_of_the_file(run: Run, tmp_path: Path) -> None:
    assert run(path="/x/serve.conf", vllm_version="0.33.0", options=OPTIONS)["msg"] == (
        "path: found /x/serve.conf; needed a name that ends in .yaml or .yml, because vLLM reads no other."
    )


def test_an_unusable_folder_is_no_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run(path=str(tmp_path / "file" / "serve.yaml"), vllm_version="0.33.0", options=OPTIONS)
    assert result["failed"]
    assert str(tmp_path / "file") in result["msg"]
