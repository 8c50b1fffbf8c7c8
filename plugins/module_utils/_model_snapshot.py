# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What a folder with a model must hold, how its content is named, and what is wrong with a copy of it."""

from __future__ import annotations

import hashlib
import json
import re
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping

MANIFEST = "nemotron-manifest.json"
# What safetensors allows for the header that precedes the weights: https://huggingface.co/docs/safetensors
MAX_HEADER_BYTES = 100_000_000
LENGTH_BYTES = 8
_REVISION_DIGITS = 40
_INDEX = "model.safetensors.index.json"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
_NEVER_EMPTY = (".json", ".jinja", ".model", ".safetensors", ".bin")
_LFS_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Entry:
    """A file of a snapshot as its manifest has it."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a complete snapshot holds; C(repairs) counts how often files of it had to be put back."""

    revision: str
    files: tuple[Entry, ...]
    repairs: int = 0

    def render(self) -> str:
        """Return the text of the manifest's file."""
        files = [{"path": entry.path, "size": entry.size, "sha256": entry.sha256} for entry in self.files]
        content = {"revision": self.revision, "repairs": self.repairs, "files": files}
        return json.dumps(content, indent=2) + "\n"


@dataclass(frozen=True)
class Fault:
    """A file of a snapshot that is not what the manifest says."""

    path: str
    kind: str

    def describe(self) -> str:
        """Return the fault in words."""
        return f"{self.path} {self.kind}"


MISSING = "is missing"
ALTERED = "was altered"
EXTRA = "does not belong to it"


def parse_manifest(text: str | None) -> Manifest | None:
    """Return the manifest, or None when there is none that can be used."""
    try:
        content = json.loads(text or "")
        files = tuple(Entry(str(row["path"]), int(row["size"]), str(row["sha256"])) for row in content["files"])
        manifest = Manifest(str(content["revision"]), files, int(content["repairs"]))
    except (KeyError, TypeError, ValueError):
        return None
    # Changed by hand, it would vouch for whatever lies there.
    return manifest if manifest.revision == revision_of({entry.path: entry.sha256 for entry in files}) else None


def revision_of(sha256: Mapping[str, str]) -> str:
    """Return the name of a folder's content, made of the hashes of its files by path.

    It is what C(sha256sum) makes of its own output for all files in the order of their names.
    """
    lines = "".join(f"{sha256[path]}  {path}\n" for path in sorted(sha256))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()[:_REVISION_DIGITS]


def check_revision(given: str | None) -> None:
    """Refuse a revision that cannot be one, before anything is read."""
    if given is not None and not re.fullmatch(rf"[0-9a-f]{{{_REVISION_DIGITS}}}", given):
        raise NemotronError(
            f"revision: found {given}; needed {_REVISION_DIGITS} hexadecimal digits in lower case, as this module "
            "returns them."
        )


def faults(manifest: Manifest, found: Mapping[str, str]) -> list[Fault]:
    """Compare the hashes of the files that are there with a manifest."""
    wanted = {entry.path: entry.sha256 for entry in manifest.files}
    result = []
    for path in sorted({*wanted, *found}):
        if path not in found:
            result.append(Fault(path, MISSING))
        elif path not in wanted:
            result.append(Fault(path, EXTRA))
        elif wanted[path] != found[path]:
            result.append(Fault(path, ALTERED))
    return result


def judge_files(folder: str, sizes: Mapping[str, int], read: t.Callable[[str], str]) -> None:
    """Refuse a folder that no server could load as a model; C(read) returns the text of one of its files."""
    for path, size in sorted(sizes.items()):
        if size == 0 and path.endswith(_NEVER_EMPTY):
            raise _no_model(folder, f"{path} is empty", "the whole file")
    config = _parse_object(folder, "config.json", sizes, read)
    if not config.get("architectures") and not config.get("model_type"):
        raise _no_model(folder, "config.json names no architectures and no model_type", "the config.json of a model")
    if not any(name in sizes for name in _TOKENIZERS):
        raise _no_model(folder, "there is no tokenizer", f"one of {', '.join(_TOKENIZERS)}")
    if _INDEX in sizes:
        shards = _parse_object(folder, _INDEX, sizes, read).get("weight_map")
        if not isinstance(shards, dict):
            raise _no_model(folder, f"{_INDEX} has no weight_map", "the index that came with the weights")
        for shard in sorted(set(shards.values())):
            if shard not in sizes:
                raise _no_model(folder, f"{_INDEX} names {shard}, which is missing", "all files that it names")
    elif not any(path.endswith((".safetensors", ".bin")) for path in sizes):
        raise _no_model(folder, "there are no weights", "*.safetensors files")


def _parse_object(folder: str, name: str, sizes: Mapping[str, int], read: t.Callable[[str], str]) -> dict[str, t.Any]:
    if name not in sizes:
        raise _no_model(folder, f"there is no {name}", f"the {name} of a model")
    try:
        content = json.loads(read(name))
    except ValueError as error:
        raise _no_model(folder, f"{name} is no JSON ({error})", "the whole file") from error
    if not isinstance(content, dict):
        raise _no_model(folder, f"{name} holds no JSON object", "the whole file")
    return content


def header_length(folder: str, path: str, size: int, start: bytes) -> int:
    """Return how long the header of a safetensors file says it is, from the first bytes of the file."""
    if start.startswith(_LFS_POINTER[:LENGTH_BYTES]):
        raise _no_model(folder, f"{path} is a Git LFS pointer and not the file itself", "git lfs pull to fetch it")
    length = int.from_bytes(start[:LENGTH_BYTES], "little") if len(start) >= LENGTH_BYTES else MAX_HEADER_BYTES
    if length >= MAX_HEADER_BYTES or LENGTH_BYTES + length > size:
        raise _no_model(folder, f"{path} with its {size} bytes is no complete safetensors file", "the whole file")
    return length


def check_header(folder: str, path: str, size: int, header: bytes) -> None:
    """Refuse a safetensors file that is shorter or longer than its own header says."""
    try:
        tensors = json.loads(header)
        ends = [tensor["data_offsets"][1] for name, tensor in tensors.items() if name != "__metadata__"]
        expected = LENGTH_BYTES + len(header) + max(ends, default=0)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _no_model(folder, f"the header of {path} cannot be read", "the whole file") from error
    if expected != size:
        raise _no_model(folder, f"{path} has {size} bytes and its header says {expected}", "the whole file")


def _no_model(folder: str, found: str, needed: str) -> NemotronError:
    return NemotronError(f"{folder} holds no complete model: {found}; needed {needed}.")


def render_files(sha256: Mapping[str, str]) -> str:
    """Return a listing of files for a diff."""
    return "".join(f"{sha256[path]}  {path}\n" for path in sorted(sha256))
