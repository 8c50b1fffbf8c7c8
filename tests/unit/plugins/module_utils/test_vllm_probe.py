# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _vllm_probe

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stand_in_vllm import make_environment


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("environment"))


def probe(python: Path, folder: Path, config: str) -> subprocess.CompletedProcess[str]:
    path = folder / "serve.yaml"
    path.write_text(config, encoding="utf-8")
    script = inspect.getsource(_vllm_probe)
    return subprocess.run([python, "-I", "-c", script, path], check=False, capture_output=True, text=True)


def answer(python: Path, folder: Path, config: str) -> dict[str, Any]:
    completed = probe(python, folder, config)
    assert completed.returncode == 0, completed.stderr
    loaded: dict[str, Any] = json.loads(completed.stdout)
    return loaded


def test_the_options_of_a_parser(python: Path, tmp_path: Path) -> None:
    told = answer(python, tmp_path, "model: /m\n")
    assert (told["version"], told["error"]) == ("0.40.0", "")
    usual = {
        "negative": [],
        "kind": "value",
        "type": "str",
        "choices": [],
        "count": None,
        "bounds": {},
        "deprecated": False,
    }
    expected = [
        {"names": ["model"]},
        {"names": ["port"], "type": "int"},
        {"names": ["max-num-seqs"], "type": "int", "bounds": {"ge": 1}},
        {"names": ["shared"], "type": "int"},
        {"names": ["dtype"], "choices": ["auto", "float32"]},
        {"names": ["hf-overrides", "hf"], "type": "loads"},
        {"names": ["served-model-name"], "kind": "list"},
        {"names": ["pair"], "kind": "list", "type": "int", "count": 2},
        {"names": ["hf-token"], "kind": "optional"},
        {"names": ["middleware"], "kind": "append"},
        {"names": ["headless"], "kind": "flag"},
        {"names": ["enforce-eager"], "negative": ["no-enforce-eager"], "kind": "switch"},
        {
            "names": ["enable-log-requests"],
            "negative": ["no-enable-log-requests", "disable-log-requests"],
            "kind": "switch",
        },
        {"names": ["log-config-file"], "deprecated": True},
    ]
    assert told["options"] == [{**usual, **option} for option in expected]


REFUSED = [
    ("model: /m\nport: many\n", "argument --port: invalid int value: 'many'"),
    ("model: /m\nunheard: 1\n", "unrecognized arguments: --unheard"),
    ("model: /m\nenforce-eager: 'true'\n", "\"'true'\" belongs to no option and would be served instead of the model"),
    ("model: /m\ndtype: float32\nenforce-eager: true\n", "--enforce-eager does not go with float32"),
]


@pytest.mark.parametrize(("config", "error"), REFUSED)
def test_what_the_parser_refuses(python: Path, tmp_path: Path, config: str, error: str) -> None:
    told = answer(python, tmp_path, config)
    assert told["error"] == error
    assert len(told["options"]) == 14


def test_a_broken_environment_is_not_taken_for_another_version(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "broken", without="vllm/utils/argparse_utils.py")
    completed = probe(python, tmp_path, "model: /m\n")
    assert completed.returncode != 0
    assert "none of vllm.utils.argparse_utils, vllm.utils has FlexibleArgumentParser" in completed.stderr


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "broken")
    package = next((tmp_path / "broken").glob("lib/*/site-packages/vllm/entrypoints/launchers"))
    (package / "cli_args.py").write_text("import torch_that_is_not_there\n", encoding="utf-8")
    completed = probe(python, tmp_path, "model: /m\n")
    assert completed.returncode != 0
    assert "No module named 'torch_that_is_not_there'" in completed.stderr
