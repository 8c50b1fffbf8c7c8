# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _startup_log

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "vllm-logs"


def log(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8", errors="replace")


# Recorded from real servers, with the beginning of the line that names the cause.
ROOT_CAUSES = [
    ("0.24.0-cuda-unknown_arch", "Model architectures ['NemotronFourForCausalLM'] are not supported for now."),
    ("0.24.0-cuda-tp2_on_1gpu", "World size (2) is larger than the number of available GPUs (1) in this node."),
    ("0.24.0-cuda-not_enough_free", "ValueError: Free memory on device cuda:0 (11.49/139.8 GiB) on startup is less"),
    ("0.24.0-cuda-unknown_flag", "vllm: error: unrecognized arguments: --disable-log-requests"),
    ("0.24.0-cuda-bad_tool_parser", "KeyError: 'invalid tool call parser: nemotron_json"),
    ("0.24.0-cuda-len_too_large_for_kv", "ValueError: No available memory for the cache blocks."),
    ("0.32.0-cpu-slot-mapping-crash", "RuntimeError: Boolean value of Tensor with more than one value is ambiguous"),
]


@pytest.mark.parametrize(("name", "beginning"), ROOT_CAUSES)
def test_root_cause_of_recorded_failures(name: str, beginning: str) -> None:
    assert (_startup_log.root_cause(log(name)) or "").startswith(beginning)


@pytest.mark.parametrize("name", ["0.24.0-cuda-start", "0.32.0-cpu-smollm2-start"])
def test_a_good_start_has_no_cause(name: str) -> None:
    assert _startup_log.root_cause(log(name)) is None
    assert _startup_log.phase_of(log(name)) == "ready"


SYSTEMD = [
    (
        "vllm-nemotron.service: Failed to execute /opt/x/bin/python: No such file or directory\n"
        "vllm-nemotron.service: Failed at step EXEC spawning /opt/x/bin/python: No such file or directory\n",
        "vllm-nemotron.service: Failed at step EXEC spawning /opt/x/bin/python: No such file or directory",
    ),
    (
        "INFO 12-01 11:18:56 [core.py:133] Initializing\n"
        "vllm-nemotron.service: A process of this unit has been killed by the OOM killer.\n"
        "vllm-nemotron.service: Failed with result 'oom-kill'.\n",
        "vllm-nemotron.service: A process of this unit has been killed by the OOM killer.",
    ),
    (
        "vllm-nemotron.service: Main process exited, code=killed, status=9/KILL\n",
        "vllm-nemotron.service: Main process exited, code=killed, status=9/KILL",
    ),
    # What the server itself said tells more than that systemd killed it.
    ("ValueError: broken\nx.service: Main process exited, code=killed, status=9/KILL\n", "ValueError: broken"),
]


@pytest.mark.parametrize(("text", "expected"), SYSTEMD)
def test_root_cause_from_systemd(text: str, expected: str) -> None:
    assert _startup_log.root_cause(text) == expected


# Recorded: the end of the log of a server whose engine was killed (vLLM 0.24).
ENGINE_KILLED = """\
(APIServer pid=982) WARNING 12-01 05:07:18 [core_client.py:702] [shutdown] MPClient: engine core exited unexpectedly; starting cleanup
(APIServer pid=982) ERROR 12-01 05:07:18 [async_llm.py:704] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.
(APIServer pid=982) INFO:     Application shutdown complete.
"""  # noqa: E501  (as recorded)
OUT_OF_MEMORY = "vllm-nemotron.service: A process of this unit has been killed by the OOM killer."


def test_an_engine_that_was_killed() -> None:
    cause = _startup_log.root_cause(ENGINE_KILLED)
    assert cause == "[shutdown] MPClient: engine core exited unexpectedly; starting cleanup"
    assert _startup_log.root_cause(f"{OUT_OF_MEMORY}\n{ENGINE_KILLED}") == OUT_OF_MEMORY
    assert _startup_log.root_cause(f"ValueError: broken\n{ENGINE_KILLED}") == "ValueError: broken"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all is well\n",
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for VllmConfig\n",
        "an Error: in the middle of a sentence\n",
    ],
)
def test_no_root_cause(text: str) -> None:
    assert _startup_log.root_cause(text) is None


PREFIXED = [
    "(EngineCore pid=7) ERROR 12-01 11:18:56 [core.py:1512] ValueError: too large",
    "\x1b[1;36m(EngineCore pid=7)\x1b[0;0m ERROR 12-01 11:18:56 [core.py:1512] ValueError: too large",
    "ERROR 12-01 11:18:56 [core.py:1512] ValueError: too large",
    "(Worker pid=9) ValueError: too large",
    "ValueError: too large",
]


@pytest.mark.parametrize("line", PREFIXED)
def test_prefixes_are_passed_over(line: str) -> None:
    assert _startup_log.root_cause(line) == "ValueError: too large"


@pytest.mark.parametrize(
    ("words", "phase"),
    [
        ("", "starting Python and importing vLLM"),
        ("INFO [utils.py:1] non-default args: {}", "reading the model's configuration"),
        ("Starting to load model /x...", "loading the weights"),
        ("Model loading took 7.47 GiB", "preparing kernels and measuring memory"),
        ("CPU KV cache size: 46,592 tokens", "allocating the KV cache"),
    ],
)
def test_phase_of(words: str, phase: str) -> None:
    assert _startup_log.phase_of(words) == phase


def test_tail_leaves_empty_lines_and_colours_out() -> None:
    assert _startup_log.tail("a\n\n\x1b[31mb\x1b[0m\r\nc\n", 2) == ["b", "c"]
