# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""Which versions of other packages a package of a serving environment asks for."""

from __future__ import annotations

import ast
import operator
import re
import typing as t

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._environment_facts import Metadata

_COMPARISONS: Mapping[type[ast.cmpop], t.Callable[[t.Any, t.Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def _marker_holds(marker: str, variables: Mapping[str, str]) -> bool:
    """Tell whether an environment marker holds; one that cannot be read here counts as one that does not.

    Markers are a small part of Python's expressions: https://packaging.python.org/specifications/dependency-specifiers/
    """

    def value(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return variables.get(node.id, "")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        raise ValueError(marker)

    def holds(node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            results = [holds(item) for item in node.values]
            return all(results) if isinstance(node.op, ast.And) else any(results)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _COMPARISONS:
            raise ValueError(marker)
        left: t.Any = value(node.left)
        right: t.Any = value(node.comparators[0])
        if "python_version" in marker and re.fullmatch(r"\d+(\.\d+)*", left) and re.fullmatch(r"\d+(\.\d+)*", right):
            left, right = ([int(number) for number in text.split(".")] for text in (left, right))
        return _COMPARISONS[type(node.ops[0])](left, right)

    try:
        return holds(ast.parse(marker.strip(), mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False


def pin(metadata: Metadata, package: str | None, dependency: str) -> str | None:
    """Return the one version of a dependency that a package asks for here; None if it leaves a choice.

    >>> pin(metadata, "vllm", "torch")  # "torch==2.11.0" among its requirements
    "2.11.0"
    """
    variables = {
        "platform_machine": metadata.machine,
        "platform_system": metadata.system,
        "sys_platform": metadata.system.lower(),
        "python_version": ".".join(metadata.python.split(".")[:2]),
        "python_full_version": metadata.python,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
    }
    for line in metadata.requirements.get(package or "", ()):
        requirement, _semicolon, marker = line.partition(";")
        match = re.fullmatch(rf"{re.escape(dependency)}\s*\(?\s*==\s*([\w.+!]+)\s*\)?\s*", requirement)
        if match and (not marker.strip() or _marker_holds(marker, variables)):
            return match.group(1)
    return None


def satisfies(installed: str, wanted: str) -> bool:
    """Tell whether an installed version is a wanted one; 2.11.0+cu130 is 2.11.0, but 2.11.0 is not 2.11.0+cpu."""
    if "+" not in wanted:
        installed = installed.partition("+")[0]
    return _release(installed) == _release(wanted)


def _release(version: str) -> Sequence[str]:
    public, _plus, local = version.lower().partition("+")
    return [re.sub(r"(\.0)+$", "", public), local]
