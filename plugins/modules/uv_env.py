#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: uv_env
short_description: A Python environment holds exactly the packages of a lock
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Makes a virtual environment with L(uv, https://docs.astral.sh/uv/) that holds the packages of a lock with hashes, at
    the lock's versions, and nothing else.
  - An environment that was changed by hand is found and put right. Packages that are missing, added or of another
    version, and files that are missing or have another size, are named in the diff and in RV(reasons).
  - What is installed is read from the environment itself. uv runs only when something has to be done.
  - An environment that an interrupted run left unfinished is finished. A folder that this module has not made is
    refused and left as it is.
  - The environment and its interpreter can be used by all users of the host and changed by its owner only.
extends_documentation_fragment:
  - nemotron.vllm._attributes
attributes:
  check_mode:
    support: full
    details:
      - On a host that has neither uv nor the lock yet, the creation of the environment is predicted.
  diff_mode:
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  prefix:
    description: Folder of the environment.
    type: path
    required: true
  lock:
    description:
      - Path on the host of the lock, a requirements file in which every package has a version and SHA-256 hashes, made
        for one Python and one platform as by C(uv pip compile --generate-hashes).
      - Exactly one of O(lock) and O(lock_content) is required if O(state=present).
    type: path
  lock_content:
    description:
      - The text of the lock instead of its path. Saves copying it to the host, and lets check mode tell the packages of
        an environment that is not there yet.
      - The lock that was used lies in the environment as C(nemotron-env.lock).
    type: str
  wheels:
    description:
      - Paths on the host of wheels that are installed beside the lock's packages, for example one that was built here.
      - The packages that they depend on must be in the lock.
    type: list
    elements: path
    default: []
  python:
    description:
      - The Python of the environment, a version such as V(3.11) or the path of an interpreter.
      - For a version, a Python of the host is preferred and one is downloaded if the host has none.
      - Another value than the last time makes the environment anew. Required if O(state=present).
    type: str
  executable:
    description: Path of uv, or its name if it is found in C(PATH).
    type: path
    default: uv
  cache_dir:
    description:
      - Folder of uv's cache. On the same file system as O(prefix), files are linked into the environment and take no
        second room.
    type: path
  python_install_dir:
    description: Folder for a downloaded Python. All users must be able to read it.
    type: path
  index_url:
    description:
      - The package index, if not L(PyPI, https://pypi.org/simple).
      - Neither pip's settings nor a C(uv.toml) on the host are read, so that all hosts of an inventory do the same. The
        environment variables of uv are honoured.
    type: str
  extra_index_urls:
    description:
      - Further package indexes. The hashes of the lock decide what is accepted from any of them.
    type: list
    elements: str
    default: []
  find_links:
    description: Folders on the host, or pages, that have wheels beside those of the indexes.
    type: list
    elements: str
    default: []
  state:
    description: Whether the environment is there.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Install the environment of a lock
  nemotron.vllm.uv_env:
    prefix: /opt/nemotron/envs/vllm
    lock_content: "{{ lookup('ansible.builtin.file', 'locks/vllm.txt') }}"
    python: "3.11"
    executable: /opt/nemotron/tools/uv-0.13.9/bin/uv
    cache_dir: /opt/nemotron/cache/uv

- name: Install the same packages and a wheel that was built on the host
  nemotron.vllm.uv_env:
    prefix: /opt/nemotron/envs/vllm-patched
    lock: /opt/nemotron/envs/vllm/nemotron-env.lock
    wheels:
      - /opt/nemotron/wheels/0123456789ab/vllm-0.32.0+cpu-cp311-cp311-linux_x86_64.whl
    python: "3.11"

- name: Remove an environment
  nemotron.vllm.uv_env:
    prefix: /opt/nemotron/envs/vllm
    state: absent
"""

RETURN = r"""
prefix:
  description: Folder of the environment.
  returned: always
  type: str
  sample: /opt/nemotron/envs/vllm
python:
  description: Path of the environment's interpreter.
  returned: always
  type: str
  sample: /opt/nemotron/envs/vllm/bin/python
python_version:
  description: What the interpreter reports when it is run; empty if there is none, as in check mode on a bare host.
  returned: always
  type: str
  sample: 3.11.2
packages:
  description: Name and version of each package in the environment; in check mode as they would be.
  returned: always
  type: dict
  sample: {"idna": "3.7"}
reasons:
  description: What was off before, one sentence each.
  returned: always
  type: list
  elements: str
  sample: ["numpy is 2.0.1 instead of 2.1.0"]
"""

import hashlib
import os
import shutil
import typing as t
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _uv_env
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._exclusive import exclusive
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text, write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._hash_memory import memorise, remembered_sha256
from ansible_collections.nemotron.vllm.plugins.module_utils._requirements_lock import parse_lock

_MARKER = "nemotron-env.json"
_LOCK = "nemotron-env.lock"
_WHEELS = "nemotron-env.wheels"
_ASK_INTERPRETER = "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.prefix)"
_ENTER_BY_OTHERS = 0o001
_READ_AND_RUN_BY_OTHERS = 0o005


def interpreter(prefix: str) -> str:
    """Return the path of an environment's interpreter."""
    return os.path.join(prefix, "bin", "python")


def find(module: AnsibleModule, prefix: str) -> _uv_env.Found:
    """Look at the environment, and refuse a folder that is something else."""
    if not os.path.lexists(prefix) or (os.path.isdir(prefix) and not os.listdir(prefix)):
        return _uv_env.Found(None, None, ())
    marker = _uv_env.parse_marker(read_text(os.path.join(prefix, _MARKER)) or "") if os.path.isdir(prefix) else None
    if marker is None:
        content = f"a folder with {', '.join(sorted(os.listdir(prefix))[:5])}" if os.path.isdir(prefix) else "a file"
        raise NemotronError(
            f"{prefix} was not made by this module and is left as it is: found {content}; needed an environment with a "
            f"{_MARKER}, an empty folder or nothing. Move it away, or choose another prefix."
        )
    completed = run(module, [interpreter(prefix), "-I", "-c", _ASK_INTERPRETER])
    version, _newline, own_prefix = completed.stdout.strip().partition("\n")
    # An environment that was cut short can have an interpreter that works on the host's own packages instead.
    if not completed.ok or os.path.realpath(own_prefix) != os.path.realpath(prefix):
        return _uv_env.Found(marker, None, ())
    return _uv_env.Found(marker, version, installed(site_packages(prefix, version)))


def site_packages(prefix: str, version: str) -> str:
    """Return the folder of an environment's packages."""
    return os.path.join(prefix, "lib", "python" + ".".join(version.split(".")[:2]), "site-packages")


def installed(folder: str) -> tuple[_uv_env.Package, ...]:
    """Return the packages in a folder, each with the first fault of its files."""
    packages = []
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        parsed = _uv_env.parse_dist_info(entry)
        if parsed:
            packages.append(_uv_env.Package(*parsed, fault=first_fault(folder, entry)))
    return tuple(packages)


def first_fault(folder: str, dist_info: str) -> str | None:
    """Return what is wrong with the files of one package, compared with its own record."""
    record = read_text(os.path.join(folder, dist_info, "RECORD"))
    # Installers write this file after the package's own: without it the installation was cut short, which uv overlooks.
    if record is None or not os.path.exists(os.path.join(folder, dist_info, "INSTALLER")):
        return "its installation was interrupted"
    for path, size in _uv_env.parse_record(record):
        try:
            actual = os.stat(os.path.join(folder, path)).st_size
        except OSError:
            return f"{path} is missing"
        if actual != size:
            return f"{path} has {actual} bytes instead of {size}"
    return None


def want(module: AnsibleModule, found: _uv_env.Found) -> tuple[_uv_env.Wanted, str]:
    """Return what the environment should be, and the text of its lock."""
    parameters = module.params
    source = parameters["lock"] or "lock_content"
    text = parameters["lock_content"] if parameters["lock"] is None else read_text(parameters["lock"])
    if text is None:
        if module.check_mode:
            return _uv_env.Wanted(parameters["python"], None, source), ""
        raise NemotronError(
            f"{source}: found no such file on the host; needed the lock. Correct lock, or copy it there."
        )
    packages = parse_lock(text, source)
    wheels: dict[str, str] = {}
    for path in parameters["wheels"]:
        name, version = _uv_env.parse_wheel(os.path.basename(path))
        if name in packages:
            raise NemotronError(
                f"wheels: {path} is the package {name}, which {source} has at {packages[name]}; needed a package that "
                "is not in the lock. Take it out of one of them."
            )
        packages[name] = version
        if os.path.exists(path):
            wheels[path] = remembered_sha256(path, found.marker.wheels if found.marker else {})
        elif not module.check_mode:
            raise NemotronError(f"wheels: found no {path} on the host; needed a wheel. Correct the path, or build it.")
    return _uv_env.Wanted(parameters["python"], packages, hashlib.sha256(text.encode()).hexdigest(), wheels), text


def uv_environment(parameters: dict[str, t.Any]) -> dict[str, str]:
    """Return uv's settings; addresses may hold passwords and so do not belong on a command line."""
    settings = {
        "UV_SYSTEM_CERTS": "1",
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_PREFERENCE": "system",
        # An index for one package often has old versions of others; the hashes decide what is accepted.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_CACHE_DIR": parameters["cache_dir"],
        "UV_PYTHON_INSTALL_DIR": parameters["python_install_dir"],
        "UV_DEFAULT_INDEX": parameters["index_url"],
        "UV_INDEX": " ".join(parameters["extra_index_urls"]),
        "UV_FIND_LINKS": ",".join(parameters["find_links"]),
    }
    return {name: value for name, value in settings.items() if value}


def run_uv(module: AnsibleModule, what: str, *arguments: str) -> None:
    """Run uv and explain its failure."""
    executable = module.get_bin_path(module.params["executable"])
    if executable is None:
        raise NemotronError(
            f"executable: found no {module.params['executable']} on the host; needed uv. Install it there."
        )
    completed = run(module, [executable, *arguments], environment=uv_environment(module.params))
    if not completed.ok:
        advice = _uv_env.explain(completed.stdout + completed.stderr)
        raise NemotronError(
            f"{what}. {advice}\n{completed.describe()}" if advice else f"{what}: {completed.describe()}"
        )


def build(
    module: AnsibleModule, wanted: _uv_env.Wanted, lock: str, found: _uv_env.Found, plan: _uv_env.Plan
) -> _uv_env.Found:
    """Make the environment what it should be; it counts as unfinished until the last line."""
    prefix = module.params["prefix"]
    os.makedirs(prefix, exist_ok=True)
    unfinished = _uv_env.Marker(complete=False, python=wanted.python, lock_sha256=wanted.lock)
    if plan.recreate:
        # While the content goes, the note from before still says whose folder this is.
        if found.marker is None:
            write_text(module, os.path.join(prefix, _MARKER), unfinished.render())
        empty(prefix, keep=_MARKER)
        write_text(module, os.path.join(prefix, _MARKER), unfinished.render())
        run_uv(
            module,
            f"{prefix}: the environment could not be made",
            *["venv", "--no-config", "--allow-existing", "--python", wanted.python, prefix],
        )
    else:
        write_text(module, os.path.join(prefix, _MARKER), unfinished.render())
    write_text(module, os.path.join(prefix, _LOCK), lock)
    requirements = [os.path.join(prefix, _LOCK)]
    if wanted.wheels:
        requirements.append(os.path.join(prefix, _WHEELS))
        lines = [
            f"{_uv_env.parse_wheel(os.path.basename(path))[0]} @ file://{path} --hash=sha256:{sha256}\n"
            for path, sha256 in sorted(wanted.wheels.items())
        ]
        write_text(module, requirements[-1], "".join(lines))
    if plan.reinstall:
        # Files are links into uv's cache where possible, so that a change of one is a change of the other.
        run_uv(module, f"{prefix}: uv's cache could not be cleaned", "cache", "clean", "--no-config", *plan.reinstall)
    reinstall = [argument for name in plan.reinstall for argument in ("--reinstall-package", name)]
    run_uv(
        module,
        f"{prefix}: the packages could not be installed",
        # Users of the environment cannot write bytecode into it and would compile everything at each start.
        *["pip", "sync", "--no-config", "--no-build", "--require-hashes", "--compile-bytecode"],
        *["--python", interpreter(prefix)],
        *reinstall,
        *requirements,
    )
    made = find(module, prefix)
    if remove_leftovers(prefix, wanted, made):
        made = find(module, prefix)
    check(prefix, wanted, made)
    wheels = {path: memorise(path, sha256) for path, sha256 in wanted.wheels.items()}
    complete = _uv_env.Marker(complete=True, python=wanted.python, lock_sha256=wanted.lock, wheels=wheels)
    write_text(module, os.path.join(prefix, _MARKER), complete.render())
    return made


def remove_leftovers(prefix: str, wanted: _uv_env.Wanted, made: _uv_env.Found) -> bool:
    """Remove what uv leaves of packages whose own record of their files is not complete."""
    if made.python_version is None or all(_uv_env.is_wanted(wanted, item.name, item.version) for item in made.packages):
        return False
    folder = site_packages(prefix, made.python_version)
    for entry in os.listdir(folder):
        parsed = _uv_env.parse_dist_info(entry)
        if parsed and not _uv_env.is_wanted(wanted, *parsed):
            shutil.rmtree(os.path.join(folder, entry))
    return True


def check(prefix: str, wanted: _uv_env.Wanted, made: _uv_env.Found) -> None:
    """Raise an error when what uv called a success is not what was wanted."""
    if made.python_version is None:
        raise NemotronError(f"{interpreter(prefix)} does not run although uv has made it. Give another python.")
    differences, _reinstall = _uv_env.compare_packages(wanted.packages or {}, made.packages)
    if differences:
        raise NemotronError(
            f"{prefix} is not what was asked for although uv reports success: {'; '.join(differences)}. "
            "Either two of the packages bring the same file, or uv's cache (cache_dir) is damaged: remove it and run "
            "again."
        )


def closed_folder(path: str) -> str | None:
    """Return the first folder on the way that other users may not enter, or the path if they may not use it."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    folders = [folder]
    while folder != "/":
        folder = os.path.dirname(folder)
        folders.append(folder)
    for entered in reversed(folders):
        if not os.stat(entered).st_mode & _ENTER_BY_OTHERS:
            return entered
    usable = os.stat(path).st_mode & _READ_AND_RUN_BY_OTHERS == _READ_AND_RUN_BY_OTHERS
    return None if usable else path


def check_access(prefix: str) -> None:
    """Raise an error when only the owner can use an environment, since the server has a user of its own."""
    closed = closed_folder(os.path.join(prefix, "bin"))
    if closed:
        raise NemotronError(
            f"prefix: found that only its owner can use {closed}, on the way to {prefix}; needed an environment for "
            f"all users. Run: chmod o+rx {closed}"
        )
    closed = closed_folder(interpreter(prefix))
    if closed:
        raise NemotronError(
            f"python: found an interpreter that only its owner can use, because of the permissions of {closed}; needed "
            "one for all users. Give another python, or set python_install_dir."
        )


def empty(prefix: str, keep: str) -> None:
    """Remove everything in a folder but one file."""
    for name in os.listdir(prefix):
        path = os.path.join(prefix, name)
        if name != keep and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif name != keep:
            os.unlink(path)


def judge(module: AnsibleModule) -> tuple[_uv_env.Found, _uv_env.Wanted, str, _uv_env.Plan]:
    """Return what is there, what should be, the lock's text, and what has to be done."""
    found = find(module, module.params["prefix"])
    wanted, lock = want(module, found)
    return found, wanted, lock, _uv_env.plan(wanted, found)


def present(module: AnsibleModule) -> dict[str, t.Any]:
    """Have the environment there."""
    prefix = module.params["prefix"]
    found, wanted, lock, plan = judge(module)
    before, after = _uv_env.render_found(wanted, found), _uv_env.render_wanted(wanted)
    now = found
    if plan.reasons and not module.check_mode:
        with exclusive(os.path.dirname(os.path.abspath(prefix))):
            # What another run was doing may be done now.
            found, wanted, lock, plan = judge(module)
            now = build(module, wanted, lock, found, plan) if plan.reasons else found
    if now.python_version:
        check_access(prefix)
    return {
        "changed": bool(plan.reasons),
        "diff": {
            "before_header": prefix,
            "after_header": prefix,
            "before": before if plan.reasons else after,
            "after": after,
        },
        "python_version": now.python_version or "",
        "packages": dict(wanted.packages or {}),
        "reasons": list(plan.reasons),
    }


def absent(module: AnsibleModule) -> dict[str, t.Any]:
    """Have no environment there."""
    prefix = module.params["prefix"]
    found = find(module, prefix)
    if found.marker and not module.check_mode:
        empty(prefix, keep=_MARKER)
        shutil.rmtree(prefix)
    packages = {package.name: package.version for package in found.packages}
    wanted = _uv_env.Wanted(found.marker.python if found.marker else "", packages, "")
    return {
        "changed": found.marker is not None,
        "diff": {
            "before_header": prefix,
            "after_header": prefix,
            "before": _uv_env.render_wanted(wanted) if found.marker else "",
            "after": "",
        },
        "python_version": "",
        "packages": {},
        "reasons": ["the environment is there"] if found.marker else [],
    }


def hide_passwords(module: AnsibleModule) -> None:
    """Have passwords in the addresses of indexes replaced wherever a result is shown."""
    for url in [module.params["index_url"] or "", *module.params["extra_index_urls"], *module.params["find_links"]]:
        try:
            password = urlsplit(url).password
        except ValueError as error:
            raise NemotronError(
                f"{url}: found an address that cannot be read ({error}); needed a URL or a path."
            ) from error
        if password:
            module.no_log_values.add(password)


def main() -> None:
    """Have the environment in the wanted state."""
    module = AnsibleModule(
        argument_spec={
            "prefix": {"type": "path", "required": True},
            "lock": {"type": "path"},
            # Half a megabyte that would otherwise go into the host's log at every run.
            "lock_content": {"type": "str", "no_log": True},
            "wheels": {"type": "list", "elements": "path", "default": []},
            "python": {"type": "str"},
            "executable": {"type": "path", "default": "uv"},
            "cache_dir": {"type": "path"},
            "python_install_dir": {"type": "path"},
            "index_url": {"type": "str"},
            "extra_index_urls": {"type": "list", "elements": "str", "default": []},
            "find_links": {"type": "list", "elements": "str", "default": []},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        mutually_exclusive=[("lock", "lock_content")],
        required_if=[("state", "present", ("lock", "lock_content"), True), ("state", "present", ("python",))],
        supports_check_mode=True,
    )
    os.umask(0o022)
    try:
        hide_passwords(module)
        result = present(module) if module.params["state"] == "present" else absent(module)
    except NemotronError as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=f"{error.filename or module.params['prefix']}: {error.strerror}. See to it and run again.")
    module.exit_json(prefix=module.params["prefix"], python=interpreter(module.params["prefix"]), **result)


if __name__ == "__main__":
    main()
