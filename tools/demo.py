# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring up a local droplet, run site.yml against it, and show the model answering.

This is what `make demo` runs. It drives the collection exactly as a user would: an inventory, site.yml, SSH.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_runner.interface import run as run_playbook
from rich.console import Console
from rich.table import Table

CHECKOUT = Path(__file__).resolve().parent.parent
DROPLET = [str(CHECKOUT / "molecule" / "common" / "droplet")]
NAME = "demo"
WORK = CHECKOUT / ".cache" / "demo"
TUNNEL_PORT = 18000
SERVER_PORT = 8000
QUESTION = "What is the capital of Germany?"

console = Console(highlight=False, soft_wrap=True)


class Progress:
    """Shows the task that runs now, and adds up the seconds of each role."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failure = ""

    def handle(self, event: dict[str, Any]) -> bool:
        """Take one event of ansible-runner; always keeps it."""
        data = event.get("event_data", {})
        kind = event["event"]
        if kind == "playbook_on_task_start" and not data["task"].startswith("Validating arguments"):
            console.print(f"  [dim]{data['task']}[/dim]")
        elif kind == "verbose" and event.get("stdout", "").startswith(f"{NAME}: "):
            console.print(f"    [dim]{event['stdout']}[/dim]")
        elif kind.startswith("runner_on_") and "duration" in data:
            part = data.get("role", "other").rsplit(".", 1)[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + data["duration"]
        if kind in ("runner_on_failed", "runner_on_unreachable") and not data.get("ignore_errors"):
            result = data.get("res", {})
            self.failure = f"{data.get('task')}: {result.get('msg', result)}"
        return True


def main() -> int:
    """Run the demo; return the exit status."""
    (WORK / "runner").mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    console.print(f"[bold]1. A local server named {NAME}[/bold] (systemd, its own address, SSH)")
    droplet("up", NAME, "--release", "bookworm")
    server_seconds = time.monotonic() - started

    console.print("[bold]2. ansible-playbook site.yml[/bold]")
    progress = deploy()
    if progress.failure:
        console.print(f"\n[bold red]The deployment failed.[/bold red] {progress.failure}", markup=True)
        console.print(f"Look inside: make demo-ssh. The whole log: {WORK / 'runner' / 'artifacts'}")
        return 1

    console.print("[bold]3. A question, answered as a stream[/bold]")
    with tunnel():
        answer = ask()
    report({"server": server_seconds, **progress.seconds}, time.monotonic() - started)
    return 0 if answer else 1


def droplet(*arguments: str) -> str:
    """Run the droplet tool; end the demo with its own words when it fails."""
    completed = subprocess.run([*DROPLET, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if completed.returncode:
        sys.exit(completed.returncode)
    return completed.stdout


def deploy() -> Progress:
    """Run site.yml against the droplet."""
    progress = Progress()
    inventory = WORK / "droplets.ini"
    inventory.write_text(droplet("inventory", NAME), encoding="utf-8")
    runner = run_playbook(
        private_data_dir=str(WORK / "runner"),
        project_dir=str(CHECKOUT),
        playbook="site.yml",
        inventory=[str(inventory), str(CHECKOUT / "inventories" / "demo")],
        envvars={"ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg")},
        rotate_artifacts=5,
        event_handler=progress.handle,
        quiet=True,
    )
    if runner.rc and not progress.failure:
        progress.failure = f"ansible-playbook ended with {runner.rc} ({runner.status}):\n{runner.stdout.read()[-2000:]}"
    return progress


@contextmanager
def tunnel() -> Iterator[None]:
    """Forward a local port to the server's loopback, where the endpoint listens, for as long as the context lasts."""
    command = [*DROPLET, "ssh", NAME, "-N", "-L", f"127.0.0.1:{TUNNEL_PORT}:127.0.0.1:{SERVER_PORT}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        for _attempt in range(50):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{TUNNEL_PORT}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def ask() -> str:
    """Ask the question and print the answer as it arrives."""
    body = {
        "model": served_model(),
        "messages": [{"role": "user", "content": QUESTION}],
        "temperature": 0,
        "max_tokens": 48,
        "stream": True,
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{TUNNEL_PORT}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    console.print(f"  [bold]{QUESTION}[/bold]")
    console.print("  ", end="")
    answer = ""
    with urllib.request.urlopen(request, timeout=60) as response:
        for line in response:
            data = line.decode().removeprefix("data: ").strip()
            if not data or data == "[DONE]":
                continue
            piece = json.loads(data)["choices"][0]["delta"].get("content") or ""
            answer += piece
            console.print(piece, end="", style="green")
    console.print()
    return answer


def served_model() -> str:
    """Return the name under which the endpoint serves its model."""
    with urllib.request.urlopen(f"http://127.0.0.1:{TUNNEL_PORT}/v1/models", timeout=10) as response:
        return str(json.load(response)["data"][0]["id"])


def report(seconds: dict[str, float], total: float) -> None:
    """Print where the time went, where the endpoint is, and what to do next."""
    table = Table(title="How long each part took", title_justify="left", box=None)
    table.add_column("part")
    table.add_column("seconds", justify="right")
    for part, duration in seconds.items():
        table.add_row(part, f"{duration:.1f}")
    table.add_row("whole demo", f"{total:.1f}", style="bold")
    console.print(table)
    forward = f"-N -L {SERVER_PORT}:127.0.0.1:{SERVER_PORT}"
    console.print(
        f"The endpoint is http://127.0.0.1:{SERVER_PORT}/v1 on the server; it listens on loopback only. From here:\n"
        f"  {shlex.join(DROPLET)} ssh {NAME} {forward}\n"
        "Look inside:  make demo-ssh   (then: systemctl status vllm-nemotron, journalctl -u vllm-nemotron)\n"
        "Repeat:       make demo       (nothing changes)\n"
        "Remove:       make demo-down"
    )


if __name__ == "__main__":
    sys.exit(main())
