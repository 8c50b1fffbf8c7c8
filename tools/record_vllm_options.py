# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print the options of a vLLM as a table for plugins/module_utils/_vllm_recorded.py.

tools/record_vllm_options.py <interpreter of an environment that has this vLLM>
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

PROBE = Path(__file__).resolve().parent.parent / "plugins" / "module_utils" / "_vllm_probe.py"


def row(option: dict[str, Any]) -> str:
    """Return the line of one option; the rules are at the top of _vllm_recorded.py."""
    words = ["|".join(option["names"])]
    words.append(option["kind"] if option["kind"] in ("switch", "flag") else f"{option['kind']}:{option['type']}")
    words += [f"{name}={limit:g}" for name, limit in sorted(option["bounds"].items())]
    words += [f"count={option['count']}"] if option["count"] else []
    words += ["deprecated"] if option["deprecated"] else []
    words += [f"off={name}" for name in option["negative"] if name != f"no-{option['names'][0]}"]
    words += ["in", *option["choices"]] if option["choices"] else []
    return textwrap.fill(" ".join(words), 118, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def main() -> int:
    """Run the probe on an empty configuration and print its options sorted by name."""
    script = PROBE.read_text(encoding="utf-8")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write("model: any\n")
        config.flush()
        completed = subprocess.run(
            [sys.argv[1], "-I", "-c", script, config.name], check=False, capture_output=True, text=True
        )
    if completed.returncode:
        sys.stderr.write(completed.stderr)
        return completed.returncode
    answer = json.loads(completed.stdout)
    print(f"vLLM {answer['version']}")
    for option in sorted(answer["options"], key=lambda option: option["names"]):
        print(row(option))
    return 0


if __name__ == "__main__":
    sys.exit(main())
