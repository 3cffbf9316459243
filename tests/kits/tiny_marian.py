"""A translation model with a few thousand random weights, in the file format of a real one."""

import io
import json
from pathlib import Path

SENTENCES = (
    "i love you so much",
    "you are a good friend",
    "hello there how are you",
    "we go home today now",
    "the cat sat on a mat",
    "what is this thing called",
)


def write_tiny_marian(folder: Path, *, seed: int = 0) -> Path:
    """Write tokenizer and weights; the same seed gives the same model."""
    import sentencepiece
    import torch
    import transformers

    folder.mkdir(parents=True)
    pieces = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=pieces,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(pieces.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=pieces.getvalue())
    known = dict.fromkeys(processor.id_to_piece(number) for number in range(processor.get_piece_size()))
    names = list(dict.fromkeys(["</s>", "<unk>", *known, "<pad>"]))
    vocabulary = {name: number for number, name in enumerate(names)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    torch.manual_seed(seed)
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=512,
        pad_token_id=vocabulary["<pad>"],
        eos_token_id=0,
        decoder_start_token_id=vocabulary["<pad>"],
        forced_eos_token_id=0,
    )
    transformers.MarianMTModel(config).save_pretrained(folder)
    return folder
