# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that starts, logs and dies as vLLM does, without a model.

Usage: server.py --config FILE; the file has the lines "port:" and "behaviour:".
"""

from __future__ import annotations

import http.server
import socket
import sys
import time


class Server(http.server.ThreadingHTTPServer):
    """Shares its port with anybody, as vLLM does."""

    def server_bind(self) -> None:
        """Bind with SO_REUSEPORT."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers /health."""

    def do_GET(self) -> None:
        """Say that all is well."""
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()


def main() -> None:
    """Behave as the configuration says."""
    with open(sys.argv[2], encoding="utf-8") as stream:
        options = dict(line.strip().split(": ") for line in stream if ": " in line)
    print("(APIServer pid=1) INFO 12-01 11:16:03 [utils.py:350] non-default args: {}", flush=True)
    time.sleep(1)
    if options["behaviour"] == "ends":
        sys.exit(0)
    print("(EngineCore pid=2) INFO 12-01 11:16:15 [cpu_worker.py:1] Starting to load model /x...", flush=True)
    if options["behaviour"] == "dies":
        print("(Engine pid=2) ERROR 12-01 11:16:20 [core.py:1] ValueError: the stand-in is out of memory", flush=True)
        print("(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.", flush=True)
        sys.exit(1)
    time.sleep(600 if options["behaviour"] == "hangs" else 1)
    print("INFO:     Application startup complete.", flush=True)
    Server(("127.0.0.1", int(options["port"])), Handler).serve_forever()


if __name__ == "__main__":
    main()
