# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prove that a vLLM loads with its compiled extensions: prove_import.py DEVICE EVIDENCE.

Run by the interpreter of the environment. Writes what it found to the file EVIDENCE, or ends with one sentence.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# An operation of every build of vLLM, registered by its compiled extension.
OPERATION = "silu_and_mul"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what libraries print while they load out of the message; their errors are exceptions."""
    kept = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for target, descriptor in enumerate(kept, start=1):
                os.dup2(descriptor, target)
                os.close(descriptor)


def why_extension_is_missing(folder: Path) -> str:
    """Return why the compiled extension did not load, which vLLM itself only warns about."""
    extension = next(iter(sorted(folder.glob("_C*.so"))), None)
    if extension is None:
        return f"there is no _C*.so in {folder}"
    try:
        ctypes.CDLL(str(extension))
    except OSError as error:
        return str(error)
    return f"{extension} does not have the operation {OPERATION}"


def prove(device: str) -> dict[str, str]:
    """Load vLLM with its extensions and return the versions found.

    The server itself is imported when its options are checked; doing it here as well would double the time.
    """
    try:
        import torch  # noqa: PLC0415  (failing imports are what this is about)
        import vllm  # noqa: PLC0415
        from vllm.platforms import current_platform  # noqa: PLC0415

        current_platform.import_kernels()
    except Exception as error:
        message = f"{sys.prefix}: vLLM does not load: {type(error).__name__}: {error}"
        raise SystemExit(message) from error
    found = current_platform.device_type
    if found != device:
        raise SystemExit(f"{sys.prefix}: vLLM takes this host for {found or 'no known device'}; needed {device}")
    if not hasattr(torch.ops._C, OPERATION):
        why = why_extension_is_missing(Path(vllm.__file__).parent)
        raise SystemExit(f"{sys.prefix}: vLLM's compiled extension does not load: {why}")
    return {"vllm": vllm.__version__, "torch": torch.__version__, "device": device, "python": sys.version.split()[0]}


def main() -> None:
    """Prove, and leave the evidence, which appears whole or not at all."""
    device, evidence = sys.argv[1], Path(sys.argv[2])
    with quiet():
        found = prove(device)
    evidence.parent.mkdir(parents=True, exist_ok=True)
    partial = evidence.with_name(evidence.name + ".partial")
    partial.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    partial.replace(evidence)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
