# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Note that this module util is **PRIVATE** to the collection. It can have breaking changes at any time.
# Do not use this from other collections or standalone plugins/modules!

"""What of NVIDIA's fits what: CUDA releases, driver branches, GPU architectures and their kernel modules.

Each table names where its rows come from. Driver versions are compared number by number, as NVIDIA counts them; they
are no versions in the sense of Python packages.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from ._errors import NemotronError
from ._gpu_ids import GPU_IDS

if t.TYPE_CHECKING:
    from collections.abc import Iterable

OPEN, PROPRIETARY = "open", "proprietary"
LONG_TERM, PRODUCTION, NEW_FEATURE = "long-term support", "production", "new feature"
_NVIDIA_PCI_VENDOR = "10de"


def version_tuple(version: str) -> tuple[int, ...]:
    """Return the numbers of a driver or CUDA version, (580, 159, 4) for 580.159.04; NemotronError if it is none."""
    if not re.fullmatch(r"\d+(\.\d+)*", version.strip()):
        raise NemotronError(f"{version!r} is no version: needed numbers with dots between them, as 580.159.04 or 13.0.")
    return tuple(int(number) for number in version.strip().split("."))


def same_driver(one: str, other: str) -> bool:
    """Tell whether two driver versions are the same; NVML says 580.159 where the kernel module says 580.159.04."""
    return all(left == right for left, right in zip(version_tuple(one), version_tuple(other)))


@dataclass(frozen=True)
class Architecture:
    """A generation of GPUs."""

    name: str
    open_modules: str
    """Whether NVIDIA's open kernel modules run it: impossible, possible or required (the proprietary ones do not)."""


@dataclass(frozen=True)
class Capability:
    """A compute capability."""

    number: str
    architecture: str
    chips: tuple[str, ...]
    """Beginnings of the chips' names, the longest of which decides; pci.ids has them."""
    minimum_driver: str
    """Of the first CUDA release that knows it."""
    formats: tuple[str, ...]
    """Numeric formats that its tensor cores compute in."""


# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html: open modules need the GPU
# System Processor that came with Turing. Blackwell and Grace Hopper run with them only (see requires_open_modules).
ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("Maxwell", "impossible"),
        Architecture("Pascal", "impossible"),
        Architecture("Volta", "impossible"),
        Architecture("Turing", "possible"),
        Architecture("Ampere", "possible"),
        Architecture("Ada Lovelace", "possible"),
        Architecture("Hopper", "possible"),
        Architecture("Blackwell", "required"),
    )
}
_OLDEST_OPEN = "Turing"

_FP16 = ("fp16",)
_TURING = ("fp16", "int8")
_AMPERE = ("fp16", "bf16", "tf32", "int8")
_FP8 = (*_AMPERE, "fp8")
_FP4 = (*_FP8, "fp4")

# Capabilities of GPUs: https://developer.nvidia.com/cuda-gpus and https://developer.nvidia.com/cuda-legacy-gpus.
# First driver: the toolkit driver of the first CUDA release that compiles for it, from
# https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/.
# Formats: https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capabilities (tensor cores).
CAPABILITIES = (
    Capability("5.0", "Maxwell", ("GM10",), "346.46", ()),
    Capability("5.2", "Maxwell", ("GM20",), "352.31", ()),
    Capability("6.0", "Pascal", ("GP100",), "375.26", ()),
    Capability("6.1", "Pascal", ("GP10",), "375.26", ()),
    Capability("7.0", "Volta", ("GV100",), "384.81", _FP16),
    Capability("7.5", "Turing", ("TU1",), "410.48", _TURING),
    Capability("8.0", "Ampere", ("GA100",), "450.36.06", _AMPERE),
    Capability("8.6", "Ampere", ("GA10",), "455.23", _AMPERE),
    Capability("8.9", "Ada Lovelace", ("AD10",), "520.61.05", _FP8),
    Capability("9.0", "Hopper", ("GH100",), "520.61.05", _FP8),
    Capability("10.0", "Blackwell", ("GB100", "GB102"), "570.26", _FP4),
    Capability("10.3", "Blackwell", ("GB110",), "575.51.03", _FP4),
    Capability("12.0", "Blackwell", ("GB202", "GB203", "GB205", "GB206", "GB207"), "570.26", _FP4),
    Capability("12.1", "Blackwell", ("GB20B",), "575.51.03", _FP4),
)


@dataclass(frozen=True)
class Gpu:
    """What the PCI device id tells of a GPU on a host without a driver."""

    name: str
    architecture: str
    compute_capability: str


@dataclass(frozen=True)
class Branch:
    """A driver branch, all releases with the same first number."""

    number: int
    kind: str
    cuda: str
    """The newest CUDA that it runs, which nvidia-smi shows as CUDA Version."""
    end_of_life: str | None = None
    """Year and month as NVIDIA announces them; new feature branches have none."""
    flavours: tuple[str, ...] = (OPEN, PROPRIETARY)
    oldest: str = "Maxwell"
    """The oldest architecture that it still runs."""

    @property
    def long_term(self) -> bool:
        """Whether NVIDIA maintains it for three years."""
        return self.kind == LONG_TERM


# Kinds and ends of life are those of
# https://docs.nvidia.com/datacenter/tesla/drivers/620/supported-drivers-and-cuda-toolkit-versions.html and the same
# page of 615 and earlier; CUDA is from the toolkit drivers in https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/.
# Open modules came with 515; GPUs before Turing ended with 580, the proprietary modules with 615:
# https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html.
BRANCHES = (
    Branch(450, LONG_TERM, "11.0", "2023-07", (PROPRIETARY,)),
    Branch(470, LONG_TERM, "11.4", "2024-07", (PROPRIETARY,)),
    Branch(510, PRODUCTION, "11.6", None, (PROPRIETARY,)),
    Branch(515, PRODUCTION, "11.7"),
    Branch(520, NEW_FEATURE, "11.8"),
    Branch(525, PRODUCTION, "12.0"),
    Branch(530, NEW_FEATURE, "12.1"),
    Branch(535, LONG_TERM, "12.2", "2026-06"),
    Branch(545, NEW_FEATURE, "12.3"),
    Branch(550, PRODUCTION, "12.4"),
    Branch(555, NEW_FEATURE, "12.5"),
    Branch(560, NEW_FEATURE, "12.6"),
    Branch(565, NEW_FEATURE, "12.7"),
    Branch(570, PRODUCTION, "12.8"),
    Branch(575, NEW_FEATURE, "12.9"),
    Branch(580, LONG_TERM, "13.0", "2028-06"),
    Branch(590, NEW_FEATURE, "13.1", None, (OPEN, PROPRIETARY), "Turing"),
    Branch(595, PRODUCTION, "13.2", "2027-03", (OPEN, PROPRIETARY), "Turing"),
    Branch(610, NEW_FEATURE, "13.3", None, (OPEN, PROPRIETARY), "Turing"),
    Branch(615, NEW_FEATURE, "13.4", None, (OPEN, PROPRIETARY), "Turing"),
    Branch(620, LONG_TERM, "13.5", "2029-09", (OPEN,), "Turing"),
)

# The oldest driver for each major release (minor-version compatibility):
# https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
_MINIMUM_DRIVERS = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}


def minimum_driver(cuda: str) -> str:
    """Return the oldest driver on which programs of a CUDA release run, unless PTX has to be compiled for the GPU."""
    major = version_tuple(cuda)[0]
    if major not in _MINIMUM_DRIVERS:
        known = ", ".join(f"{number}.x" for number in sorted(_MINIMUM_DRIVERS))
        raise NemotronError(f"CUDA {cuda}: its minimum driver is not known here; known are {known}.")
    return _MINIMUM_DRIVERS[major]


def branch_of(driver: str) -> Branch | None:
    """Return the branch of a driver version or of a branch's number; None for one that is not in the table."""
    return next((branch for branch in BRANCHES if branch.number == version_tuple(driver)[0]), None)


def cuda_for_driver(driver: str) -> str | None:
    """Return the newest CUDA that a driver runs natively; None for one older than the table.

    A branch that the table does not have counts as the one before it.
    """
    number = version_tuple(driver)[0]
    older = [branch for branch in BRANCHES if branch.number <= number]
    return older[-1].cuda if older else None


def runs_cuda(driver: str, cuda: str) -> bool:
    """Tell whether a driver runs programs of a CUDA release, natively or by minor-version compatibility."""
    return version_tuple(driver) >= version_tuple(minimum_driver(cuda))


def capability_of(number: str) -> Capability | None:
    """Return what is known of a compute capability as 9.0."""
    return next((capability for capability in CAPABILITIES if capability.number == number), None)


def first_cuda(compute_capability: str) -> str | None:
    """Return the first CUDA release whose programs run on a compute capability; None for one that is not known here.

    Programs made for a lower minor number of the same major number run too:
    https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#gpu-feature-list
    """
    major = compute_capability.partition(".")[0]
    drivers = [row.minimum_driver for row in CAPABILITIES if row.number.partition(".")[0] == major]
    return cuda_for_driver(min(drivers, key=version_tuple)) if drivers else None


def architecture_of(compute_capability: str) -> Architecture | None:
    """Return the architecture of a compute capability as 9.0; None for one that the table does not have."""
    capability = capability_of(compute_capability)
    return ARCHITECTURES[capability.architecture] if capability else None


def gpu_by_pci_id(pci_id: str) -> Gpu | None:
    """Return the GPU of a PCI id as 10de:2335; None for one that the table does not have."""
    vendor, _colon, device = pci_id.lower().partition(":")
    chip, name = GPU_IDS.get(device, ("", "")) if vendor == _NVIDIA_PCI_VENDOR else ("", "")
    matches = [
        (len(beginning), capability)
        for capability in CAPABILITIES
        for beginning in capability.chips
        if chip.startswith(beginning)
    ]
    if not matches:
        return None
    capability = max(matches, key=lambda match: match[0])[1]
    return Gpu(f"NVIDIA {name}", capability.architecture, capability.number)


def requires_open_modules(architecture: str, gpu_name: str = "") -> bool:
    """Tell whether a GPU runs with the open kernel modules only: Blackwell and later, and Grace Hopper.

    Source: https://developer.nvidia.com/blog/nvidia-transitions-fully-towards-open-source-gpu-kernel-modules/
    """
    return ARCHITECTURES[architecture].open_modules == "required" or bool(re.search(r"\bGH200\b", gpu_name))


def flavours_for(architecture: str, gpu_name: str = "") -> tuple[str, ...]:
    """Return the flavours of kernel modules that run a GPU, the one that NVIDIA recommends first."""
    if requires_open_modules(architecture, gpu_name):
        return (OPEN,)
    return (PROPRIETARY,) if ARCHITECTURES[architecture].open_modules == "impossible" else (OPEN, PROPRIETARY)


def branch_runs(branch: Branch, architecture: str) -> bool:
    """Tell whether a branch has not dropped an architecture; a new one can be younger than the branch all the same."""
    order = list(ARCHITECTURES)
    return order.index(architecture) >= order.index(branch.oldest)


def newest_long_term_branch(capabilities: Iterable[str]) -> Branch | None:
    """Return the newest long-term branch that runs GPUs of all these compute capabilities; None if there is none.

    A capability that the table does not have is newer than it, and the newest branch is taken for it.
    """
    known = [capability for capability in map(capability_of, capabilities) if capability]
    return next(
        (
            branch
            for branch in reversed(BRANCHES)
            if branch.long_term
            and all(branch_runs(branch, capability.architecture) for capability in known)
            and all(branch.number >= version_tuple(capability.minimum_driver)[0] for capability in known)
        ),
        None,
    )
