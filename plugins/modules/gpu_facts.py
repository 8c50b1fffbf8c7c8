#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_facts
short_description: Gather facts about NVIDIA GPUs and their driver
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Reads what the kernel, the driver, the package manager and C(nvidia-smi) say about the GPUs of a host.
  - Works on a host without a driver, where GPUs are named by their PCI ids, on one without GPUs, and on one whose
    C(nvidia-smi) fails or hangs; what it said is kept.
  - What could not be read or understood is told in RV(ansible_facts.nemotron_gpu.problems); the module does not fail
    for it.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  facts:
    description: Action returns an C(ansible_facts) dictionary that will update existing host facts.
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  root:
    description:
      - Folder with a captured host instead of V(/), the live one. It has the files of the host at their places, and in
        C(commands) what its programs said.
    type: path
    default: /
  nvidia_smi:
    description: The program, by its name in C(PATH) or its path.
    type: str
    default: nvidia-smi
  timeout:
    description: Seconds after which a program is given up. C(nvidia-smi) hangs when a GPU or its driver does.
    type: float
    default: 10
"""

EXAMPLES = r"""
- name: Look at the GPUs
  nemotron.vllm.gpu_facts:

- name: Show which driver is loaded
  ansible.builtin.debug:
    var: ansible_facts['nemotron_gpu'].driver.loaded

- name: Look at a host that was captured
  nemotron.vllm.gpu_facts:
    root: /srv/captured/gpu-7
"""

RETURN = r"""
ansible_facts:
  description: Facts to add to those of the host.
  returned: always
  type: dict
  contains:
    nemotron_gpu:
      description: The GPUs and their driver. What is not known is null.
      type: dict
      contains:
        driver:
          description: The driver.
          type: dict
          contains:
            loaded:
              description: Version of the kernel module that is loaded.
              type: str
              sample: 580.159.04
            on_disk:
              description: Version of the module that the running kernel would load.
              type: str
            user_space:
              description: Version of the libraries that programs find.
              type: str
            flavour:
              description: Its kernel modules, V(open) or V(proprietary).
              type: str
            installed_by:
              description: V(package), V(runfile) or V(both).
              type: str
            cuda:
              description: The newest CUDA that it runs.
              type: str
              sample: "13.0"
            uvm:
              description: Whether C(nvidia_uvm) is loaded and has its device; CUDA does not work without it.
              type: bool
        gpus:
          description: The GPUs.
          type: list
          elements: dict
          contains:
            index:
              description: Position in the order of PCI addresses.
              type: int
            name:
              description: What the driver calls it, or the PCI ID database if there is no driver.
              type: str
              sample: NVIDIA H200
            pci_address:
              description: Domain, bus, device and function.
              type: str
              sample: "0000:18:00.0"
            pci_id:
              description: Vendor and device.
              type: str
              sample: 10de:2335
            architecture:
              description: Its generation.
              type: str
              sample: Hopper
            compute_capability:
              description: What CUDA code it runs.
              type: str
              sample: "9.0"
            memory_mib:
              description: Its memory in MiB.
              type: int
            kernel_driver:
              description: The driver that the kernel has bound to it.
              type: str
              sample: nvidia
            pcie:
              description: The link now and at best; a link that is idle can be slower than it will be.
              type: dict
              sample: {"generation": 5, "generation_max": 5, "width": 16, "width_max": 16}
            ecc:
              description: Whether memory errors are corrected, and uncorrected ones since the driver was loaded.
              type: dict
              sample: {"enabled": true, "uncorrected": 0}
            remapped_rows:
              description: Rows of its memory that were replaced; C(pending) waits for a reset, C(failed) for a new GPU.
              type: dict
              sample: {"correctable": 0, "uncorrectable": 0, "pending": false, "failed": false}
            mig:
              description: Whether it is partitioned, and whether it will be after a reset.
              type: dict
              sample: {"enabled": false, "pending": false}
        secure_boot:
          description: Whether Secure Boot is on; null if the host was not booted by EFI.
          type: bool
        nouveau:
          description: Whether the nouveau module is loaded.
          type: bool
        nova_core:
          description: Whether the nova_core module is loaded.
          type: bool
        nvswitch:
          description: Number of NVSwitches.
          type: int
        fabric_manager:
          description: Version that is installed, and whether it runs.
          type: dict
          sample: {"installed": null, "running": null}
        nvidia_smi:
          description: Where it was found, whether and how it ended, and what it said when it failed.
          type: dict
          sample: {"path": /usr/bin/nvidia-smi, "ok": true, "rc": 0, "said": ""}
        problems:
          description: What could not be read or understood, and what was expected.
          type: list
          elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_facts import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host


def main() -> None:
    """Gather and report."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "nvidia_smi": {"type": "str", "default": "nvidia-smi"},
            "timeout": {"type": "float", "default": 10},
        },
        supports_check_mode=True,
    )
    root, timeout = module.params["root"], module.params["timeout"]
    if not os.path.isdir(root):
        module.fail_json(msg=f"root: found no folder {root}; needed one with a captured host, or / for this host.")
    if timeout <= 0:
        module.fail_json(msg=f"timeout: found {timeout:g}; needed a number of seconds greater than 0.")
    module.exit_json(ansible_facts={"nemotron_gpu": gather(Host(root, timeout), module.params["nvidia_smi"])})


if __name__ == "__main__":
    main()
