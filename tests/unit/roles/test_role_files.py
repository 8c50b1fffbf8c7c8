# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ansible-lint does not check about roles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = sorted((Path(__file__).resolve().parents[3] / "roles").iterdir())


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def specs(role: Path) -> dict[str, Any]:
    return load(role / "meta" / "argument_specs.yml")["argument_specs"]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_defaults_and_argument_specs_agree(role: Path) -> None:
    # An option that is required and has a default is never found missing.
    options = {name: option for spec in specs(role).values() for name, option in spec["options"].items()}
    optional = {name for name, option in options.items() if not option.get("required")}
    assert set(load(role / "defaults" / "main.yml")) == optional


def test_preflight_falls_back_to_the_defaults_of_the_other_roles() -> None:
    # It runs before them, so it cannot read their defaults.
    text = "".join(path.read_text(encoding="utf-8") for path in (ROLES[0].parent / "preflight").glob("*/main.yml"))
    defaults = {name: value for role in ROLES for name, value in load(role / "defaults" / "main.yml").items()}
    fallbacks = re.findall(r"(\w+) \| default\(([^()]+)\)", text)
    used = {name: yaml.safe_load(value) for name, value in fallbacks if value != "omit" and name in defaults}
    assert used
    assert used == {name: defaults[name] for name in used}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_documented_defaults_are_the_defaults(role: Path) -> None:
    defaults = load(role / "defaults" / "main.yml")
    documented = {
        name: option["default"]
        for spec in specs(role).values()
        for name, option in spec["options"].items()
        if "default" in option
    }
    assert documented == {name: defaults[name] for name in documented}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_readme_names_every_variable(role: Path) -> None:
    readme = (role / "README.md").read_text(encoding="utf-8")
    names = {name for spec in specs(role).values() for name in spec["options"]}
    assert [name for name in sorted(names) if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_every_entry_point_has_a_specification(role: Path) -> None:
    assert set(specs(role)) <= {path.stem for path in (role / "tasks").glob("*.yml")}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_main_is_short(role: Path) -> None:
    lines = (role / "tasks" / "main.yml").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40


def test_preflight_knows_the_python_of_the_locks() -> None:
    roles = ROLES[0].parent
    locks = load(roles / "conda_env" / "vars" / "main.yml")["__conda_env_locks"]
    assert {lock["python"] for lock in locks.values()} == {
        load(roles / "preflight" / "vars" / "main.yml")["__preflight_lock_python"]
    }
