# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module on captured hosts, where it writes nothing; what it writes is tested on servers that boot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.nemotron.vllm.plugins.modules import kernel_cmdline

Run = Callable[..., dict[str, Any]]
MENU = """\
### BEGIN /etc/grub.d/10_linux ###
\tlinux\t/boot/vmlinuz root=/dev/vda1 ro {words}
### END /etc/grub.d/10_linux ###
"""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "usr/sbin/update-grub": "",
            "boot/grub/grub.cfg": MENU.format(words="quiet"),
            "etc/default/grub": 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n',
            "proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro quiet\n",
        },
    )
    return tmp_path


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_module(**arguments: Any) -> dict[str, Any]:
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        with patch_module_args({"root": str(root), "_ansible_diff": True, **arguments}), pytest.raises(SystemExit):
            kernel_cmdline.main()
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return run_module


def test_a_new_parameter(run: Run) -> None:
    result = run(present=["a=1"])
    assert result["changed"]
    assert result["menu_updated"]
    assert result["reboot_required"]
    assert result["pending"] == {"added": ["a=1"], "removed": []}
    assert result["diff"]["before"] == ""
    assert "# present: a=1\n" in result["diff"]["after"]


def test_nothing_wished_for(run: Run) -> None:
    result = run()
    assert (result["changed"], result["reboot_required"]) == (False, False)


def test_one_that_was_written_and_never_booted(run: Run, root: Path) -> None:
    text = run(present=["a=1"])["diff"]["after"]
    write(root, {"etc/default/grub.d/zz-nemotron.cfg": text, "boot/grub/grub.cfg": MENU.format(words="a=1 quiet")})
    result = run(present=["a=1"])
    assert (result["changed"], result["reboot_required"]) == (False, True)


def test_one_that_was_written_by_a_run_that_was_killed_before_update_grub(run: Run, root: Path) -> None:
    write(root, {"etc/default/grub.d/zz-nemotron.cfg": run(present=["a=1"])["diff"]["after"]})
    result = run(present=["a=1"])
    assert result["changed"]
    assert result["menu_updated"]
    assert result["diff"]["before"] == result["diff"]["after"]


def test_all_done(run: Run, root: Path) -> None:
    text = run(present=["a=1"])["diff"]["after"]
    write(
        root,
        {
            "etc/default/grub.d/zz-nemotron.cfg": text,
            "boot/grub/grub.cfg": MENU.format(words="a=1 quiet"),
            "proc/cmdline": "ro a=1 quiet",
        },
    )
    result = run(present=["a=1"])
    assert (result["changed"], result["reboot_required"]) == (False, False)
    back = run(absent=["a"])
    assert (back["changed"], back["reboot_required"]) == (True, True)
    assert back["pending"] == {"added": [], "removed": ["a=1"]}
    assert back["diff"]["after"] == ""


def test_absence_of_what_others_set(run: Run) -> None:
    result = run(absent=["quiet"])
    assert result["changed"]
    assert result["pending"] == {"added": [], "removed": ["quiet"]}
    assert "# absent: quiet\n" in result["diff"]["after"]


def test_a_host_without_grub_is_told_what_it_has(run: Run, root: Path) -> None:
    (root / "usr/sbin/update-grub").unlink()
    write(root, {"boot/loader/loader.conf": ""})
    result = run(present=["a=1"])
    assert result["failed"]
    assert result["msg"] == (
        "found systemd-boot (/boot/loader) and no /usr/sbin/update-grub; needed GRUB as Debian and Ubuntu set it up. "
        "Set the kernel parameters where this host's boot loader has them."
    )


def test_a_file_that_is_read_after_ours_is_refused(run: Run, root: Path) -> None:
    write(root, {"etc/default/grub.d/zzz-late.cfg": 'GRUB_CMDLINE_LINUX="b"\n'})
    result = run(present=["a=1"])
    assert result["failed"]
    assert result["msg"] == (
        "/etc/default/grub.d/zzz-late.cfg sets the kernel parameters and is read after zz-nemotron.cfg; "
        "needed to be the last one. Rename that file so that its name comes before."
    )


def test_bad_input_is_refused(run: Run) -> None:
    assert run(present=["a=1", "a=2"])["msg"] == (
        "present: found a=1 and a=2; needed one of them, as the last one would win."
    )
