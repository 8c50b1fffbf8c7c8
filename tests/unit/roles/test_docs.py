# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation shows code that is run."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]


def test_the_ci_example_is_the_code_that_the_tests_run() -> None:
    code = (CHECKOUT / "tests" / "runner" / "deployment.py").read_text(encoding="utf-8")
    body = code[code.index("from __future__") :]
    assert f"```python\n{body}```" in (CHECKOUT / "docs" / "ci.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_role_module_and_playbook() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    for role in (CHECKOUT / "roles").iterdir():
        assert f"[{role.name}](roles/{role.name}/README.md)" in readme
    for module in (CHECKOUT / "plugins" / "modules").glob("[!_]*.py"):
        assert f"`{module.stem}`" in readme
    for playbook in (CHECKOUT / "playbooks").glob("*.yml"):
        assert f"{playbook.name}`" in readme
