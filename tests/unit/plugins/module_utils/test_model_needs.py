# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._model_needs import need_of


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16", "0.11.2"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", "0.11.2"),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "0.17.1"),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", "0.22.0"),
        ("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16", "0.27.1"),
        ("/srv/models/nvidia-nemotron-nano-9b-v2", "0.10.1"),
        ("nvidia/Nemotron-Mini-4B-Instruct", None),
        ("/srv/models/smollm2-135m-instruct", None),
    ],
)
def test_families_are_known_by_name(model: str, minimum: str | None) -> None:
    need = need_of(model)
    assert (need and need.minimum_vllm) == minimum
