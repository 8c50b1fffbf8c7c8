# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _model_snapshot
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._model_snapshot import Entry, Fault, Manifest

A, B = "a" * 64, "b" * 64
FILES = {"b/two": B, "a-one": A}


def test_the_revision_is_what_sha256sum_makes_of_its_own_output() -> None:
    listing = f"{A}  a-one\n{B}  b/two\n".encode()
    assert _model_snapshot.revision_of(FILES) == hashlib.sha256(listing).hexdigest()[:40]


def manifest(repairs: int = 0) -> Manifest:
    files = (Entry("a-one", 1, A), Entry("b/two", 2, B))
    return Manifest(_model_snapshot.revision_of(FILES), files, repairs)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert _model_snapshot.parse_manifest(manifest(3).render()) == manifest(3)


DAMAGED = [
    None,
    "",
    "{",
    "[]",
    "{}",
    manifest().render()[:60],
    manifest().render().replace(A, "c" * 64),
    manifest().render().replace("a-one", "other"),
    manifest().render().replace('"size": 1', '"size": "x"'),
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_manifest_that_does_not_agree_with_itself_is_none(text: str | None) -> None:
    assert _model_snapshot.parse_manifest(text) is None


def test_a_given_revision() -> None:
    _model_snapshot.check_revision(None)
    _model_snapshot.check_revision("0123456789abcdef0123456789abcdef01234567")


@pytest.mark.parametrize("given", ["", "main", "0123", "0123456789ABCDEF0123456789abcdef01234567", "../x"])
def test_a_revision_that_cannot_be_one(given: str) -> None:
    with pytest.raises(NemotronError) as caught:
        _model_snapshot.check_revision(given)
    assert str(caught.value) == (
        f"revision: found {given}; needed 40 hexadecimal digits in lower case, as this module returns them."
    )


FAULTS = [
    (FILES, []),
    ({}, [Fault("a-one", "is missing"), Fault("b/two", "is missing")]),
    ({"a-one": A, "b/two": A}, [Fault("b/two", "was altered")]),
    ({**FILES, "c": A}, [Fault("c", "does not belong to it")]),
    ({"c": A, "b/two": B}, [Fault("a-one", "is missing"), Fault("c", "does not belong to it")]),
]


@pytest.mark.parametrize(("found", "expected"), FAULTS)
def test_faults(found: dict[str, str], expected: list[Fault]) -> None:
    assert _model_snapshot.faults(manifest(), found) == expected


def test_a_fault_in_words() -> None:
    assert Fault("a-one", "is missing").describe() == "a-one is missing"


CONFIG = json.dumps({"architectures": ["LlamaForCausalLM"]})
INDEX = "model.safetensors.index.json"
SHARDS = json.dumps({"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors"}})
WHOLE = {"config.json": CONFIG, "tokenizer.json": "{}", "model.safetensors": "weights"}
SHARDED = {**WHOLE, INDEX: SHARDS, "model-1.safetensors": "w", "model-2.safetensors": "w"}


def judge(files: dict[str, str]) -> None:
    _model_snapshot.judge_files("/m", {name: len(text) for name, text in files.items()}, files.__getitem__)


def without(files: dict[str, str], *names: str) -> dict[str, str]:
    return {name: text for name, text in files.items() if name not in names}


@pytest.mark.parametrize(
    "files",
    [
        WHOLE,
        SHARDED,
        {**without(WHOLE, "tokenizer.json"), "tokenizer.model": "x"},
        {**without(WHOLE, "model.safetensors"), "pytorch_model.bin": "x"},
        {**WHOLE, "config.json": '{"model_type": "nemotron_h"}'},
        {**WHOLE, "README.md": ""},
    ],
)
def test_models(files: dict[str, str]) -> None:
    judge(files)


NO_MODELS: list[tuple[dict[str, str], str]] = [
    ({}, "there is no config.json; needed the config.json of a model."),
    (without(WHOLE, "config.json"), "there is no config.json; needed the config.json of a model."),
    ({**WHOLE, "config.json": ""}, "config.json is empty; needed the whole file."),
    ({**WHOLE, "chat_template.jinja": ""}, "chat_template.jinja is empty; needed the whole file."),
    ({**WHOLE, "x/y.safetensors": ""}, "x/y.safetensors is empty; needed the whole file."),
    (
        {**WHOLE, "config.json": CONFIG[:9]},
        "config.json is no JSON (Unterminated string starting at: line 1 column 2 (char 1)); needed the whole file.",
    ),
    ({**WHOLE, "config.json": "[]"}, "config.json holds no JSON object; needed the whole file."),
    (
        {**WHOLE, "config.json": "{}"},
        "config.json names no architectures and no model_type; needed the config.json of a model.",
    ),
    (
        without(WHOLE, "tokenizer.json"),
        "there is no tokenizer; needed one of tokenizer.json, tokenizer.model, tekken.json, vocab.json, "
        "tiktoken.model.",
    ),
    (without(WHOLE, "model.safetensors"), "there are no weights; needed *.safetensors files."),
    (
        without(SHARDED, "model-2.safetensors"),
        "model.safetensors.index.json names model-2.safetensors, which is missing; needed all files that it names.",
    ),
    (
        {**SHARDED, INDEX: "{}"},
        "model.safetensors.index.json has no weight_map; needed the index that came with the weights.",
    ),
]


@pytest.mark.parametrize(("files", "found"), NO_MODELS)
def test_no_models(files: dict[str, str], found: str) -> None:
    with pytest.raises(NemotronError) as caught:
        judge(files)
    assert str(caught.value) == f"/m holds no complete model: {found}"


def safetensors(size: int = 4, **tensors: Any) -> tuple[bytes, bytes, int]:
    """Return (the first 8 bytes, the header, the size of the file)."""
    header = json.dumps(tensors or {"__metadata__": {"format": "pt"}, "x": {"data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little"), header, 8 + len(header) + size


def examine(start: bytes, header: bytes, size: int) -> None:
    length = _model_snapshot.header_length("/m", "x.safetensors", size, start)
    _model_snapshot.check_header("/m", "x.safetensors", size, header[:length])


def test_a_whole_safetensors_file() -> None:
    examine(*safetensors())
    examine(*safetensors(size=0, __metadata__={}))


START, HEADER, SIZE = safetensors()
CUT = [
    (
        (START, HEADER, SIZE - 1),
        f"x.safetensors has {SIZE - 1} bytes and its header says {SIZE}; needed the whole file.",
    ),
    (
        (START, HEADER, SIZE + 1),
        f"x.safetensors has {SIZE + 1} bytes and its header says {SIZE}; needed the whole file.",
    ),
    ((START, HEADER, 20), "x.safetensors with its 20 bytes is no complete safetensors file; needed the whole file."),
    ((START[:5], b"", 5), "x.safetensors with its 5 bytes is no complete safetensors file; needed the whole file."),
    (
        (b"\xff" * 8, b"", 999),
        "x.safetensors with its 999 bytes is no complete safetensors file; needed the whole file.",
    ),
    ((START, b"\0" * len(HEADER), SIZE), "the header of x.safetensors cannot be read; needed the whole file."),
    (safetensors(x={"data_offsets": []}), "the header of x.safetensors cannot be read; needed the whole file."),
    (safetensors(x=[]), "the header of x.safetensors cannot be read; needed the whole file."),
    (
        (b"version https://git-lfs.github.com/spec/v1"[:8], b"", 130),
        "x.safetensors is a Git LFS pointer and not the file itself; needed git lfs pull to fetch it.",
    ),
]


@pytest.mark.parametrize(("parts", "found"), CUT)
def test_a_cut_safetensors_file(parts: tuple[bytes, bytes, int], found: str) -> None:
    with pytest.raises(NemotronError) as caught:
        examine(*parts)
    assert str(caught.value) == f"/m holds no complete model: {found}"


def test_a_listing() -> None:
    assert _model_snapshot.render_files(FILES) == f"{A}  a-one\n{B}  b/two\n"
