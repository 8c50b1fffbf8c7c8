# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What a vLLM server's log says: how far a start has come, and why a server died."""

from __future__ import annotations

import re

# The first words of a phase, in the order of a start. Worded as in vLLM 0.24 to 0.33; what a version does not print is
# passed over.
_PHASES = (
    ("starting Python and importing vLLM", ""),
    ("reading the model's configuration", "non-default args:"),
    ("starting the engine", "Initializing a V1 LLM engine"),
    ("loading the weights", "Starting to load model"),
    ("preparing kernels and measuring memory", "Model loading took"),
    ("preparing kernels and measuring memory", "Loading weights took"),
    ("compiling", "torch.compile takes"),
    ("capturing CUDA graphs", "Capturing CUDA graphs"),
    ("allocating the KV cache", "KV cache size:"),
    ("opening the port", "Starting vLLM server on"),
    ("opening the port", "Started server process"),
    ("ready", "Application startup complete"),
)

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
# "(EngineCore pid=7) ERROR 12-01 11:18:56 [core.py:1512] ", each part of which may be missing.
_PREFIX = re.compile(
    r"^(?:\([^()]{1,60}\)\s+)?"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+\d\d-\d\d \d\d:\d\d:\d\d\s+)?"
    r"(?:\[[^\[\]]{1,80}\]\s)?"
)
_EXCEPTION = re.compile(r"^(?:[A-Za-z_][\w.]{0,120})?(?:Error|Exception|Exit|Interrupt)(?:_\w{1,60})?: \S")
_USAGE = re.compile(r"^\S{1,60}: error: \S")
# pydantic puts the sentence of a failed validation on a line of its own.
_VALIDATION = re.compile(r"^\s*Value error, (\S.*)")
_VALIDATION_TAIL = re.compile(r"\s*\[type=value_error.*$")
_SYSTEMD = re.compile(
    r"^\S{1,200}: (?:Failed at step .*|Failed to .*|A process of this unit has been killed by the OOM killer\.?"
    r"|Main process exited, code=(?:killed|dumped), .*|Start request repeated too quickly\.?)$"
)
# An engine that was killed says nothing itself; the server that it served does.
_ENGINE_GONE = re.compile(r"\bengine core exited unexpectedly|\bEngine core proc \S{1,60} died unexpectedly")
# Exceptions that only report that something else went wrong.
_WRAPPERS = (
    "Engine core initialization failed",
    "EngineCore encountered an issue",
    "EngineDeadError",
    "Failed core proc(s)",
    "SystemExit",
    "Worker failed with error",
    "please check the stack trace above",
    "validation error for",
    "validation errors for",
    "WorkerProc initialization failed",
)


def plain_lines(text: str) -> list[str]:
    """Return the lines of a log without colours and without vLLM's own prefix (process, level, time, source file)."""
    return [_PREFIX.sub("", _ANSI.sub("", line.rstrip()), count=1) for line in re.split(r"\r\n|\r|\n", text)]


def phase_of(text: str) -> str:
    """Return how far a start has come, in words; C(ready) when the server takes requests."""
    for phase, words in reversed(_PHASES):
        if words in text:
            return phase
    return _PHASES[0][0]


def root_cause(text: str) -> str | None:
    """Return the line that names why a server died, or None when the log does not tell.

    The last exception counts that does not merely report another one; without any, what systemd says of the process,
    and at last that the engine is gone.
    """
    exceptions, systemd, gone = [], [], []
    for line in plain_lines(text):
        validation = _VALIDATION.match(line)
        if validation:
            exceptions.append(_VALIDATION_TAIL.sub("", validation.group(1)))
        elif _EXCEPTION.match(line) or _USAGE.match(line):
            if not any(wrapper in line for wrapper in _WRAPPERS):
                exceptions.append(line)
        elif _SYSTEMD.match(line):
            systemd.append(line)
        elif _ENGINE_GONE.search(line):
            gone.append(line)
    found = exceptions or systemd or gone
    return found[-1] if found else None


def tail(text: str, lines: int) -> list[str]:
    """Return the last lines of a log that hold anything."""
    return [line for line in re.split(r"\r\n|\r|\n", _ANSI.sub("", text)) if line.strip()][-lines:]
