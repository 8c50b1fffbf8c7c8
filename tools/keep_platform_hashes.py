# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Leave in a lock only the hashes of wheels that its platform can install: tools/keep_platform_hashes.py LOCK PYLOCK.

uv writes the hashes of a package's wheels for all platforms into a requirements file, some twenty for each one that is
installed. Into a pylock.toml it writes the wheels of the platform alone, and with them which hashes matter.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def keep(lock: str, wanted: set[str]) -> str:
    """Return the lock without the lines of hashes that are not wanted."""
    lines = []
    for line in lock.splitlines():
        found = re.search("--hash=sha256:([0-9a-f]{64})", line)
        if found is None or found[1] in wanted:
            lines.append(line)
    # The last hash of a package has no backslash behind it, whichever one that is now.
    return re.sub(r" \\\n(?! +--hash)", "\n", "\n".join(lines) + "\n")


def main(lock: str, pylock: str) -> None:
    """Rewrite the lock, or stop when a package is left without a hash."""
    wanted = set(re.findall('sha256 = "([0-9a-f]{64})"', Path(pylock).read_text(encoding="utf-8")))
    text = keep(Path(lock).read_text(encoding="utf-8"), wanted)
    bare = re.findall(r"^([^\s#]+==[^\s\\]+)$", text, re.MULTILINE)
    if bare:
        sys.exit(f"{lock}: no wheel of this platform for {', '.join(bare)}")
    Path(lock).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
