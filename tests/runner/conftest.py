# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# ansible-runner looks for ansible-playbook on the PATH; the one that belongs to this interpreter is meant.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

CHECKOUT = Path(__file__).resolve().parents[2]
DROPLET = CHECKOUT / "molecule" / "common" / "droplet"


class Droplet:
    """A local server; see molecule/common/droplet."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.inventory = folder / f"{name}.ini"

    def tool(self, *arguments: str) -> str:
        """Run the droplet tool for this server and return what it prints."""
        completed = subprocess.run([DROPLET, *arguments], check=True, stdout=subprocess.PIPE, text=True)
        return completed.stdout

    def up(self) -> None:
        """Start the server, or do nothing when it runs."""
        self.tool("up", self.name, "--release", "bookworm")
        self.inventory.write_text(self.tool("inventory", self.name), encoding="utf-8")

    def down(self) -> None:
        """Stop the server and forget its disk."""
        self.tool("down", self.name)

    def power_cut(self) -> None:
        """Stop the server as a power cut would; its disk stays."""
        self.tool("kill", self.name)

    def ssh(self, command: str) -> str:
        """Run a shell command on the server and return what it prints."""
        return self.tool("ssh", self.name, command)

    def verdict(self) -> dict[str, object]:
        """Return the verdict that verification left on the server."""
        loaded: dict[str, object] = json.loads(self.ssh("sudo cat /opt/nemotron/verdict.json"))
        return loaded

    @property
    def inventories(self) -> list[Path]:
        """The inventories that reach this server and hold the settings of the test grounds."""
        return [self.inventory, CHECKOUT / "inventories" / "demo"]


def run_until(droplet: Droplet, task: str, seconds: float, variables: Mapping[str, object] | None = None) -> None:
    """Run site.yml and kill it, with all its children, some seconds into a task."""
    inventories = [word for path in droplet.inventories for word in ("-i", str(path))]
    process = subprocess.Popen(
        ["ansible-playbook", "site.yml", *inventories, "--extra-vars", json.dumps(variables or {})],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A group of its own, all of which is killed; each header line of a task is seen when it is printed.
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("TASK [") and task in line:
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
            break
    else:
        pytest.fail(f"site.yml ended without a task named {task}")
    process.wait()


def _running(name: str, folder: Path) -> Iterator[Droplet]:
    droplet = Droplet(name, folder)
    droplet.down()
    droplet.up()
    yield droplet
    droplet.down()


@pytest.fixture(scope="module")
def bare(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Droplet]:
    """A server on which nothing was installed; tests with it must leave it so."""
    yield from _running(f"b-{_name(request)}", tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def droplet(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Droplet]:
    """A server for the tests of one file, which run in order."""
    yield from _running(f"r-{_name(request)}", tmp_path_factory.mktemp("droplet"))


def _name(request: pytest.FixtureRequest) -> str:
    """Return what makes a server's name that of one file, since two files can run at a time; it has to be short."""
    return request.path.stem.removeprefix("test_")[:8]
