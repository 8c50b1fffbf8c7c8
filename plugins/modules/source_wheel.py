#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: source_wheel
short_description: A wheel built from source, once for a set of inputs
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Unpacks a source archive, applies patches to it and builds a wheel with the tools of a Python environment.
  - The wheel is named by the hash of its inputs, which are the archive, the patches, the build's settings, the Python
    and the packages that it is compiled against. While none of them changes, nothing is built.
  - Each patch is tried before it is applied. One that the source has already is skipped with a warning, one that does
    not fit is an error that names the file and the hunk.
  - The log of each build is kept beside the wheel, also when it fails.
requirements:
  - GNU patch on the host if there are patches
extends_documentation_fragment:
  - nemotron.vllm._attributes
attributes:
  check_mode:
    support: full
    details:
      - Patches and an environment that are not on the host yet count as a build to come, and RV(inputs_hash) is then
        not the one that the build will have.
  diff_mode:
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  source:
    description: Path on the host of the source archive, a tar file with one folder in it, as published for a release.
    type: path
    required: true
  sha256:
    description: SHA-256 of O(source).
    type: str
    required: true
  patches:
    description:
      - Paths on the host of patches, in the order in which they are applied to the unpacked folder.
      - They are in the unified format, with paths that begin with C(a/) and C(b/).
      - What a patch says before its changes, as the subject of a mail or in its first line, is kept as its purpose.
    type: list
    elements: path
    default: []
  environment:
    description: Environment variables of the build. They are inputs, so keep passwords out.
    type: dict
    default: {}
  environment_files:
    description: Environment variables of the build whose value is the path of a file; the file's content is the input.
    type: list
    elements: dict
    default: []
    suboptions:
      variable:
        description: Name of the environment variable.
        type: str
        required: true
      path:
        description: Path of the file on the host.
        type: path
        required: true
      sha256:
        description: SHA-256 of the file.
        type: str
        required: true
  python:
    description:
      - Path of the interpreter of the environment that has the build's tools. Nothing else is installed for the build.
    type: path
    required: true
  packages:
    description: Packages of that environment whose versions are inputs, because the wheel is compiled against them.
    type: list
    elements: str
    default: [torch]
  executable:
    description: Path of uv, which runs the build, or its name if it is found in C(PATH).
    type: path
    default: uv
  wheels_dir:
    description: Folder for the wheels, each in a folder of its own with its manifest and its log.
    type: path
    required: true
  build_dir:
    description: Folder for unpacking and building. What is put there is removed at the end.
    type: path
    required: true
"""

EXAMPLES = r"""
- name: Build a patched wheel
  nemotron.vllm.source_wheel:
    source: /opt/nemotron/src/vllm-0.32.0.tar.gz
    sha256: 5b1bd1a0d0ff9b8a4b4f3ad2ccdb6a4a2e4b6e0a0a59c5b5c6f3f1a1a5e2b0aa
    patches:
      - /opt/nemotron/src/patches/0001-cpu-slot-mapping-kernel-arguments.patch
    environment:
      VLLM_TARGET_DEVICE: cpu
    python: /opt/nemotron/envs/0123456789ab/bin/python
    executable: /opt/nemotron/tools/uv-0.13.9/bin/uv
    wheels_dir: /opt/nemotron/wheels
    build_dir: /opt/nemotron/src
  register: built
"""

RETURN = r"""
wheel:
  description: Path of the wheel on the host; empty in check mode if it has to be built.
  returned: success
  type: str
  sample: /opt/nemotron/wheels/0123456789ab/vllm-0.32.0+cpu-cp311-cp311-linux_x86_64.whl
inputs_hash:
  description: Hash of the inputs. Its first twelve digits name the wheel's folder.
  returned: success
  type: str
manifest:
  description: What is known about the build; empty in check mode if it has to be made.
  returned: success
  type: dict
  contains:
    inputs:
      description: The inputs.
      type: dict
    patches:
      description: Name, purpose and SHA-256 of each patch, and whether it was C(applied) or C(already in the source).
      type: list
      elements: dict
    wheel:
      description: Name and SHA-256 of the file, and its size and times, by which a change is noticed.
      type: dict
    seconds:
      description: How long the build took.
      type: float
log:
  description: Path of the build's log on the host.
  returned: success
  type: str
"""

import contextlib
import json
import os
import shutil
import tarfile
import time
import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _source_wheel
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run, run_checked
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._exclusive import exclusive
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text, sha256_of_file, write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._hash_memory import remembered_sha256, stamp

if t.TYPE_CHECKING:
    from collections.abc import Iterator

# One interpreter start for all that has to be asked; the names come as arguments.
_ASK_PYTHON = """
import importlib.metadata, json, sys
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        versions[name] = None
print(json.dumps({"python": "%d.%d" % sys.version_info[:2], "packages": versions}))
"""
_KEY_DIGITS = 12


def read_inputs(module: AnsibleModule) -> _source_wheel.Inputs:
    """Return the inputs; large files count by the hash that they must have, so that they need not be read."""
    parameters = module.params
    patches = [patch_sha256(module, path) for path in parameters["patches"]]
    names = sorted(set(parameters["packages"]))
    answer: dict[str, t.Any] = {"python": None, "packages": dict.fromkeys(names)}
    if os.path.exists(parameters["python"]) or not module.check_mode:
        completed = run(module, [parameters["python"], "-I", "-c", _ASK_PYTHON, *names])
        if not completed.ok:
            raise NemotronError(
                f"python: {parameters['python']} does not run; needed the interpreter of an environment with the "
                f"build's tools. {completed.describe()}"
            )
        answer = json.loads(completed.stdout)
    return _source_wheel.Inputs(
        source=parameters["sha256"],
        patches=tuple(patches),
        environment={name: str(value) for name, value in parameters["environment"].items()},
        environment_files={item["variable"]: item["sha256"] for item in parameters["environment_files"]},
        python=answer["python"],
        packages=answer["packages"],
    )


def patch_sha256(module: AnsibleModule, path: str) -> str:
    """Return the hash of a patch, which in check mode need not be there yet."""
    text = read_text(path)
    if text is None:
        if module.check_mode:
            return ""
        raise NemotronError(
            f"patches: found no {path} on the host; needed a patch. Correct the path, or copy it there."
        )
    if not _source_wheel.has_hunk(text):
        raise NemotronError(
            f"patches: found no hunk (@@ -... +... @@) in {path}; needed a patch in the unified format."
        )
    return sha256_of_file(path)


def built(folder: str) -> dict[str, t.Any] | None:
    """Return the manifest of a wheel that is there and unchanged."""
    manifest = _source_wheel.parse_manifest(read_text(os.path.join(folder, "manifest.json")) or "")
    if manifest is None:
        return None
    wheel = os.path.join(folder, manifest["wheel"]["file"])
    unchanged = (
        os.path.exists(wheel) and remembered_sha256(wheel, {wheel: manifest["wheel"]}) == manifest["wheel"]["sha256"]
    )
    return manifest if unchanged else None


def check_file(option: str, path: str, sha256: str) -> None:
    """Raise an error when a file is not the one that was asked for."""
    if not os.path.exists(path):
        raise NemotronError(
            f"{option}: found no {path} on the host; needed a file with SHA-256 {sha256}. Download it there."
        )
    found = sha256_of_file(path)
    if found != sha256.lower():
        raise NemotronError(
            f"{option}: {path} has SHA-256 {found}; needed {sha256}. Remove the file and download it again, or correct "
            "the hash if this is the file that is meant."
        )


@contextlib.contextmanager
def workspace(place: str) -> Iterator[None]:
    """Have an empty folder that goes away at the end, or after a kill at the next beginning."""
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


def unpack(source: str, folder: str) -> str:
    """Unpack the archive and return the one folder that is in it."""
    os.mkdir(folder)
    try:
        with tarfile.open(source) as archive:
            members = archive.getmembers()
            unsafe = next(filter(None, map(_source_wheel.unsafe_member, members)), None)
            if unsafe:
                raise NemotronError(
                    f"source: {source} is not safe to unpack: {unsafe}. Take the archive from its origin."
                )
            # Where this Python has the filter: it also drops owners and special permissions.
            if hasattr(tarfile, "data_filter"):
                archive.extraction_filter = tarfile.data_filter
            for member in members:
                archive.extract(member, folder)
    except tarfile.TarError as error:
        raise NemotronError(f"source: {source} cannot be unpacked ({error}); needed a tar archive.") from error
    entries = os.listdir(folder)
    if len(entries) != 1 or not os.path.isdir(os.path.join(folder, entries[0])):
        raise NemotronError(
            f"source: found {', '.join(sorted(entries)[:5])} in {source}; needed one folder with all in it."
        )
    return os.path.join(folder, entries[0])


def apply_patches(module: AnsibleModule, tree: str) -> list[str]:
    """Apply the patches in order and return for each whether it was applied."""
    patches = module.params["patches"]
    program = module.get_bin_path("patch")
    if patches and program is None:
        raise NemotronError("patches: found no program patch on the host; needed GNU patch. Run: apt-get install patch")
    states = []
    for path in patches:
        # Without fuzz, a hunk fits only where all its lines are; it may have moved.
        argv = [str(program), "--strip=1", "--batch", "--fuzz=0", f"--directory={tree}"]
        argv.append(f"--input={os.path.abspath(path)}")
        tried = run(module, [*argv, "--forward", "--dry-run"])
        if tried.ok:
            states.append("applied")
            run_checked(module, [*argv, "--forward", "--no-backup-if-mismatch"], f"The patch {path}")
        elif run(module, [*argv, "--force", "--reverse", "--dry-run"]).ok:
            states.append("already in the source")
            module.warn(f"The patch {path} is already in the source and was not needed. Take it out of the list.")
        else:
            places = [misfit.describe() for misfit in _source_wheel.misfits(tried.stdout + tried.stderr)]
            raise NemotronError(
                f"The patch {path} does not fit {os.path.basename(tree)}: {'; '.join(places) or tried.describe()}. "
                "Make it again for this source, or take it out of the list."
            )
    return states


def build(module: AnsibleModule, inputs: _source_wheel.Inputs, folder: str) -> dict[str, t.Any]:
    """Build the wheel and write its manifest, which is what makes it count, at the end."""
    parameters = module.params
    started = time.monotonic()
    executable = module.get_bin_path(parameters["executable"])
    if executable is None:
        raise NemotronError(
            f"executable: found no {parameters['executable']} on the host; needed uv. Install it there."
        )
    check_file("source", parameters["source"], parameters["sha256"])
    for item in parameters["environment_files"]:
        check_file(f"environment_files, {item['variable']}", item["path"], item["sha256"])
    log = os.path.join(folder, "build.log")
    place = os.path.join(parameters["build_dir"], f"build-{os.path.basename(folder)}")
    with workspace(place):
        tree = unpack(parameters["source"], os.path.join(place, "source"))
        states = apply_patches(module, tree)
        out = os.path.join(place, "wheel")
        environment = {
            "PATH": os.path.dirname(parameters["python"]) + os.pathsep + os.environ.get("PATH", os.defpath),
            "TMPDIR": place,
            "UV_CACHE_DIR": os.path.join(place, "cache"),
            "UV_NO_PROGRESS": "1",
            **inputs.environment,
            **{item["variable"]: item["path"] for item in parameters["environment_files"]},
        }
        completed = run(
            module,
            [
                *[executable, "build", "--no-config", "--wheel", "--no-build-isolation"],
                *["--python", parameters["python"], "--out-dir", out, tree],
            ],
            environment=environment,
        )
        text = completed.stdout + completed.stderr
        write_text(module, log, text)
        wheels = [name for name in os.listdir(out) if name.endswith(".whl")] if os.path.isdir(out) else []
        if not completed.ok or len(wheels) != 1:
            raise NemotronError(why_it_failed(os.path.basename(tree), text, log, completed.describe()))
        wheel = os.path.join(folder, wheels[0])
        module.atomic_move(os.path.join(out, wheels[0]), wheel)
    manifest = {
        "inputs_hash": inputs.digest(),
        "inputs": inputs.as_dict(),
        "source": os.path.basename(parameters["source"]),
        "patches": [
            {
                "name": os.path.basename(path),
                "purpose": _source_wheel.purpose(read_text(path) or ""),
                "sha256": sha256,
                "state": state,
            }
            for path, sha256, state in zip(parameters["patches"], inputs.patches, states)
        ],
        "wheel": {"file": wheels[0], "sha256": sha256_of_file(wheel), "stamp": stamp(wheel)},
        "seconds": round(time.monotonic() - started, 1),
    }
    write_text(module, os.path.join(folder, "manifest.json"), json.dumps(manifest, indent=2) + "\n")
    return manifest


def why_it_failed(what: str, text: str, log: str, ending: str) -> str:
    """Return the message about a failed build."""
    error = _source_wheel.first_error(text)
    if error is None:
        return f"{what} could not be built; the log is {log} on the host. {ending}"
    return f"{what} could not be built. The first error, at line {error[0]} of {log} on the host:\n{error[1]}"


def main() -> None:
    """Have the wheel there."""
    module = AnsibleModule(
        argument_spec={
            "source": {"type": "path", "required": True},
            "sha256": {"type": "str", "required": True},
            "patches": {"type": "list", "elements": "path", "default": []},
            "environment": {"type": "dict", "default": {}},
            "environment_files": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "variable": {"type": "str", "required": True},
                    "path": {"type": "path", "required": True},
                    "sha256": {"type": "str", "required": True},
                },
            },
            "python": {"type": "path", "required": True},
            "packages": {"type": "list", "elements": "str", "default": ["torch"]},
            "executable": {"type": "path", "default": "uv"},
            "wheels_dir": {"type": "path", "required": True},
            "build_dir": {"type": "path", "required": True},
        },
        supports_check_mode=True,
    )
    os.umask(0o022)
    try:
        inputs = read_inputs(module)
        digest = inputs.digest()
        folder = os.path.join(module.params["wheels_dir"], digest[:_KEY_DIGITS])
        manifest = built(folder)
        changed = manifest is None
        if changed and not module.check_mode:
            with exclusive(folder):
                manifest = built(folder)
                changed = manifest is None
                manifest = manifest or build(module, inputs, folder)
    except NemotronError as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(
            msg=f"{error.filename or module.params['build_dir']}: {error.strerror}. See to it and run again."
        )
    after = _source_wheel.render(inputs, [os.path.basename(path) for path in module.params["patches"]])
    module.exit_json(
        changed=changed,
        diff={"before_header": folder, "after_header": folder, "before": "" if changed else after, "after": after},
        wheel=os.path.join(folder, manifest["wheel"]["file"]) if manifest else "",
        inputs_hash=digest,
        manifest=manifest or {},
        log=os.path.join(folder, "build.log"),
    )


if __name__ == "__main__":
    main()
