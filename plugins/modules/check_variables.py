#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: check_variables
short_description: Refuse misspelled and invalid role variables before anything is changed
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Compares the variables of a host with the argument specifications of several roles, all at once, so that the
    value for the last role is refused before the first role has changed anything.
  - A variable whose name begins like a role's and that no role reads is a spelling mistake. Ansible itself ignores it.
  - Runs on the controller and does not connect to the host.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  roles:
    description: The roles whose variables are checked.
    type: list
    elements: str
    required: true
  roles_path:
    description: The folder on the controller that holds the roles.
    type: path
    required: true
  given_later:
    description: Required variables that a playbook sets itself, from the results of earlier roles.
    type: list
    elements: str
    default: []
  shared:
    description: Variables with the prefix C(nemotron_) that belong to no single role.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Check the variables of all roles
  nemotron.vllm.check_variables:
    roles: [conda_env, vllm_build, nemotron_serve, systemd_unit]
    roles_path: "{{ role_path | dirname }}"
    given_later: [nemotron_serve_python]
    shared: [nemotron_root]
"""

RETURN = r"""
problems:
  description: One sentence for each variable that cannot be right.
  returned: always
  type: list
  elements: str
  sample:
    - nemotron_serve_modle is no variable of nemotron_serve. Did you mean nemotron_serve_model?
"""
