# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What systemd says of a service, and what that means for someone who waits for it."""

from __future__ import annotations

import hashlib
import typing as t
from dataclasses import dataclass

if t.TYPE_CHECKING:
    from collections.abc import Mapping

PROPERTIES = (
    "ActiveState",
    "ExecMainCode",
    "ExecMainStatus",
    "InvocationID",
    "LoadState",
    "MainPID",
    "NRestarts",
    "Result",
    "SubState",
    "UnitFileState",
)
FINGERPRINT = "NEMOTRON_FINGERPRINT"
# CLD_KILLED and CLD_DUMPED of sigaction(2). ExecMainStatus is then the number of the signal.
_KILLED = ("2", "3")


@dataclass(frozen=True)
class Service:
    """The properties of a unit that C(systemctl show) prints; see systemd.exec(5) and org.freedesktop.systemd1(5)."""

    load_state: str
    active_state: str
    sub_state: str
    result: str
    main_pid: int
    killed: bool
    exit_status: str
    restarts: int
    invocation_id: str
    enabled: bool

    @property
    def running(self) -> bool:
        """Whether its main process runs."""
        return self.active_state == "active" or (self.active_state == "activating" and self.main_pid > 0)

    @property
    def exit(self) -> str:
        """How its main process has ended."""
        return f"{self.result}, {'signal' if self.killed else 'exit status'} {self.exit_status}"


def parse_show(text: str) -> Service:
    """Return what C(systemctl show --property ...) printed. Properties that are missing count as empty."""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return Service(
        load_state=values.get("LoadState", ""),
        active_state=values.get("ActiveState", ""),
        sub_state=values.get("SubState", ""),
        result=values.get("Result", ""),
        main_pid=_number(values.get("MainPID")),
        killed=values.get("ExecMainCode") in _KILLED,
        exit_status=values.get("ExecMainStatus", ""),
        restarts=_number(values.get("NRestarts")),
        invocation_id=values.get("InvocationID", ""),
        enabled=values.get("UnitFileState") == "enabled",
    )


def fingerprint_of(contents: Mapping[str, str | None]) -> str:
    """Return one digest for the files that define a running service, as path to content; None stands for no file."""
    digest = hashlib.sha256()
    for path in sorted(contents):
        content = contents[path]
        digest.update(f"{path}\0{'-' if content is None else '+' + content}\0".encode())
    return digest.hexdigest()


def fingerprint_in_environment(environ: str) -> str | None:
    """Return the fingerprint with which a process was started, from the text of /proc/PID/environ."""
    prefix = f"{FINGERPRINT}="
    return next((item[len(prefix) :] for item in environ.split("\0") if item.startswith(prefix)), None)


def drop_in(fingerprint: str) -> str:
    """Return the text of the drop-in that gives a service its fingerprint."""
    return (
        "# Managed by Ansible (nemotron.vllm.vllm_service).\n"
        "# Stands for the contents of this service's files when they were last applied.\n"
        "# A process that was started with another value is restarted.\n"
        f"[Service]\nEnvironment={FINGERPRINT}={fingerprint}\n"
    )


def reasons_to_restart(service: Service, started_with: str | None, fingerprint: str) -> list[str]:
    """Return why the service must be started or restarted, in words; nothing when it runs what its files say."""
    if not service.running:
        failed = f" ({service.result})" if service.active_state == "failed" else ""
        return [f"it is {service.active_state or 'not loaded'}{failed}"]
    if started_with != fingerprint:
        return ["its files have changed since it was started"]
    return []


def end_of(service: Service, invocation_id: str) -> str | None:
    """Tell how a start that is being watched has ended badly, or None while it may still succeed."""
    if service.result == "start-limit-hit":
        return "it failed so often that systemd has given up (start limit)"
    if service.active_state == "failed":
        return f"it failed ({service.exit})"
    if service.active_state in ("inactive", "deactivating"):
        return f"its process ended ({service.exit})"
    # systemd 254 and newer pass through auto-restart-queued as well.
    if service.sub_state.startswith("auto-restart") or service.invocation_id != invocation_id:
        times = f", {service.restarts} times so far" if service.restarts > 1 else ""
        return f"its process ended ({service.exit}) and systemd starts it again{times}"
    return None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
