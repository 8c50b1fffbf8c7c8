# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

MODULE = "nemotron.vllm.vllm_service"
POLL_SECONDS = 2.0
# A phase that lasts is named again, so that nobody believes the run to hang.
REPEAT_SECONDS = 10.0
# The module's own default, which it does not return.
TIMEOUT_SECONDS = 600

display = Display()


class ActionModule(ActionBase):
    """Runs the module of the same name, then waits for readiness and shows the progress on the controller."""

    TRANSFERS_FILES = False
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return the module's result, with what the waiting has shown."""
        super().run(tmp, task_vars)
        result = self._call(task_vars)
        waiting_is_over = result.get("failed") or result.get("ready") or "phase" not in result
        if waiting_is_over or self._task.check_mode:
            return result
        return {**result, **self._wait(result, task_vars)}

    def _call(self, task_vars: dict[str, t.Any] | None, **more: t.Any) -> dict[str, t.Any]:
        arguments = {**self._task.args, **more}
        called: dict[str, t.Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return called

    def _wait(self, first: dict[str, t.Any], task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        given = self._task.args.get("timeout")
        timeout = TIMEOUT_SECONDS if given is None else int(given)
        host = (task_vars or {}).get("inventory_hostname", "")
        start = shown_at = time.monotonic()
        shown = ""
        while True:
            time.sleep(POLL_SECONDS)
            probe = self._call(task_vars, watch=first["invocation_id"])
            if probe.get("failed") or probe.get("ready"):
                # The start itself was the change; a probe has none.
                return {key: value for key, value in probe.items() if key not in ("changed", "reasons", "invocation")}
            now = time.monotonic()
            if probe["phase"] != shown or now - shown_at > REPEAT_SECONDS:
                shown, shown_at = probe["phase"], now
                display.display(f"{host}: {now - start:.0f} s: {shown}")
            if now - start > timeout:
                return self._took_too_long(timeout, probe)

    def _took_too_long(self, timeout: int, probe: dict[str, t.Any]) -> dict[str, t.Any]:
        journal = probe.get("journal", [])
        message = (
            f"{self._task.args['name']} is not ready after {timeout} s; its state is still: {probe['phase']}. "
            "Look for the reason in its journal, or allow it more time (systemd_unit_start_timeout)."
        )
        if journal:
            message += "\nThe end of its journal:\n" + "\n".join(journal)
        return {"failed": True, "msg": message, "phase": probe["phase"], "journal": journal}
