# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The one error type of the collection."""

from __future__ import annotations


class NemotronError(Exception):
    """A problem that the user can mend; its text is what the user reads.

    The text names the thing, what was found, what was needed, and the variable or command that mends it.
    Pure functions raise it; a module turns it into C(fail_json) in its main function and nowhere else.
    """
