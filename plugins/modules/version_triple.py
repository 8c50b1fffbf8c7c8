#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: version_triple
short_description: Tell whether driver, CUDA runtime and compiled extensions of a host fit each other
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Reads three layers and compares them with each other and with a stack. The driver layer is the loaded kernel module,
    the one on disk and the libraries beside it. The runtime layer is the CUDA of torch and of its libraries. The ABI
    layer is the torch that vLLM's extensions were compiled for, and whether they load.
  - A host without a GPU has a triple too, without a driver layer; its extension has to be for its processor.
  - The interpreter of the serving environment is run to import torch and vLLM, with a time limit. What it told before
    it crashed or hung is judged all the same.
extends_documentation_fragment:
  - nemotron.vllm._attributes
  - nemotron.vllm._attributes.info_module
attributes:
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  root:
    description: Folder with a captured host to look at instead of this one.
    type: path
    default: /
  python:
    description:
      - Path of the interpreter of the serving environment. Without it the driver layer alone is judged.
      - It is run on this host, whatever O(root) says.
    type: path
  stack:
    description:
      - The stack that the host should have, as the module C(stack_info) returns it.
      - Of it C(device), C(driver), C(cuda), C(torch), C(vllm) and C(python) are compared; what is left out is not.
    type: dict
  building:
    description: Whether vLLM is built on this host, so that its CUDA toolkits have to fit torch too.
    type: bool
    default: false
  environment:
    description:
      - Environment variables that the server runs with, such as C(LD_LIBRARY_PATH).
      - Nothing else but C(PATH), C(HOME) and C(LANG) reaches the interpreter.
      - Variables of Python itself are not used.
    type: dict
    default: {}
  timeout:
    description: Seconds that the interpreter may take. From a cold disk the imports take a minute.
    type: float
    default: 180
  gpu:
    description:
      - What the module C(gpu_facts) has returned as C(nemotron_gpu). If it is left out, the facts are gathered.
    type: dict
  strict:
    description: Fail when something does not fit.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: See that driver, runtime and extensions fit
  nemotron.vllm.version_triple:
    python: /opt/nemotron/envs/vllm/bin/python

- name: Judge the driver of a captured host
  nemotron.vllm.version_triple:
    root: /srv/captured/host7
    strict: false
"""

RETURN = r"""
ok:
  description: Whether everything fits.
  returned: always
  type: bool
triple:
  description: The three layers as they were found; a layer that the host does not have is null.
  returned: always
  type: dict
  contains:
    driver:
      description: Versions of the module and the libraries, flavour, newest CUDA, the libcuda that is found, the GPUs.
      type: dict
    runtime:
      description: What the environment computes on, its CUDA, the architectures that torch has code for, the libraries.
      type: dict
    abi:
      description: Python, torch, the torch that vLLM needs, vLLM, and each extension with its error and architectures.
      type: dict
  sample:
    driver:
      cuda: "13.0"
      flavour: open
      gpus: [{"compute_capability": "9.0", "name": "NVIDIA H200"}]
      installed_by: package
      libcuda: /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04
      loaded: 580.159.04
      on_disk: 580.159.04
      user_space: 580.159.04
violations:
  description: Everything that does not fit, the deepest layer first.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: A stable name of the cause.
      type: str
      sample: extension-built-against-another-torch
    layer:
      description: Where it is, V(driver), V(runtime) or V(abi).
      type: str
    found:
      description: What was found.
      type: str
    needed:
      description: What is needed.
      type: str
    fix:
      description: What to do.
      type: str
    variable:
      description: The inventory variable to change, empty if there is none.
      type: str
"""

import inspect
import mmap
import os
import pwd
import re
import typing as t
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _environment_probe, _version_triple
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run_limited
from ansible_collections.nemotron.vllm.plugins.module_utils._environment_facts import Environment, parse_probe
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._fatbin import Architectures, architectures
from ansible_collections.nemotron.vllm.plugins.module_utils._gpu_facts import gather
from ansible_collections.nemotron.vllm.plugins.module_utils._host import Host
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_host import driver_host
from ansible_collections.nemotron.vllm.plugins.module_utils._triple_runtime import (
    Runtime,
    known_toolkits,
    toolkit_version,
)

_LIBRARY_PATH = "LD_LIBRARY_PATH"
_TOOLKIT = "/usr/local/cuda"
_KINDS: t.Mapping[type, str] = {dict: "a dictionary", list: "a list", str: "a text"}


def check_options(parameters: dict[str, t.Any]) -> None:
    """Refuse options that no host can answer."""
    if not os.path.isdir(parameters["root"]):
        raise NemotronError(
            f"root: found no folder {parameters['root']}; needed one with a captured host, or / for this host."
        )
    if parameters["timeout"] <= 0:
        raise NemotronError(f"timeout: found {parameters['timeout']:g}; needed a number of seconds greater than 0.")
    refuse_other_shape("gpu", parameters["gpu"] or {}, {"driver": dict, "fabric_manager": dict, "gpus": list})
    refuse_other_shape("stack", parameters["stack"] or {}, {"driver": dict})
    for index, gpu in enumerate((parameters["gpu"] or {}).get("gpus") or []):
        texts = dict.fromkeys(("name", "pci_id", "architecture", "compute_capability", "kernel_driver"), str)
        refuse_other_shape(f"gpu, its gpus[{index}]", gpu, texts)
    device = (parameters["stack"] or {}).get("device")
    if device not in (None, _version_triple.CPU, _version_triple.CUDA):
        raise NemotronError(f"stack: found the device {device!r}; needed cpu or cuda.")


def refuse_other_shape(option: str, value: object, kinds: t.Mapping[str, type]) -> None:
    """Refuse a dictionary whose values are of other kinds than the module that makes it gives them."""
    if not isinstance(value, dict):
        raise NemotronError(f"{option}: found {value!r}; needed a dictionary.")
    for name, kind in kinds.items():
        found = value.get(name)
        if found is not None and not isinstance(found, kind):
            raise NemotronError(f"{option}: found {found!r} as {name}; needed {_KINDS[kind]}.")


def ask_environment(parameters: dict[str, t.Any], variables: dict[str, str]) -> Environment | None:
    """Run the probe in the serving environment."""
    python = parameters["python"]
    if python is None:
        return None
    # -B: looking must not leave compiled files in the environment.
    argv = [python, "-I", "-B", "-c", inspect.getsource(_environment_probe), "device"]
    base = {"PATH": os.defpath, "HOME": pwd.getpwuid(os.getuid()).pw_dir, "LANG": "C.UTF-8"}
    completed = run_limited(argv, parameters["timeout"], {**base, **variables})
    return parse_probe(completed.stdout, completed.stderr, completed.rc)


def read_architectures(path: str) -> tuple[Architectures | None, str]:
    """Return (the device code in an extension, what is wrong with its file)."""
    try:
        # An empty file cannot be mapped, which is a ValueError.
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return architectures(mapped), ""
    except (OSError, ValueError, NemotronError) as error:
        return None, f"{path}: {error}"


def find_toolkits(host: Host, variables: dict[str, str]) -> dict[str, str | None]:
    """Return the version of each CUDA toolkit that a build could take, by path."""
    found: dict[str, str | None] = {}
    homes = [variables.get("CUDA_HOME"), variables.get("CUDA_PATH"), _TOOLKIT if host.exists(_TOOLKIT) else None]
    for home in homes:
        if home:
            said = host.ask([f"{home}/bin/nvcc", "--version"])
            found[home] = toolkit_version(said.stdout, host.read(f"{home}/version.json") or "")
    found["nvcc"] = toolkit_version(host.ask(["nvcc", "--version"]).stdout, "")
    return found


def examine(parameters: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the result of the module."""
    check_options(parameters)
    variables = {name: str(value) for name, value in parameters["environment"].items() if value is not None}
    host = Host(parameters["root"])
    gpu = gather(host) if parameters["gpu"] is None else parameters["gpu"]
    environment = ask_environment(parameters, variables)
    mapped = environment.libraries.mapped if environment and environment.libraries else ()
    folders = [folder for folder in re.split("[:;]", variables.get(_LIBRARY_PATH, "")) if folder]
    driver = driver_host(host, folders, mapped if host.live else ())
    paths = (environment.found_extensions if environment else None) or {}
    read = {name: read_architectures(path) for name, path in paths.items()}
    toolkits = find_toolkits(host, variables) if parameters["building"] else {}
    runtime = Runtime(
        {name: found for name, (found, _wrong) in read.items() if found},
        tuple(wrong for _found, wrong in read.values() if wrong),
        known_toolkits(toolkits),
    )
    violations = _version_triple.judge(
        gpu,
        driver,
        environment,
        runtime,
        parameters["stack"],
        python=parameters["python"] or "",
        building=parameters["building"],
    )
    return {
        "ok": not violations,
        "triple": _version_triple.triple(gpu, driver, environment, runtime, parameters["stack"]),
        "violations": [asdict(violation) for violation in violations],
        "sentences": [violation.describe() for violation in violations],
    }


def main() -> None:
    """Examine the host and report."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "python": {"type": "path"},
            "stack": {"type": "dict"},
            "building": {"type": "bool", "default": False},
            "environment": {"type": "dict", "default": {}},
            "timeout": {"type": "float", "default": 180},
            "gpu": {"type": "dict"},
            "strict": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    try:
        result = examine(module.params)
    except NemotronError as error:
        module.fail_json(msg=str(error))
    sentences = result.pop("sentences")
    if sentences and module.params["strict"]:
        lines = "\n- ".join(sentences)
        module.fail_json(msg=f"Driver, CUDA runtime and compiled extensions do not fit:\n- {lines}", **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
