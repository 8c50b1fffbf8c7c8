# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The facts about GPUs and their driver that the layers of the version triple share."""

from __future__ import annotations

import fnmatch
import os
import re
import typing as t
from dataclasses import dataclass

from . import _driver_files as driver_files
from ._compatibility import (
    ARCHITECTURES,
    architecture_of,
    gpu_by_pci_id,
    newest_long_term_branch,
    version_tuple,
)
from ._errors import NemotronError

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._host import Host

_LIBCUDA = "libcuda.so.1"
_USUAL_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
_LINKS, _INCLUDES = 5, 5


@dataclass(frozen=True)
class DriverHost:
    """What the driver layer asks of a host beside its GPU facts."""

    kernel: str | None = None
    """Release of the running kernel."""
    headers: bool | None = None
    """Whether the headers of the running kernel are there."""
    libcuda: str | None = None
    """The libcuda.so.1 that a server finds first, with its links followed."""
    libcuda_because: str = ""
    """What puts it first: LD_LIBRARY_PATH or the loader's own configuration."""

    @property
    def libcuda_version(self) -> str | None:
        """The driver version in the file's name."""
        return driver_files.version_of_library(self.libcuda or "")

    @property
    def libcuda_is_compat(self) -> bool:
        """Whether it belongs to a cuda-compat package, which has a folder of its own below the toolkit."""
        return "/compat/" in (self.libcuda or "")


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver layer sees it."""

    name: str
    architecture: str | None
    compute_capability: str | None
    kernel_driver: str | None


def gpus_of(gpu: Mapping[str, t.Any]) -> tuple[Gpu, ...]:
    """Return the GPUs of the facts, with what their PCI ids tell where a driver has told nothing."""
    found = []
    for item in gpu.get("gpus") or ():
        by_id = gpu_by_pci_id(item.get("pci_id") or "")
        capability = item.get("compute_capability") or (by_id.compute_capability if by_id else None)
        known = architecture_of(capability) if capability else None
        architecture = item.get("architecture") or (by_id.architecture if by_id else None)
        found.append(
            Gpu(
                item.get("name") or (by_id.name if by_id else "GPU"),
                architecture if architecture in ARCHITECTURES else known.name if known else None,
                capability,
                item.get("kernel_driver"),
            )
        )
    return tuple(found)


def known_version(version: object) -> str | None:
    """Return a driver version that can be compared, None for anything else."""
    try:
        return version if isinstance(version, str) and version_tuple(version) else None
    except NemotronError:
        return None


def driver_version(gpu: Mapping[str, t.Any]) -> str | None:
    """Return the version of the driver that counts: the loaded one, else the one that will be."""
    driver = gpu.get("driver") or {}
    versions = map(known_version, (driver.get("loaded"), driver.get("on_disk"), driver.get("user_space")))
    return next((version for version in versions if version), None)


def wanted_branch(gpus: Sequence[Gpu]) -> str:
    """Return the branch to install for these GPUs, in words."""
    branch = newest_long_term_branch(gpu.compute_capability for gpu in gpus if gpu.compute_capability)
    return str(branch.number) if branch else "one that runs all GPUs of this host"


def driver_host(host: Host, library_path: Sequence[str] = (), mapped: Sequence[str] = ()) -> DriverHost:
    """Read from a host what the driver layer asks beside the GPU facts.

    I(library_path) are the folders of the server's LD_LIBRARY_PATH; I(mapped) are the libraries in a process that ran
    with it, which tell best which libcuda.so.1 is found.
    """
    kernel = host.ask(["uname", "-r"]).stdout.strip() or (host.read("/proc/sys/kernel/osrelease") or "").strip() or None
    loaded = next((path for path in mapped if re.search(r"/libcuda\.so\.", path)), None)
    path = loaded or first_libcuda(host, library_path)
    folder = path.rpartition("/")[0] if path else ""
    because = "the loader's cache, made from /etc/ld.so.conf"
    if any(folder == given.rstrip("/") for given in library_path):
        because = "LD_LIBRARY_PATH"
    return DriverHost(
        kernel=kernel,
        headers=has_headers(host, kernel) if kernel else None,
        libcuda=follow(host, path) if path else None,
        libcuda_because=because if path else "",
    )


def has_headers(host: Host, kernel: str) -> bool:
    """Tell whether modules can be built for a kernel; the link to its headers is there without them too."""
    build = f"/lib/modules/{kernel}/build"
    target = host.link(build)
    if target is None:
        return bool(host.names(build))
    return bool(host.names(target if target.startswith("/") else f"/lib/modules/{kernel}/{target}"))


def first_libcuda(host: Host, library_path: Sequence[str] = ()) -> str | None:
    """Return the libcuda.so.1 that the loader takes: from LD_LIBRARY_PATH, its cache, or the folders it is told."""
    for folder in library_path:
        if host.exists(f"{folder}/{_LIBCUDA}"):
            return f"{folder.rstrip('/')}/{_LIBCUDA}"
    cached = driver_files.library_paths(host.ask(["ldconfig", "-p"]).stdout, _LIBCUDA)
    if cached:
        return cached[0]
    for folder in (*configured_folders(host, "/etc/ld.so.conf"), *_USUAL_FOLDERS):
        if host.exists(f"{folder}/{_LIBCUDA}"):
            return f"{folder.rstrip('/')}/{_LIBCUDA}"
    return None


def configured_folders(host: Host, path: str, depth: int = 0) -> tuple[str, ...]:
    """Return the folders in a configuration of ldconfig and in what it includes, in order; as in ldconfig(8)."""
    folders: list[str] = []
    for line in (host.read(path) or "").splitlines():
        entry = line.partition("#")[0].strip()
        keyword, _space, pattern = entry.partition(" ")
        if keyword == "include" and depth < _INCLUDES:
            pattern = os.path.join(os.path.dirname(path), pattern.strip())
            parent, name = os.path.split(pattern)
            for included in fnmatch.filter(host.names(parent), name):
                folders += configured_folders(host, f"{parent}/{included}", depth + 1)
        elif entry.startswith("/"):
            folders.append(entry)
    return tuple(folders)


def follow(host: Host, path: str) -> str:
    """Return the path at the end of a chain of links, its folder's links left alone."""
    for _link in range(_LINKS):
        target = host.link(path)
        if target is None:
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return path
