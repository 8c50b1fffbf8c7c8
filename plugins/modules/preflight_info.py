#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_info
short_description: Tell whether a host can carry a deployment, before anything is changed on it
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Compares distribution, processor, memory, free disk space, GPUs and the port of the endpoint with what a deployment
    needs.
  - Every problem is reported at once, each with what was found, what is needed and what to change.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  distributions:
    description: The supported versions of each distribution, named as in C(ansible_facts['distribution']).
    type: dict
    required: true
  architectures:
    description: Supported processors as C(uname -m) names them.
    type: list
    elements: str
    default: [x86_64]
  device:
    description: What the stack computes on.
    type: str
    choices: [cpu, cuda]
    required: true
  gpus:
    description: Names of the GPUs that the host has, as M(nemotron.vllm.gpu_facts) finds them.
    type: list
    elements: str
    default: []
  allow_unused_gpu:
    description: Accept a CPU stack on a host that has an NVIDIA GPU.
    type: bool
    default: false
  model:
    description:
      - Folder on the host with the model's C(*.safetensors) files; their size counts towards the memory needed.
      - A folder that is not there counts nothing. M(nemotron.vllm.model_snapshot) judges the model itself.
    type: path
  extra_memory:
    description: Memory needed beside the weights, in bytes.
    type: int
    default: 0
  space:
    description: Room that is needed on disks.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: The folder that needs the room. It need not exist yet.
        type: path
        required: true
      bytes:
        description: How much, in bytes.
        type: int
        required: true
      model:
        description: Add the size of the model's files.
        type: bool
        default: false
      purpose:
        description: What the room is for, as the message says it.
        type: str
        required: true
      variable:
        description: The variable that moves this to another disk.
        type: str
        required: true
      unless_exists:
        description: A path whose presence shows that the room was used already.
        type: path
  root:
    description: Folder below which the service finds all that it needs. Its sandbox must not hide it.
    type: path
    required: true
  environment_variables:
    description:
      - Names of the environment variables that the user gives to the server. Those of vLLM that O(vllm_version) does
        not read are a problem, since vLLM ignores them.
    type: list
    elements: str
    default: []
  vllm_version:
    description: The version of vLLM. Required with O(environment_variables).
    type: str
  port:
    description: The TCP port of the endpoint.
    type: int
    required: true
  unit:
    description: The systemd unit that may listen on O(port).
    type: str
    required: true
  strict:
    description: Fail when there is a problem.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Look at the host
  nemotron.vllm.preflight_info:
    distributions:
      Debian: ["12", "13"]
    device: cpu
    model: /srv/models/smollm2-135m-instruct
    root: /opt/nemotron
    port: 8000
    unit: vllm-nemotron.service
"""

RETURN = r"""
ok:
  description: Whether the host can carry the deployment.
  returned: always
  type: bool
problems:
  description: Every reason against it.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: A stable name.
      type: str
      sample: port-in-use
    found:
      description: What was found on the host.
      type: str
    needed:
      description: What the deployment needs.
      type: str
    fix:
      description: What to change.
      type: str
model_bytes:
  description: Size of the model's files.
  returned: always
  type: int
"""

import glob
import os
import platform
import typing as t
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _preflight, _vllm_variables
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text
from ansible_collections.nemotron.vllm.plugins.module_utils._listeners import listeners


def model_bytes(folder: str | None) -> int:
    """Return the size of a model's weights, following the links that hub caches are made of."""
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, "*.safetensors"))) if folder else 0


def free_bytes(path: str) -> int:
    """Return the free bytes of the file system that holds a path or will hold it."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def foreign_listener(port: int, unit: str) -> str | None:
    """Return what listens on a port and does not belong to the unit, in words."""
    return next((found.describe() for found in listeners(port) if found.unit != unit), None)


def examine(parameters: dict[str, t.Any], port_owner: str | None) -> _preflight.Host:
    """Read everything that the rules ask about from the host."""
    distribution, major_version = _preflight.parse_os_release(read_text("/etc/os-release") or "")
    return _preflight.Host(
        distribution=distribution,
        major_version=major_version,
        architecture=platform.machine(),
        memory_bytes=_preflight.parse_mem_total(read_text("/proc/meminfo") or ""),
        free_bytes={space["path"]: free_bytes(space["path"]) for space in parameters["space"]},
        gpus=() if parameters["allow_unused_gpu"] else tuple(parameters["gpus"]),
        port_owner=port_owner,
    )


def need_of(parameters: dict[str, t.Any], weights: int) -> _preflight.Need:
    """Return what the deployment asks, with the model's size added where it counts."""
    space = [
        _preflight.Space(
            item["path"], item["bytes"] + (weights if item["model"] else 0), item["purpose"], item["variable"]
        )
        for item in parameters["space"]
        if not (item["unless_exists"] and os.path.exists(item["unless_exists"]))
    ]
    return _preflight.Need(
        distributions=parameters["distributions"],
        architectures=parameters["architectures"],
        memory_bytes=weights + parameters["extra_memory"],
        space=space,
        device=parameters["device"],
        port=parameters["port"],
        root=parameters["root"],
    )


def main() -> None:
    """Examine the host and report."""
    module = AnsibleModule(
        argument_spec={
            "distributions": {"type": "dict", "required": True},
            "architectures": {"type": "list", "elements": "str", "default": ["x86_64"]},
            "device": {"type": "str", "choices": ["cpu", "cuda"], "required": True},
            "gpus": {"type": "list", "elements": "str", "default": []},
            "allow_unused_gpu": {"type": "bool", "default": False},
            "model": {"type": "path"},
            "extra_memory": {"type": "int", "default": 0},
            "space": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "path": {"type": "path", "required": True},
                    "bytes": {"type": "int", "required": True},
                    "model": {"type": "bool", "default": False},
                    "purpose": {"type": "str", "required": True},
                    "variable": {"type": "str", "required": True},
                    "unless_exists": {"type": "path"},
                },
            },
            "root": {"type": "path", "required": True},
            "environment_variables": {"type": "list", "elements": "str", "default": []},
            "vllm_version": {"type": "str"},
            "port": {"type": "int", "required": True},
            "unit": {"type": "str", "required": True},
            "strict": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    weights = model_bytes(module.params["model"])
    host = examine(module.params, foreign_listener(module.params["port"], module.params["unit"]))
    problems = _preflight.problems(host, need_of(module.params, weights))
    if module.params["vllm_version"]:
        names, version = module.params["environment_variables"], module.params["vllm_version"]
        problems += _vllm_variables.problems(names, version, "systemd_unit_environment")
    result: dict[str, t.Any] = {
        "ok": not problems,
        "problems": [asdict(problem) for problem in problems],
        "model_bytes": weights,
    }
    if problems and module.params["strict"]:
        lines = "\n- ".join(problem.describe() for problem in problems)
        message = f"Nothing was changed, because this host cannot carry the deployment:\n- {lines}"
        module.fail_json(msg=message, **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
