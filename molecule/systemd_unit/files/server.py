# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that starts, logs, answers and dies as vLLM does, without a model.

Usage: server.py --config FILE; the file has the lines "port:" and "behaviour:".

good     comes up and answers
drains   does so, and takes three seconds to end
fragile  comes up, and its engine dies on the first question
dies     dies while it loads
ends     ends while it loads, with success
hangs    never comes up
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import sys
import time
from typing import Any

PIECES = ("It is", " Berlin.")


class Server(http.server.ThreadingHTTPServer):
    """Shares its port with anybody, as vLLM does."""

    behaviour = ""

    def server_bind(self) -> None:
        """Bind with SO_REUSEPORT."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers /health, names its model, and knows one capital."""

    server: Server

    def reply(self, content: dict[str, Any]) -> None:
        """Send one JSON object."""
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Say that all is well."""
        self.reply({"data": [{"id": "stand-in"}]} if self.path == "/v1/models" else {})

    def do_POST(self) -> None:
        """Answer a question, whole or in pieces."""
        if self.server.behaviour == "fragile":
            say("(Engine pid=2) ERROR 12-01 11:16:20 [core.py:1] RuntimeError: the stand-in is fragile")
            say("(APIServer pid=1) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.")
            os._exit(0)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not asked["stream"]:
            self.reply({"choices": [{"message": {"content": "".join(PIECES)}}]})
            return
        self.send_response(200)
        self.end_headers()
        events = [json.dumps({"choices": [{"delta": {"content": text}}]}) for text in PIECES]
        for event in [*events, "[DONE]"]:
            self.wfile.write(f"data: {event}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.05)


def say(line: str) -> None:
    """Write a line to the journal."""
    print(line, flush=True)


def main() -> None:
    """Behave as the configuration says."""
    with open(sys.argv[2], encoding="utf-8") as stream:
        options = dict(line.strip().split(": ") for line in stream if ": " in line)
    behaviour = options["behaviour"]

    def end(*_: object) -> None:
        time.sleep(3 if behaviour == "drains" else 0)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    say("(APIServer pid=1) INFO 12-01 11:16:03 [utils.py:350] non-default args: {}")
    if behaviour == "ends":
        sys.exit(0)
    time.sleep(0.5)
    say("(EngineCore pid=2) INFO 12-01 11:16:15 [cpu_worker.py:1] Starting to load model /x...")
    if behaviour == "dies":
        say("(Engine pid=2) ERROR 12-01 11:16:20 [core.py:1] ValueError: the stand-in is out of memory")
        say("(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.")
        sys.exit(1)
    time.sleep(600 if behaviour == "hangs" else 0.5)
    server = Server(("127.0.0.1", int(options["port"])), Handler)
    server.behaviour = behaviour
    say("INFO:     Application startup complete.")
    server.serve_forever()


if __name__ == "__main__":
    main()
