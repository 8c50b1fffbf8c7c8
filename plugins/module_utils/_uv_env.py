# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What is installed in a Python environment, what should be, and what uv says when it fails."""

from __future__ import annotations

import csv
import json
import re
import typing as t
from dataclasses import dataclass, field

from ._errors import NemotronError
from ._requirements_lock import normalise_name, normalise_version

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MADE_BY = "nemotron.vllm.uv_env"
_RECORD_FIELDS = 3
_DIST_INFO = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.dist-info")
_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")


@dataclass(frozen=True)
class Package:
    """A package found in an environment; C(fault) says what is wrong with its files."""

    name: str
    version: str
    fault: str | None = None


@dataclass(frozen=True)
class Marker:
    """The note in an environment that says who made it from what; C(complete) is written last."""

    complete: bool
    python: str
    lock_sha256: str
    wheels: Mapping[str, t.Any] = field(default_factory=dict)

    def render(self) -> str:
        """Return the note's text."""
        note = {
            "made_by": _MADE_BY,
            "complete": self.complete,
            "python": self.python,
            "lock_sha256": self.lock_sha256,
            "wheels": dict(self.wheels),
        }
        return json.dumps(note, indent=2, sort_keys=True) + "\n"


@dataclass(frozen=True)
class Wanted:
    """What an environment should be; wheels are part of the packages and listed by path with their SHA-256 too.

    In check mode the packages may be unknown: the lock is not on the host yet, and C(lock) is its path.
    """

    python: str
    packages: Mapping[str, str] | None
    lock: str
    wheels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What an environment is; without a marker there is none, without a Python version its interpreter does not run."""

    marker: Marker | None
    python_version: str | None
    packages: tuple[Package, ...]


@dataclass(frozen=True)
class Plan:
    """What has to be done, and why; without a reason nothing has to."""

    reasons: tuple[str, ...]
    recreate: bool
    reinstall: tuple[str, ...]


def parse_marker(text: str) -> Marker | None:
    """Return the note of an environment, or None when the text is not one of ours."""
    try:
        note = json.loads(text)
        if note["made_by"] != _MADE_BY:
            return None
        return Marker(bool(note["complete"]), str(note["python"]), str(note["lock_sha256"]), dict(note["wheels"]))
    except (ValueError, TypeError, KeyError):
        return None


def parse_dist_info(folder: str) -> tuple[str, str] | None:
    """Return (normalised name, version) of a folder like C(idna-3.7.dist-info), or None when it is no such folder."""
    match = _DIST_INFO.fullmatch(folder)
    return (normalise_name(match["name"]), match["version"]) if match else None


def parse_wheel(file_name: str) -> tuple[str, str]:
    """Return (normalised name, version) of a wheel from the name of its file."""
    match = _WHEEL.fullmatch(file_name)
    if match is None:
        raise NemotronError(
            f"wheels: found the file name {file_name}; needed NAME-VERSION-PYTHON-ABI-PLATFORM.whl as the build "
            "has named it. Give the wheel its own name back."
        )
    return normalise_name(match["name"]), match["version"]


def parse_record(text: str) -> list[tuple[str, int]]:
    """Return (path, size) of each file that an installed package says it has; bytecode comes and goes and is left out.

    The format: https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    return [
        (row[0], int(row[2]))
        for row in csv.reader(text.splitlines())
        if len(row) == _RECORD_FIELDS and row[2].isdigit() and not row[0].endswith(".pyc")
    ]


def plan(wanted: Wanted, found: Found) -> Plan:
    """Decide what has to be done to an environment."""
    marker = found.marker
    if marker is None:
        return Plan(("there is no environment yet",), recreate=True, reinstall=())
    reasons: list[str] = []
    recreate = True
    if found.python_version is None:
        reasons.append("its Python does not run" if marker.complete else "an earlier run did not get far")
    elif marker.python != wanted.python:
        reasons.append(
            f"its Python is {found.python_version} (asked for as {marker.python}) instead of {wanted.python}"
        )
    else:
        recreate = False
        if not marker.complete:
            reasons.append("an earlier run was interrupted")
    if recreate:
        return Plan(tuple(reasons), recreate=True, reinstall=())
    if wanted.packages is None:
        return Plan((*reasons, f"its lock {wanted.lock} is not on the host yet"), recreate=False, reinstall=())
    differences, reinstall = compare_packages(wanted.packages, found.packages)
    reasons += differences
    if marker.complete and marker.lock_sha256 != wanted.lock:
        reasons.append("its lock was another one")
    for path, sha256 in sorted(wanted.wheels.items()):
        # Two builds can have the same version, so that the packages do not tell them apart.
        if marker.wheels.get(path, {}).get("sha256") != sha256:
            reinstall.append(parse_wheel(path.rsplit("/", 1)[-1])[0])
            reasons += [f"{path} is not the build that was installed"] if marker.complete else []
    return Plan(tuple(reasons), recreate=False, reinstall=tuple(sorted(set(reinstall))))


def is_wanted(wanted: Wanted, name: str, version: str) -> bool:
    """Tell whether a package in this version is to be in the environment."""
    locked = (wanted.packages or {}).get(name)
    return locked is not None and normalise_version(locked) == normalise_version(version)


def compare_packages(wanted: Mapping[str, str], found: Sequence[Package]) -> tuple[list[str], list[str]]:
    """Return (what is off, in words; names of the packages whose files must be put back)."""
    reasons = []
    reinstall = []
    by_name: dict[str, list[Package]] = {}
    for package in found:
        by_name.setdefault(package.name, []).append(package)
    for name in sorted(set(wanted) | set(by_name)):
        installed = by_name.get(name, [])
        version = wanted.get(name)
        if version is None:
            reasons += [f"{name} {package.version} is there and not in the lock" for package in installed]
        elif not installed:
            reasons.append(f"{name} {version} is missing")
        elif len(installed) > 1:
            versions = " and ".join(sorted(package.version for package in installed))
            reasons.append(f"{name} is there as {versions} instead of {version}")
            reinstall.append(name)
        elif normalise_version(installed[0].version) != normalise_version(version):
            reasons.append(f"{name} is {installed[0].version} instead of {version}")
        elif installed[0].fault:
            reasons.append(f"{name} {version} is damaged: {installed[0].fault}")
            reinstall.append(name)
    return reasons, reinstall


def render_wanted(wanted: Wanted) -> str:
    """Return the text of an environment as it should be, for a diff."""
    if wanted.packages is None:
        return _render("complete", wanted.python, (), {}) + f"the packages of {wanted.lock}\n"
    packages = [Package(name, version) for name, version in wanted.packages.items()]
    return _render("complete", wanted.python, packages, {})


def render_found(wanted: Wanted, found: Found) -> str:
    """Return the text of an environment as it is, so that the difference to C(render_wanted) is what is off."""
    if found.marker is None:
        return ""
    state = "complete" if found.marker.complete else "unfinished"
    if found.marker.complete and found.marker.lock_sha256 != wanted.lock:
        state = "complete, from another lock"
    if found.python_version is None:
        state = "its Python does not run"
    return _render(state, found.marker.python, found.packages, wanted.packages or {})


def _render(state: str, python: str, packages: Sequence[Package], wanted: Mapping[str, str]) -> str:
    lines = [f"state: {state}", f"python: {python}"]
    for package in sorted(packages, key=lambda package: (package.name, package.version)):
        version = wanted.get(package.name, package.version)
        if normalise_version(version) != normalise_version(package.version):
            version = package.version
        lines.append(f"{package.name}=={version}" + (f"  # {package.fault}" if package.fault else ""))
    return "\n".join(lines) + "\n"


# What uv 0.13 prints, and what to do about it; the first that fits is the cause, {0} is what was matched.
_ADVICE: Mapping[str, str] = {
    r"Hash mismatch for `([^`]+)`": (
        "{0}: the file that the index or mirror offers is not the one in the lock, and was not installed. Ask another "
        "index (index_url, extra_index_urls, find_links), or make the lock again if the new file is meant."
    ),
    r"No space left on device": ("The disk is full. Free some space, or move prefix and cache_dir to a larger disk."),
    r"python-build-standalone": (
        "The host has no such Python, and uv could not download one. Install it on the host, or give the path of an "
        "interpreter as python."
    ),
    r"No interpreter found (?:for (Python \S+)|at path `([^`]+)`)": (
        "{0} was not found on the host. Install it, or give a version or the path of an interpreter as python."
    ),
    r"building from source is disabled": (
        "The lock has a package without a ready-made wheel. Build the wheel elsewhere and put it into a folder that "
        "find_links names."
    ),
    r"Because (\S+) has no wheels with a matching": (
        "{0} has no wheel for this machine and this Python. Use a lock that was made for them."
    ),
    r"there is no version of (\S+) and|Because (\S+) was not found in the package registry": (
        "No index or folder that was asked has {0}. Add the one that does to extra_index_urls or find_links."
    ),
    r"invalid peer certificate": (
        "The index's certificate is not trusted on this host. Install its authority's certificate in "
        "/usr/local/share/ca-certificates and run update-ca-certificates."
    ),
    r"Failed to read `--find-links` directory: (.+)": "The folder {0} of find_links is not there on the host.",
    r"Failed to (?:fetch|download):? `?(https?://[^\s`]+)": (
        "{0} could not be fetched. See that the host reaches it, or set index_url to a mirror that it reaches."
    ),
}


def explain(printed: str) -> str:
    """Return what to do about a failure of uv, or an empty text when its own words must do."""
    for pattern, advice in _ADVICE.items():
        match = re.search(pattern, printed)
        if match:
            return advice.format(*[group for group in match.groups() if group is not None])
    return ""
