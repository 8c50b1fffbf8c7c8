# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proof of the role vllm_build, with packages that look like torch and vLLM from where it looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "roles" / "vllm_build" / "files" / "prove_import.py"

FILES = {
    "torch/__init__.py": (
        "from types import SimpleNamespace as N\n__version__ = '2.13.0+cpu'\nops = N(_C=N(silu_and_mul=1))\n"
    ),
    "vllm/__init__.py": "__version__ = '0.32.0'\nprint('noise')\n",
    "vllm/platforms.py": (
        "class current_platform:\n    device_type = 'cpu'\n    import_kernels = staticmethod(lambda: None)\n"
    ),
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "packages"


def prove(packages: Path, evidence: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-", "cpu", str(evidence)],
        input=SCRIPT.read_text(encoding="utf-8"),
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_evidence_says_what_was_found(packages: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "cache" / "proof.json"
    completed = prove(packages, evidence)
    assert (completed.returncode, completed.stderr) == (0, "")
    expected = {"vllm": "0.32.0", "torch": "2.13.0+cpu", "device": "cpu", "python": sys.version.split()[0]}
    assert json.loads(evidence.read_text(encoding="utf-8")) == expected
    assert json.loads(completed.stdout) == expected
    assert list(evidence.parent.iterdir()) == [evidence]


FAILURES: list[tuple[str, str, str]] = [
    (
        "vllm/__init__.py",
        "import nowhere\n",
        "vLLM does not load: ModuleNotFoundError: No module named 'nowhere'",
    ),
    (
        "vllm/platforms.py",
        FILES["vllm/platforms.py"].replace("'cpu'", "''"),
        "vLLM takes this host for no known device; needed cpu",
    ),
    (
        "vllm/platforms.py",
        FILES["vllm/platforms.py"].replace("'cpu'", "'cuda'"),
        "vLLM takes this host for cuda; needed cpu",
    ),
    (
        "vllm/platforms.py",
        "raise RuntimeError('port of call')\n",
        "vLLM does not load: RuntimeError: port of call",
    ),
    (
        "torch/__init__.py",
        FILES["torch/__init__.py"].replace("silu_and_mul=1", ""),
        "vLLM's compiled extension does not load: there is no _C*.so in {packages}/vllm",
    ),
]


@pytest.mark.parametrize(("name", "text", "message"), FAILURES)
def test_one_sentence_says_what_is_wrong(packages: Path, tmp_path: Path, name: str, text: str, message: str) -> None:
    (packages / name).write_text(text, encoding="utf-8")
    completed = prove(packages, tmp_path / "proof.json")
    assert completed.returncode == 1
    assert completed.stderr == f"{sys.prefix}: {message.format(packages=packages)}\n"
    assert not (tmp_path / "proof.json").exists()


def test_an_extension_that_the_linker_refuses(packages: Path, tmp_path: Path) -> None:
    (packages / "torch" / "__init__.py").write_text(FAILURES[-1][1], encoding="utf-8")
    (packages / "vllm" / "_C.abi3.so").write_bytes(b"not a library, but long enough to be looked at" * 20)
    completed = prove(packages, tmp_path / "proof.json")
    assert completed.stderr == (
        f"{sys.prefix}: vLLM's compiled extension does not load: {packages}/vllm/_C.abi3.so: invalid ELF header\n"
    )
