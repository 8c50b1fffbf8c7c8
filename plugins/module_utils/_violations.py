# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What does not agree between driver, CUDA runtime and compiled extensions."""

from __future__ import annotations

from dataclasses import dataclass

DRIVER, RUNTIME, ABI = "driver", "runtime", "abi"


@dataclass(frozen=True)
class Violation:
    """Two parts of a host that do not fit each other."""

    code: str
    layer: str
    found: str
    needed: str
    fix: str
    variable: str = ""
    """The inventory variable to change; empty when it is nothing that the inventory says."""

    def describe(self) -> str:
        """Return the sentence for the user."""
        variable = f" Variable: {self.variable}." if self.variable else ""
        return f"{self.code} ({self.layer}): found {self.found}; needed {self.needed}. {self.fix}{variable}"
