"""A causal language model small enough for tests: random weights, bytes as tokens, a Hugging Face folder."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def make_tiny_decoder(folder: Path, seed: int = 0, *, gaps: bool = False) -> Path:
    """Write a random Qwen2 with its tokenizer into `folder`, and return it; with `gaps`, one that can fill gaps."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    config = transformers.Qwen2Config(
        vocab_size=300,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    torch.manual_seed(seed)
    transformers.Qwen2Model(config).save_pretrained(folder)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({sign: number for number, sign in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>", *(f"<|fim_{part}|>" for part in ("prefix", "suffix", "middle") if gaps)])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    fast.save_pretrained(folder)
    return folder
