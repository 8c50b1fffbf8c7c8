# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""From wishes to the text of serve.yaml: every option checked, in one order, each with its reason."""

from __future__ import annotations

import hashlib
import json
import re
import typing as t
from dataclasses import dataclass

from ._vllm_options import OUT_OF_PLACE, SECRETS, Option, Parser, fits

if t.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FIRST = ("model", "served-model-name", "host", "port")
# Texts that mean the same with and without quotes; all others get quotes.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_YAML_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Wishes:
    """What was asked for: C(options) by the user, over C(defaults); C(variables) are the defaults' own variables."""

    options: Mapping[str, t.Any]
    defaults: Mapping[str, t.Any]
    reasons: Mapping[str, str]
    variables: Mapping[str, str]
    variable: str


@dataclass(frozen=True)
class Setting:
    """An option with a value that fits it."""

    option: Option
    value: t.Any
    reason: str = ""


@dataclass(frozen=True)
class Problem:
    """An option that cannot be right; C(unknown) when the server has no such option."""

    option: str
    why: str
    variable: str
    nearest: str = ""
    unknown: bool = False

    def describe(self) -> str:
        """Return the sentence for the user."""
        return f"{self.option}: {self.why}. Change {self.variable}."


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a text as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def normalise(name: str) -> str:
    """Return an option's name the way it is written on a command line, without the leading dashes."""
    return name.replace("_", "-")


def settle(parser: Parser, wishes: Wishes) -> tuple[list[Setting], list[Problem]]:
    """Return (the options in the order of the file, everything that is wrong with the wishes)."""
    problems: list[Problem] = []
    own_variables = {normalise(name): variable for name, variable in wishes.variables.items()}
    defaults = _layer(parser, wishes.defaults, lambda name: own_variables.get(name, wishes.variable), problems)
    options = _layer(parser, wishes.options, lambda _name: wishes.variable, problems)
    for name in sorted(set(options) & set(own_variables)):
        why = f"found it in {wishes.variable}, and it has a variable of its own"
        problems.append(Problem(name, why, own_variables[name]))
    reasons = {_canonical(parser, name): reason for name, reason in wishes.reasons.items()}
    settings = []
    for name in sorted({*defaults, *options}, key=_position):
        option, value = options.get(name) or defaults[name]
        # A reason that was given for a default says nothing about another value.
        overridden = name in options and name in defaults and options[name][1] != defaults[name][1]
        if value is not None:
            settings.append(Setting(option, value, "" if overridden else reasons.get(name, "")))
    if not problems and "model" not in {setting.option.name for setting in settings}:
        # Without one, some versions refuse to start and some serve a model of their own choice.
        why = "found none; needed the folder or the name of the model"
        problems.append(Problem("model", why, own_variables.get("model", wishes.variable)))
    return settings, problems


def _position(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def _canonical(parser: Parser, name: str) -> str:
    found = parser.find(normalise(name))
    return found[0].name if found else normalise(name)


def _layer(
    parser: Parser,
    given: Mapping[str, t.Any],
    variable_of: t.Callable[[str], str],
    problems: list[Problem],
) -> dict[str, tuple[Option, t.Any]]:
    layer: dict[str, tuple[Option, t.Any]] = {}
    keys: dict[str, str] = {}
    for key, value in given.items():
        name = normalise(str(key))
        found = parser.find(name)
        if name in OUT_OF_PLACE:
            why = f"it has no place in a configuration file, because {OUT_OF_PLACE[name]}"
            problems.append(Problem(name, why, variable_of(name)))
        elif found is None:
            nearest = parser.nearest(name)
            problems.append(Problem(name, parser.why_unknown(name), variable_of(name), nearest, unknown=True))
        else:
            option, positive = found
            problem = _problem(option, name, value)
            if problem is None and option.name in layer:
                problem = f"found the same option twice, as {keys[option.name]} and as {key}; needed it once"
            if problem is not None:
                problems.append(Problem(name, problem, variable_of(option.name)))
            else:
                keys[option.name] = str(key)
                layer[option.name] = (option, value if positive or value is None else not value)
    return layer


def _problem(option: Option, name: str, value: object) -> str | None:
    if value is None:
        return None
    if option.name in SECRETS:
        environment = SECRETS[option.name]
        return (
            "found a secret, which every user of the host could read in the file; needed the variable "
            f"{environment} in the environment file of the service"
        )
    if name in option.negative and not isinstance(value, bool):
        return f"found {_show(value)}; needed true or false"
    if fits(option, value):
        return None
    return f"found {_show(value)}; needed {option.needed()}"


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 100 else text[:97] + "..."  # noqa: PLR2004  (a line of a message)


def render(settings: Sequence[Setting], header: Sequence[str] = (), *, with_reasons: bool = True) -> str:
    """Return the text of the file.

    It is written for C(vllm serve --config) of vLLM 0.32 and 0.33, which pass a key as an option: true without a value,
    false not at all, a list as several values, a dictionary as JSON. So a switch is turned off by its other name, see
    https://github.com/vllm-project/vllm/issues/51401, and a list of JSON is written as text.
    """
    lines = [*(f"# {line}" for line in header), ""] if header else []
    for setting in settings:
        written = _write(setting)
        if written is None:
            continue
        if setting.reason and with_reasons:
            lines += [""] if lines and lines[-1] else []
            lines += [f"# {line}".rstrip() for line in setting.reason.splitlines()]
        lines += written
    return "\n".join(lines) + "\n"


def _write(setting: Setting) -> list[str] | None:
    option, value = setting.option, setting.value
    if value is False and option.kind == "switch":
        off = f"no-{option.name}"
        return [f"{off if off in option.negative else option.negative[0]}: true"]
    if value is False:
        return None
    if option.is_json and isinstance(value, list):
        value = json.dumps(value)
    return yaml_lines(option.name, value)


def yaml_lines(key: str, value: object, indent: str = "") -> list[str]:
    """Return one key of a YAML mapping with its value; hosts need no YAML library."""
    prefix = f"{indent}{yaml_scalar(key)}:"
    if isinstance(value, dict) and value:
        return [prefix, *(line for name in value for line in yaml_lines(str(name), value[name], indent + "  "))]
    if isinstance(value, list) and value and not indent:
        return [prefix, *(f"  - {yaml_scalar(item)}" for item in value)]
    return [f"{prefix} {yaml_scalar(value)}"]


def yaml_scalar(value: object) -> str:
    """Return a value on one line, so that YAML 1.1 and 1.2 read the same type back."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    if isinstance(value, float):
        # YAML 1.1 takes 1e-05 for text and 1.0e-05 for a number.
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_scalar(str(name))}: {yaml_scalar(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(yaml_scalar(item) for item in value) + "]"
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def mask_secrets(text: str) -> str:
    """Return the text of a file that somebody else may have written, without the values of secret options."""
    names = "|".join(re.escape(name).replace(r"\-", "[-_]") for name in SECRETS)
    return re.sub(rf"(?m)^(\s*(?:{names})\s*:)(.*(?:\n[ \t]+.*|\n- .*)*)", r"\1 ********", text)
