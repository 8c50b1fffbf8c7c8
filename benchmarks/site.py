# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long site.yml takes on a local server, beside what nobody can beat.

C(benchmarks/run second) times a second run, and the same in check mode, against as many tasks of ansible.builtin.ping
on the same connection. C(benchmarks/run bare) times a bare server to a checked answer against a shell script that does
the same steps. Medians are printed; nothing here decides whether a test passes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DROPLET = CHECKOUT / "molecule" / "common" / "droplet"
NAME = "bench"
BY_HAND = CHECKOUT / "benchmarks" / "by_hand.sh"


def main() -> int:
    """Time what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["second", "bare", "all"], nargs="?", default="all")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder) / "droplets.ini"
        if arguments.what in ("second", "all"):
            second_run(inventory, arguments.runs)
        if arguments.what in ("bare", "all"):
            bare_to_answer(inventory, arguments.runs)
    return 0


def second_run(inventory: Path, runs: int) -> None:
    """Time a converged server."""
    up(inventory)
    playbook(inventory, "site.yml")
    tasks = count_tasks(playbook(inventory, "site.yml"))
    pings = inventory.with_name("ping.yml")
    pings.write_text(ping_playbook(tasks), encoding="utf-8")
    floor = median(runs, lambda: playbook(inventory, str(pings)))
    again = median(runs, lambda: playbook(inventory, "site.yml"))
    check = median(runs, lambda: playbook(inventory, "site.yml", "--check", "--diff"))
    print(f"tasks a host                    {tasks:8d}")
    print(f"floor: as many pings            {floor:8.1f} s")
    print(f"second run                      {again:8.1f} s   {again / floor:.2f} x the floor")
    print(f"second run in check mode        {check:8.1f} s   {check / floor:.2f} x the floor")


def bare_to_answer(inventory: Path, runs: int) -> None:
    """Time a bare server to a checked answer, both ways in turn; the server itself is made anew outside the time."""
    ours, script = [], []
    for _run in range(runs):
        up(inventory, fresh=True)
        ours.append(seconds(lambda: playbook(inventory, "site.yml")))
        up(inventory, fresh=True)
        for lock in ("uv.txt", "locks/vllm-0.32.0-cpu.txt"):
            copy(CHECKOUT / "roles" / "conda_env" / "files" / lock)
        script.append(seconds(lambda: tool("ssh", NAME, BY_HAND.read_text(encoding="utf-8"))))
    by_hand, with_ansible = statistics.median(script), statistics.median(ours)
    print(f"bare to answer, shell script    {by_hand:8.1f} s")
    print(f"bare to answer, site.yml        {with_ansible:8.1f} s   {with_ansible / by_hand:.2f} x the script")


def up(inventory: Path, *, fresh: bool = False) -> None:
    """Have a server, a bare one when asked for."""
    if fresh:
        tool("down", NAME)
    tool("up", NAME, "--release", "bookworm")
    inventory.write_text(tool("inventory", NAME), encoding="utf-8")


def tool(*arguments: str) -> str:
    """Run the droplet tool."""
    return subprocess.run([DROPLET, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def copy(file: Path) -> None:
    """Copy a file into /tmp on the server."""
    with file.open("rb") as stream:
        subprocess.run([DROPLET, "ssh", NAME, f"cat > /tmp/{file.name}"], check=True, stdin=stream)


def playbook(inventory: Path, name: str, *options: str) -> str:
    """Run a playbook; return its output, or end with it when it fails."""
    completed = subprocess.run(
        ["ansible-playbook", name, "-i", inventory, "-i", CHECKOUT / "inventories" / "demo", *options],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if completed.returncode:
        sys.exit(completed.stdout)
    return completed.stdout


def count_tasks(output: str) -> int:
    """Return how many task headers a run printed."""
    return sum(line.startswith("TASK [") for line in output.splitlines())


def ping_playbook(tasks: int) -> str:
    """Return a playbook with as many pings."""
    ping = "    - name: Ping\n      ansible.builtin.ping:\n"
    return "---\n- hosts: droplets\n  become: true\n  gather_facts: false\n  tasks:\n" + ping * tasks


def median(runs: int, action: Callable[[], object]) -> float:
    """Return the median seconds of an action, after one run that does not count."""
    action()
    return statistics.median(seconds(action) for _run in range(runs))


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    start = time.monotonic()
    action()
    return time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main())
