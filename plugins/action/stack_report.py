# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.nemotron.vllm.plugins.module_utils import _stack_table
from ansible_collections.nemotron.vllm.plugins.module_utils._problem import Problem
from ansible_collections.nemotron.vllm.plugins.module_utils._stack import refusal

display = Display()


class ActionModule(ActionBase):
    """Shows the stacks of all hosts and refuses the host that none fits; see the module documentation."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Show the table from the first of the hosts, and return failed for a host with conflicts."""
        result = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(
            {"stacks": {"type": "dict", "required": True}, "path": {"type": "path"}}
        )
        stacks, path = arguments["stacks"], arguments["path"]
        host = (task_vars or {}).get("inventory_hostname")
        lines = _table(stacks)
        result["changed"] = False
        if host == next(iter(stacks), None):
            display.display("\n".join(lines))
            if path:
                _write(path, stacks)
        conflicts = [Problem(**conflict) for conflict in stacks.get(host, {}).get("conflicts", [])]
        if conflicts:
            result.update(failed=True, msg=refusal(conflicts))
        return result


def _table(stacks: dict[str, t.Any]) -> list[str]:
    try:
        return _stack_table.lines(stacks)
    except (KeyError, TypeError) as error:
        raise AnsibleActionFail(
            f"stacks: found {error!r}; needed for each host a dictionary with gpu of gpu_facts, violations of "
            "version_triple, and stack, reasons and conflicts of stack_info."
        ) from None


def _write(path: str, stacks: dict[str, t.Any]) -> None:
    text = json.dumps(stacks, indent=4, sort_keys=True) + "\n"
    try:
        # Beside it first, so that a reader never sees half of it.
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.part", path)
    except OSError as error:
        raise AnsibleActionFail(f"path: cannot write {path}: {error.strerror}.") from None
