#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_report
short_description: Show the stacks of all hosts, and refuse a host that none fits
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Shows one table with a row for each host, and below it what is wrong with each, marked with C(!), and the
    reasons for the choice. The first host of O(stacks) shows it.
  - Fails for each host whose stack has conflicts, after the table was shown and written.
  - Runs on the controller and does not connect to the host.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  stacks:
    description:
      - What is known of each host, by its name, with what M(nemotron.vllm.gpu_facts) found as C(gpu), C(violations) as
        M(nemotron.vllm.version_triple) returns them, and C(stack), C(reasons) and C(conflicts) as
        M(nemotron.vllm.stack_info) does.
    type: dict
    required: true
  path:
    description:
      - File on the controller for O(stacks) as JSON. It is written in check mode too, since it is for the user
        who asked for it and no part of any host.
    type: path
"""

EXAMPLES = r"""
- name: Show the stacks
  nemotron.vllm.stack_report:
    stacks:
      "{{ inventory_hostname }}": "{{ choice | combine({'gpu': ansible_facts['nemotron_gpu'], 'violations': []}) }}"
    path: stacks.json
"""

RETURN = r"""
msg:
  description: The conflicts of the host in one text.
  returned: when there are any
  type: str
"""
