# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Capture what gpu_facts and version_triple read of this host into a folder, for tests/fixtures/roots or a report.

python3 tools/capture_host.py FOLDER, as root, with nothing but Python 3.9 or newer. Serial numbers and UUIDs are
zeroed, and of packages and libraries only those of NVIDIA are kept. preflight_captured_root takes the folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "collections"))

from ansible_collections.nemotron.vllm.plugins.module_utils._command import Completed
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_facts import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host, recording_name
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_host import driver_host

IDENTIFIERS = (
    (re.compile(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "GPU-00000000-0000-0000-0000-000000000000"),
    (re.compile(r"(<(serial|pdi|chassis_serial_number|gpu_fabric_guid|host_id|clusterUuid)>)[^<]*"), r"\g<1>N/A"),
)
OF_NVIDIA = re.compile(r"nvidia|cuda|nccl", re.IGNORECASE)


def anonymous(text: str) -> str:
    """Return a text without identifiers."""
    for pattern, replacement in IDENTIFIERS:
        text = pattern.sub(replacement, text)
    return text


def relevant(path: str, text: str) -> str:
    """Return what is worth keeping of a file or an output: of lists of all packages or libraries those of NVIDIA."""
    if path == "/var/lib/dpkg/status":
        return "".join(f"{part}\n\n" for part in text.split("\n\n") if OF_NVIDIA.search(part.partition("\n")[0]))
    if path == "ldconfig_-p":
        return "".join(f"{line}\n" for line in text.splitlines() if OF_NVIDIA.search(line))
    return text


class Recorder(Host):
    """The host that we run on; everything that is read of it is written into a folder as well."""

    folder: Path

    def keep(self, path: str, content: bytes) -> None:
        """Write a file at its place in the folder."""
        kept = self.folder / path.lstrip("/")
        kept.parent.mkdir(parents=True, exist_ok=True)
        if not kept.is_symlink():
            kept.write_bytes(content)

    def keep_text(self, path: str, text: str) -> None:
        """Write a text without what nobody needs to know."""
        self.keep(path, anonymous(relevant(path.removeprefix("commands/"), text)).encode())

    def read_bytes(self, path: str) -> bytes | None:
        """Read, and write down."""
        content = super().read_bytes(path)
        if content is not None:
            try:
                self.keep_text(path, content.decode("utf-8"))
            except UnicodeDecodeError:
                self.keep(path, content)
        return content

    def exists(self, path: str) -> bool:
        """Look, and write down that there is something."""
        there = super().exists(path)
        kept = self.folder / path.lstrip("/")
        if there and not os.path.lexists(kept):
            if os.path.isdir(path):
                kept.mkdir(parents=True)
                # An empty folder would be lost in a repository.
                (kept / ".kept").touch()
            else:
                self.keep(path, b"")
        return there

    def link(self, path: str) -> str | None:
        """Follow a link, and make it."""
        target = super().link(path)
        kept = self.folder / path.lstrip("/")
        if target is not None and not os.path.lexists(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.symlink_to(target)
        return target

    def ask(self, argv: Sequence[str], timeout: float | None = None) -> Completed:
        """Ask, and write the answer down; a program that is missing leaves nothing."""
        said = super().ask(argv, timeout)
        name = f"commands/{recording_name(argv)}"
        if said.rc != 127:  # noqa: PLR2004
            self.keep_text(name, said.stdout)
            if said.rc:
                self.keep_text(f"{name}.rc", f"{said.rc}\n")
            if said.stderr:
                self.keep_text(f"{name}.stderr", said.stderr)
        return said


def main() -> int:
    """Capture."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004
        sys.stderr.write(f"{__doc__}\n")
        return 2
    Recorder.folder = Path(sys.argv[1])
    host = Recorder()
    facts = gather(host)
    driver_host(host)
    host.read("/etc/os-release")
    names = ", ".join(gpu["name"] for gpu in facts["gpus"]) or "no GPU"
    print(f"{Recorder.folder}: {names}, driver {facts['driver']['loaded']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
