# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The plan for a host's NVIDIA driver, which a role carries out.

Pure: it depends on nothing but the arguments of :func:`plan`. Each decision has a reason, and what stands against it is
found before the first change.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

from . import _driver_refusals as refusals
from . import _driver_steps as steps
from ._compatibility import OPEN, newest_long_term_branch, same_driver
from ._distributions import DISTRIBUTIONS, distribution
from ._driver_installed import MIXED, installed_driver
from ._driver_packages import DISTRIBUTION, RUNFILE
from ._driver_situation import AUTO, Situation, Wanted, wanted_from
from ._driver_steps import DKMS, FINISH, INSTALL, KEEP, REPLACE, Plan
from ._driver_target import choose_target
from ._stack_host import Resolution
from ._triple_host import gpus_of, known_version

if t.TYPE_CHECKING:
    from collections.abc import Mapping

    from ._driver_host import DriverHost
    from ._driver_installed import Installed
    from ._driver_situation import Target, Wishes
    from ._problem import Problem

# Both drive NVIDIA's GPUs from the kernel's own sources: https://docs.kernel.org/gpu/nova/index.html
_OTHER_MODULES = ("nouveau", "nova_core")


@dataclass(frozen=True)
class Planned:
    """A plan with the reasons for it and what stands against it."""

    plan: Plan
    reasons: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    """What breaks at the next boot although the driver works now."""
    conflicts: list[Problem] = field(default_factory=list)


def plan(
    wishes: Wishes,
    stack_driver: Mapping[str, t.Any] | None,
    gpu: Mapping[str, t.Any],
    os_facts: Mapping[str, t.Any],
    host: DriverHost,
) -> Planned:
    """Return what is to be done for the driver of a host."""
    result = Resolution()
    system = distribution(str(os_facts.get("distribution") or ""), str(os_facts.get("version") or ""))
    installed = installed_driver(gpu, host, system)
    found = _without_change(wishes, stack_driver, gpu, steps.kept(installed, host), result)
    if found is None and wishes.state == "absent":
        found = _removal(installed, gpu, result)
    if found is None and system is None:
        result.against(
            "unsupported-distribution",
            f"{os_facts.get('distribution') or 'an unknown distribution'} {os_facts.get('version') or ''}".strip(),
            f"one of {', '.join(f'{row.name} {row.version}' for row in DISTRIBUTIONS)}",
            "Set nvidia_driver_manage to false and install the driver by hand.",
        )
    elif found is None and system:
        wanted = _wanted(wishes, stack_driver, gpu, result)
        situation = Situation(wishes, wanted, gpu, gpus_of(gpu), system, host, installed)
        target = choose_target(situation, result)
        found = _towards(situation, target, result) if target else None
    found = found or Plan()
    return Planned(found, result.reasons, _drift(found, host), result.conflicts)


def _without_change(
    wishes: Wishes,
    stack_driver: Mapping[str, t.Any] | None,
    gpu: Mapping[str, t.Any],
    kept: Plan,
    result: Resolution,
) -> Plan | None:
    """Return the plan for a host whose driver is left as it is; None for another one."""
    gpus, driver = gpus_of(gpu), gpu.get("driver") or {}
    if not wishes.manage:
        result.because("driver not touched: nvidia_driver_manage is false.")
        return kept
    if wishes.state == "absent":
        return None
    if not gpus and wishes.require_gpu:
        result.because("no driver: no NVIDIA device on this host.")
        return Plan()
    if gpus and not stack_driver:
        result.because("no driver: the stack computes on the CPU.")
        return Plan()
    if gpus and stack_driver and stack_driver.get("action") == KEEP:
        result.because(f"driver {known_version(driver.get('loaded')) or 'there'} kept: it works and runs the stack.")
        # One that came by another way than packages and .run is kept as well.
        return replace(kept, action=KEEP)
    return None


def _removal(installed: Installed, gpu: Mapping[str, t.Any], result: Resolution) -> Plan:
    if not installed.method and not installed.leftovers:
        result.because("nothing to remove: no driver from packages and none from a .run installer.")
        return Plan(reboot_required=steps.loaded(gpu))
    what = installed.describe() if installed.method else f"what is left of {', '.join(installed.leftovers)}"
    result.because(f"driver removed: nvidia_driver_state is absent, and found {what}.")
    return steps.removal(installed, gpu)


def _wanted(
    wishes: Wishes, stack_driver: Mapping[str, t.Any] | None, gpu: Mapping[str, t.Any], result: Resolution
) -> Wanted:
    if not gpus_of(gpu):
        result.because("driver without a device: none on this host, and nvidia_driver_require_gpu is false.")
    if stack_driver:
        return wanted_from(stack_driver)
    newest = newest_long_term_branch(())
    branch = wishes.branch or (newest.number if newest else 0)
    return Wanted(branch, OPEN if wishes.flavour == AUTO else wishes.flavour)


def _towards(situation: Situation, target: Target, result: Resolution) -> Plan:
    """Return the way from the driver that is there to the one to have."""
    action, installed, host = _action(situation, target, result), situation.installed, situation.host
    found = Plan(
        action=action,
        method=target.method,
        branch=str(target.branch),
        flavour=target.flavour,
        blacklist_modules=list(_OTHER_MODULES),
        reboot_required=_reboot_required(situation),
        signed_by=DISTRIBUTION if target.signed_for else DKMS,
    )
    refusals.refuse_unfit(situation, target, result)
    if not target.signed_for:
        key = host.key
        found.key = {"path": key.path, "exists": key.exists, "enrolled": key.enrolled, "requested": key.requested}
        refusals.refuse_untrusted_key(situation, result)
    if action == FINISH:
        steps.add_hold(found, host, installed.packages, signed=bool(target.signed_for))
        return found
    _say_what_is_finished_first(host, result)
    refusals.refuse_fabric(situation, target, result)
    found.reboot_first = refusals.refuse_pending_reboot(situation, result)
    refusals.refuse_full_boot(situation, result)
    if action == REPLACE:
        found.purge = list(installed.leftovers)
        found.runfile_uninstall = installed.method in (RUNFILE, MIXED)
    steps.add_packages(found, situation, target)
    if not target.signed_for:
        refusals.refuse_missing_headers(situation, result)
        steps.add_build(found, situation)
    return found


def _say_what_is_finished_first(host: DriverHost, result: Resolution) -> None:
    names = host.half_configured
    if names:
        more = f" and {len(names) - refusals.SHOWN} more" if len(names) > refusals.SHOWN else ""
        result.because(
            f"packages finished first: the installation of {', '.join(names[: refusals.SHOWN])}{more} ended early."
        )


def _action(situation: Situation, target: Target, result: Resolution) -> str:
    installed = situation.installed
    if installed.method is None:
        refusals.refuse_unknown_driver(situation, result)
        result.because("driver installed: no package and no .run installer has one here.")
        return INSTALL
    if not _is(installed, target, situation):
        refusals.refuse_other_driver(situation, target, result)
        result.because(f"driver of another kind: found {installed.describe()}.")
        return REPLACE
    if installed.version is None or _uncovered(situation, target):
        result.because(f"driver completed: found {installed.describe()}, and not all of it.")
        return INSTALL
    return _action_for_whole(situation, installed.version, result)


def _action_for_whole(situation: Situation, version: str, result: Resolution) -> str:
    """Return what is left to do where the driver to have is installed."""
    loaded = known_version((situation.gpu.get("driver") or {}).get("loaded"))
    if not situation.gpus:
        result.because(f"driver {version} kept: it is installed, and there is no NVIDIA device on this host for it.")
        return FINISH
    if not loaded or not same_driver(loaded, version):
        result.because(f"driver {version} finished: it is installed, and {loaded or 'no module of it'} is loaded.")
        return FINISH
    if situation.wishes.replace:
        result.because(f"driver {version} installed anew: it is loaded and does not answer.")
        return REPLACE
    refusals.refuse_silent_driver(situation, version, result)
    return FINISH


def _is(installed: Installed, target: Target, situation: Situation) -> bool:
    """Tell whether the driver that is there is the one to have, if only in part."""
    another_run = (
        target.method == RUNFILE
        and situation.wishes.runfile_version
        and installed.version not in (None, situation.wishes.runfile_version)
    )
    return (
        installed.method == target.method
        and installed.branch in (None, target.branch)
        and installed.flavour in (None, target.flavour)
        and not another_run
    )


def _uncovered(situation: Situation, target: Target) -> bool:
    """Tell whether a kernel is known to have no module; where none has one, modinfo may not have been asked."""
    known = any(kernel.module for kernel in situation.host.kernels)
    return target.method != RUNFILE and known and not all(k.module for k in refusals.kernels_to_cover(situation))


def _reboot_required(situation: Situation) -> bool:
    """Tell whether the module cannot be loaded without a reboot."""
    if not situation.gpus:
        return False
    others = any(situation.gpu.get(name) for name in _OTHER_MODULES)
    return others or steps.loaded(situation.gpu)


def _drift(found: Plan, host: DriverHost) -> list[str]:
    """Return what breaks at the next boot although the driver works now."""
    following = host.next
    if found.action != KEEP or not following or following.module or not any(kernel.module for kernel in host.kernels):
        return []
    release = following.release
    sentence = (
        f"kernel {release} is booted next and has no NVIDIA module, unlike {host.kernel}. Install "
        f"linux-headers-{release} and run dkms autoinstall -k {release}, or install the signed modules for it."
    )
    return [sentence]
