# Copyright (c) 2026, the nemotron.vllm contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a tiny model of the Nemotron 3 architecture (NemotronHForCausalLM) with random weights.

It proves flags, parsers and templates, not answers: the layers are the family's (Mamba-2, attention, MLP), the special
tokens have the family's ids, and the chat template has its form, see
https://github.com/NVIDIA-NeMo/Nemotron/blob/main/src/nemotron/data_prep/templates/nano3.jinja. Everything is made here,
from a fixed seed. Usage: make_nemotron_h.py DESTINATION
"""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
# The ids of the family: <s> 1, </s> 2, <|im_start|> 10, <|im_end|> 11, <think> 12, </think> 13.
SPECIAL_TOKENS = [
    "<unk>",
    "<s>",
    "</s>",
    *(f"<SPECIAL_{number}>" for number in range(3, 10)),
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
]
END_OF_TURN = SPECIAL_TOKENS.index("<|im_end|>")
CONTEXT = 4096


def training_text() -> Iterator[str]:
    """Yield text that every Python installation has: its own standard library."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield path.read_text(encoding="utf-8", errors="ignore")


def make_tokenizer(destination: Path, template: str) -> None:
    """Train a byte-level BPE and write it with the chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        training_text(),
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=SPECIAL_TOKENS,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="<|im_end|>",
        unk_token="<unk>",
        model_max_length=CONTEXT,
        chat_template=template,
    ).save_pretrained(destination)


def make_model(destination: Path) -> None:
    """Write random weights from a fixed seed, and the generation settings of the family."""
    torch.manual_seed(0)
    config = transformers.NemotronHConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=512,
        hybrid_override_pattern="M-M*-M-",
        num_hidden_layers=7,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        mamba_num_heads=8,
        mamba_head_dim=64,
        ssm_state_size=64,
        n_groups=2,
        conv_kernel=4,
        chunk_size=64,
        max_position_embeddings=CONTEXT,
        bos_token_id=1,
        eos_token_id=END_OF_TURN,
        pad_token_id=0,
        tie_word_embeddings=False,
    )
    model = transformers.NemotronHForCausalLM(config).to(torch.bfloat16)
    model.generation_config = transformers.GenerationConfig(
        bos_token_id=1, eos_token_id=[2, END_OF_TURN], pad_token_id=0, do_sample=True, temperature=1.0, top_p=1.0
    )
    model.save_pretrained(destination)


def main(destination: str) -> None:
    """Write tokenizer, template, configuration and weights."""
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    template = (Path(__file__).parent / "nemotron_h_chat_template.jinja").read_text(encoding="utf-8")
    folder = Path(destination)
    make_tokenizer(folder, template)
    make_model(folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    print(json.dumps({file.name: file.stat().st_size for file in sorted(folder.iterdir())}))


if __name__ == "__main__":
    main(*sys.argv[1:])
