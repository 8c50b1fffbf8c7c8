# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import tarfile
from dataclasses import replace

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _source_wheel
from ansible_collections.nemotron.vllm.plugins.module_utils._source_wheel import Inputs, Misfit

INPUTS = Inputs(
    source="a" * 64,
    patches=("b" * 64, "c" * 64),
    environment={"VLLM_TARGET_DEVICE": "cpu"},
    environment_files={"VLLM_PRECOMPILED_WHEEL_LOCATION": "d" * 64},
    python="3.11",
    packages={"torch": "2.13.0+cpu"},
)


def test_the_hash_of_inputs_does_not_change_between_releases() -> None:
    assert INPUTS.digest() == "393744eecaab076b69566b091196f1217567578b78714c36ecdfbc695e612f67"


@pytest.mark.parametrize(
    "other",
    [
        replace(INPUTS, source="e" * 64),
        replace(INPUTS, patches=("c" * 64, "b" * 64)),
        replace(INPUTS, patches=("b" * 64,)),
        replace(INPUTS, environment={"VLLM_TARGET_DEVICE": "cuda"}),
        replace(INPUTS, environment={}),
        replace(INPUTS, environment_files={"VLLM_PRECOMPILED_WHEEL_LOCATION": "e" * 64}),
        replace(INPUTS, python="3.12"),
        replace(INPUTS, packages={"torch": "2.14.0+cpu"}),
        replace(INPUTS, packages={"torch": None}),
    ],
)
def test_every_input_counts(other: Inputs) -> None:
    assert other.digest() != INPUTS.digest()


def test_the_order_of_settings_does_not_count() -> None:
    one = replace(INPUTS, environment={"A": "1", "B": "2"})
    assert one.digest() == replace(INPUTS, environment={"B": "2", "A": "1"}).digest()


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ def f():\n", True),
        ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hi\n", True),
        ("", False),
        ("hello\n", False),
        ("text that mentions @@ -1 +1 @@\n", False),
    ],
)
def test_has_hunk(patch: str, expected: bool) -> None:
    assert _source_wheel.has_hunk(patch) is expected


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("Pass the size on.\n\nMore about it.\n\n--- a/x\n+++ b/x\n", "Pass the size on."),
        (
            "From 0123 Mon\nSubject: [PATCH 1/2] Pass the size on\n---\n x | 2 +-\ndiff --git a/x b/x\n",
            "Pass the size on",
        ),
        ("diff --git a/x b/x\n--- a/x\n", ""),
        ("--- a/x\n+++ b/x\nSubject: not this\n", ""),
    ],
)
def test_purpose(patch: str, expected: str) -> None:
    assert _source_wheel.purpose(patch) == expected


# What GNU patch 2.7.6 printed in dry runs.
MISFITS: list[tuple[str, str, list[Misfit]]] = [
    (
        "a hunk that does not fit",
        "checking file vllm/x.py\nchecking file vllm/y.py\nHunk #1 succeeded at 4 (offset 2 lines).\n"
        "Hunk #2 FAILED at 27.\n1 out of 2 hunks FAILED\n",
        [Misfit("vllm/y.py", "2", "the lines that it replaces are not there around line 27")],
    ),
    (
        "a file that is not there",
        "can't find file to patch at input line 4\nPerhaps you used the wrong -p or --strip option?\n"
        "The text leading up to this was:\n--------------------------\n|diff -ruN a/vllm/x.py a/vllm/x.py\n"
        "|--- a/vllm/x.py\t2026-12-01 11:10:06.699926381 +0000\n|+++ b/vllm/x.py\t2026-12-01 11:10:06.704125707 +0000\n"
        "--------------------------\nNo file to patch.  Skipping patch.\n1 out of 1 hunk ignored\n"
        "checking file vllm/y.py\nHunk #2 FAILED at 27.\n1 out of 2 hunks FAILED\n",
        [
            Misfit("vllm/x.py", None, "is not in the source"),
            Misfit("vllm/y.py", "2", "the lines that it replaces are not there around line 27"),
        ],
    ),
    (
        "half of it applied already",
        "checking file vllm/x.py\nReversed (or previously applied) patch detected!  Skipping patch.\n"
        "1 out of 1 hunk ignored\nchecking file 'vllm/with space.py'\nHunk #1 FAILED at 2.\n",
        [
            Misfit("vllm/x.py", None, "has this change already"),
            Misfit("vllm/with space.py", "1", "the lines that it replaces are not there around line 2"),
        ],
    ),
    (
        "a file that is there already",
        "The next patch would create the file vllm/new.py,\nwhich already exists!  Skipping patch.\n"
        "1 out of 1 hunk ignored\n",
        [Misfit("vllm/new.py", None, "would be created and is there already")],
    ),
    (
        "a patch cut short",
        "checking file vllm/x.py\npatch: **** malformed patch at line 12: \n",
        [Misfit("the patch file itself", None, "malformed patch at line 12: ")],
    ),
    ("something new", "who knows\n", []),
]


@pytest.mark.parametrize(("printed", "expected"), [case[1:] for case in MISFITS], ids=[case[0] for case in MISFITS])
def test_misfits(printed: str, expected: list[Misfit]) -> None:
    assert _source_wheel.misfits(printed) == expected


def test_a_misfit_in_words() -> None:
    assert Misfit("vllm/y.py", "2", "is not there").describe() == "vllm/y.py, hunk 2: is not there"
    assert Misfit("vllm/y.py", None, "is not there").describe() == "vllm/y.py: is not there"


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


@pytest.mark.parametrize(
    ("info", "why"),
    [
        (member("vllm-0.32.0/setup.py"), None),
        (member("vllm-0.32.0/a/link", tarfile.SYMTYPE, "../setup.py"), None),
        (member("vllm-0.32.0/a/link", tarfile.LNKTYPE, "vllm-0.32.0/setup.py"), None),
        (member("..name/setup.py"), None),
        (member("/etc/passwd"), "/etc/passwd leads out of the archive's folder"),
        (member("../../etc/passwd"), "../../etc/passwd leads out of the archive's folder"),
        (member("a/../../b"), "a/../../b leads out of the archive's folder"),
        (member("a/link", tarfile.SYMTYPE, "../../etc"), "a/link leads out of the archive's folder"),
        (member("a/link", tarfile.SYMTYPE, "/etc"), "a/link leads out of the archive's folder"),
        (member("a/link", tarfile.LNKTYPE, "../etc"), "a/link leads out of the archive's folder"),
        (member("a/disk", tarfile.BLKTYPE), "a/disk is a device"),
        (member("a/pipe", tarfile.FIFOTYPE), "a/pipe is a device"),
    ],
)
def test_unsafe_member(info: tarfile.TarInfo, why: str | None) -> None:
    assert _source_wheel.unsafe_member(info) == why


LOGS: list[tuple[str, str, tuple[int, str] | None]] = [
    (
        "gcc",
        "[1/3] c++ -O2 good.cpp\n[2/3] c++ -O2 bad.cpp\nFAILED: bad.o\nc++ -O2 -Werror=return-type bad.cpp\n"
        "bad.cpp: In function 'int main()':\nbad.cpp:3:5: warning: unused variable\n"
        "bad.cpp:4:12: error: 'undefined_thing' was not declared in this scope\nbad.cpp:9:1: error: expected '}'\n"
        "ninja: build stopped: subcommand failed.\nTraceback (most recent call last):\n"
        "subprocess.CalledProcessError: Command '['ninja']' returned non-zero exit status 1.\n"
        "error: Failed to build `/tmp/x`\n",
        (7, "bad.cpp:4:12: error: 'undefined_thing' was not declared in this scope"),
    ),
    (
        "a missing header",
        "In file included from x.cpp:1:\nx.cpp:1:10: fatal error: Python.h: No such file or directory\n",
        (2, "x.cpp:1:10: fatal error: Python.h: No such file or directory"),
    ),
    (
        "nvcc",
        'kernel.cu(12): error: identifier "foo" is undefined\n',
        (1, 'kernel.cu(12): error: identifier "foo" is undefined'),
    ),
    (
        "cmake",
        "-- Detecting CXX compiler\nCMake Error at CMakeLists.txt:14 (find_package):\n  Could not find a package\n\n"
        "  configuration file\n-- Configuring incomplete, errors occurred!\n",
        (2, "CMake Error at CMakeLists.txt:14 (find_package):\n  Could not find a package\n  configuration file"),
    ),
    (
        "the linker",
        "[5/5] Linking\n/usr/bin/ld: x.o: in function `main':\nx.cpp:(.text+0x5): undefined reference to `foo()'\n"
        "collect2: error: ld returned 1 exit status\n",
        (3, "x.cpp:(.text+0x5): undefined reference to `foo()'"),
    ),
    (
        "out of memory",
        "[1/3] c++ big.cpp\nc++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
        (2, "c++: fatal error: Killed signal terminated program cc1plus"),
    ),
    (
        "disk full",
        "writing x\nOSError: [Errno 28] No space left on device\n",
        (2, "OSError: [Errno 28] No space left on device"),
    ),
    (
        "python",
        'Traceback (most recent call last):\n  File "setup.py", line 3, in <module>\n'
        "ModuleNotFoundError: No module named 'torch'\n\nhint: This error likely indicates\n",
        (3, "ModuleNotFoundError: No module named 'torch'"),
    ),
    (
        "rust",
        "   Compiling x\nerror[E0432]: unresolved import `y`\nerror: could not compile `x`\n",
        (2, "error[E0432]: unresolved import `y`"),
    ),
    (
        "a missing compiler",
        "running build_ext\nerror: command 'gcc' failed: No such file or directory\n",
        (2, "error: command 'gcc' failed: No such file or directory"),
    ),
    ("nothing that looks like one", "all went well\n0 errors\n", None),
]


@pytest.mark.parametrize(("log", "expected"), [case[1:] for case in LOGS], ids=[case[0] for case in LOGS])
def test_first_error(log: str, expected: tuple[int, str] | None) -> None:
    assert _source_wheel.first_error(log) == expected


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"wheel": {}}', '{"wheel": {"file": 1, "sha256": 2, "stamp": 3}}']
)
def test_a_damaged_manifest(text: str) -> None:
    assert _source_wheel.parse_manifest(text) is None


def test_render() -> None:
    unknown = replace(INPUTS, python=None, packages={"torch": None})
    assert _source_wheel.render(INPUTS, ["one.patch", "two.patch"]).splitlines() == [
        f"source: {'a' * 64}",
        "patch: one.patch",
        "patch: two.patch",
        "VLLM_TARGET_DEVICE=cpu",
        f"VLLM_PRECOMPILED_WHEEL_LOCATION: sha256 {'d' * 64}",
        "python: 3.11",
        "torch: 2.13.0+cpu",
    ]
    assert _source_wheel.render(unknown, []).splitlines()[-2:] == [
        "python: not on the host yet",
        "torch: not in the environment",
    ]
