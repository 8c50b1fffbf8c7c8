# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of stacks, as a person sees it."""

from __future__ import annotations

from typing import Any

from ansible_collections.nemotron.vllm.plugins.module_utils._stack_table import lines

CPU: dict[str, Any] = {
    "gpu": {"gpus": [], "driver": {"loaded": None}, "problems": []},
    "stack": {"driver": None, "cuda": None, "torch": "2.13.0", "vllm": "0.32.0", "python": "3.11"},
    "reasons": ["device cpu: the host has no NVIDIA GPU."],
    "conflicts": [],
    "violations": [],
}
GPU: dict[str, Any] = {
    "gpu": {"gpus": [{"name": "NVIDIA H200"}] * 8, "driver": {"loaded": "580.159.04"}, "problems": []},
    "stack": {
        "driver": {"action": "keep", "branch": "580", "flavour": "open"},
        "cuda": "13.0",
        "torch": "2.14.0",
        "vllm": "0.33.0",
        "python": "3.12",
    },
    "reasons": ["driver 580.159.04: kept, as it works and runs CUDA 13.0 (needs 580.65.06 or newer)."],
    "conflicts": [],
    "violations": [],
}
CONFLICT: dict[str, Any] = {
    "gpu": {
        "gpus": [{"name": "NVIDIA A100"}],
        "driver": {"loaded": "535.129.03"},
        "problems": ["nvidia-smi: given up after 10 seconds."],
    },
    "stack": None,
    "reasons": ["device cuda: the host has NVIDIA A100."],
    "conflicts": [
        {
            "code": "cuda-runtime-newer-than-driver",
            "found": "driver 535.129.03, which runs CUDA 12.2, and nvidia_driver_manage false",
            "needed": "driver 580.65.06 or newer for CUDA 13.0 of vLLM 0.33.0",
            "fix": "Set nvidia_driver_manage to true.",
        }
    ],
    "violations": [
        {
            "code": "nvidia-uvm-not-loaded",
            "found": "no nvidia_uvm",
            "needed": "it",
            "fix": "Run modprobe nvidia_uvm.",
        }
    ],
}


def test_the_table() -> None:
    assert lines({"cpu-1": CPU, "h200": GPU, "old": CONFLICT}) == [
        "HOST   GPUS             DRIVER NOW  DRIVER         CUDA  TORCH   VLLM    PYTHON  FITS",
        "cpu-1  none             none        -              -     2.13.0  0.32.0  3.11    yes",
        "h200   8 x NVIDIA H200  580.159.04  keep 580 open  13.0  2.14.0  0.33.0  3.12    yes",
        "old    1 x NVIDIA A100  535.129.03  ?              ?     ?       ?       ?       NO",
        "",
        "cpu-1:",
        "    device cpu: the host has no NVIDIA GPU.",
        "",
        "h200:",
        "    driver 580.159.04: kept, as it works and runs CUDA 13.0 (needs 580.65.06 or newer).",
        "",
        "old:",
        "  ! nvidia-smi: given up after 10 seconds.",
        "  ! nvidia-uvm-not-loaded: found no nvidia_uvm; needed it. Run modprobe nvidia_uvm.",
        "  ! cuda-runtime-newer-than-driver: found driver 535.129.03, which runs CUDA 12.2, and nvidia_driver_manage",
        "    false; needed driver 580.65.06 or newer for CUDA 13.0 of vLLM 0.33.0. Set nvidia_driver_manage to true.",
        "    device cuda: the host has NVIDIA A100.",
    ]
