# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What dpkg knows of the packages of a host: /var/lib/dpkg/status.

Source: https://manpages.debian.org/bookworm/dpkg/dpkg.1.en.html (package states)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIELDS = re.compile(r"^(Package|Status|Version|Maintainer|Depends): *(.*)$", re.MULTILINE)
_HALF = frozenset({"half-installed", "unpacked", "half-configured"})


@dataclass(frozen=True)
class Package:
    """One package in the status file."""

    name: str
    version: str = ""
    wanted: str = "install"
    """install, hold, deinstall or purge."""
    state: str = "installed"
    error: str = "ok"
    maintainer: str = ""
    depends: str = ""

    @property
    def installed(self) -> bool:
        """Whether it is there and configured."""
        return self.state == "installed"

    @property
    def held(self) -> bool:
        """Whether it is kept at its version."""
        return self.wanted == "hold"

    @property
    def half(self) -> bool:
        """Whether an installation of it did not come to its end."""
        return self.state in _HALF or self.error != "ok"

    @property
    def there(self) -> bool:
        """Whether any of it is left, if only its configuration."""
        return self.state != "not-installed"

    def needs(self, name: str) -> bool:
        """Tell whether it depends on a package."""
        return bool(re.search(rf"(?:^|[,|])\s*{re.escape(name)}(?:[\s:(,|]|$)", self.depends))


def parse(text: str) -> tuple[Package, ...]:
    """Return the packages; what is no package's paragraph is left out."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(_FIELDS.findall(paragraph))
        status = fields.get("Status", "").split()
        if fields.get("Package", "").strip() and len(status) == 3:  # noqa: PLR2004
            wanted, error, state = status
            found.append(
                Package(
                    fields["Package"].strip(),
                    fields.get("Version", "").strip(),
                    wanted,
                    state,
                    error,
                    fields.get("Maintainer", ""),
                    fields.get("Depends", ""),
                )
            )
    return tuple(found)
