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
REPEAT_SECONDS = 15.0

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
        if waiting_is_over or self._play_context.check_mode:
            return result
        return {**result, **self._wait(result, task_vars)}

    def _call(self, task_vars: dict[str, t.Any] | None, **more: str) -> dict[str, t.Any]:
        arguments = {**self._task.args, **more}
        called: dict[str, t.Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return called

    def _wait(self, first: dict[str, t.Any], task_vars: dict[str, t.Any] | None) -> dict[str, t.Any]:
        timeout = int(self._task.args.get("timeout", 600))
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
                return {
                    "failed": True,
                    "msg": f"{self._task.args['name']} is not ready after {timeout} s; it is still {shown}. "
                    "Look at its journal, or allow it more time (systemd_unit_start_timeout).",
                }
