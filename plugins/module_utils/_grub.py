# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""GRUB's configuration as Debian and Ubuntu lay it out: a drop-in of ours, and the menu that is made of it.

C(grub-mkconfig) reads /etc/default/grub and then /etc/default/grub.d/*.cfg in the order of their names, as shell code.
Images of cloud providers set the command line in such files, over what /etc/default/grub says. Ours is read last; it
takes out what contradicts it and appends, and leaves all other files alone.
Source: https://www.gnu.org/software/grub/manual/grub/grub.html#Simple-configuration and C(/usr/sbin/grub-mkconfig).
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from . import _kernel_cmdline as kernel_cmdline

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ._kernel_cmdline import Parameter

DEFAULTS = "/etc/default/grub"
DROP_INS = "/etc/default/grub.d"
DROP_IN = "zz-nemotron.cfg"
MENU = "/boot/grub/grub.cfg"
UPDATE_GRUB = "/usr/sbin/update-grub"

_OTHER_BOOT_LOADERS = {
    "/run/systemd/container": "a container, which has no kernel of its own",
    "/boot/grub2": "GRUB as Fedora and its kin set it up (/boot/grub2)",
    "/boot/loader": "systemd-boot (/boot/loader)",
    "/boot/efi/loader": "systemd-boot (/boot/efi/loader)",
    "/efi/loader": "systemd-boot (/efi/loader)",
    "/boot/extlinux": "extlinux (/boot/extlinux)",
    "/boot/firmware/cmdline.txt": "the firmware of a Raspberry Pi (/boot/firmware/cmdline.txt)",
    "/boot/grub": "a folder /boot/grub",
}
BOOT_LOADER_PATHS = tuple(_OTHER_BOOT_LOADERS)

_HEADER = """\
# Kernel parameters that Ansible keeps (module nemotron.vllm.kernel_cmdline); what is changed here by hand is lost.
# This file is read last. It takes out what contradicts it and appends; the other files stay as they are.
"""
# Spaces inside of quotes are set aside first, so that words are what stands between spaces.
_FILTER = """\
nemotron_without() {{
    printf ' %s ' "$1" | sed -E -e ':quoted' -e 's/^(([^"]*"[^"]*")*[^"]*"[^" ]*) /\\1\\x01/' -e 'tquoted' \\
        -e ':again' -e 's/ ({words}) / /' -e 'tagain' -e 's/^ +//' -e 's/ +$//' -e 's/\\x01/ /g'
}}
GRUB_CMDLINE_LINUX=$(nemotron_without "$GRUB_CMDLINE_LINUX")
GRUB_CMDLINE_LINUX_DEFAULT=$(nemotron_without "$GRUB_CMDLINE_LINUX_DEFAULT")
"""
_APPEND = """\
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {words}"
"""
_APPEND_ONCE = """\
case " $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT " in
    *' {plain} '*) ;;
    *) GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {word}" ;;
esac
"""


@dataclass(frozen=True)
class Kept:
    """What the drop-in keeps."""

    present: tuple[Parameter, ...] = ()
    absent: tuple[Parameter, ...] = ()


def parse(text: str) -> Kept:
    """Return what a drop-in of ours keeps."""
    found: dict[str, list[Parameter]] = {"present": [], "absent": []}
    for kind, word in re.findall(r"^# (present|absent): (.+)$", text, re.MULTILINE):
        found[kind] += kernel_cmdline.split(word)[:1]
    return Kept(tuple(found["present"]), tuple(found["absent"]))


def merge(kept: Kept, present: Sequence[Parameter], absent: Sequence[Parameter], others: Iterable[str]) -> Kept:
    """Return what is kept after new wishes.

    A parameter that none of the I(others), the texts of the other files, mentions needs no filter to be absent.
    """
    texts = list(others)
    superseded = {wish.key for wish in present if not wish.repeatable}
    stay = [
        old
        for old in kept.present
        if old not in present
        and old.key not in superseded
        and not any(kernel_cmdline.means(item, old) for item in absent)
    ]
    filters = [
        old for old in kept.absent if old not in absent and not any(kernel_cmdline.means(old, wish) for wish in present)
    ]
    needed = [item for item in (*filters, *absent) if any(mentions(text, item) for text in texts)]
    # The order of those that are kept does not change, so that repeating a wish changes nothing.
    order = [*kept.present, *present]
    return Kept(tuple(sorted({*stay, *present}, key=order.index)), tuple(needed))


def mentions(text: str, parameter: Parameter) -> bool:
    """Tell whether a file of GRUB's settings has a parameter's name outside of comments."""
    name = re.escape(parameter.key).replace("_", "[-_]")
    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return re.search(rf"(?<![\w.-]){name}(?![\w.-])", code) is not None


def render(kept: Kept) -> str:
    """Return the text of the drop-in; empty if there is nothing to keep."""
    if kept == Kept():
        return ""
    text = _HEADER
    text += "".join(f"# present: {parameter}\n" for parameter in kept.present)
    text += "".join(f"# absent: {parameter}\n" for parameter in kept.absent)
    single = [parameter for parameter in kept.present if not parameter.repeatable]
    words = [_any_value(parameter) for parameter in single]
    words += [_pattern(parameter) for parameter in kept.absent]
    if words:
        text += _FILTER.format(words="|".join(words))
    if single:
        text += _APPEND.format(words=" ".join(map(_in_quotes, single)))
    for parameter in kept.present:
        if parameter.repeatable:
            text += _APPEND_ONCE.format(plain=str(parameter), word=_in_quotes(parameter))
    return text


def _in_quotes(parameter: Parameter) -> str:
    return str(parameter).replace('"', '\\"')


def _any_value(parameter: Parameter) -> str:
    return f'"?{_literal(parameter.key).replace("_", "[-_]")}(=[^ ]*)?"?'


def _pattern(parameter: Parameter) -> str:
    if parameter.value is None:
        return _any_value(parameter)
    return f'"?{_literal(parameter.key).replace("_", "[-_]")}="?{_literal(parameter.value)}"?'


def _literal(text: str) -> str:
    """Return a regular expression of sed that means this text."""
    return re.sub(r"([][.*^$+?(){}|/])", r"\\\1", text).replace(" ", "\\x01")


def kernel_lines(menu: str) -> Iterator[tuple[Parameter, ...]]:
    """Yield the command line of each entry that the menu has for Linux, but for recovery."""
    for section in re.findall(r"^### BEGIN \S*/10_linux\S* ###$(.*?)^### END ", menu, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^\s*linux(?:16|efi)?\s+\S+(.*)$", section, re.MULTILINE):
            parameters = kernel_cmdline.split(line)
            if not {"recovery", "single"} & {parameter.name for parameter in parameters}:
                yield parameters


def stale(menu: str, present: Sequence[Parameter], absent: Sequence[Parameter]) -> str:
    """Return what the menu has other than wished for; empty if it has all."""
    lines = list(kernel_lines(menu))
    if not lines:
        return "no entry for Linux" if present else ""
    lacking = {str(wish) for line in lines for wish in kernel_cmdline.lacking(line, present)}
    lingering = {str(parameter) for line in lines for parameter in kernel_cmdline.lingering(line, absent)}
    parts = []
    if lacking:
        parts.append(f"an entry without {', '.join(sorted(lacking))}")
    if lingering:
        parts.append(f"an entry with {', '.join(sorted(lingering))}")
    return " and ".join(parts)


def read_after_ours(drop_ins: Mapping[str, str]) -> str | None:
    """Return the name of a drop-in that sets the command line after ours."""
    return next(
        (name for name, text in sorted(drop_ins.items()) if name > DROP_IN and "GRUB_CMDLINE_LINUX" in text), None
    )


def other_boot_loader(existing: Iterable[str]) -> str:
    """Return in words what a host without GRUB has, from those of BOOT_LOADER_PATHS that exist."""
    there = set(existing)
    return next((words for path, words in _OTHER_BOOT_LOADERS.items() if path in there), "no boot loader")
