# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The address of a server, as a user gives it."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass

from ._errors import NemotronError

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class BaseUrl:
    """The address of a server, without a slash at its end."""

    text: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine's own, to which no proxy leads."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


def parse_base_url(option: str, text: str) -> BaseUrl:
    """Return the address in C(text); raise NemotronError, naming the option, when there is none."""
    try:
        parts = urllib.parse.urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in _DEFAULT_PORTS or parts.path.strip("/") or parts.query or parts.fragment:
        raise NemotronError(
            f"{option}: found {text!r}; needed the address of the server without a path, "
            "for example http://127.0.0.1:8000."
        )
    default = _DEFAULT_PORTS[parts.scheme]
    return BaseUrl(f"{parts.scheme}://{parts.netloc}", host, default if port is None else port)
