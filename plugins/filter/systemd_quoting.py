# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.nemotron.vllm.plugins.module_utils import _systemd_quoting
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError


def systemd_command_line(argv: list[t.Any]) -> str:
    """Return the value of ExecStart= for an argv list."""
    try:
        return _systemd_quoting.command_line(str(word) for word in argv)
    except NemotronError as error:
        raise AnsibleFilterError(f"systemd_command_line: {error}") from error


def systemd_environment(environment: dict[str, t.Any]) -> list[str]:
    """Return the values of Environment= for a dictionary."""
    try:
        return _systemd_quoting.environment_lines(environment)
    except NemotronError as error:
        raise AnsibleFilterError(f"systemd_environment: {error}") from error


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filters by name."""
        return {"systemd_command_line": systemd_command_line, "systemd_environment": systemd_environment}
