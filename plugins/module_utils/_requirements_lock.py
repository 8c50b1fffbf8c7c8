# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Requirements files in which every package has a version and hashes."""

from __future__ import annotations

import re

from ._errors import NemotronError

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_PINNED = re.compile(rf"(?P<name>{_NAME})(?:\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!+_-]+)(?P<rest>.*)")
_HASH = re.compile(r"--hash[=\s]\s*sha256:[0-9a-f]{64}(?![0-9A-Za-z])")
_REMAKE = "Make the lock with: uv pip compile --generate-hashes --python-version X.Y INPUT -o LOCK"
# How PEP 440 spells the other spellings of a release's stage.
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc", "rev": "post", "r": "post"}
_VERSION = re.compile(r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)(?P<suffix>[^+]*)(?:\+(?P<local>.+))?")
_SUFFIX = re.compile(r"[-_.]?(?P<stage>[a-z]+)?[-_.]?(?P<number>\d+)?")


def normalise_name(name: str) -> str:
    """Return a package's name as all indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def normalise_version(version: str) -> str:
    """Return a version so that two spellings of the same one are equal (PEP 440), for example 1.0.0 and 1.0.

    What is no version is returned as it is; the C(packaging) library is not there on a minimal server.
    """
    match = _VERSION.fullmatch(version.strip().lower())
    if match is None:
        return version
    release = [str(int(part)) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == "0":
        release.pop()
    epoch = int(match["epoch"] or 0)
    text = (f"{epoch}!" if epoch else "") + ".".join(release) + _normalise_suffix(match["suffix"])
    if match["local"]:
        text += "+" + ".".join(_number(part) for part in re.split(r"[-_.]", match["local"]))
    return text


def _normalise_suffix(suffix: str) -> str:
    text = ""
    for match in _SUFFIX.finditer(suffix):
        if not match[0]:
            continue
        # A number alone, as in 1.0-1, is a post release.
        stage = _STAGES.get(match["stage"], match["stage"]) or "post"
        text += ("." if stage in {"post", "dev"} else "") + stage + str(int(match["number"] or 0))
    return text


def _number(part: str) -> str:
    return str(int(part)) if part.isdigit() else part


def parse_lock(text: str, source: str) -> dict[str, str]:
    """Return the packages of a lock: normalised name to version as written.

    C(source) names the lock in messages. Whatever leaves open what will be installed is refused.
    """
    packages: dict[str, str] = {}
    for number, line in _logical_lines(text):
        if line.startswith("-"):
            # How packages are found is the caller's matter: the hashes decide what is installed.
            raise NemotronError(
                f"{source}, line {number}: found the option {line.split()[0]}; needed package==version with hashes. "
                "Give indexes and folders of wheels to the module instead of writing them into the lock."
            )
        match = _PINNED.fullmatch(line)
        if match is None:
            shown = line.split(" --hash")[0]
            raise NemotronError(
                f"{source}, line {number}: found {shown!r}; needed package==version with hashes. {_REMAKE}"
            )
        name, version = normalise_name(match["name"]), match["version"]
        if ";" in match["rest"]:
            raise NemotronError(
                f"{source}, line {number}: {name} depends on the machine ({_marker(match['rest'])}); needed a lock "
                f"for one Python on one platform. {_REMAKE}"
            )
        if not _HASH.search(match["rest"]):
            raise NemotronError(f"{source}, line {number}: {name}=={version} has no sha256 hash. {_REMAKE}")
        if name in packages:
            raise NemotronError(f"{source}, line {number}: {name} is there twice. {_REMAKE}")
        packages[name] = version
    if not packages:
        raise NemotronError(f"{source}: found no package; needed lines of package==version with hashes. {_REMAKE}")
    return packages


def _marker(rest: str) -> str:
    return rest.split(" --hash", maxsplit=1)[0].strip(" ;")


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return (number of its first line, text) for each line after joining and without comments, as pip reads them."""
    lines: list[tuple[int, str]] = []
    start, joined = 0, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if not joined:
            start = number
        if line.endswith("\\"):
            joined += line[:-1].rstrip() + " "
            continue
        joined += line
        if joined.strip():
            lines.append((start, joined.strip()))
        joined = ""
    if joined.strip():
        lines.append((start, joined.strip()))
    return lines
