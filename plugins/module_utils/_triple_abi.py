# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The ABI layer of the version triple: vLLM's compiled extensions, the torch they were made for, this processor."""

from __future__ import annotations

import re
import typing as t

from . import _load_errors
from ._load_errors import parse_load_error, string_abi
from ._package_pins import pin, satisfies
from ._triple_packages import LOCK, REINSTALL, wrong_processor
from ._violations import ABI, DRIVER, RUNTIME, Violation

if t.TYPE_CHECKING:
    from collections.abc import Iterator

    from ._environment_facts import Environment, Extension, Metadata

BUILD, BRANCH = "vllm_build_method", "nvidia_driver_branch"
SERVER_ENVIRONMENT = "systemd_unit_environment"
_ELF_MACHINES = {62: "x86_64", 183: "aarch64"}


def extension_violations(metadata: Metadata, environment: Environment, *, cuda: bool) -> Iterator[Violation]:
    """Yield why vLLM's extensions do not load; I(cuda) tells whether this vLLM is one for GPUs."""
    torch, found = environment.torch, environment.found_extensions
    if torch and torch.error and metadata.torch_folder:
        yield from _load_violations("torch", torch.error, metadata, environment)
    if found is not None and not found and metadata.vllm_folder:
        yield Violation(
            "extension-missing",
            ABI,
            f"{metadata.vllm_name} {metadata.vllm} without compiled extensions",
            "vllm/_C*.so",
            f"It was built without a device (VLLM_TARGET_DEVICE=empty) or damaged. {REINSTALL}",
            BUILD,
        )
    yield from _processor(metadata, environment, cuda=cuda)
    for extension in environment.extensions:
        machine = _ELF_MACHINES.get(extension.elf_machine or 0)
        if extension.error and not (machine and metadata.machine and machine != metadata.machine):
            yield from _load_violations(f"vLLM's {extension.name}", extension.error, metadata, environment)
    if environment.flash_attn and environment.flash_attn.error:
        yield from _load_violations("flash-attn", environment.flash_attn.error, metadata, environment)


def _processor(metadata: Metadata, environment: Environment, *, cuda: bool) -> Iterator[Violation]:
    """Yield an extension that is for another processor than this one."""
    found, chosen = environment.found_extensions or {}, environment.chosen_extension
    needed, fix = f"an extension for {metadata.machine}", "Install a vLLM for this processor, or build it on this host."
    for extension in environment.extensions:
        machine = _ELF_MACHINES.get(extension.elf_machine or 0)
        if machine and metadata.machine and machine != metadata.machine:
            what = f"{_name(extension)} for {machine} on a {metadata.machine}"
            yield Violation("extension-for-another-cpu", ABI, what, needed, fix, BUILD)
            return
    missing = [flag for flag in environment.needed_flags if flag not in metadata.cpu_flags]
    if found and chosen and chosen not in found and not cuda:
        what = f"{', '.join(sorted(found))} and a processor for which vLLM takes {chosen}"
        yield Violation("extension-for-another-cpu", ABI, what, f"vllm/{chosen}*.so", fix, BUILD)
    elif metadata.cpu_flags and missing and not cuda:
        what = f"{chosen}, which is compiled for {' '.join(environment.needed_flags)}, on a processor without "
        yield Violation("extension-for-another-cpu", ABI, what + " ".join(missing), needed, fix, BUILD)
    elif wrong_processor(environment):
        what = f"{environment.during}, which ended by an instruction that this processor does not have (SIGILL)"
        yield Violation("extension-for-another-cpu", ABI, what, needed, fix, BUILD)


def _name(extension: Extension) -> str:
    return f"vLLM's {extension.name}"


def _load_violations(who: str, text: str, metadata: Metadata, environment: Environment) -> Iterator[Violation]:
    """Yield what an import error means; I(who) is torch, flash-attn or one of vLLM's extensions."""
    error = parse_load_error(text)
    found = f"{who}, which cannot be loaded: {text.splitlines()[0]}"
    shadowing = [
        (folder, name)
        for folder, names in metadata.library_path
        for name in names
        if folder in error.file or _shadows(error, name)
    ]
    if shadowing and not (error.kind == _load_errors.OLD_LIBRARY or error.owner == _load_errors.CXX):
        # Reported already, by the folder of LD_LIBRARY_PATH that causes it.
        return
    if error.kind == _load_errors.MISSING_LIBRARY:
        yield _missing_library(who, found, error.name, environment)
    elif error.kind == _load_errors.OLD_LIBRARY and error.name.startswith("GLIBC_"):
        fix = "Use a newer distribution, or a vLLM for this one."
        yield Violation("glibc-too-old", ABI, found, f"a glibc with {error.name}", fix, "vllm_version")
    elif error.kind == _load_errors.OLD_LIBRARY or (
        error.kind == _load_errors.MISSING_SYMBOL and error.owner == _load_errors.CXX
    ):
        where = f" LD_LIBRARY_PATH puts {shadowing[0][0]} first: take it out." if shadowing else ""
        version = error.name if error.kind == _load_errors.OLD_LIBRARY else error.version or error.name
        yield Violation(
            "libstdcxx-too-old",
            ABI,
            found,
            f"a libstdc++.so.6 with {version}",
            f"The loader took another libstdc++ than the one that was compiled with.{where} Prefer an environment made "
            "by uv, which uses the system's; in one made by conda, update libstdcxx-ng.",
            SERVER_ENVIRONMENT if shadowing else "conda_env_backend",
        )
    elif error.kind == _load_errors.MISSING_SYMBOL:
        yield _missing_symbol(who, found, error, metadata, environment)
    elif error.kind == _load_errors.NO_LIBRARY:
        yield Violation("library-damaged", ABI, found, "a whole shared object", REINSTALL, LOCK)
    else:
        code = "torch-does-not-import" if who == "torch" else "extension-does-not-import"
        yield Violation(code, ABI, found, "an import without an error", REINSTALL, LOCK)


def _shadows(error: _load_errors.LoadError, library: str) -> bool:
    """Tell whether a library in LD_LIBRARY_PATH can be what an error is about."""
    owners = {_load_errors.OPENMP: ("libgomp", "libiomp"), _load_errors.CXX: ("libstdc++",)}
    if error.kind == _load_errors.MISSING_SYMBOL and error.owner in owners:
        return library.startswith(owners[error.owner])
    if error.kind == _load_errors.MISSING_SYMBOL and error.owner == _load_errors.CUDA:
        return library.startswith(("libcu", "libnv", "libnccl")) and not library.startswith("libcuda.so")
    if error.kind == _load_errors.MISSING_SYMBOL and error.owner == _load_errors.TORCH:
        return library.startswith(("libtorch", "libc10"))
    return error.kind == _load_errors.OLD_LIBRARY and library.startswith("libstdc++")


def _missing_library(who: str, found: str, name: str, environment: Environment) -> Violation:
    cudart = re.match(r"libcudart\.so\.(\d+)", name)
    torch = environment.torch
    if name.startswith("libcuda.so"):
        fix = "Install the driver with its compute libraries (libnvidia-compute or libcuda1)."
        return Violation("driver-library-missing", DRIVER, found, "libcuda.so.1 of the driver", fix, BRANCH)
    if cudart and who != "torch":
        has = f"torch for CUDA {torch.cuda}" if torch and torch.cuda else "a torch without CUDA"
        return Violation(
            "wheel-and-torch-differ-in-cuda-major",
            RUNTIME,
            f"{found}; {has}",
            f"a vLLM and a torch that are both for CUDA {cudart.group(1)}",
            "Choose vLLM's wheel and torch's together, from one lock: the wheels of vLLM 0.20 and later are for CUDA "
            "13, others are at https://wheels.vllm.ai.",
            LOCK,
        )
    if who == "torch" or re.match(r"lib(torch|c10|cu|nv|nccl|gomp|shm)", name):
        return Violation("torch-library-missing", ABI, found, f"{name}, which torch brings along", REINSTALL, LOCK)
    fix = f"Install the distribution's package that has {name}."
    return Violation("system-library-missing", ABI, found, f"{name} of the system", fix)


def _missing_symbol(
    who: str, found: str, error: _load_errors.LoadError, metadata: Metadata, environment: Environment
) -> Violation:
    owner, torch = error.owner, environment.torch
    if who == "flash-attn" and owner in (_load_errors.TORCH, _load_errors.VLLM):
        return Violation(
            "flash-attn-built-against-another-torch",
            ABI,
            found,
            f"a flash-attn for torch {metadata.versions.get('torch')}, or none",
            "Uninstall flash-attn: vLLM has its own.",
            LOCK,
        )
    if owner == _load_errors.DRIVER:
        return Violation(
            "driver-library-too-old-for-symbol",
            DRIVER,
            found,
            f"a libcuda.so.1 with {error.name}",
            "Install a newer driver branch.",
            BRANCH,
        )
    if owner == _load_errors.CUDA:
        return Violation(
            "ld-library-path-shadows-cuda-library",
            RUNTIME,
            found,
            "the CUDA libraries that torch brings along",
            "Take the toolkit's folders out of LD_LIBRARY_PATH of the server and out of /etc/ld.so.conf.d.",
            SERVER_ENVIRONMENT,
        )
    if owner == _load_errors.TORCH or who == "torch":
        strings = string_abi(error.name)
        abi = ""
        if strings and torch and torch.cxx11_abi is not None and (strings == "new") != torch.cxx11_abi:
            abi = f"; it was compiled with the {strings} std::string and torch with the other"
        installed, wanted = metadata.versions.get("torch"), pin(metadata, metadata.vllm_name, "torch")
        same = (
            bool(installed and wanted and satisfies(installed, wanted)) and metadata.vllm_name not in metadata.damaged
        )
        return Violation(
            "extension-built-against-another-torch" if who != "torch" else "torch-files-of-two-versions",
            ABI,
            found + abi,
            f"one that was compiled for torch {installed}" if who != "torch" else "a torch of one build",
            (
                "Build it anew against the installed torch (without build isolation), or serve with vLLM's wheel."
                if same and who != "torch"
                else REINSTALL
            ),
            BUILD if same and who != "torch" else LOCK,
        )
    return Violation(
        "kernel-group-not-compiled",
        ABI,
        found,
        "all kernels that the extension refers to",
        "The build left out a group of kernels for the chosen GPUs or CUDA. Build again for the GPUs of this host with "
        "the toolkit of torch's CUDA, or serve with vLLM's wheel.",
        BUILD,
    )
