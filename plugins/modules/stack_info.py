#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_info
short_description: Choose a driver, CUDA, torch, vLLM and Python that fit a host and each other
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Takes what is wished for, the facts of the host's GPUs and of its operating system, and returns one consistent stack
    with a reason for each choice, or the conflicts because of which there is none, each with its ways out.
  - A driver that works and runs the chosen CUDA is kept. Otherwise the newest long-term branch that runs every GPU of
    the host is chosen. If the driver must be kept, the newest vLLM that it runs is chosen.
  - Reads nothing from the host that it runs on, so that it can be run on the controller for every host.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: The same arguments give the same stack.
options:
  vllm_version:
    description: A version of vLLM, or V(auto) for the newest that fits.
    type: str
    default: auto
  model:
    description:
      - The model to serve, as a repository id or a path. It decides about the oldest vLLM for the families of Nemotron
        that are known by name.
    type: str
    default: ""
  device:
    description: What to compute on; V(auto) means the GPU of a host that has one.
    type: str
    choices: [auto, cpu, cuda]
    default: auto
  driver_manage:
    description: Whether the driver may be installed and replaced. If not, the one that is there decides about CUDA.
    type: bool
    default: true
  driver_branch:
    description: A driver branch such as V(580). Without it, the choice is left to this module.
    type: int
  driver_flavour:
    description: The kernel modules of the driver.
    type: str
    choices: [auto, open, proprietary]
    default: auto
  python:
    description: The Python that the lock was made for, as V(3.12); V(auto) chooses one that vLLM runs with.
    type: str
    default: auto
  build:
    description: vLLM is built from source, which needs a compiler and, for a GPU, the CUDA toolkit.
    type: bool
    default: false
  jit:
    description: Kernels are compiled at run time, which needs the CUDA toolkit.
    type: bool
    default: false
  gpu:
    description: C(ansible_facts['nemotron_gpu']) as M(nemotron.vllm.gpu_facts) returns it.
    type: dict
    required: true
  os:
    description: The operating system of the host.
    type: dict
    required: true
    suboptions:
      distribution:
        description: C(ansible_facts['distribution']).
        type: str
        required: true
      version:
        description: C(ansible_facts['distribution_version']).
        type: str
        required: true
      architecture:
        description: C(ansible_facts['architecture']).
        type: str
        required: true
  strict:
    description: Fail when there is a conflict.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Look at the GPUs
  nemotron.vllm.gpu_facts:

- name: Choose a stack on the controller
  nemotron.vllm.stack_info:
    model: nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16
    gpu: "{{ ansible_facts['nemotron_gpu'] }}"
    os:
      distribution: "{{ ansible_facts['distribution'] }}"
      version: "{{ ansible_facts['distribution_version'] }}"
      architecture: "{{ ansible_facts['architecture'] }}"
  delegate_to: localhost
  become: false

- name: See which vLLM runs with the driver that the provider installed
  nemotron.vllm.stack_info:
    driver_manage: false
    gpu: "{{ ansible_facts['nemotron_gpu'] }}"
    os: {distribution: Ubuntu, version: "22.04", architecture: x86_64}
    strict: false
"""

RETURN = r"""
stack:
  description: The stack; null if there is a conflict.
  returned: always
  type: dict
  contains:
    device:
      description: V(cpu) or V(cuda).
      type: str
    driver:
      description: The driver; null for a CPU.
      type: dict
      contains:
        branch:
          description: Its branch.
          type: str
          sample: "580"
        minimum:
          description: The oldest driver that runs the stack's CUDA.
          type: str
          sample: 580.65.06
        flavour:
          description: Its kernel modules, V(open) or V(proprietary).
          type: str
        action:
          description: V(keep) the one that is there, V(install) one, or V(replace) the one that is there.
          type: str
    cuda:
      description: The CUDA runtime that comes with torch; null for a CPU.
      type: str
      sample: "13.0"
    torch:
      description: The torch that this vLLM was made for.
      type: str
      sample: 2.14.0
    vllm:
      description: The version of vLLM.
      type: str
      sample: 0.33.0
    python:
      description: The Python of the environment.
      type: str
      sample: "3.12"
    glibc:
      description: The oldest glibc that vLLM's wheel runs with.
      type: str
      sample: "2.28"
    toolkit:
      description: The CUDA toolkit; null if none is needed.
      type: str
    compiler:
      description: The oldest gcc for a build, and where to get it; null if none is needed.
      type: dict
      sample: {"gcc": "13", "from": conda-forge}
reasons:
  description: Why each part was chosen, one sentence each.
  returned: always
  type: list
  elements: str
  sample: ["vLLM 0.33.0: the newest known here."]
msg:
  description: The conflicts in one text.
  returned: when there is a conflict
  type: str
conflicts:
  description: What cannot be had together.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: A stable name.
      type: str
      sample: cuda-runtime-newer-than-driver
    found:
      description: The one side.
      type: str
    needed:
      description: The other side.
      type: str
    fix:
      description: The ways out, with the variables to change.
      type: str
"""

import typing as t
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._stack import refusal, resolve
from ansible_collections.nemotron.vllm.plugins.module_utils._stack_host import Wishes, machine_from_facts


def main() -> None:
    """Resolve and report."""
    module = AnsibleModule(
        argument_spec={
            "vllm_version": {"type": "str", "default": "auto"},
            "model": {"type": "str", "default": ""},
            "device": {"type": "str", "choices": ["auto", "cpu", "cuda"], "default": "auto"},
            "driver_manage": {"type": "bool", "default": True},
            "driver_branch": {"type": "int"},
            "driver_flavour": {"type": "str", "choices": ["auto", "open", "proprietary"], "default": "auto"},
            "python": {"type": "str", "default": "auto"},
            "build": {"type": "bool", "default": False},
            "jit": {"type": "bool", "default": False},
            "gpu": {"type": "dict", "required": True},
            "os": {
                "type": "dict",
                "required": True,
                "options": {
                    "distribution": {"type": "str", "required": True},
                    "version": {"type": "str", "required": True},
                    "architecture": {"type": "str", "required": True},
                },
            },
            "strict": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    wishes = {name: value for name, value in module.params.items() if name not in ("gpu", "os", "strict")}
    try:
        machine = machine_from_facts(module.params["gpu"], module.params["os"])
        resolution = resolve(Wishes(**wishes), machine)
    except NemotronError as error:
        module.fail_json(msg=str(error))
    result: dict[str, t.Any] = {
        "stack": resolution.stack,
        "reasons": resolution.reasons,
        "conflicts": [asdict(conflict) for conflict in resolution.conflicts],
    }
    if resolution.conflicts:
        result["msg"] = refusal(resolution.conflicts)
        if module.params["strict"]:
            module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
