# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drop-in is run by a real shell over real settings, as grub-mkconfig does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _grub
from ansible_collections.nemotron.vllm.plugins.module_utils._grub import Kept
from ansible_collections.nemotron.vllm.plugins.module_utils._kernel_cmdline import parse as parameters

SETTINGS = Path(__file__).resolve().parents[3] / "fixtures" / "grub"
DEBIAN = (SETTINGS / "debian-12").read_text(encoding="utf-8")
DEBIAN_CLOUD = (SETTINGS / "debian-cloud-12").read_text(encoding="utf-8")
UBUNTU_CLOUD = DEBIAN + (SETTINGS / "ubuntu-cloud-image-50-cloudimg-settings.cfg").read_text(encoding="utf-8")


def keeping(present: list[str] | None = None, absent: list[str] | None = None) -> Kept:
    return Kept(parameters("present", present or []), parameters("absent", absent or []))


def command_line(settings: str, kept: Kept) -> str:
    """Return what 10_linux would write behind "ro", from settings and our drop-in after them."""
    script = f'set -e\n{settings}\n{_grub.render(kept)}\nprintf %s "$GRUB_CMDLINE_LINUX|$GRUB_CMDLINE_LINUX_DEFAULT"\n'
    return subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout


V1 = "systemd.unified_cgroup_hierarchy=0"
WRITTEN = [
    pytest.param(DEBIAN, keeping(), "|quiet", id="nothing to keep"),
    pytest.param(DEBIAN, keeping([V1]), f" {V1}|quiet", id="appended"),
    pytest.param(UBUNTU_CLOUD, keeping([V1]), f" {V1}|console=tty1 console=ttyS0", id="beside a cloud image's own"),
    pytest.param(
        DEBIAN_CLOUD,
        keeping([V1], ["earlyprintk"]),
        f"console=tty0 console=ttyS0,115200 consoleblank=0 {V1}|",
        id="one taken out of the middle",
    ),
    pytest.param(
        f'GRUB_CMDLINE_LINUX="{V1[:-1]}1 a"\nGRUB_CMDLINE_LINUX_DEFAULT="b {V1[:-1]}1 {V1[:-1]}yes"',
        keeping([V1]),
        f"a {V1}|b",
        id="other values taken out of both, one after the other",
    ),
    pytest.param(
        'GRUB_CMDLINE_LINUX="nouveau-x.modeset=1 nouveau_x.modeset=1"',
        keeping(["nouveau_x.modeset=0"]),
        " nouveau_x.modeset=0|",
        id="dash and underscore",
    ),
    pytest.param(
        UBUNTU_CLOUD, keeping(["console=ttyS0"]), "|console=tty1 console=ttyS0", id="a repeatable one that is there"
    ),
    pytest.param(
        UBUNTU_CLOUD,
        keeping(["console=ttyS1", "hugepagesz=1G", "hugepages=4"]),
        " console=ttyS1 hugepagesz=1G hugepages=4|console=tty1 console=ttyS0",
        id="repeatable ones in their order",
    ),
    pytest.param(UBUNTU_CLOUD, keeping([], ["console=tty1"]), "|console=ttyS0", id="one value of a repeatable one"),
    pytest.param(
        'GRUB_CMDLINE_LINUX="dyndbg=\\"file quiet x\\" quiet"',
        keeping([], ["quiet"]),
        'dyndbg="file quiet x"|',
        id="a word inside of quotes stays",
    ),
    pytest.param(
        'GRUB_CMDLINE_LINUX="a=\\"x  y\\" b \\"c=d e\\""',
        keeping([], ["a", "c"]),
        "b|",
        id="quoted values are taken out whole",
    ),
    pytest.param(
        'GRUB_CMDLINE_LINUX=""', keeping(["m.dyndbg=file x +p"]), ' m.dyndbg="file x +p"|', id="a value with spaces"
    ),
    pytest.param(
        'GRUB_CMDLINE_LINUX="m.dyndbg=\\"file x +p\\" a"',
        keeping([], ["m.dyndbg=file x +p"]),
        "a|",
        id="a value with spaces taken out",
    ),
    pytest.param('GRUB_CMDLINE_LINUX="a.b=1 aXb=1"', keeping([], ["a.b"]), "aXb=1|", id="a dot is a dot"),
    pytest.param(
        'GRUB_CMDLINE_LINUX="ip=10.0.0.1::/24[x]*(y)|z b"',
        keeping([], ["ip=10.0.0.1::/24[x]*(y)|z"]),
        "b|",
        id="what means something to sed",
    ),
]


@pytest.mark.parametrize(("settings", "kept", "expected"), WRITTEN)
def test_what_the_shell_makes_of_it(settings: str, kept: Kept, expected: str) -> None:
    assert command_line(settings, kept) == expected
    assert _grub.parse(_grub.render(kept)) == kept, "what is kept must be read back"


MERGED = [
    pytest.param(keeping(["a=1"]), ["b"], [], keeping(["a=1", "b"]), id="earlier wishes stay"),
    pytest.param(keeping(["a=1", "b"]), ["a=2"], [], keeping(["b", "a=2"]), id="another value replaces"),
    pytest.param(keeping(["b", "a=1"]), ["a=1", "b"], [], keeping(["b", "a=1"]), id="repeating changes no order"),
    pytest.param(
        keeping(["console=ttyS0"]),
        ["console=ttyS1"],
        [],
        keeping(["console=ttyS0", "console=ttyS1"]),
        id="more of one name",
    ),
    pytest.param(keeping(["a=1", "b"]), [], ["a"], keeping(["b"]), id="ours is gone without a filter"),
    pytest.param(keeping(), [], ["quiet"], keeping([], ["quiet"]), id="theirs needs a filter"),
    pytest.param(keeping(), [], ["nomodeset"], keeping(), id="nobody has it"),
    pytest.param(keeping([], ["quiet"]), ["quiet"], [], keeping(["quiet"]), id="wished for again"),
    pytest.param(keeping([], ["quiet"]), ["b"], [], keeping(["b"], ["quiet"]), id="filters stay"),
    pytest.param(keeping([], ["a=1"]), ["b"], [], keeping(["b"]), id="a filter that has nothing to do goes"),
]


@pytest.mark.parametrize(("kept", "present", "absent", "expected"), MERGED)
def test_new_wishes_join_those_that_are_kept(kept: Kept, present: list[str], absent: list[str], expected: Kept) -> None:
    merged = _grub.merge(kept, parameters("present", present), parameters("absent", absent), [DEBIAN])
    assert merged == expected


MENU = """\
### BEGIN /etc/grub.d/00_header ###
linux /not/this/one root=x
### END /etc/grub.d/00_header ###
### BEGIN /etc/grub.d/10_linux ###
menuentry 'Debian GNU/Linux' --class debian {
\tlinux\t/boot/vmlinuz-6.1.0-37-amd64 root=UUID=5c1e ro console=ttyS0 a=1
\tinitrd\t/boot/initrd.img-6.1.0-37-amd64
}
submenu 'Advanced options' {
\t\tlinux\t/boot/vmlinuz-6.1.0-37-amd64 root=UUID=5c1e ro single console=ttyS0
}
### END /etc/grub.d/10_linux ###
### BEGIN /etc/grub.d/30_os-prober ###
linux /boot/other root=y
### END /etc/grub.d/30_os-prober ###
"""
STALE = [
    pytest.param(MENU, keeping(["a=1"]), "", id="as it should be"),
    pytest.param(MENU, keeping(["a=2", "b"]), "an entry without a=2, b", id="lacking"),
    pytest.param(MENU, keeping(["b"], ["console"]), "an entry without b and an entry with console=ttyS0", id="both"),
    pytest.param("", keeping(["a"]), "no entry for Linux", id="no menu"),
    pytest.param("", keeping([], ["a"]), "", id="no menu, nothing to have"),
]


@pytest.mark.parametrize(("menu", "kept", "expected"), STALE)
def test_the_menu_is_compared_with_what_is_kept(menu: str, kept: Kept, expected: str) -> None:
    assert _grub.stale(menu, kept.present, kept.absent) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"50-cloudimg-settings.cfg": 'GRUB_CMDLINE_LINUX=""'}, None),
        ({"zzz.cfg": "GRUB_TIMEOUT=1"}, None),
        ({"zzz.cfg": 'GRUB_CMDLINE_LINUX_DEFAULT=""'}, "zzz.cfg"),
    ],
)
def test_a_file_that_is_read_after_ours_is_named(names: dict[str, str], expected: str | None) -> None:
    assert _grub.read_after_ours(names) == expected


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ([], "no boot loader"),
        (["/boot/grub", "/run/systemd/container"], "a container, which has no kernel of its own"),
        (["/boot/loader"], "systemd-boot (/boot/loader)"),
    ],
)
def test_what_is_there_instead_of_grub(existing: list[str], expected: str) -> None:
    assert _grub.other_boot_loader(existing) == expected
