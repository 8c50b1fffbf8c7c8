#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_snapshot
short_description: A model is present, complete and unchanged in a folder of its own
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Copies a model into C(dest/REVISION), where the revision is made of the hashes of its files, and keeps it as it is.
    A server that loads from there is not disturbed when somebody works on the source.
  - A source that no server could load is refused before anything is copied, with the name of the file. So is one whose
    content is not the pinned O(revision).
  - A snapshot with a file that is missing, altered or added is found, and the files are put back from the source.
  - A copy that was interrupted is finished by the next run. The snapshot gets its name when all files are verified.
  - A file is read again only if its size or one of its times has changed since it was last hashed.
  - Files and folders whose names begin with a dot are left out. Links are followed, because the caches of model hubs
    consist of them.
extends_documentation_fragment:
  - nemotron.vllm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  source:
    description:
      - The model, an absolute path of a folder on the host, with C(config.json), a tokenizer and the weights.
      - If the folder is gone, a snapshot that was made of it before is kept in use.
    type: str
    required: true
  dest:
    description:
      - The folder on the host for all snapshots of this model. It is made if it does not exist.
      - Files in it can be read by all users and changed by their owner only.
    type: path
    required: true
  revision:
    description:
      - The revision that the model must have. Any is accepted if this is not given.
      - For a folder it is the first 40 digits of what
        C(find -L . -type f -not -path '*/.*' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
        prints there.
    type: str
  verify:
    description:
      - V(stat) hashes the files of the snapshot whose size or times have changed since they were hashed.
      - V(size) compares names and sizes only.
      - V(full) hashes every file of source and snapshot.
    type: str
    choices: [stat, size, full]
    default: stat
  variables:
    description: The variables that O(source), O(revision) and O(dest) come from, by option, for messages.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Keep a verified copy of a model that was put on the host
  nemotron.vllm.model_snapshot:
    source: /srv/models/smollm2-135m-instruct
    dest: /opt/nemotron/models/local--smollm2-135m-instruct

- name: Accept one content only, and read all of it
  nemotron.vllm.model_snapshot:
    source: /srv/models/smollm2-135m-instruct
    dest: /opt/nemotron/models/local--smollm2-135m-instruct
    revision: 0123456789abcdef0123456789abcdef01234567
    verify: full
"""

RETURN = r"""
path:
  description: The folder to serve. In check mode it may not exist yet.
  returned: success
  type: str
  sample: /opt/nemotron/models/local--smollm2-135m-instruct/0123456789abcdef0123456789abcdef01234567
revision:
  description: The name of the model's content.
  returned: success
  type: str
  sample: 0123456789abcdef0123456789abcdef01234567
files:
  description: The files of the snapshot.
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: The path below RV(path).
      type: str
      sample: model.safetensors
    size:
      description: The size in bytes.
      type: int
      sample: 269060552
    sha256:
      description: The SHA-256 of the content.
      type: str
faults:
  description: What was wrong with the snapshot before, one sentence each.
  returned: success
  type: list
  elements: str
  sample: ["tokenizer.json is missing"]
repairs:
  description: How often files of this snapshot had to be put back since it was made.
  returned: success
  type: int
  sample: 0
"""

import json
import os
import shutil
import typing as t
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _model_snapshot
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text, sha256_of_file, write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._folders import make_open_folder, open_folder
from ansible_collections.nemotron.vllm.plugins.module_utils._hash_memory import memorise, remembered_sha256, stamp
from ansible_collections.nemotron.vllm.plugins.module_utils._model_snapshot import Entry, Fault, Manifest

_MEMORY = ".nemotron-hashes.json"
_PARTIAL = ".partial-"
_READABLE = 0o644
_THREADS = 4


@dataclass(frozen=True)
class Source:
    """A model as it lies in its folder."""

    folder: str
    entries: tuple[Entry, ...]

    @property
    def revision(self) -> str:
        """The name of the content."""
        return _model_snapshot.revision_of({entry.path: entry.sha256 for entry in self.entries})


class Memory:
    """Hashes of files by path, and the revision that each source had, kept between runs."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            content = json.loads(read_text(path) or "{}")
        except ValueError:
            # It only saves time: without it everything is hashed again.
            content = {}
        self.hashes: dict[str, t.Any] = content.get("hashes", {})
        self.revisions: dict[str, str] = content.get("revisions", {})

    def knows(self, path: str) -> bool:
        """Tell whether a file is as it was when it was hashed."""
        return path in self.hashes and self.hashes[path]["stamp"] == stamp(path)

    def save(self, module: AnsibleModule) -> None:
        """Write it if it has changed, without the files that are gone."""
        hashes = {path: known for path, known in self.hashes.items() if os.path.exists(path)}
        text = json.dumps({"hashes": hashes, "revisions": self.revisions}, sort_keys=True)
        if text != read_text(self.path):
            write_text(module, self.path, text)


class Snapshots:
    """All that is done for one model."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.folder: str = module.params["source"].rstrip("/") or "/"
        self.dest: str = module.params["dest"]
        self.verify: str = module.params["verify"]
        self.memory = Memory(os.path.join(self.dest, _MEMORY))

    def variable(self, option: str) -> str:
        """Return the name by which the user knows an option."""
        return str(self.module.params["variables"].get(option, option))

    def run(self) -> dict[str, t.Any]:
        """Find out what is to be done, do it, and return the module's result."""
        try:
            _model_snapshot.check_revision(self.module.params["revision"])
        except NemotronError as error:
            raise NemotronError(f"{error} Correct {self.variable('revision')}, or leave it out.") from error
        source = self.examine_source()
        revision = self.choose_revision(source)
        path = os.path.join(self.dest, revision)
        partial = os.path.join(self.dest, _PARTIAL + revision)
        existed = os.path.isdir(path)
        found = self.hash_snapshot(path) if existed else {}
        manifest = self.choose_manifest(path, source, revision, found)
        faults = _model_snapshot.faults(manifest, found)
        complete = read_text(os.path.join(path, _model_snapshot.MANIFEST)) == manifest.render()
        if faults and existed:
            manifest = replace(manifest, repairs=manifest.repairs + 1)
        closed = [name for name in found if os.stat(os.path.join(path, name)).st_mode & 0o777 != _READABLE]
        changed = bool(faults or closed) or not complete
        missing = {fault.path for fault in faults if fault.kind != _model_snapshot.EXTRA}
        if missing:
            self.check_space(partial, [entry for entry in manifest.files if entry.path in missing])
        if not self.module.check_mode:
            if missing and source is not None:
                self.fetch(source, partial, [entry for entry in manifest.files if entry.path in missing])
            if changed:
                self.put_in_place(path, partial, manifest, faults, closed)
            self.tidy(path, [entry for entry in manifest.files if self.verify != "size" or entry.path in missing])
        result: dict[str, t.Any] = {
            "changed": changed,
            "path": path,
            "revision": revision,
            "files": [asdict(entry) for entry in manifest.files],
            "faults": [fault.describe() for fault in faults] if existed else [],
            "repairs": manifest.repairs,
        }
        if self.module._diff:
            wanted = {entry.path: entry.sha256 for entry in manifest.files}
            names = {"before_header": path, "after_header": path}
            before, after = _model_snapshot.render_files(found), _model_snapshot.render_files(wanted)
            result["diff"] = {**names, "before": before, "after": after}
        return result

    def examine_source(self) -> Source | None:
        """Return the model in its folder, or None when that is gone."""
        if not os.path.isabs(self.folder):
            raise NemotronError(
                f"{self.variable('source')}: found {self.folder}; needed the absolute path of a folder on the host. "
                "Models cannot be taken from a hub yet: put the files on the host and give their folder."
            )
        if not os.path.isdir(self.folder):
            return None
        sizes = {name: os.path.getsize(os.path.join(self.folder, name)) for name in self.list_files(self.folder)}
        paths = {name: os.path.join(self.folder, name) for name in sizes}
        self.judge(sizes)
        hashes = self.hash_files(paths, trust=self.verify != "full")
        return Source(self.folder, tuple(Entry(name, sizes[name], hashes[name]) for name in sorted(sizes)))

    def list_files(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder, without hidden ones and without our own manifest."""
        names = []
        seen = set()
        for where, folders, files in os.walk(folder, followlinks=True):
            # A link can lead back up.
            seen.add(os.path.realpath(where))
            folders[:] = [
                name
                for name in sorted(folders)
                if not name.startswith(".") and os.path.realpath(os.path.join(where, name)) not in seen
            ]
            for name in files:
                path = os.path.join(where, name)
                if not os.path.exists(path):
                    raise NemotronError(
                        f"{path} is a link to {os.readlink(path)}, which is missing; needed the file itself. Copy the "
                        f"model again, or change {self.variable('source')}."
                    )
                if not name.startswith(".") and name != _model_snapshot.MANIFEST:
                    names.append(os.path.relpath(path, folder))
        return sorted(names)

    def judge(self, sizes: dict[str, int]) -> None:
        """Refuse a source that no server could load."""
        try:
            _model_snapshot.judge_files(
                self.folder, sizes, lambda name: read_text(os.path.join(self.folder, name)) or ""
            )
            for name, size in sorted(sizes.items()):
                # One that was judged and has not changed since need not be opened again.
                if name.endswith(".safetensors") and not self.memory.knows(os.path.join(self.folder, name)):
                    with open(os.path.join(self.folder, name), "rb") as stream:
                        start = stream.read(_model_snapshot.LENGTH_BYTES)
                        length = _model_snapshot.header_length(self.folder, name, size, start)
                        _model_snapshot.check_header(self.folder, name, size, stream.read(length))
        except NemotronError as error:
            raise NemotronError(f"{error} Copy the model again, or change {self.variable('source')}.") from error

    def hash_files(self, paths: dict[str, str], *, trust: bool) -> dict[str, str]:
        """Return the hashes of files, by name, and remember them."""
        memory = self.memory.hashes if trust else {}
        with ThreadPoolExecutor(_THREADS) as pool:
            hashes = dict(zip(paths, pool.map(lambda path: remembered_sha256(path, memory), paths.values())))
        for name, path in paths.items():
            self.memory.hashes[path] = memorise(path, hashes[name])
        return hashes

    def choose_revision(self, source: Source | None) -> str:
        """Return the revision to serve: what the source holds, or what it held when it was last seen."""
        pinned = self.module.params["revision"]
        if source is not None:
            if pinned not in (None, source.revision):
                raise NemotronError(
                    f"{self.folder} holds revision {source.revision}; needed {pinned}. Nothing was copied. Put the "
                    f"right files there, or set {self.variable('revision')} to the revision found if it is meant."
                )
            return source.revision
        revision = pinned or self.memory.revisions.get(self.folder)
        if revision is None or not os.path.isdir(os.path.join(self.dest, revision)):
            raise NemotronError(
                f"{self.variable('source')}: found no folder {self.folder} on the host, and no snapshot of it in "
                f"{self.dest}; needed the folder of a model. Put the model there, or change {self.variable('source')}."
            )
        return str(revision)

    def hash_snapshot(self, path: str) -> dict[str, str]:
        """Return the hashes of the files of a snapshot, as sure as O(verify) wants it."""
        paths = {name: os.path.join(path, name) for name in self.list_files(path)}
        if self.verify != "size":
            return self.hash_files(paths, trust=self.verify == "stat")
        manifest = _model_snapshot.parse_manifest(read_text(os.path.join(path, _model_snapshot.MANIFEST)))
        wanted = {entry.path: entry for entry in manifest.files} if manifest else {}
        same = {name for name in paths if name in wanted and wanted[name].size == os.path.getsize(paths[name])}
        others = self.hash_files({name: paths[name] for name in paths if name not in same}, trust=True)
        return {**{name: wanted[name].sha256 for name in same}, **others}

    def choose_manifest(self, path: str, source: Source | None, revision: str, found: dict[str, str]) -> Manifest:
        """Return what the snapshot must hold, from its manifest or from the source."""
        manifest = _model_snapshot.parse_manifest(read_text(os.path.join(path, _model_snapshot.MANIFEST)))
        if manifest is not None and manifest.revision == revision:
            usable = manifest
        elif source is not None:
            usable = Manifest(revision, source.entries)
        elif _model_snapshot.revision_of(found) == revision:
            sizes = {name: os.path.getsize(os.path.join(path, name)) for name in found}
            usable = Manifest(revision, tuple(Entry(name, sizes[name], found[name]) for name in sorted(found)))
        else:
            raise self.beyond_repair(path, [Fault(_model_snapshot.MANIFEST, _model_snapshot.MISSING)])
        lost = [fault for fault in _model_snapshot.faults(usable, found) if fault.kind != _model_snapshot.EXTRA]
        if lost and source is None:
            raise self.beyond_repair(path, lost)
        return usable

    def beyond_repair(self, path: str, faults: list[Fault]) -> NemotronError:
        """Return the error for a damaged snapshot whose source is gone."""
        described = ", ".join(fault.describe() for fault in faults)
        return NemotronError(
            f"{path} cannot be served: {described}; needed all files of its manifest, and {self.folder}, which they "
            f"came from, is gone. Put the model there again, or change {self.variable('source')}."
        )

    def check_space(self, partial: str, entries: list[Entry]) -> None:
        """Refuse to begin a copy that the disk cannot hold."""
        needed = sum(entry.size for entry in entries if file_size(os.path.join(partial, entry.path)) != entry.size)
        existing = self.dest
        while not os.path.exists(existing):
            existing = os.path.dirname(existing)
        status = os.statvfs(existing)
        free = status.f_bavail * status.f_frsize
        if needed > free:
            raise NemotronError(
                f"{self.dest}: found {free >> 20} MiB free; needed {-(-needed >> 20)} MiB for {len(entries)} files of "
                f"{self.folder}. Nothing was copied. Free some space, or change {self.variable('dest')}."
            )

    def fetch(self, source: Source, partial: str, entries: list[Entry]) -> None:
        """Copy files, except those that an interrupted run has copied already, and read each copy back."""
        for entry in entries:
            target = os.path.join(partial, entry.path)
            if file_size(target) == entry.size and sha256_of_file(target) == entry.sha256:
                continue
            try:
                make_open_folder(os.path.dirname(target))
                shutil.copyfile(os.path.join(source.folder, entry.path), target)
                os.chmod(target, _READABLE)
                with open(target, "rb") as stream:
                    # A crash of the host must not leave a file of the right size without its content.
                    os.fsync(stream.fileno())
            except OSError as error:
                raise NemotronError(
                    f"{target} could not be written: {error.strerror}. Mend that, or change {self.variable('dest')}."
                ) from error
            copied = sha256_of_file(target)
            if copied != entry.sha256:
                raise NemotronError(
                    f"{os.path.join(source.folder, entry.path)} changed while it was copied: found {copied}; needed "
                    f"{entry.sha256}. Run again when nobody writes there any more."
                )

    def put_in_place(self, path: str, partial: str, manifest: Manifest, faults: list[Fault], closed: list[str]) -> None:
        """Make the snapshot of what is in it and of what was fetched."""
        if not os.path.isdir(path):
            write_text(self.module, os.path.join(partial, _model_snapshot.MANIFEST), manifest.render())
            os.rename(partial, path)
            return
        # First, so that the repair is counted even if it is cut short after the last file.
        write_text(self.module, os.path.join(path, _model_snapshot.MANIFEST), manifest.render())
        for fault in faults:
            target = os.path.join(path, fault.path)
            if fault.kind == _model_snapshot.EXTRA:
                os.remove(target)
            else:
                make_open_folder(os.path.dirname(target))
                os.replace(os.path.join(partial, fault.path), target)
        for name in closed:
            if os.path.exists(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), _READABLE)
        open_folder(path)

    def tidy(self, path: str, verified: list[Entry]) -> None:
        """Remove what interrupted runs have left, and remember the hashes of the files that were read in this one."""
        for name in os.listdir(self.dest):
            if name.startswith(_PARTIAL):
                shutil.rmtree(os.path.join(self.dest, name))
        for entry in verified:
            self.memory.hashes[os.path.join(path, entry.path)] = memorise(os.path.join(path, entry.path), entry.sha256)
        if os.path.isdir(self.folder):
            self.memory.revisions[self.folder] = os.path.basename(path)
        self.memory.save(self.module)


def file_size(path: str) -> int | None:
    """Return the size of a file, or None when there is none."""
    return os.path.getsize(path) if os.path.isfile(path) else None


def main() -> None:
    """Bring the snapshot to be and report."""
    module = AnsibleModule(
        argument_spec={
            "source": {"type": "str", "required": True},
            "dest": {"type": "path", "required": True},
            "revision": {"type": "str"},
            "verify": {"type": "str", "choices": ["stat", "size", "full"], "default": "stat"},
            "variables": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**Snapshots(module).run())
    except (NemotronError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
