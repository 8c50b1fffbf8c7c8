#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cgroup_info
short_description: Tell the cgroup hierarchy of a host, and how it comes to another one
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Tells whether a host runs with cgroup v2 (unified), v1 (legacy) or both (hybrid), and the kernel parameters by which
    its systemd can be made to run with another one.
  - systemd before 256 goes back to v1 when it is asked to, 256 and 257 only with a parameter that insists, and 258 and
    later cannot. Kernels from 6.11 on may lack the memory controller for v1; limits are accepted then and not enforced.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
  platform:
    support: full
    platforms: linux
options:
  state:
    description: The hierarchy that is wished for. V(default) wishes for none and is always reached.
    type: str
    choices: [default, legacy, hybrid, unified]
    default: default
  memory:
    description: Whether the memory controller is asked for on the command line; some kernels leave it out with v1.
    type: bool
    default: true
  swap_accounting:
    description: Whether v1 is to account for swap as well.
    type: bool
    default: true
  accept_missing_controllers:
    description: Whether v1 is good enough on a kernel without its memory or cpuset controller.
    type: bool
    default: false
  booted:
    description: Whether the host has been booted for O(state), so that anything else is an error.
    type: bool
    default: false
  strict:
    description: Fail when there is a conflict.
    type: bool
    default: true
  root:
    description: Folder with a captured host instead of V(/), the live one.
    type: path
    default: /
seealso:
  - module: nemotron.vllm.kernel_cmdline
"""

EXAMPLES = r"""
- name: Tell the hierarchy
  nemotron.vllm.cgroup_info:
  register: cgroup

- name: Refuse a host that cannot have cgroup v1
  nemotron.vllm.cgroup_info:
    state: legacy
  register: cgroup

- name: Boot with it
  nemotron.vllm.kernel_cmdline:
    present: "{{ cgroup.present }}"
    absent: "{{ cgroup.absent }}"
"""

RETURN = r"""
mode:
  description: The hierarchy of the running system, V(unified), V(hybrid) or V(legacy); null if it is not to be told.
  returned: always
  type: str
  sample: unified
systemd:
  description: The version of systemd; null if there is none.
  returned: always
  type: int
  sample: 252
v1_controllers:
  description: Controllers that are mounted with v1.
  returned: always
  type: list
  elements: str
missing_controllers:
  description: Of memory and cpuset, those that the running kernel was built without for v1.
  returned: always
  type: list
  elements: str
reached:
  description: Whether the running system has what O(state) wishes for.
  returned: always
  type: bool
present:
  description: Kernel parameters to boot with, for M(nemotron.vllm.kernel_cmdline).
  returned: always
  type: list
  elements: str
  sample: ["systemd.unified_cgroup_hierarchy=0", "systemd.legacy_systemd_cgroup_controller=1"]
absent:
  description: Kernel parameters to boot without.
  returned: always
  type: list
  elements: str
conflicts:
  description: Why O(state) cannot be had.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: A stable name.
      type: str
      sample: cgroup-v1-impossible
    found:
      description: What the host has.
      type: str
    needed:
      description: What it would need.
      type: str
    fix:
      description: The way out.
      type: str
msg:
  description: The conflicts in one text.
  returned: when there is a conflict
  type: str
"""

import os
import typing as t
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _cgroup
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host


def main() -> None:
    """Look, plan and report."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["default", "legacy", "hybrid", "unified"], "default": "default"},
            "memory": {"type": "bool", "default": True},
            "swap_accounting": {"type": "bool", "default": True},
            "accept_missing_controllers": {"type": "bool", "default": False},
            "booted": {"type": "bool", "default": False},
            "strict": {"type": "bool", "default": True},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    parameters = module.params
    if not os.path.isdir(parameters["root"]):
        module.fail_json(msg=f"root: found no folder {parameters['root']}; needed one with a captured host, or /.")
    host = _cgroup.gather(Host(parameters["root"]))
    plan = _cgroup.plan(
        parameters["state"],
        host,
        memory=parameters["memory"],
        swap=parameters["swap_accounting"],
        without_controllers=parameters["accept_missing_controllers"],
    )
    problems = list(plan.conflicts)
    if parameters["booted"]:
        problems += _cgroup.shortcomings(parameters["state"], host, swap=parameters["swap_accounting"])
    result: dict[str, t.Any] = {
        "mode": host.mode,
        "systemd": host.systemd,
        "v1_controllers": list(host.v1_controllers),
        "missing_controllers": list(host.missing_controllers),
        "reached": plan.reached,
        "present": list(plan.present),
        "absent": list(plan.absent),
        "conflicts": [asdict(problem) for problem in problems],
    }
    if problems:
        result["msg"] = "\n".join(problem.describe() for problem in problems)
        if parameters["strict"]:
            module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
