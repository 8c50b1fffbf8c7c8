# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which vLLM each model needs at least, for the models that are known by name."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class ModelNeed:
    """The oldest vLLM that serves a family of models."""

    family: str
    pattern: str
    minimum_vllm: str


# https://github.com/vllm-project/recipes (models/nvidia/*.yaml). The first row that matches counts.
MODEL_NEEDS = (
    ModelNeed("Nemotron 3 Super", r"Nemotron-3-Super-120B", "0.17.1"),
    ModelNeed("Nemotron 3 Ultra", r"Nemotron-3-Ultra-550B", "0.22.0"),
    ModelNeed("Nemotron 3.5 Lightning", r"Nemotron-3\.5-Lightning", "0.27.1"),
    ModelNeed("Nemotron 3 Nano", r"Nemotron-3-Nano-(4B|30B)", "0.11.2"),
    ModelNeed("Nemotron Nano v2", r"Nemotron-Nano-\d+B-v2", "0.10.1"),
)


def need_of(model: str) -> ModelNeed | None:
    """Return the row of a model, given as repository id or path; None for one that is not in the table."""
    return next((need for need in MODEL_NEEDS if re.search(need.pattern, model, re.IGNORECASE)), None)
