# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What judges a host runs on each Python that a managed host can have, as far as this machine has it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
ROOTS = CHECKOUT / "tests" / "fixtures" / "roots"
PROBES = CHECKOUT / "tests" / "fixtures" / "probes"
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")

# Prints the facts, the codes of the triple and the stack of a captured host with the environment of a recorded probe.
PROGRAM = """
import dataclasses, importlib, json, sys
root, probe, checkout = sys.argv[1:]
sys.path.insert(0, checkout + "/collections")
utils = "ansible_collections.nemotron.vllm.plugins.module_utils."
of = lambda name: importlib.import_module(utils + name)
host = of("_host").Host(root)
gpu = of("_gpu_facts").gather(host)
environment = of("_environment_facts").parse_probe(open(probe).read(), "", 0)
driver, runtime = of("_triple_host").driver_host(host), of("_triple_runtime").Runtime()
violations = of("_version_triple").judge(gpu, driver, environment, runtime)
facts = {"distribution": "Ubuntu", "version": "24.04", "architecture": "x86_64"}
stack_host = of("_stack_host")
resolution = of("_stack").resolve(stack_host.Wishes(), stack_host.machine_from_facts(gpu, facts))
print(json.dumps([gpu, [each.code for each in violations], resolution.stack, resolution.reasons]))
"""


def interpreter(version: str) -> str | None:
    """Return a Python of this version that works; pyenv puts names on the PATH that only say that they do not."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}")))]
    for candidate in candidates:
        if candidate and subprocess.run([candidate, "-c", ""], check=False, capture_output=True).returncode == 0:
            return candidate
    return None


def judge(python: str, root: str, probe: str) -> list[Any]:
    argv = [python, "-I", "-c", PROGRAM, str(ROOTS / root), str(PROBES / f"{probe}.jsonl"), str(CHECKOUT)]
    completed = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    judged: list[Any] = json.loads(completed.stdout)
    return judged


@pytest.mark.parametrize("version", VERSIONS)
def test_a_host_is_judged_alike_by_each_python(version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    gpu, codes, stack, reasons = judge(python, "h200", "cuda-0.24.0-on-h200")
    assert ([found["name"] for found in gpu["gpus"]], codes) == (["NVIDIA H200"], [])
    assert stack["driver"] == {"branch": "580", "minimum": "580.65.06", "flavour": "open", "action": "keep"}
    assert "driver 580.159.04: kept, as it works and runs CUDA 13.0 (needs 580.65.06 or newer)." in reasons
    _gpu, codes, _stack, _reasons = judge(python, "drv-12-blackwell-proprietary", "cpu-without-vllm")
    assert codes == ["gpu-requires-open-kernel-module", "torch-is-cpu-build", "environment-without-vllm"]
