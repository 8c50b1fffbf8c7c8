# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _uv_env
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._uv_env import Found, Marker, Package, Plan, Wanted

WHEEL = "/wheels/vllm-0.32.0+cpu-cp311-cp311-linux_x86_64.whl"
WANTED = Wanted("3.11", {"idna": "3.7", "torch": "2.13.0+cpu"}, "lock one")
MARKER = Marker(complete=True, python="3.11", lock_sha256="lock one")
GOOD = Found(MARKER, "3.11.2", (Package("idna", "3.7"), Package("torch", "2.13.0+cpu")))
WITH_WHEEL = replace(WANTED, packages={**WANTED.packages, "vllm": "0.32.0+cpu"}, wheels={WHEEL: "new"})
VLLM = Package("vllm", "0.32.0+cpu")


def test_nothing_to_do() -> None:
    assert _uv_env.plan(WANTED, GOOD) == Plan((), recreate=False, reinstall=())


CASES: list[tuple[str, Wanted, Found, Plan]] = [
    (
        "nothing there",
        WANTED,
        Found(None, None, ()),
        Plan(("there is no environment yet",), recreate=True, reinstall=()),
    ),
    (
        "killed while it was made",
        WANTED,
        Found(replace(MARKER, complete=False), None, ()),
        Plan(("an earlier run did not get far",), recreate=True, reinstall=()),
    ),
    (
        "the host's Python was removed",
        WANTED,
        Found(MARKER, None, ()),
        Plan(("its Python does not run",), recreate=True, reinstall=()),
    ),
    (
        "another Python",
        replace(WANTED, python="3.12"),
        GOOD,
        Plan(
            ("its Python is 3.11.2 (asked for as 3.11) instead of 3.12",),
            recreate=True,
            reinstall=(),
        ),
    ),
    (
        "killed while packages were installed",
        WANTED,
        replace(
            GOOD,
            marker=replace(MARKER, complete=False, lock_sha256="lock zero"),
            packages=(Package("idna", "3.7", "its installation was interrupted"),),
        ),
        Plan(
            (
                "an earlier run was interrupted",
                "idna 3.7 is damaged: its installation was interrupted",
                "torch 2.13.0+cpu is missing",
            ),
            recreate=False,
            reinstall=("idna",),
        ),
    ),
    (
        "changed by hand",
        WANTED,
        replace(GOOD, packages=(Package("idna", "3.8"), Package("requests", "2.3"), Package("torch", "2.13.0"))),
        Plan(
            (
                "idna is 3.8 instead of 3.7",
                "requests 2.3 is there and not in the lock",
                "torch is 2.13.0 instead of 2.13.0+cpu",
            ),
            recreate=False,
            reinstall=(),
        ),
    ),
    (
        "a package twice",
        WANTED,
        replace(GOOD, packages=(*GOOD.packages, Package("idna", "3.6"))),
        Plan(("idna is there as 3.6 and 3.7 instead of 3.7",), recreate=False, reinstall=("idna",)),
    ),
    (
        "another spelling of the version",
        replace(WANTED, packages={"idna": "3.7", "torch": "2.13+cpu"}),
        GOOD,
        Plan((), recreate=False, reinstall=()),
    ),
    (
        "another lock with the same packages",
        replace(WANTED, lock="lock two"),
        GOOD,
        Plan(("its lock was another one",), recreate=False, reinstall=()),
    ),
    (
        "lock not on the host, in check mode",
        Wanted("3.11", None, "/locks/one.txt"),
        GOOD,
        Plan(("its lock /locks/one.txt is not on the host yet",), recreate=False, reinstall=()),
    ),
    (
        "a wheel of the same version, built again",
        WITH_WHEEL,
        Found(replace(MARKER, wheels={WHEEL: {"sha256": "old"}}), "3.11.2", (*GOOD.packages, VLLM)),
        Plan((f"{WHEEL} is not the build that was installed",), recreate=False, reinstall=("vllm",)),
    ),
    (
        "killed while a wheel of the same version was replaced",
        WITH_WHEEL,
        Found(replace(MARKER, complete=False), "3.11.2", (*GOOD.packages, VLLM)),
        Plan(("an earlier run was interrupted",), recreate=False, reinstall=("vllm",)),
    ),
    (
        "the same wheel",
        WITH_WHEEL,
        Found(replace(MARKER, wheels={WHEEL: {"sha256": "new"}}), "3.11.2", (*GOOD.packages, VLLM)),
        Plan((), recreate=False, reinstall=()),
    ),
]


@pytest.mark.parametrize(("wanted", "found", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_plan(wanted: Wanted, found: Found, expected: Plan) -> None:
    assert _uv_env.plan(wanted, found) == expected


def test_marker_survives_a_round_trip() -> None:
    marker = Marker(complete=False, python="3.11", lock_sha256="a", wheels={WHEEL: {"sha256": "b", "stamp": [1, 2, 3]}})
    assert _uv_env.parse_marker(marker.render()) == marker


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"made_by": "somebody"}', '{"made_by": "nemotron.vllm.uv_env"}']
)
def test_what_is_no_marker_of_ours(text: str) -> None:
    assert _uv_env.parse_marker(text) is None


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("typing_extensions-4.12.2.dist-info", ("typing-extensions", "4.12.2")),
        ("torch-2.13.0+cpu.dist-info", ("torch", "2.13.0+cpu")),
        ("torch", None),
        ("old.egg-info", None),
    ],
)
def test_parse_dist_info(folder: str, expected: tuple[str, str] | None) -> None:
    assert _uv_env.parse_dist_info(folder) == expected


def test_parse_wheel() -> None:
    assert _uv_env.parse_wheel("My_Pkg-1.0-1-py3-none-any.whl") == ("my-pkg", "1.0")
    with pytest.raises(NemotronError) as caught:
        _uv_env.parse_wheel("vllm.whl")
    assert str(caught.value) == (
        "wheels: found the file name vllm.whl; needed NAME-VERSION-PYTHON-ABI-PLATFORM.whl as the build has named it. "
        "Give the wheel its own name back."
    )


def test_parse_record() -> None:
    record = (
        "idna/core.py,sha256=lyhp,12663\n"
        '"with, comma.py",sha256=x,7\n'
        "idna/__pycache__/core.pyc,sha256=x,9\n"
        "../../../bin/tool,sha256=x,200\n"
        "idna-3.7.dist-info/RECORD,,\n"
        "broken line\n"
    )
    assert _uv_env.parse_record(record) == [("idna/core.py", 12663), ("with, comma.py", 7), ("../../../bin/tool", 200)]


def test_the_difference_between_the_texts_is_what_is_off() -> None:
    found = replace(GOOD, packages=(Package("idna", "3.7", "idna/core.py is missing"), Package("torch", "2.13+cpu")))
    assert _uv_env.render_found(WANTED, found).splitlines() == [
        "state: complete",
        "python: 3.11",
        "idna==3.7  # idna/core.py is missing",
        "torch==2.13.0+cpu",
    ]
    assert _uv_env.render_wanted(WANTED).splitlines() == [
        "state: complete",
        "python: 3.11",
        "idna==3.7",
        "torch==2.13.0+cpu",
    ]


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (replace(GOOD, marker=replace(MARKER, complete=False)), "state: unfinished"),
        (replace(GOOD, marker=replace(MARKER, lock_sha256="other")), "state: complete, from another lock"),
        (replace(GOOD, python_version=None), "state: its Python does not run"),
    ],
)
def test_the_state_is_part_of_the_difference(found: Found, state: str) -> None:
    assert _uv_env.render_found(WANTED, found).splitlines()[0] == state


def test_an_environment_whose_lock_is_unknown() -> None:
    wanted = Wanted("3.11", None, "/locks/one.txt")
    assert _uv_env.render_wanted(wanted) == "state: complete\npython: 3.11\nthe packages of /locks/one.txt\n"
    assert _uv_env.render_found(wanted, Found(None, None, ())) == ""


# What uv 0.13.9 printed.
FAILURES: list[tuple[str, str]] = [
    (
        "error: Failed to download `certifi==2024.7.4`\n  cause: Hash mismatch for `certifi==2024.7.4`\n\n"
        "         Expected:\n           sha256:0000\n\n         Computed:\n           sha256:c198\n",
        "certifi==2024.7.4: the file that the index or mirror offers is not the one in the lock, and was not "
        "installed. Ask another index (index_url, extra_index_urls, find_links), or make the lock again if the new "
        "file is meant.",
    ),
    (
        "error: No solution found when resolving dependencies\n  cause: Because there is no version of idna==3.777 and "
        "you require idna==3.777, we can conclude that your requirements are unsatisfiable.\n",
        "No index or folder that was asked has idna==3.777. Add the one that does to extra_index_urls or find_links.",
    ),
    (
        "error: No solution found when resolving dependencies\n  cause: Because idna-zz was not found in the package "
        "registry and you require idna-zz==3.777, we can conclude that your requirements are unsatisfiable.\n",
        "No index or folder that was asked has idna-zz. Add the one that does to extra_index_urls or find_links.",
    ),
    (
        "error: Failed to fetch: https://index.invalid/simple/certifi/\n  cause: error sending request for url "
        "(https://index.invalid/simple/certifi/)\n  cause: client error (Connect)\n  cause: dns error\n",
        "https://index.invalid/simple/certifi/ could not be fetched. See that the host reaches it, or set index_url to "
        "a mirror that it reaches.",
    ),
    (
        "error: Failed to fetch: https://pypi.org/simple/requests/\n  cause: client error (Connect)\n  cause: invalid "
        "peer certificate: UnknownIssuer\n",
        "The index's certificate is not trusted on this host. Install its authority's certificate in "
        "/usr/local/share/ca-certificates and run update-ca-certificates.",
    ),
    (
        "error: Request failed after 3 retries in 7.0s\n  cause: Failed to download `https://github.com/astral-sh/"
        "python-build-standalone/releases/download/20261110/cpython-3.15.2.tar.gz`\n  cause: dns error\n",
        "The host has no such Python, and uv could not download one. Install it on the host, or give the path of an "
        "interpreter as python.",
    ),
    (
        "error: No interpreter found at path `/nope/python`\n",
        "/nope/python was not found on the host. Install it, or give a version or the path of an interpreter as "
        "python.",
    ),
    (
        "error: No interpreter found for Python 3.111 in managed installations or search path\n\nhint: uv embeds\n",
        "Python 3.111 was not found on the host. Install it, or give a version or the path of an interpreter as "
        "python.",
    ),
    (
        "  cause: Because pywin32==306 has no wheels with a matching platform tag (e.g., `manylinux_2_36_x86_64`) and "
        "you require pywin32==306, we can conclude that your requirements are unsatisfiable.\n",
        "pywin32==306 has no wheel for this machine and this Python. Use a lock that was made for them.",
    ),
    (
        "  cause: Because docopt==0.6.2 has no usable wheels and you require docopt==0.6.2\n\nhint: Wheels are "
        "required for `docopt` because building from source is disabled for all packages (i.e., with `--no-build`)\n",
        "The lock has a package without a ready-made wheel. Build the wheel elsewhere and put it into a folder that "
        "find_links names.",
    ),
    (
        "error: Failed to read `--find-links` directory: /nope\n  cause: No such file or directory (os error 2)\n",
        "The folder /nope of find_links is not there on the host.",
    ),
    (
        "error: Failed to install: torch-2.13.0\n  cause: No space left on device (os error 28)\n",
        "The disk is full. Free some space, or move prefix and cache_dir to a larger disk.",
    ),
    ("error: something new\n", ""),
]


@pytest.mark.parametrize(("printed", "advice"), FAILURES)
def test_explain(printed: str, advice: str) -> None:
    assert _uv_env.explain(printed) == advice
