# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.nemotron.vllm.plugins.module_utils import _stack_table


def stack_table(hosts: dict[str, t.Any]) -> list[str]:
    """Return the lines of the table."""
    try:
        return _stack_table.lines(hosts)
    except (KeyError, TypeError) as error:
        raise AnsibleFilterError(
            f"stack_table: found {error!r}; needed for each host a dictionary with gpu of gpu_facts, "
            "violations of version_triple, and stack, reasons and conflicts of stack_info"
        ) from error


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filters by name."""
        return {"stack_table": stack_table}
