# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What a vLLM says about its own options: this file is run, as a program, by the interpreter that has that vLLM.

C(python -I -c <this text> serve.yaml) prints one JSON object: the version, every option of C(vllm serve), and the error
with which its parser refuses C(serve.yaml), if it does. It needs nothing of this collection and no GPU.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
import typing as t

# Newest first: vLLM has moved this file twice.
_PARSER_MODULES = (
    "vllm.entrypoints.common.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.openai.cli_args",
)
_FLEXIBLE_PARSER_MODULES = ("vllm.utils.argparse_utils", "vllm.utils")


class Refused(Exception):  # noqa: N818  (an answer of the parser, not a fault of this program)
    """What the parser said."""


def find(modules: t.Sequence[str], name: str) -> t.Any:
    """Return the first of several places where an object can be."""
    for module in modules:
        found = getattr(import_if_there(module), name, None)
        if found is not None:
            return found
    raise ImportError(f"none of {', '.join(modules)} has {name}")


def import_if_there(module: str) -> t.Any:
    """Return a module, or None when this vLLM does not have it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # One that is there and misses something else is broken, and that is what has to be told.
        if error.name is None or not module.startswith(error.name):
            raise
        return None


def type_name(function: t.Any) -> str:
    """Return the name of the function that turns text into a value, out of the wrappers that vLLM puts around it."""
    while True:
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        inner = [content for content in cells if callable(content) and not dataclasses.is_dataclass(content)]
        if len(inner) != 1:
            return str(getattr(function, "__name__", function)) if function else "str"
        function = inner[0]


def kind_of(action: argparse.Action) -> str:
    """Return how an option is written: a switch can be turned off too, a flag cannot, the others have values."""
    if isinstance(action, argparse.BooleanOptionalAction):
        return "switch"
    if action.nargs == 0:
        return "flag"
    if type(action).__name__ == "_AppendAction":
        return "append"
    if action.nargs is None:
        return "value"
    return "optional" if action.nargs == "?" else "list"


def turns_off(parser: argparse.ArgumentParser, action: argparse.Action, name: str) -> bool:
    """Tell whether this name of a switch is one of those that turn it off, as --no-x, by trying it."""
    namespace = argparse.Namespace()
    action(parser, namespace, [], name)
    return getattr(namespace, action.dest) is False


def bounds() -> dict[str, dict[str, float]]:
    """Return the limits of numbers, which vLLM's configuration classes check only when the engine starts."""
    found: dict[str, dict[str, float]] = {}
    for name, config in vars(importlib.import_module("vllm.config")).items():
        # A draft model has some options of the same names inside --speculative-config.
        if not (isinstance(config, type) and dataclasses.is_dataclass(config)) or name.startswith("Speculative"):
            continue
        for field in dataclasses.fields(config):
            limits = {
                limit_name: getattr(limit, limit_name)
                for limit in getattr(field.default, "metadata", None) or ()
                for limit_name in ("ge", "gt", "le", "lt")
                if isinstance(getattr(limit, limit_name, None), (int, float))
            }
            # Two classes that share a name and differ in its limits: then neither is known to be the option's.
            if limits:
                found[field.name] = limits if found.get(field.name, limits) == limits else {}
    return found


def describe(parser: argparse.ArgumentParser) -> list[dict[str, t.Any]]:
    """Return what the parser knows about every long option."""
    limits = bounds()
    # The parser's own table, because vLLM 0.33 takes some names out of the action's list to hide them from the help.
    names: dict[argparse.Action, list[str]] = {}
    for name, action in parser._option_string_actions.items():
        if name.startswith("--") and not isinstance(action, (argparse._HelpAction, argparse._VersionAction)):
            names.setdefault(action, []).append(name)
    options = []
    for action, strings in names.items():
        kind = kind_of(action)
        negative = [name for name in strings if kind == "switch" and turns_off(parser, action, name)]
        deprecated = bool(getattr(action, "deprecated", False)) or action in getattr(parser, "_deprecated", ())
        options.append(
            {
                "names": [name[2:] for name in strings if name not in negative],
                "negative": [name[2:] for name in negative],
                "kind": kind,
                "type": type_name(action.type),
                "choices": [str(choice) for choice in action.choices or () if choice is not None],
                "count": action.nargs if isinstance(action.nargs, int) and kind == "list" else None,
                "bounds": limits.get(action.dest, {}),
                "deprecated": deprecated or "Deprecated" in type(action).__name__,
            }
        )
    return options


def refuse(message: str) -> t.NoReturn:
    """Stand in for the parser's own way to fail, which ends the program."""
    raise Refused(message)


def try_file(path: str) -> tuple[str, list[dict[str, t.Any]]]:
    """Parse a file the way that C(vllm serve --config) does; return (the error or an empty text, the options)."""
    parser_class = find(_FLEXIBLE_PARSER_MODULES, "FlexibleArgumentParser")
    parser = parser_class(prog="vllm")
    serve = parser.add_subparsers(dest="subparser").add_parser("serve")
    find(_PARSER_MODULES, "make_arg_parser")(serve)
    for each in (parser, serve):
        each.error = refuse
    options = describe(serve)
    try:
        arguments = parser.parse_args(["serve", "--config", path])
        if arguments.model_tag is not None:
            return f"{arguments.model_tag!r} belongs to no option and would be served instead of the model", options
        find(_PARSER_MODULES, "validate_parsed_serve_args")(arguments)
    except Exception as error:
        # Whatever vLLM raises here is its refusal; it uses many types.
        return str(error).removeprefix("Error: ").rstrip(".") or repr(error), options
    return "", options


def main() -> None:
    """Print the answer alone on standard output, where vLLM's log lines go too."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    error, options = try_file(sys.argv[1])
    version = importlib.import_module("vllm").__version__
    with answer:
        json.dump({"version": version, "options": options, "error": error}, answer)


if __name__ == "__main__":
    main()
