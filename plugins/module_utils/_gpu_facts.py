# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""The GPUs of a host and their driver, gathered from whatever of it can be read.

Nothing here raises for what a host lacks: no driver, no GPU, programs that fail or hang. What cannot be read or
understood becomes a sentence among the problems.
"""

from __future__ import annotations

import shutil
import typing as t

from . import _compatibility as compatibility
from . import _driver_files as driver_files
from . import _nvidia_smi
from ._driver_module import modinfo
from ._errors import NemotronError

if t.TYPE_CHECKING:
    from ._command import Completed
    from ._host import Host

_DEVICES = "/sys/bus/pci/devices"
_VENDOR = "0x10de"
_CLASS_DISPLAY, _CLASS_BRIDGE = "0x03", "0x0680"
_PROC_VERSION = "/proc/driver/nvidia/version"
_DPKG_STATUS = "/var/lib/dpkg/status"
_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_LIBRARIES = ("libnvidia-ml.so.1", "libcuda.so.1")
_LINKS = 5
# Speed of a lane in GT/s by PCIe generation, as the kernel writes it.
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_WORDS = 2000
_RC_MISSING, _RC_GIVEN_UP = 127, 124

Facts = t.Dict[str, t.Any]  # noqa: UP006  (evaluated when the module is loaded, on Python 3.9 too)


def gather(host: Host, nvidia_smi: str = "nvidia-smi") -> Facts:
    """Return the facts; nvidia_smi is the name or the path of the program."""
    problems: list[str] = []
    devices = _nvidia_devices(host)
    asked, smi = _ask_nvidia_smi(host, nvidia_smi, problems)
    report = smi or _nvidia_smi.SmiReport(None, None, ())
    dpkg_status = host.read(_DPKG_STATUS) or ""
    driver = _driver(host, report, asked, dpkg_status)
    nvswitches = sum(device["class"].startswith(_CLASS_BRIDGE) for device in devices)
    gpus = _gpus([device for device in devices if device["class"].startswith(_CLASS_DISPLAY)], report)
    _ask_for_capabilities(host, nvidia_smi, gpus)
    problems += [
        f"GPU {gpu['pci_address']}: expected a PCI id that is known here; found {gpu['pci_id']}."
        for gpu in gpus
        if gpu["architecture"] is None
    ]
    problems += [
        f"{path}: it may not be read; expected the rights of root. Run with become: true."
        for path in (_PROC_VERSION, _DPKG_STATUS, _SECURE_BOOT)
        if host.unreadable(path)
    ]
    return {
        "driver": driver,
        "gpus": gpus,
        "secure_boot": _secure_boot(host),
        "nouveau": host.exists("/sys/module/nouveau"),
        "nova_core": host.exists("/sys/module/nova_core"),
        "nvswitch": nvswitches,
        "fabric_manager": _fabric_manager(host, dpkg_status, nvswitches),
        "nvidia_smi": asked,
        "problems": problems,
    }


def _nvidia_devices(host: Host) -> list[dict[str, str]]:
    """Return the PCI devices of NVIDIA with what sysfs says of each."""
    found = []
    for address in host.names(_DEVICES):
        folder = f"{_DEVICES}/{address}"
        if (host.read(f"{folder}/vendor") or "").strip() == _VENDOR:
            names = ("class", "device", "current_link_speed", "max_link_speed", "current_link_width", "max_link_width")
            device = {name: (host.read(f"{folder}/{name}") or "").strip() for name in names}
            link = host.link(f"{folder}/driver") or ""
            found.append({**device, "address": address, "kernel_driver": link.rpartition("/")[2]})
    return found


def _ask_nvidia_smi(host: Host, program: str, problems: list[str]) -> tuple[Facts, _nvidia_smi.SmiReport | None]:
    argv = [program, "-q", "-x"]
    path = shutil.which(program) if host.live else program
    completed = host.ask(argv) if path else None
    if completed is None or completed.rc == _RC_MISSING:
        return {"path": None, "ok": False, "rc": None, "said": ""}, None
    asked: Facts = {
        "path": path,
        "ok": completed.ok,
        "rc": completed.rc,
        "said": "" if completed.ok else _said(completed),
    }
    if completed.rc == _RC_GIVEN_UP:
        problems.append(f"{' '.join(argv)}: given up after {host.timeout:g} seconds; expected an answer.")
        return asked, None
    if not completed.ok:
        problems.append(f"{' '.join(argv)}: ended with {completed.rc} and said {_first_line(asked['said'])}")
        return asked, None
    try:
        return asked, _nvidia_smi.parse(completed.stdout)
    except NemotronError as error:
        problems.append(str(error))
        return {**asked, "ok": False, "said": _said(completed)}, None


def _said(completed: Completed) -> str:
    return (completed.stdout + completed.stderr).strip()[:_WORDS]


def _first_line(said: str) -> str:
    return (said.splitlines() or ["nothing"])[0]


def _driver(host: Host, report: _nvidia_smi.SmiReport, asked: Facts, dpkg_status: str) -> Facts:
    proc = host.read(_PROC_VERSION) or ""
    loaded = (host.read("/sys/module/nvidia/version") or "").strip() or driver_files.version_of_proc(proc)
    on_disk = modinfo(host, "version") or None
    license_text = modinfo(host, "license") if on_disk else ""
    return {
        "loaded": loaded,
        "on_disk": on_disk,
        "user_space": _user_space(host) or driver_files.version_that_nvml_says(asked["said"]),
        "flavour": driver_files.flavour_of_proc(proc) or driver_files.flavour_of_license(license_text),
        "installed_by": _installed_by(host, dpkg_status),
        "cuda": report.cuda,
        "uvm": host.exists("/sys/module/nvidia_uvm") and host.exists("/dev/nvidia-uvm"),
    }


def _user_space(host: Host) -> str | None:
    """Return the version of the driver's libraries that the loader finds first."""
    known = host.ask(["ldconfig", "-p"]).stdout
    for name in _LIBRARIES:
        for path in driver_files.library_paths(known, name):
            version = driver_files.version_of_library(_follow(host, path))
            if version:
                return version
    return None


def _follow(host: Host, path: str) -> str:
    """Return the name of the file at the end of a chain of links."""
    for _link in range(_LINKS):
        target = host.link(path)
        if target is None:
            break
        path = target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}"
    return path.rpartition("/")[2]


def _installed_by(host: Host, dpkg_status: str) -> str | None:
    by_package = bool(driver_files.driver_packages(dpkg_status))
    # The installer puts it there, and no package has it.
    by_runfile = host.exists("/usr/bin/nvidia-uninstall")
    if by_package and by_runfile:
        return "both"
    return "package" if by_package else "runfile" if by_runfile else None


def _gpus(devices: list[dict[str, str]], report: _nvidia_smi.SmiReport) -> list[Facts]:
    """Join what the bus and nvidia-smi say; one of them can know a GPU that the other does not."""
    seen = {gpu.pci_address: gpu for gpu in report.gpus}
    gpus = [_gpu(device, seen.pop(device["address"], None)) for device in devices]
    gpus += [_gpu({"address": address}, gpu) for address, gpu in seen.items()]
    for index, gpu in enumerate(gpus):
        gpu["index"] = index
    return gpus


def _gpu(device: dict[str, str], smi: _nvidia_smi.SmiGpu | None) -> Facts:
    pci_id = f"10de:{device['device'][2:]}" if device.get("device") else None
    by_id = compatibility.gpu_by_pci_id(pci_id) if pci_id else None
    said = (smi.architecture if smi else None) or ""
    return {
        "index": 0,
        "name": smi.name if smi else by_id.name if by_id else f"NVIDIA GPU {pci_id}",
        "pci_address": device["address"],
        "pci_id": pci_id,
        "architecture": by_id.architecture if by_id else said if said in compatibility.ARCHITECTURES else None,
        "compute_capability": by_id.compute_capability if by_id else None,
        "memory_mib": smi.memory_mib if smi else None,
        "kernel_driver": device.get("kernel_driver") or None,
        "pcie": {
            "generation": smi.generation if smi else _generation(device.get("current_link_speed", "")),
            "generation_max": smi.generation_max if smi else _generation(device.get("max_link_speed", "")),
            "width": smi.width if smi else _width(device.get("current_link_width", "")),
            "width_max": smi.width_max if smi else _width(device.get("max_link_width", "")),
        },
        "ecc": {
            "enabled": smi.ecc_enabled if smi else None,
            "uncorrected": smi.ecc_uncorrected if smi else None,
        },
        "remapped_rows": _remapped_rows(smi),
        "mig": {"enabled": smi.mig_enabled if smi else None, "pending": smi.mig_pending if smi else None},
    }


def _remapped_rows(smi: _nvidia_smi.SmiGpu | None) -> Facts | None:
    if smi is None or smi.rows_pending is None:
        return None
    return {
        "correctable": smi.rows_correctable,
        "uncorrectable": smi.rows_uncorrectable,
        "pending": smi.rows_pending,
        "failed": smi.rows_failed,
    }


def _generation(speed: str) -> int | None:
    return _GENERATIONS.get(speed.partition(" ")[0])


def _width(width: str) -> int | None:
    return int(width) if width.isdigit() and 0 < int(width) <= 32 else None  # noqa: PLR2004  (63 means unknown)


def _ask_for_capabilities(host: Host, program: str, gpus: list[Facts]) -> None:
    """Ask nvidia-smi for the compute capability of GPUs that are younger than the table."""
    if all(gpu["compute_capability"] for gpu in gpus):
        return
    answer = host.ask([program, "--query-gpu=pci.bus_id,compute_cap", "--format=csv,noheader"]).stdout
    told = dict(line.split(", ", 1) for line in answer.splitlines() if ", " in line)
    by_address = {_nvidia_smi.pci_address(address): capability.strip() for address, capability in told.items()}
    for gpu in gpus:
        capability = by_address.get(gpu["pci_address"], "")
        if not gpu["compute_capability"] and capability.replace(".", "").isdigit():
            gpu["compute_capability"] = capability
            architecture = compatibility.architecture_of(capability)
            gpu["architecture"] = gpu["architecture"] or (architecture.name if architecture else None)


def _secure_boot(host: Host) -> bool | None:
    if not host.exists("/sys/firmware/efi"):
        return None
    content = host.read_bytes(_SECURE_BOOT)
    if content is not None:
        return driver_files.secure_boot_of_efivar(content)
    return driver_files.secure_boot_of_mokutil(host.ask(["mokutil", "--sb-state"]).stdout)


def _fabric_manager(host: Host, dpkg_status: str, nvswitches: int) -> Facts:
    installed = driver_files.fabric_manager_version(dpkg_status)
    if not installed and not nvswitches:
        return {"installed": None, "running": None}
    state = host.ask(["systemctl", "is-active", "nvidia-fabricmanager"])
    return {"installed": installed, "running": None if state.rc == _RC_MISSING else state.stdout.strip() == "active"}
