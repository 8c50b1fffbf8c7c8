# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What the packages of a serving environment say of each other, and whether its interpreter could be asked."""

from __future__ import annotations

import typing as t

from ._package_pins import pin, satisfies
from ._violations import ABI, Violation

if t.TYPE_CHECKING:
    from collections.abc import Iterator

    from ._environment_facts import Environment, Metadata, Package

LOCK = "conda_env_lock"
REINSTALL = "Install the environment anew from its lock."
_ILLEGAL_INSTRUCTION = "SIGILL"
_COMPANIONS = ("flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache")


def interpreter_violations(environment: Environment, python: str) -> Iterator[Violation]:
    """Yield why an environment could not be asked, or not to the end."""
    if wrong_processor(environment):
        # That has a violation of its own.
        return
    words = f": {environment.words.splitlines()[-1]}" if environment.words else ""
    if environment.given_up:
        yield Violation(
            "environment-import-hangs",
            ABI,
            f"{python} still at {environment.during} when its time was up",
            "an end",
            "Give it more time (timeout); if that does not help, see what it waits for: a GPU that hangs, a network "
            "disk.",
        )
    elif environment.killed_by:
        yield Violation(
            "environment-import-crashed",
            ABI,
            f"{python} ended by {environment.killed_by} at {environment.during}{words}",
            "libraries that can be loaded",
            f"Their files are damaged or of different builds. {REINSTALL}",
            LOCK,
        )
    elif environment.metadata is None:
        yield Violation(
            "python-is-no-interpreter",
            ABI,
            f"{python}, which ended with {environment.rc}{words}",
            "the path of a Python interpreter, 3.9 or newer",
            "Give the path of bin/python of the serving environment.",
            LOCK,
        )
    elif environment.during:
        yield Violation(
            "environment-import-crashed",
            ABI,
            f"{python} ended with {environment.rc} at {environment.during}{words}",
            "an interpreter that comes to the end",
            REINSTALL,
            LOCK,
        )


def wrong_processor(environment: Environment) -> bool:
    """Tell whether an extension ended the interpreter by an instruction that this processor does not have."""
    return environment.killed_by == _ILLEGAL_INSTRUCTION and environment.during.startswith("vllm.")


def package_violations(metadata: Metadata, environment: Environment) -> Iterator[Violation]:
    """Yield packages that are missing, damaged or not in step, as their metadata says."""
    if metadata.vllm is None or not metadata.vllm_folder:
        yield Violation(
            "environment-without-vllm",
            ABI,
            f"an environment of Python {metadata.python} without vLLM",
            "vLLM in it",
            "Give the path of bin/python of the serving environment, or install it from its lock.",
            LOCK,
        )
    if not metadata.torch_folder:
        yield Violation(
            "environment-without-torch",
            ABI,
            f"an environment of Python {metadata.python} without torch",
            f"torch {pin(metadata, metadata.vllm_name, 'torch') or ''}".rstrip(),
            REINSTALL,
            LOCK,
        )
    for package, damaged in metadata.damaged.items():
        own = "torch-library-missing" if package.startswith(("torch", "nvidia-", "triton")) else "extension-replaced"
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        yield Violation(
            own,
            ABI,
            f"{package} {metadata.versions.get(package)}, of which {damaged[0].describe()}{more}",
            "the files that were installed",
            REINSTALL,
            LOCK,
        )
    yield from _torch_versions(metadata, environment.torch)
    yield from _torchvision(metadata, environment.torchvision)
    companions = {name: metadata.versions[name] for name in _COMPANIONS if name in metadata.versions}
    if len({version.partition("+")[0] for version in companions.values()}) > 1:
        yield Violation(
            "flashinfer-packages-out-of-step",
            ABI,
            ", ".join(f"{name} {version}" for name, version in companions.items()),
            "one version of all",
            f"{REINSTALL} Its packages go together.",
            LOCK,
        )


def _torch_versions(metadata: Metadata, torch: Package | None) -> Iterator[Violation]:
    """Yield a torch that is two, or another than vLLM was compiled for."""
    installed = metadata.versions.get("torch")
    wanted = pin(metadata, metadata.vllm_name, "torch")
    loaded = torch.version if torch and torch.version else None
    if installed and loaded and not satisfies(loaded, installed):
        yield Violation(
            "torch-files-of-two-versions",
            ABI,
            f"torch {loaded} where the package's metadata says {installed}",
            "one of them",
            f"One was copied or unpacked over the other. {REINSTALL}",
            LOCK,
        )
    if wanted and installed and not (satisfies(installed, wanted) and satisfies(loaded or installed, wanted)):
        actual = installed if not satisfies(installed, wanted) else loaded
        yield Violation(
            "extension-built-against-another-torch",
            ABI,
            f"torch {actual} and {metadata.vllm_name} {metadata.vllm}",
            f"torch {wanted}, which this vLLM was compiled for",
            f"{REINSTALL} Another torch needs another vLLM.",
            LOCK,
        )


def _torchvision(metadata: Metadata, vision: Package | None) -> Iterator[Violation]:
    """Yield a torchvision that is not for this torch, or not for this vLLM."""
    if not {"torch", "torchvision"} <= set(metadata.versions):
        return
    for asks, about in ((metadata.vllm_name, "torchvision"), ("torchvision", "torch")):
        pinned = pin(metadata, asks, about)
        if pinned and not satisfies(metadata.versions[about], pinned):
            yield _vision(metadata, f"{about} {pinned}, which {asks} asks for")
            return
    if vision and vision.error:
        yield _vision(metadata, "the torchvision of this torch", vision.error)


def _vision(metadata: Metadata, needed: str, error: str = "") -> Violation:
    versions = f"torchvision {metadata.versions['torchvision']} and torch {metadata.versions['torch']}"
    return Violation(
        "torchvision-does-not-match-torch",
        ABI,
        versions + (f": {error.splitlines()[0]}" if error else ""),
        needed,
        f"{REINSTALL} torch alone cannot be upgraded.",
        LOCK,
    )
