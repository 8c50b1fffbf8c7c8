# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Words of the dynamic loader, most of them as users have reported them."""

from __future__ import annotations

import pytest
from ansible_collections.nemotron.vllm.plugins.module_utils import _load_errors as errors
from ansible_collections.nemotron.vllm.plugins.module_utils._load_errors import LoadError, owner_of, parse_load_error
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ImportError: /e/vllm/_C.abi3.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSsb",
            LoadError(errors.MISSING_SYMBOL, "_ZN5torch3jit17parseSchemaOrNameERKSsb", "/e/vllm/_C.abi3.so"),
        ),
        (
            "libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
            LoadError(errors.MISSING_SYMBOL, "__nvJitLinkComplete_12_4", "libcusparse.so.12", "libnvJitLink.so.12"),
        ),
        (
            "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `CXXABI_1.3.15' not found (required by x)",
            LoadError(errors.OLD_LIBRARY, "CXXABI_1.3.15", "/lib/x86_64-linux-gnu/libstdc++.so.6"),
        ),
        (
            "ImportError: libcudart.so.13: cannot open shared object file: No such file or directory",
            LoadError(errors.MISSING_LIBRARY, "libcudart.so.13"),
        ),
        ("ImportError: /e/vllm/_C.so: file too short", LoadError(errors.NO_LIBRARY, "file too short", "/e/vllm/_C.so")),
        ("OSError: /e/x.so: invalid ELF header", LoadError(errors.NO_LIBRARY, "invalid ELF header", "/e/x.so")),
        ("ModuleNotFoundError: No module named 'numpy'", LoadError(errors.OTHER)),
        ("", LoadError(errors.OTHER)),
    ],
)
def test_parse_load_error(text: str, expected: LoadError) -> None:
    assert parse_load_error(text) == expected


@pytest.mark.parametrize(
    ("symbol", "version", "owner"),
    [
        ("_ZN5torch3jit17parseSchemaOrNameERKSsb", "", errors.TORCH),
        ("_ZNR5torch7Library4_defEON3c1014FunctionSchemaE", "", errors.TORCH),
        ("_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcEE", "", errors.TORCH),
        ("_ZNK2at10TensorBase8data_ptrEv", "", errors.TORCH),
        ("_ZTVN5torch8autograd4NodeE", "", errors.TORCH),
        ("aoti_torch_get_current_cuda_stream", "", errors.TORCH),
        ("torch_library_impl", "", errors.TORCH),
        # vLLM's own function, with a tensor among its arguments.
        ("_Z28cutlass_scaled_mm_sm100RN2at6TensorERKS0_S3_", "", errors.VLLM),
        ("_ZN4vllm13paged_rms_normEPfS0_", "", errors.VLLM),
        ("cuTensorMapEncodeTiled", "", errors.DRIVER),
        ("cudaGraphAddNode_v2", "libcudart.so.12", errors.CUDA),
        ("__nvJitLinkComplete_12_4", "libnvJitLink.so.12", errors.CUDA),
        ("of_a_library_without_a_known_name", "libcufft.so.11", errors.CUDA),
        ("cublasLtMatmul", "", errors.CUDA),
        ("ncclCommRegister", "", errors.CUDA),
        ("omp_get_max_threads", "OMP_1.0", errors.OPENMP),
        ("GOMP_parallel", "", errors.OPENMP),
        ("_ZTVNSt7__cxx1118basic_stringstreamIwSt11char_traitsIwESaIwEEE", "GLIBCXX_3.4.21", errors.CXX),
        ("_ZNSt7__cxx1112basic_stringIcEC1Ev", "", errors.CXX),
        ("_ZSt28__throw_bad_array_new_lengthv", "", errors.CXX),
    ],
)
def test_owner_of(symbol: str, version: str, owner: str) -> None:
    assert owner_of(symbol, version) == owner


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("_ZN5torch3jit17parseSchemaOrNameERKSsb", "old"),
        ("_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "new"),
        ("_ZN2at4_ops5zeros4callEv", None),
        # Ss is part of the name here.
        ("_ZN5torch8SsSsSsSsEv", None),
        ("_Z99", None),
    ],
)
def test_string_abi(symbol: str, expected: str | None) -> None:
    assert errors.string_abi(symbol) == expected


@given(st.text())
def test_any_text_has_a_meaning(text: str) -> None:
    assert parse_load_error(text).kind
    assert errors.string_abi("_Z" + text) in (None, "old", "new")
    assert owner_of(text)
