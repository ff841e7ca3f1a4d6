"""Makes a tiny Qwen3 of noise with the real tokenizer, and LoRA checkpoints on it.

Run by vllm_cpu.py with the interpreter of vLLM's environment:
vllm_model.py TOKENIZER_DIR OUT_DIR
"""

import pathlib
import shutil
import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import Qwen3Config, Qwen3ForCausalLM

# name, rank, whether B is drawn, further options
CHECKPOINTS = [
    ("checkpoint-100", 8, True, {}),
    ("checkpoint-200", 8, True, {}),
    ("checkpoint-300", 8, False, {}),  # as before its first step
    ("checkpoint-400", 32, True, {}),  # more than --max-lora-rank 16
    ("checkpoint-500", 8, True, {"use_dora": True}),
]


def main(tokenizer, out):
    out = pathlib.Path(out)
    torch.manual_seed(0)
    config = Qwen3Config(
        hidden_size=64, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
        vocab_size=151936, tie_word_embeddings=True, max_position_embeddings=40960, rope_theta=1000000, rms_norm_eps=1e-6,
        bos_token_id=151643, eos_token_id=151645,
    )
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    # Qwen3's own defaults, so that what a request leaves out is drawn from them
    model.generation_config.update(
        do_sample=True, temperature=0.6, top_k=20, top_p=0.95, eos_token_id=[151645, 151643], pad_token_id=151643, bos_token_id=151643,
    )
    model.save_pretrained(out / "base")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(pathlib.Path(tokenizer) / name, out / "base" / name)
    for seed, (name, rank, drawn, options) in enumerate(CHECKPOINTS):
        torch.manual_seed(seed)
        base = Qwen3ForCausalLM.from_pretrained(out / "base", dtype=torch.bfloat16)
        adapter = get_peft_model(base, LoraConfig(
            r=rank, lora_alpha=2 * rank, lora_dropout=0.0, task_type="CAUSAL_LM",
            target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], **options,
        ))
        if drawn:
            for key, value in adapter.named_parameters():
                if "lora_B" in key:
                    torch.nn.init.normal_(value, std=0.5)
        adapter.save_pretrained(out / "checkpoints" / name)


if __name__ == "__main__":
    main(*sys.argv[1:])
