# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""NVIDIA's kernel module on disk, under the names that distributions give it."""

from __future__ import annotations

import typing as t

if t.TYPE_CHECKING:
    from ._host import Host

# Debian's packages rename the module and make modprobe load it for the usual name, which modinfo does not follow:
# https://packages.debian.org/bookworm/nvidia-kernel-dkms and .../nvidia-open-kernel-dkms
_NAMES = ("nvidia", "nvidia-current", "nvidia-current-open")


def modinfo(host: Host, field: str, kernel: str | None = None) -> str:
    """Return a field of the module that a kernel would load, the running one by default; empty if there is none."""
    of_kernel = ["-k", kernel] if kernel else []
    for name in _NAMES:
        said = host.ask(["modinfo", *of_kernel, "-F", field, name])
        if said.ok and said.stdout.strip():
            return said.stdout.strip()
    return ""
