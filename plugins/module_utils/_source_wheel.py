# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The inputs of a wheel that is built from source, whether patches fit, and why a build failed."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    import tarfile
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Inputs:
    """All that decides what a build gives: hashes of files, settings, and the versions that it is compiled against.

    Names and places of files do not count, so that the same wheel has the same name on every host.
    """

    source: str
    patches: tuple[str, ...]
    environment: Mapping[str, str]
    environment_files: Mapping[str, str]
    python: str | None
    packages: Mapping[str, str | None]

    def as_dict(self) -> dict[str, t.Any]:
        """Return the inputs as a manifest holds them."""
        return {
            "source": self.source,
            "patches": list(self.patches),
            "environment": dict(self.environment),
            "environment_files": dict(self.environment_files),
            "python": self.python,
            "packages": dict(self.packages),
        }

    def digest(self) -> str:
        """Return the hash that names the wheel."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Misfit:
    """A place at which a patch does not fit; without a hunk it is the whole file."""

    file: str
    hunk: str | None
    why: str

    def describe(self) -> str:
        """Return the place in words."""
        return f"{self.file}, hunk {self.hunk}: {self.why}" if self.hunk else f"{self.file}: {self.why}"


def has_hunk(patch: str) -> bool:
    """Tell whether a patch changes anything; the patch program takes an empty file for a success."""
    return re.search(r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@", patch, re.MULTILINE) is not None


def purpose(patch: str) -> str:
    """Return what a patch says about itself before its changes, as a mail's subject or as its first line."""
    header = re.split(r"^(?:--- |diff |Index: )", patch, maxsplit=1, flags=re.MULTILINE)[0]
    subject = re.search(r"^Subject: (?:\[[^\]]*\] )?(.+)", header, re.MULTILINE)
    return subject[1] if subject else next((line.strip() for line in header.splitlines() if line.strip()), "")


# What GNU patch 2.7 prints in a dry run; a line about a file is followed by lines about its hunks.
_FILE = re.compile(r"(?:checking|patching) file '?(?P<file>[^']+)'?")
_HUNK_FAILED = re.compile(r"Hunk #(?P<hunk>\d+) FAILED at (?P<line>\d+)")
_NOT_FOUND = re.compile(r"can't find file to patch at input line \d+")
_NAMED_IN_HEADER = re.compile(r"\|(?:\+\+\+|---) (?P<file>[^\t\n]+)")
_EXISTS = re.compile(r"The next patch would create the file '?(?P<file>[^',]+)'?,")
_MALFORMED = re.compile(r"patch: \*\*\*\* (?P<why>.*)")


def misfits(printed: str) -> list[Misfit]:
    """Return where a patch does not fit, from what the patch program printed."""
    found: list[Misfit] = []
    file = "the patch file itself"
    searching = False
    for line in printed.splitlines():
        if match := _FILE.fullmatch(line):
            file = match["file"]
        elif match := _HUNK_FAILED.match(line):
            found.append(
                Misfit(file, match["hunk"], f"the lines that it replaces are not there around line {match['line']}")
            )
        elif line.startswith("Reversed (or previously applied)"):
            found.append(Misfit(file, None, "has this change already"))
        elif match := _EXISTS.match(line):
            found.append(Misfit(match["file"], None, "would be created and is there already"))
        elif match := _MALFORMED.match(line):
            found.append(Misfit("the patch file itself", None, match["why"]))
        elif _NOT_FOUND.match(line):
            searching = True
        elif searching and (match := _NAMED_IN_HEADER.match(line)):
            file = match["file"].partition("/")[2] or match["file"]
        elif searching and line.startswith("No file to patch"):
            found.append(Misfit(file, None, "is not in the source"))
            searching = False
    return found


def unsafe_member(member: tarfile.TarInfo) -> str | None:
    """Return why a member of an archive must not be unpacked, or None; for a Python without tarfile's own filters."""
    if member.isdev():
        return f"{member.name} is a device"
    for path in [member.name, *([_link_target(member)] if member.issym() or member.islnk() else [])]:
        if posixpath.isabs(path) or posixpath.normpath(path).split("/", 1)[0] == "..":
            return f"{member.name} leads out of the archive's folder"
    return None


def _link_target(member: tarfile.TarInfo) -> str:
    # A symbolic link is read from its own folder, a hard link from the top of the archive.
    return posixpath.join(posixpath.dirname(member.name), member.linkname) if member.issym() else member.linkname


# Lines with which tools report a failure. The first of them is the cause, and what follows reports it upwards.
_FAILURE = re.compile(
    r"""
      No\ space\ left\ on\ device
    | \bKilled\ signal\ terminated\ program | ^Killed$ | \bvirtual\ memory\ exhausted
    | (?:^|\s)\S+?(?::\d+(?::\d+)?|\(\d+\)):\ (?:fatal\ )?error\b      # gcc, clang, nvcc
    | ^\s*(?:clang|g\+\+|gcc|c\+\+|cc1plus|nvcc)\S*:\ (?:fatal\ )?error:
    | \bfatal\ error:
    | ^CMake\ Error
    | \bundefined\ reference\ to\b | \bld(?:\.\w+)?:\ cannot\ find\b
    | ^error\[E\d+\]:                                                  # rustc
    | ^\s*(?:[A-Za-z_]\w*\.)*[A-Za-z_]*(?:Error|Exception|NotFound)(?::\ |$)
    | ^\s*error:\s
    """,
    re.VERBOSE,
)
# Tools that only repeat that another one failed.
_WRAPPER = re.compile(
    r"CalledProcessError|subprocess-exited-with-error|metadata-generation-failed|Failed building wheel|Failed to build"
    r"|ninja: build stopped|Call to `|could not compile"
)
_INDENTED = re.compile(r"\s+\S")
_SHOWN_DETAILS = 4


def first_error(log: str) -> tuple[int, str] | None:
    """Return (line number, text) of the first error in a build's log, or None when no line looks like one."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if _FAILURE.search(line) and not _WRAPPER.search(line):
            text = [line.strip()]
            if line.startswith("CMake Error"):
                details = [below for below in lines[number + 1 : number + 1 + _SHOWN_DETAILS] if _INDENTED.match(below)]
                text += [detail.rstrip() for detail in details]
            return number + 1, "\n".join(text)
    return None


def parse_manifest(text: str) -> dict[str, t.Any] | None:
    """Return the manifest of a wheel, or None when it is damaged."""
    try:
        manifest = json.loads(text)
        wheel = manifest["wheel"]
        return manifest if {"file", "sha256", "stamp"} <= set(wheel) and "inputs_hash" in manifest else None
    except (ValueError, TypeError, KeyError):
        return None


def render(inputs: Inputs, patches: Sequence[str]) -> str:
    """Return the inputs as text, for a diff."""
    lines = [f"source: {inputs.source}"]
    lines += [f"patch: {patch}" for patch in patches]
    lines += [f"{name}={value}" for name, value in sorted(inputs.environment.items())]
    lines += [f"{name}: sha256 {value}" for name, value in sorted(inputs.environment_files.items())]
    lines.append(f"python: {inputs.python or 'not on the host yet'}")
    lines += [f"{name}: {version or 'not in the environment'}" for name, version in sorted(inputs.packages.items())]
    return "\n".join(lines) + "\n"
