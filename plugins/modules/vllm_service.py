#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_service
short_description: A vLLM service runs what its files say, and is ready
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Enables and starts a systemd service, and waits until the server answers C(/health).
  - Restarts it when the files in O(inputs) have other contents than when its process was started. The running process
    itself tells, so that a run that was killed between writing a file and restarting the service is mended by the next
    one, and a reboot in between changes nothing.
  - While it waits, the controller shows how far the start has come. When the server dies, its likely reason and the end
    of its journal are in the message.
  - Refuses to start a server on a port that another program listens on. vLLM can bind with C(SO_REUSEPORT), and
    a second server would then start without an error and get a share of the requests.
  - A ready server has loaded its model. Whether it answers is another question; see M(nemotron.vllm.endpoint_info).
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
options:
  name:
    description: The unit, with or without C(.service).
    type: str
    required: true
  state:
    description:
      - V(serving) means enabled, started from the present files, and ready.
      - V(stopped) means stopped and disabled.
    type: str
    choices: [serving, stopped]
    default: serving
  inputs:
    description: The files that define the service, for example its unit file and the configuration of the server.
    type: list
    elements: path
    default: []
  inputs_changed:
    description:
      - Whether earlier tasks have changed, or in check mode would change, the files in O(inputs).
      - Only makes the prediction of check mode right; outside it the files are read.
    type: bool
    default: false
  url:
    description:
      - Where the server listens, without a path, for example V(http://127.0.0.1:8000). Required for O(state=serving).
    type: str
  timeout:
    description: How long a start may take, in seconds. A first start on a GPU takes minutes.
    type: int
    default: 600
  watch:
    description:
      - The invocation of the unit to look at, without changing anything. The controller uses this while it waits.
    type: str
notes:
  - The waiting is done on the controller, by an action plugin of the same name; C(async) is not supported.
seealso:
  - module: ansible.builtin.systemd_service
"""

EXAMPLES = r"""
- name: Ensure the server runs and is ready
  nemotron.vllm.vllm_service:
    name: vllm-nemotron
    inputs:
      - /etc/systemd/system/vllm-nemotron.service
      - /opt/nemotron/current/serve.yaml
    url: http://127.0.0.1:8000

- name: Stop the server
  nemotron.vllm.vllm_service:
    name: vllm-nemotron
    state: stopped
"""

RETURN = r"""
reasons:
  description: Why the service was changed.
  returned: always
  type: list
  elements: str
  sample: [its files have changed since it was started]
ready:
  description: Whether the server answers C(/health).
  returned: always
  type: bool
phase:
  description: How far the start has come.
  returned: when O(state=serving)
  type: str
  sample: loading the weights
invocation_id:
  description: systemd's identifier of this start of the unit; empty when it was never started.
  returned: always
  type: str
fingerprint:
  description: Digest of the contents of O(inputs).
  returned: when O(state=serving)
  type: str
reason:
  description: The line of the journal that most likely tells why the server died, if there is one.
  returned: when the server died
  type: str
journal:
  description: The last lines of the journal of this start.
  returned: when the server died or took too long
  type: list
  elements: str
"""

import os
import typing as t
from http.client import HTTPException

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url
from ansible_collections.nemotron.vllm.plugins.module_utils import _service_state as states
from ansible_collections.nemotron.vllm.plugins.module_utils import _startup_log
from ansible_collections.nemotron.vllm.plugins.module_utils._base_url import parse_base_url
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run, run_checked
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text, write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._listeners import listeners

UNITS = "/etc/systemd/system"
JOURNAL_LINES = 2000
SHOWN_LINES = 15
PROBE_SECONDS = 5


class Unit:
    """A systemd service, as far as this module changes and looks at it."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        name = module.params["name"]
        self.name = name if name.endswith(".service") else f"{name}.service"
        self.drop_in = os.path.join(UNITS, f"{self.name}.d", "10-fingerprint.conf")

    def show(self) -> states.Service:
        """Return systemd's present view of the unit."""
        argv = ["systemctl", "show", self.name, f"--property={','.join(states.PROPERTIES)}"]
        return states.parse_show(run_checked(self.module, argv, f"systemd does not answer about {self.name}").stdout)

    def systemctl(self, *words: str) -> None:
        """Change something through systemd."""
        run_checked(self.module, ["systemctl", *words], f"systemctl {words[0]} failed")

    def journal(self, invocation_id: str) -> str:
        """Return what one start of the unit has logged, and what systemd logged about it."""
        argv = ["journalctl", "--no-pager", "--output=cat", f"--lines={JOURNAL_LINES}"]
        argv += [f"_SYSTEMD_INVOCATION_ID={invocation_id}", "+", f"INVOCATION_ID={invocation_id}"]
        return run(self.module, argv).stdout

    def healthy(self) -> bool:
        """Tell whether the server answers /health with 200. Proxies of the environment do not lead to loopback."""
        try:
            open_url(f"{self.module.params['url'].rstrip('/')}/health", use_proxy=False, timeout=PROBE_SECONDS).close()
        except (OSError, HTTPException):
            return False
        return True

    def refuse_shared_port(self) -> None:
        """Raise when anything else listens where the server does or will."""
        port = parse_base_url("url", self.module.params["url"]).port
        for found in listeners(port):
            if found.unit != self.name:
                raise NemotronError(
                    f"url: found port {port} taken by {found.describe()}; needed a port that nothing else listens on. "
                    "Stop that program or choose another port (nemotron_serve_port). "
                    "vLLM can start all the same and silently share the requests."
                )


def serve(unit: Unit) -> dict[str, t.Any]:
    """Have the service run what its files say, without waiting for it."""
    module = unit.module
    service = unit.show()
    contents = {path: content_of(path) for path in module.params["inputs"]}
    fingerprint = states.fingerprint_of(contents)
    started_with = None
    if service.main_pid:
        started_with = states.fingerprint_in_environment(read_text(f"/proc/{service.main_pid}/environ") or "")
    reasons = states.reasons_to_restart(service, started_with, fingerprint)
    if module.check_mode and module.params["inputs_changed"] and not reasons:
        reasons = ["its files would change"]
    starts = bool(reasons)
    if not service.enabled:
        reasons.append("it is not started at boot")
    before, after = read_text(unit.drop_in) or "", states.drop_in(fingerprint)
    if before != after and not reasons:
        reasons.append("its fingerprint is not recorded")
    if starts:
        unit.refuse_shared_port()
    if reasons and not module.check_mode:
        missing = [path for path, content in contents.items() if content is None]
        if missing:
            raise NemotronError(f"inputs: found no {missing[0]}; needed every file that defines {unit.name}.")
        apply(unit, service, after, starts=starts)
        service = unit.show()
    progress = observe(unit, service)
    progress.pop("journal", None)
    return {
        "changed": bool(reasons),
        "reasons": reasons,
        "fingerprint": fingerprint,
        "diff": {"before": before, "after": after, "before_header": unit.drop_in, "after_header": unit.drop_in},
        **progress,
    }


def content_of(path: str) -> str | None:
    """Return the content of a file that defines the service, None when there is none."""
    if os.path.isdir(path):
        raise NemotronError(f"inputs: found a directory at {path}; needed a file.")
    return read_text(path)


def apply(unit: Unit, service: states.Service, drop_in: str, *, starts: bool) -> None:
    """Write the drop-in, then enable and start or restart, as far as needed."""
    if read_text(unit.drop_in) != drop_in:
        os.makedirs(os.path.dirname(unit.drop_in), exist_ok=True)
        write_text(unit.module, unit.drop_in, drop_in)
    unit.systemctl("daemon-reload")
    if not service.enabled:
        unit.systemctl("enable", unit.name)
    if starts:
        # The limit of starts counts those of earlier runs.
        unit.systemctl("reset-failed", unit.name)
        restart(unit, service.invocation_id)


def restart(unit: Unit, invocation_id: str) -> None:
    """Stop the old process and start a new one; return when that exists. Whether it then comes up is watched later."""
    completed = run(unit.module, ["systemctl", "restart", unit.name])
    # When systemd refuses, the old process may run on, and answer as if it were the new one.
    if not completed.ok and unit.show().invocation_id in ("", invocation_id):
        raise NemotronError(f"{unit.name} cannot be started: {completed.describe()}")


def observe(unit: Unit, service: states.Service) -> dict[str, t.Any]:
    """Return how far the start has come."""
    result = {"ready": False, "phase": "not started", "invocation_id": service.invocation_id}
    if not service.invocation_id:
        return result
    if service.active_state == "active" and unit.healthy():
        # Somebody else may have come to the port since, and may be who has answered.
        unit.refuse_shared_port()
        return {**result, "ready": True, "phase": "ready"}
    journal = unit.journal(service.invocation_id)
    return {**result, "phase": _startup_log.phase_of(journal), "journal": _startup_log.tail(journal, SHOWN_LINES)}


def watch(unit: Unit, invocation_id: str) -> dict[str, t.Any]:
    """Return how far a start has come, or why it has failed; changes nothing."""
    service = unit.show()
    ended = states.end_of(service, invocation_id)
    if not ended:
        return {"changed": False, "reasons": [], **observe(unit, service)}
    # What a process that has just ended wrote last may still be on its way.
    run(unit.module, ["journalctl", "--sync"])
    journal = unit.journal(invocation_id)
    reason = _startup_log.root_cause(journal)
    shown = _startup_log.tail(journal, SHOWN_LINES)
    likely = f" The likely reason: {reason}" if reason else ""
    message = f"{unit.name} did not come up: {ended}.{likely}\nThe end of its journal:\n" + "\n".join(shown)
    return {
        "changed": False,
        "reasons": [],
        "ready": False,
        "phase": _startup_log.phase_of(journal),
        "invocation_id": invocation_id,
        "reason": reason,
        "journal": shown,
        "failed": True,
        "msg": message,
    }


def stop(unit: Unit) -> dict[str, t.Any]:
    """Stop and disable the service."""
    service = unit.show()
    reasons = ["it runs"] if service.active_state not in ("inactive", "failed", "") else []
    if service.enabled:
        reasons.append("it is started at boot")
    if reasons and not unit.module.check_mode:
        unit.systemctl("disable", "--now", unit.name)
    return {"changed": bool(reasons), "reasons": reasons, "ready": False, "invocation_id": service.invocation_id}


def main() -> None:
    """Do what state says, once; the action plugin on the controller waits."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["serving", "stopped"], "default": "serving"},
            "inputs": {"type": "list", "elements": "path", "default": []},
            "inputs_changed": {"type": "bool", "default": False},
            "url": {"type": "str"},
            "timeout": {"type": "int", "default": 600},
            "watch": {"type": "str"},
        },
        required_if=[("state", "serving", ["url"])],
        supports_check_mode=True,
    )
    unit = Unit(module)
    try:
        if module.params["state"] == "stopped":
            result = stop(unit)
        else:
            parse_base_url("url", module.params["url"])
            result = watch(unit, module.params["watch"]) if module.params["watch"] else serve(unit)
    except PermissionError as error:
        module.fail_json(msg=f"{unit.name}: found no right to use {error.filename}; needed root (become: true).")
    except NemotronError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
