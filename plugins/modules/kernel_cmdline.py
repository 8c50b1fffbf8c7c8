#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kernel_cmdline
short_description: Keep kernel parameters present or absent through a drop-in for GRUB
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Keeps C(/etc/default/grub.d/zz-nemotron.cfg), which GRUB's configuration reads last, so that the drop-ins of cloud
    images do not win over it. It takes out what contradicts it and appends. Other files are not changed.
  - Runs C(update-grub) when that file was changed, or when the menu has other parameters, as after a run that was
    interrupted. Afterwards the menu is read back.
  - Tells whether a reboot is needed by comparing with the parameters that the kernel was started with.
  - Parameters that were wished for in an earlier run are kept until they are wished to be absent.
extends_documentation_fragment:
  - nemotron.vllm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
  platform:
    support: full
    platforms: Debian, Ubuntu
options:
  present:
    description:
      - Parameters that the kernel is to be started with, each as C(name) or C(name=value). A value may have spaces.
      - Another value of the same name is taken out. Of names that may occur several times, such as C(console), the
        others stay.
    type: list
    elements: str
    default: []
  absent:
    description: Parameters that it is to be started without. C(name) means every value, C(name=value) that one only.
    type: list
    elements: str
    default: []
  root:
    description: Folder with a captured host instead of V(/), the live one. Nothing is written there, as in check mode.
    type: path
    default: /
seealso:
  - module: ansible.builtin.reboot
  - name: Kernel parameters
    description: What they mean.
    link: https://docs.kernel.org/admin-guide/kernel-parameters.html
"""

EXAMPLES = r"""
- name: Boot with cgroup v1
  nemotron.vllm.kernel_cmdline:
    present:
      - systemd.unified_cgroup_hierarchy=0
      - systemd.legacy_systemd_cgroup_controller=1
  register: parameters

- name: Reboot if the kernel runs without them
  ansible.builtin.reboot:
  when: parameters.reboot_required

- name: Boot without a parameter, whatever its value
  nemotron.vllm.kernel_cmdline:
    absent: [nomodeset]
"""

RETURN = r"""
path:
  description: The drop-in.
  returned: success
  type: str
  sample: /etc/default/grub.d/zz-nemotron.cfg
menu_updated:
  description: Whether C(update-grub) was run, or would have been.
  returned: success
  type: bool
reboot_required:
  description: Whether the running kernel was started with other parameters.
  returned: success
  type: bool
pending:
  description: What a reboot changes.
  returned: success
  type: dict
  contains:
    added:
      description: Parameters that the running kernel lacks.
      type: list
      elements: str
    removed:
      description: Parameters that the running kernel has and should not have.
      type: list
      elements: str
  sample: {"added": ["systemd.unified_cgroup_hierarchy=0"], "removed": []}
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _grub, _kernel_cmdline
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run_checked
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._files import write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host

DROP_IN = f"{_grub.DROP_INS}/{_grub.DROP_IN}"


def require_grub(host: Host) -> None:
    """Raise if the host's GRUB is not the one that this module configures."""
    if not (host.exists(_grub.UPDATE_GRUB) and host.exists("/boot/grub")):
        found = _grub.other_boot_loader(path for path in _grub.BOOT_LOADER_PATHS if host.exists(path))
        raise NemotronError(
            f"found {found} and no {_grub.UPDATE_GRUB}; needed GRUB as Debian and Ubuntu set it up. Set the kernel "
            "parameters where this host's boot loader has them."
        )


def drop_ins(host: Host) -> dict[str, str]:
    """Return the texts of the drop-ins that are not ours, by name."""
    names = [name for name in host.names(_grub.DROP_INS) if name.endswith(".cfg") and name != _grub.DROP_IN]
    return {name: host.read(f"{_grub.DROP_INS}/{name}") or "" for name in names}


def write(module: AnsibleModule, text: str) -> None:
    """Write the drop-in, or remove it if there is nothing to keep."""
    if text:
        os.makedirs(_grub.DROP_INS, exist_ok=True)
        write_text(module, DROP_IN, text)
    else:
        os.remove(DROP_IN)


def update_menu(module: AnsibleModule, host: Host, kept: _grub.Kept, absent: list[_kernel_cmdline.Parameter]) -> None:
    """Make the menu anew and read it back."""
    run_checked(module, [_grub.UPDATE_GRUB], "The drop-in is written, but the menu was not made anew")
    wrong = _grub.stale(host.read(_grub.MENU) or "", kept.present, absent)
    if wrong:
        raise NemotronError(
            f"{_grub.UPDATE_GRUB} was run, but {_grub.MENU} has {wrong}. Something sets kernel parameters after "
            f"{DROP_IN}; look at /etc/grub.d and {_grub.DROP_INS}."
        )


def apply(module: AnsibleModule) -> dict[str, t.Any]:
    """Bring the drop-in and the menu to what is wished for."""
    present = _kernel_cmdline.parse("present", module.params["present"])
    absent = _kernel_cmdline.parse("absent", module.params["absent"])
    _kernel_cmdline.refuse_contradiction(present, absent)
    host = Host(module.params["root"])
    require_grub(host)
    others = drop_ins(host)
    later = _grub.read_after_ours(others)
    if later:
        raise NemotronError(
            f"{_grub.DROP_INS}/{later} sets the kernel parameters and is read after {_grub.DROP_IN}; needed to be the "
            "last one. Rename that file so that its name comes before."
        )
    before = host.read(DROP_IN) or ""
    kept = _grub.merge(_grub.parse(before), present, absent, [host.read(_grub.DEFAULTS) or "", *others.values()])
    after = _grub.render(kept)
    unwished = [*kept.absent, *absent]
    menu_updated = after != before or bool(_grub.stale(host.read(_grub.MENU) or "", kept.present, unwished))
    if host.live and not module.check_mode:
        if after != before:
            write(module, after)
        if menu_updated:
            update_menu(module, host, kept, unwished)
    running = _kernel_cmdline.split(host.read("/proc/cmdline") or "")
    pending = {
        "added": [str(wish) for wish in _kernel_cmdline.lacking(running, kept.present)],
        "removed": [str(parameter) for parameter in _kernel_cmdline.lingering(running, unwished)],
    }
    result: dict[str, t.Any] = {
        "changed": menu_updated,
        "path": DROP_IN,
        "menu_updated": menu_updated,
        "reboot_required": any(pending.values()),
        "pending": pending,
    }
    if module._diff:
        result["diff"] = {"before_header": DROP_IN, "after_header": DROP_IN, "before": before, "after": after}
    return result


def main() -> None:
    """Keep the parameters and report."""
    module = AnsibleModule(
        argument_spec={
            "present": {"type": "list", "elements": "str", "default": []},
            "absent": {"type": "list", "elements": "str", "default": []},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**apply(module))
    except (NemotronError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
