#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: driver_plan_info
short_description: Plan what is to be done for the NVIDIA driver of a host
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Takes the driver part of a stack, the facts of the GPUs and what it reads from the host, and returns the packages to
    install, to purge and to hold, what DKMS needs, and whether a reboot is due, with a reason for each choice.
  - Finds what stands against it before anything is changed, such as a driver that was installed in another way, a key
    that Secure Boot does not trust, kernels without headers, and a reboot that is pending.
  - A driver that the stack keeps is not touched. One that is installed and not loaded yet is finished.
  - Reads the lists of packages that apt has, so that C(apt-get update) comes before.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: The same host and arguments give the same plan.
options:
  state:
    description: Whether the host is to have a driver.
    type: str
    choices: [present, absent]
    default: present
  manage:
    description: Whether the driver may be touched at all.
    type: bool
    default: true
  method:
    description:
      - Where the driver comes from. V(distribution) is the archive of Debian or Ubuntu, V(nvidia) is NVIDIA's package
        repository, V(runfile) is the C(.run) installer.
      - V(auto) takes the distribution's archive if it has the branch, and with Secure Boot on a branch that the
        distribution signed modules of; otherwise NVIDIA's repository.
    type: str
    choices: [auto, distribution, nvidia, runfile]
    default: auto
  branch:
    description:
      - The branch that the user asked for, if any. Without it, an installed driver of another branch that runs the
        stack is finished, and Secure Boot may lead to another branch than the stack's.
    type: int
  flavour:
    description: The kernel modules that the user asked for.
    type: str
    choices: [auto, open, proprietary]
    default: auto
  replace:
    description: Whether a driver of another method, branch or flavour may be purged.
    type: bool
    default: false
  require_gpu:
    description:
      - Whether a host without an NVIDIA device is left without a driver. V(false) is for images that are built
        elsewhere; O(branch) and O(flavour) say which driver then, if O(stack_driver) does not.
    type: bool
    default: true
  reboot:
    description: Whether the host may be rebooted. Otherwise a pending reboot is a conflict.
    type: bool
    default: false
  runfile_version:
    description: The driver version of the C(.run) installer.
    type: str
    default: ""
  runfile_sha256:
    description: The SHA-256 of the C(.run) installer.
    type: str
    default: ""
  stack_driver:
    description: C(stack.driver) as M(nemotron.vllm.stack_info) returns it; null for a stack on the CPU.
    type: dict
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
  root:
    description:
      - Folder with a captured host instead of V(/), the live one. It has the files of the host at their places, and in
        C(commands) what its programs said.
    type: path
    default: /
  strict:
    description: Fail when there is a conflict.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Look at the GPUs
  nemotron.vllm.gpu_facts:

- name: Plan the driver that the stack asks for
  nemotron.vllm.driver_plan_info:
    stack_driver: "{{ stack.stack.driver }}"
    gpu: "{{ ansible_facts['nemotron_gpu'] }}"
    os:
      distribution: "{{ ansible_facts['distribution'] }}"
      version: "{{ ansible_facts['distribution_version'] }}"
      architecture: "{{ ansible_facts['architecture'] }}"
  register: driver

- name: Plan the driver of an image for servers with A100
  nemotron.vllm.driver_plan_info:
    require_gpu: false
    branch: 580
    gpu: "{{ ansible_facts['nemotron_gpu'] }}"
    os: {distribution: Ubuntu, version: "24.04", architecture: x86_64}
"""

RETURN = r"""
plan:
  description: What is to be done.
  returned: always
  type: dict
  contains:
    action:
      description:
        - V(none) if there is nothing to have, V(keep) the driver that is there, V(install) one or what is missing of
          it, V(replace) the one that is there, V(finish) one that is installed and not loaded, or V(remove) it.
      type: str
    method:
      description: Where the driver comes from, V(distribution), V(nvidia) or V(runfile); V(mixed) if it is removed.
      type: str
    branch:
      description: Its branch.
      type: str
      sample: "580"
    flavour:
      description: Its kernel modules.
      type: str
    packages:
      description: Packages to install. The first one of NVIDIA's repository holds the branch, and has to come first.
      type: list
      elements: str
    headers:
      description: Packages with headers to install before.
      type: list
      elements: str
      sample: [linux-headers-amd64]
    compiler:
      description: Packages with the compiler that built the running kernel.
      type: list
      elements: str
      sample: [gcc-12]
    dkms_kernels:
      description: Kernels that DKMS has to have a module for.
      type: list
      elements: str
    purge:
      description: Packages to purge before.
      type: list
      elements: str
    runfile_uninstall:
      description: Whether to run C(nvidia-uninstall) before.
      type: bool
    hold:
      description: Packages to hold, the kernel's too if modules are signed by the distribution.
      type: list
      elements: str
    upgrade_blacklist:
      description: Python regular expressions for C(Unattended-Upgrade::Package-Blacklist).
      type: list
      elements: str
    blacklist_modules:
      description: Kernel modules to keep from loading.
      type: list
      elements: str
    fabric_manager:
      description: Packages of Fabric Manager, to install in exactly the driver's version.
      type: list
      elements: str
    repository:
      description: NVIDIA's repository; null if it is not needed.
      type: dict
      sample:
        url: https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64
        keyring_name: cuda-keyring_1.1-1_all.deb
    components:
      description: Components that Debian's archive has to be enabled with.
      type: list
      elements: str
      sample: [contrib, non-free, non-free-firmware]
    reboot_first:
      description: Whether to reboot before anything else.
      type: bool
    reboot_required:
      description: Whether the module cannot be loaded without a reboot.
      type: bool
    signed_by:
      description: Who signs the modules, V(distribution), V(dkms) or V(none).
      type: str
    key:
      description: The key of DKMS; null if none is needed.
      type: dict
      sample: {"path": /var/lib/dkms/mok.pub, "exists": true, "enrolled": false, "requested": false}
reasons:
  description: Why, one sentence each.
  returned: always
  type: list
  elements: str
  sample: ["driver 580.159.04 kept: it works and runs the stack."]
drift:
  description: What breaks at the next boot although the driver works now.
  returned: always
  type: list
  elements: str
msg:
  description: The conflicts in one text.
  returned: when there is a conflict
  type: str
conflicts:
  description: What stands against the plan.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: A stable name.
      type: str
      sample: secure-boot-key-not-enrolled
    found:
      description: What was found.
      type: str
    needed:
      description: What is needed.
      type: str
    fix:
      description: The ways out, with the variables to change.
      type: str
"""

import os
import typing as t
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_host import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_plan import plan
from ansible_collections.nemotron.vllm.plugins.module_utils._driver_situation import Wishes
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host
from ansible_collections.nemotron.vllm.plugins.module_utils._problem import describe_all

_FACTS = ("stack_driver", "gpu", "os", "root", "strict")


def main() -> None:
    """Plan and report."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "manage": {"type": "bool", "default": True},
            "method": {"type": "str", "choices": ["auto", "distribution", "nvidia", "runfile"], "default": "auto"},
            "branch": {"type": "int"},
            "flavour": {"type": "str", "choices": ["auto", "open", "proprietary"], "default": "auto"},
            "replace": {"type": "bool", "default": False},
            "require_gpu": {"type": "bool", "default": True},
            "reboot": {"type": "bool", "default": False},
            "runfile_version": {"type": "str", "default": ""},
            "runfile_sha256": {"type": "str", "default": ""},
            "stack_driver": {"type": "dict"},
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
            "root": {"type": "path", "default": "/"},
            "strict": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    root = module.params["root"]
    if not os.path.isdir(root):
        module.fail_json(msg=f"root: found no folder {root}; needed one with a captured host, or / for this host.")
    wishes = Wishes(**{name: value for name, value in module.params.items() if name not in _FACTS})
    try:
        planned = plan(
            wishes, module.params["stack_driver"], module.params["gpu"], module.params["os"], gather(Host(root))
        )
    except NemotronError as error:
        module.fail_json(msg=str(error))
    result: dict[str, t.Any] = {
        "plan": asdict(planned.plan),
        "reasons": planned.reasons,
        "drift": planned.drift,
        "conflicts": [asdict(conflict) for conflict in planned.conflicts],
    }
    if planned.conflicts:
        result["msg"] = describe_all("The driver of this host cannot be brought there:", planned.conflicts)
        if module.params["strict"]:
            module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
