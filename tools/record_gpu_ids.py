# Copyright (c) 2026, the nemotron.vllm contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write plugins/module_utils/_gpu_ids.py from a pci.ids file.

tools/record_gpu_ids.py [/usr/share/misc/pci.ids]; the file is in the package pci.ids of Debian and Ubuntu.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "plugins" / "module_utils" / "_gpu_ids.py"
VENDOR = re.compile(r"^(?P<vendor>[0-9a-f]{4})  ")
DEVICE = re.compile(r"^\t(?P<id>[0-9a-f]{4})  (?P<chip>(?:G[MPVAHB]|TU|AD)\d\w*[^M\W]) \[(?P<name>[^\]]+)\]$")
# No GPU of a server: notebooks, boards that were never sold, functions beside the GPU, bridges.
NOT_MEANT = re.compile(
    r"Laptop|Mobile|Max-Q / |Embedded|DRIVE|Jetson|Tegra|CMP|GRID|NVSwitch|"
    r"Engineering|Reserved|Initial|INT SKU|Generic|PG50"
)
HEADER = '''# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Names and chips of NVIDIA's GPUs by PCI device id, for hosts that have no driver.

Made by C(tools/record_gpu_ids.py) from the PCI ID database (https://pci-ids.ucw.cz), version {version}.
"""

from __future__ import annotations

GPU_IDS = {{
{rows}
}}
'''


def devices(text: str) -> dict[str, tuple[str, str]]:
    """Return chip and name of each GPU by its device id."""
    vendor, found = "", {}
    for line in text.splitlines():
        if begins := VENDOR.match(line):
            vendor = begins["vendor"]
        device = DEVICE.match(line)
        if vendor == "10de" and device and not NOT_MEANT.search(device["name"]):
            found[device["id"]] = (device["chip"], device["name"])
    return found


def main() -> int:
    """Write the table."""
    text = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/misc/pci.ids").read_text(encoding="utf-8")
    version = re.search(r"^#\s*Version: (\S+)", text, re.MULTILINE)
    found = devices(text)
    if not version or not found:
        sys.stderr.write("this is no pci.ids file: needed a line '# Version:' and devices of vendor 10de\n")
        return 1
    rows = "\n".join(f'    "{device}": ("{chip}", "{name}"),' for device, (chip, name) in sorted(found.items()))
    TABLE.write_text(HEADER.format(version=version[1], rows=rows), encoding="utf-8")
    print(f"{TABLE.name}: {len(found)} GPUs of version {version[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
