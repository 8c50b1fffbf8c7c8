# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import typing as t

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible_collections.nemotron.vllm.plugins.module_utils._variables import unknown_variables


class ActionModule(ActionBase):
    """Checks the variables of all roles on the controller; see the module documentation."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return failed with one message that holds every problem found."""
        result = super().run(tmp, task_vars)
        variables = task_vars or {}
        _validation, arguments = self.validate_argument_spec(
            {
                "roles": {"type": "list", "elements": "str", "required": True},
                "roles_path": {"type": "path", "required": True},
                "given_later": {"type": "list", "elements": "str", "default": []},
                "shared": {"type": "list", "elements": "str", "default": []},
            }
        )
        specs = {role: self._options_of(arguments["roles_path"], role) for role in arguments["roles"]}
        problems = [unknown.describe() for unknown in unknown_variables(variables, specs, arguments["shared"])]
        for role, options in specs.items():
            problems += self._invalid(role, options, variables, arguments["given_later"])
        result.update(changed=False, problems=problems)
        if problems:
            result.update(
                failed=True,
                msg="Nothing was changed, because these variables cannot be right:\n- "
                + "\n- ".join(problems)
                + "\nEach role's README lists its variables and their values.",
            )
        return result

    def _options_of(self, roles_path: str, role: str) -> dict[str, t.Any]:
        path = os.path.join(roles_path, role, "meta", "argument_specs.yml")
        try:
            return self._loader.load_from_file(path)["argument_specs"]["main"]["options"]
        except (AnsibleError, KeyError, TypeError) as error:
            raise AnsibleError(f"The role {role} has no readable argument specification at {path}: {error}") from error

    def _invalid(
        self, role: str, options: dict[str, t.Any], variables: dict[str, t.Any], given_later: list[str]
    ) -> list[str]:
        spec = {name: option for name, option in options.items() if name not in given_later}
        given = {name: self._templar.template(variables[name]) for name in spec if name in variables}
        outcome = ArgumentSpecValidator(spec).validate(given)
        return [f"{role}: {message}" for message in outcome.error_messages]
