# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is read from a host for the driver layer: the libcuda that is found first, the kernel and its headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_host import (
    DriverHost,
    configured_folders,
    driver_host,
    first_libcuda,
    gpus_of,
    wanted_branch,
)

DRIVER = "usr/lib/x86_64-linux-gnu"
COMPAT = "usr/local/cuda-12.9/compat"
CACHE = """2 libs found in cache `/etc/ld.so.cache'
\tlibcuda.so.1 (libc6) => /usr/lib/i386-linux-gnu/libcuda.so.1
\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1
"""


def write(root: Path, path: str, text: str = "") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a captured host with the driver's libcuda and one of cuda-compat, which nothing puts first."""
    for folder, version in ((DRIVER, "580.159.04"), (COMPAT, "575.57.08")):
        write(tmp_path, f"{folder}/libcuda.so.{version}")
        (tmp_path / folder / "libcuda.so.1").symlink_to(f"libcuda.so.{version}")
    write(tmp_path, "etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    write(tmp_path, "etc/ld.so.conf.d/x86_64-linux-gnu.conf", "# Multiarch support\n/usr/lib/x86_64-linux-gnu\n")
    return tmp_path


def test_the_driver_comes_first(root: Path) -> None:
    host = driver_host(Host(str(root)))
    assert host.libcuda == f"/{DRIVER}/libcuda.so.580.159.04"
    assert (host.libcuda_version, host.libcuda_is_compat) == ("580.159.04", False)


def test_cuda_compat_in_front_in_ld_so_conf(root: Path) -> None:
    write(root, "etc/ld.so.conf.d/000-cuda.conf", f"/{COMPAT}\n")
    host = driver_host(Host(str(root)))
    assert host.libcuda == f"/{COMPAT}/libcuda.so.575.57.08"
    assert host.libcuda_because == "the loader's cache, made from /etc/ld.so.conf"
    assert (host.libcuda_version, host.libcuda_is_compat) == ("575.57.08", True)


def test_the_cache_counts_more_than_its_configuration(root: Path) -> None:
    write(root, "etc/ld.so.conf.d/000-cuda.conf", f"/{COMPAT}\n")
    write(root, "commands/ldconfig_-p", CACHE)
    assert first_libcuda(Host(str(root))) == f"/{DRIVER}/libcuda.so.1"


def test_ld_library_path_counts_most(root: Path) -> None:
    write(root, "commands/ldconfig_-p", CACHE)
    host = driver_host(Host(str(root)), ["/nothing", f"/{COMPAT}/"])
    assert (host.libcuda, host.libcuda_because) == (f"/{COMPAT}/libcuda.so.575.57.08", "LD_LIBRARY_PATH")


def test_what_a_process_has_loaded_counts_before_all(root: Path) -> None:
    mapped = ["/e/libc10.so", f"/{COMPAT}/libcuda.so.575.57.08"]
    host = driver_host(Host(str(root)), [], mapped)
    assert host.libcuda == mapped[1]


def test_a_host_that_has_nothing(tmp_path: Path) -> None:
    assert driver_host(Host(str(tmp_path))) == DriverHost()


def test_configured_folders(tmp_path: Path) -> None:
    write(tmp_path, "etc/ld.so.conf", "/first\ninclude ld.so.conf.d/*.conf\n/last # trailing\nhwcap 1 nosegneg\n")
    write(tmp_path, "etc/ld.so.conf.d/b.conf", "/b\n")
    write(tmp_path, "etc/ld.so.conf.d/a.conf", "/a\ninclude /etc/ld.so.conf\n")
    write(tmp_path, "etc/ld.so.conf.d/a.txt", "/no\n")
    folders = configured_folders(Host(str(tmp_path)), "/etc/ld.so.conf")
    assert (folders[0], folders[-1]) == ("/first", "/last")
    assert set(folders) == {"/first", "/a", "/b", "/last"}


@pytest.mark.parametrize(("headers", "expected"), [(True, True), (False, False)])
@pytest.mark.parametrize("target", ["/usr/src/linux-headers-6.8.0", "../../../usr/src/linux-headers-6.8.0", None])
def test_headers(tmp_path: Path, target: str | None, headers: bool, expected: bool) -> None:
    write(tmp_path, "commands/uname_-r", "6.8.0\n")
    build = tmp_path / "lib/modules/6.8.0/build"
    build.parent.mkdir(parents=True)
    if target:
        build.symlink_to(target)
    if headers:
        write(tmp_path, "usr/src/linux-headers-6.8.0/Makefile" if target else "lib/modules/6.8.0/build/Makefile")
    host = driver_host(Host(str(tmp_path)))
    assert (host.kernel, host.headers) == ("6.8.0", expected)


def test_the_kernel_without_uname(tmp_path: Path) -> None:
    write(tmp_path, "proc/sys/kernel/osrelease", "6.1.0-30-cloud-amd64\n")
    assert driver_host(Host(str(tmp_path))).kernel == "6.1.0-30-cloud-amd64"


def test_gpus_are_known_by_their_pci_ids() -> None:
    known, unknown = gpus_of({"gpus": [{"pci_id": "10de:1db5"}, {"name": "new", "architecture": "Rubin"}]})
    assert (known.architecture, known.compute_capability) == ("Volta", "7.0")
    assert (unknown.name, unknown.architecture, unknown.compute_capability) == ("new", None, None)
    assert wanted_branch([known]) == "580"
