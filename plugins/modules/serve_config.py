#!/usr/bin/python
# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: serve_config
short_description: Write the configuration of vllm serve after its own parser has accepted it
version_added: 0.1.0
author:
  - The nemotron.vllm contributors (!UNKNOWN)
description:
  - Writes the file that C(vllm serve --config) reads. Every option is checked with the parser of the very vLLM that
    will read it, so that a wrong name, type or value is found before the server starts and not a minute after.
  - It also refuses what that parser lets pass and the server then fails with or takes for something else, such as a
    port of 99999, or the text V(true) for a switch, which vLLM takes for the name of the model.
  - The parser is asked once for each environment and configuration. What it said is remembered in O(cache_dir), so that
    a run that changes nothing starts no Python of the environment.
  - Secrets are refused. They belong into the environment file of the service.
extends_documentation_fragment:
  - nemotron.vllm._attributes
attributes:
  check_mode:
    support: full
    details:
      - On a host where O(python) does not exist yet, the options are compared with those recorded for O(vllm_version).
  diff_mode:
    support: full
  idempotent:
    support: full
    description: A second invocation with the same arguments indicates no change.
options:
  path:
    description:
      - The file to write. vLLM wants its name to end in C(.yaml) or C(.yml).
      - Its folder is made if it does not exist.
    type: path
    required: true
  options:
    description:
      - The options of C(vllm serve) by their long names, with dashes or underscores and without the leading dashes.
      - A switch is V(true) or V(false). V(false) is written as C(no-NAME), because vLLM ignores V(false) in its
        configuration file, see U(https://github.com/vllm-project/vllm/issues/51401).
      - An option that takes JSON is given as a dictionary or list.
      - V(null) leaves an option of O(defaults) out, and so to vLLM.
    type: dict
    default: {}
  defaults:
    description: Options that O(options) may replace.
    type: dict
    default: {}
  reasons:
    description:
      - Why an option has its value, by name. Written as a comment above the option.
      - The reason for an option of O(defaults) is left out when O(options) has another value.
    type: dict
    default: {}
  variables:
    description:
      - The variable that sets an option of O(defaults), by name, for messages.
      - Such an option is refused in O(options), so that there is one place for it.
    type: dict
    default: {}
  variable:
    description: The variable that O(options) come from, for messages.
    type: str
    default: options
  python:
    description:
      - The interpreter of the environment that serves.
      - At least one of O(python) and O(vllm_version) is required.
    type: path
  vllm_version:
    description:
      - The version whose recorded options are used if there is no O(python), or if it does not exist yet in check mode.
      - Options are recorded for 0.6.3, 0.32.0 and 0.33.0. For another version the nearest of these is used.
      - Without O(python), the names and values of the options are checked, and not how they go together.
    type: str
  cache_dir:
    description: Folder for what the parser said. It is made if it does not exist. If not given, nothing is remembered.
    type: path
"""

EXAMPLES = r"""
- name: Serve a model on the loopback address
  nemotron.vllm.serve_config:
    path: /opt/nemotron/current/serve.yaml
    python: /opt/nemotron/envs/vllm/bin/python
    cache_dir: /opt/nemotron/cache/serve_config
    options:
      model: /opt/nemotron/models/local--smollm2-135m-instruct/0123456789abcdef0123456789abcdef01234567
      served-model-name: smollm2
      host: 127.0.0.1
      port: 8000
      max-model-len: 4096
      enable-prefix-caching: false
    reasons:
      max-model-len: The longest conversation that this service has to hold.

- name: Check options before anything is installed
  nemotron.vllm.serve_config:
    path: /opt/nemotron/current/serve.yaml
    vllm_version: 0.32.0
    options:
      model: /srv/models/smollm2
      kv-cache-dtype: fp8
  check_mode: true
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /opt/nemotron/current/serve.yaml
sha256:
  description: SHA-256 of the file's text; in check mode of the text that it would have.
  returned: success
  type: str
vllm_version:
  description: The version whose parser or record was used.
  returned: success
  type: str
  sample: 0.32.0
checked_with:
  description:
    - V(parser) if the parser of the environment has accepted the file, now or earlier.
    - V(record) if the options were compared with recorded ones.
  returned: success
  type: str
  sample: parser
unknown:
  description: Options that this version does not have.
  returned: always
  type: list
  elements: dict
  contains:
    option:
      description: The name that was given, written with dashes.
      type: str
      sample: disable-log-requests
    nearest:
      description: The nearest name that this version has, or an empty text.
      type: str
      sample: enable-log-requests
    why:
      description: What became of the option and what to do.
      type: str
"""

import glob
import inspect
import json
import os
import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.nemotron.vllm.plugins.module_utils import _serve_options, _vllm_options, _vllm_probe
from ansible_collections.nemotron.vllm.plugins.module_utils._command import run
from ansible_collections.nemotron.vllm.plugins.module_utils._errors import NemotronError
from ansible_collections.nemotron.vllm.plugins.module_utils._files import read_text, write_text
from ansible_collections.nemotron.vllm.plugins.module_utils._folders import make_open_folder

_REMEMBERED_FILES = 20
_SHOWN_LINES = 8


class ParserMemory:
    """What the parser of one environment has said, kept in a file whose name is made of that environment's vLLM."""

    def __init__(self, module: AnsibleModule, python: str, probe: str) -> None:
        self._module = module
        self._path = memory_path(module.params["cache_dir"], python, probe)
        text = read_text(self._path) if self._path else None
        content: dict[str, t.Any] = {}
        try:
            content = json.loads(text) if text else {}
        except ValueError:
            # Cut short by something else than this module, which replaces it at one stroke: ask the parser again.
            content = {}
        self.answer: str | None = json.dumps(content["answer"]) if "answer" in content else None
        self.accepted: list[str] = list(content.get("accepted", []))

    def remember(self, answer: str, accepted: str | None) -> None:
        """Keep the options and, if there is one, the hash of a file that was accepted."""
        if self._path is None or self._module.check_mode:
            return
        if accepted is not None:
            self.accepted = [*self.accepted, accepted][-_REMEMBERED_FILES:]
        make_open_folder(os.path.dirname(self._path))
        text = json.dumps({"answer": {**json.loads(answer), "error": ""}, "accepted": self.accepted})
        write_text(self._module, self._path, text)


def memory_path(cache_dir: str | None, python: str, probe: str) -> str | None:
    """Return the file for what the parser says; another build of vLLM or another probe has another file."""
    # The link to the interpreter is not followed, because it leads out of a virtual environment.
    prefix = os.path.dirname(os.path.dirname(python))
    records = sorted(
        glob.glob(os.path.join(glob.escape(prefix), "lib*", "python3*", "site-packages", "vllm*-info", "RECORD"))
    )
    if cache_dir is None or not records:
        return None
    texts = [read_text(record) or "" for record in records]
    return os.path.join(cache_dir, f"vllm-{_serve_options.fingerprint(chr(0).join([*texts, probe]))[:16]}.json")


def ask_parser(module: AnsibleModule, python: str, probe: str, text: str) -> tuple[str, str]:
    """Run the probe on a configuration; return (its answer, the parser's error or an empty text)."""
    path = os.path.join(module.tmpdir, "serve.yaml")
    write_text(module, path, text, mode=0o600)
    environment = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    if module.check_mode:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    completed = run(module, [python, "-I", "-c", probe, path], environment=environment)
    os.remove(path)
    if not completed.ok:
        # The command itself holds the whole probe and would bury what was printed.
        printed = "\n".join([line for line in completed.stderr.splitlines() if line.strip()][-_SHOWN_LINES:])
        raise NemotronError(
            f"python: {python} could not tell the options of its vLLM; needed the interpreter of an environment in "
            f"which vLLM can be imported. Repair that environment, or correct python. It ended with {completed.rc}:\n"
            f"{printed}"
        )
    return completed.stdout, json.loads(completed.stdout)["error"]


def settle(
    module: AnsibleModule, parser: _vllm_options.Parser, wishes: _serve_options.Wishes
) -> list[_serve_options.Setting]:
    """Return the checked options, or fail with everything that is wrong with them."""
    settings, problems = _serve_options.settle(parser, wishes)
    if problems:
        unknown = [
            {"option": problem.option, "nearest": problem.nearest, "why": problem.why}
            for problem in problems
            if problem.unknown
        ]
        lines = "\n- ".join(problem.describe() for problem in problems)
        message = (
            f"{module.params['path']} was not written, because vLLM {parser.version} could not be started with it:"
        )
        module.fail_json(msg=f"{message}\n- {lines}", unknown=unknown)
    for setting in settings:
        if setting.option.deprecated:
            module.warn(
                f"{setting.option.name} is deprecated in vLLM {parser.version} and will be gone in a later one."
            )
    return settings


def header(version: str, *, by_parser: bool) -> list[str]:
    """Return the first lines of the file."""
    checked = (
        f"Accepted by the parser of vLLM {version}." if by_parser else f"Compared with the options of vLLM {version}."
    )
    return ["Managed by Ansible (nemotron.vllm.serve_config): what is changed here by hand is undone.", checked]


def compose_with_parser(module: AnsibleModule, wishes: _serve_options.Wishes) -> tuple[str, str]:
    """Return (the text of the file as the environment's own parser has accepted it, the version)."""
    python = module.params["python"]
    probe = inspect.getsource(_vllm_probe)
    memory = ParserMemory(module, python, probe)
    answer, error, asked = memory.answer, "", None
    if answer is None:
        # If the options are right as recorded, one start of the interpreter answers both questions.
        settings, problems = _serve_options.settle(_vllm_options.recorded(module.params["vllm_version"]), wishes)
        asked = "model: none\n" if problems else _serve_options.render(settings, with_reasons=False)
        answer, error = ask_parser(module, python, probe, asked)
        memory.remember(answer, None)
    parser, _error = _vllm_options.parse_probe(answer)
    settings = settle(module, parser, wishes)
    bare = _serve_options.render(settings, with_reasons=False)
    if _serve_options.fingerprint(bare) not in memory.accepted:
        if asked != bare:
            answer, error = ask_parser(module, python, probe, bare)
        if error:
            raise NemotronError(
                f"{module.params['path']} was not written, because the parser of vLLM {parser.version} refuses the "
                f"options: {error}. Change {wishes.variable}."
            )
        memory.remember(answer, _serve_options.fingerprint(bare))
    return _serve_options.render(settings, header(parser.version, by_parser=True)), parser.version


def compose(module: AnsibleModule) -> dict[str, t.Any]:
    """Return the text of the file and how it was checked."""
    parameters = module.params
    wishes = _serve_options.Wishes(
        options=parameters["options"],
        defaults=parameters["defaults"],
        reasons=parameters["reasons"],
        variables=parameters["variables"],
        variable=parameters["variable"],
    )
    python = parameters["python"]
    if python is not None and os.path.exists(python):
        text, version = compose_with_parser(module, wishes)
        return {"text": text, "vllm_version": version, "checked_with": "parser"}
    if python is not None and not module.check_mode:
        raise NemotronError(
            f"python: found no {python} on the host; needed the interpreter of the environment that serves. Install "
            "the environment first, or correct python."
        )
    parser = _vllm_options.recorded(parameters["vllm_version"])
    text = _serve_options.render(settle(module, parser, wishes), header(parser.version, by_parser=False))
    return {"text": text, "vllm_version": parser.version, "checked_with": "record"}


def hide_secrets(module: AnsibleModule) -> None:
    """Keep a secret that was given by mistake out of everything that this module returns."""
    for layer in (module.params["options"], module.params["defaults"]):
        for name, value in layer.items():
            if _serve_options.normalise(str(name)) in _vllm_options.SECRETS and not isinstance(value, bool):
                module.no_log_values.update(
                    str(item) for item in (value if isinstance(value, list) else [value]) if item
                )


def apply(module: AnsibleModule) -> dict[str, t.Any]:
    """Write the file if it is not as it should be."""
    path = module.params["path"]
    if os.path.splitext(path)[1] not in (".yaml", ".yml"):
        raise NemotronError(
            f"path: found {path}; needed a name that ends in .yaml or .yml, because vLLM reads no other."
        )
    composed = compose(module)
    text = composed.pop("text")
    before = read_text(path)
    changed = text != before
    if changed and not module.check_mode:
        make_open_folder(os.path.dirname(path))
        write_text(module, path, text)
    if os.path.exists(path):
        changed = module.set_mode_if_different(path, 0o644, changed)
    result = {"changed": changed, "path": path, "sha256": _serve_options.fingerprint(text), "unknown": [], **composed}
    if module._diff:
        result["diff"] = {
            "before_header": path,
            "after_header": path,
            "before": _serve_options.mask_secrets(before or ""),
            "after": text,
        }
    return result


def main() -> None:
    """Check the options and write the file."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "options": {"type": "dict", "default": {}},
            "defaults": {"type": "dict", "default": {}},
            "reasons": {"type": "dict", "default": {}},
            "variables": {"type": "dict", "default": {}},
            "variable": {"type": "str", "default": "options"},
            "python": {"type": "path"},
            "vllm_version": {"type": "str"},
            "cache_dir": {"type": "path"},
        },
        required_one_of=[("python", "vllm_version")],
        supports_check_mode=True,
    )
    hide_secrets(module)
    try:
        module.exit_json(**apply(module))
    except (NemotronError, OSError) as error:
        module.fail_json(msg=str(error), unknown=[])


if __name__ == "__main__":
    main()
