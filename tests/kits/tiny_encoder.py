"""A pretrained encoder small enough for tests: random weights, a real WordPiece tokenizer, a Hugging Face folder."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

HIDDEN = 16
POSITIONS = 140
_SPECIAL = {
    "bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "mpnet": ("<s>", "<pad>", "</s>", "[UNK]", "<mask>"),
}
_ROLES = {
    "bert": {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
    "mpnet": {
        "bos": "<s>",
        "eos": "</s>",
        "pad": "<pad>",
        "unk": "[UNK]",
        "cls": "<s>",
        "sep": "</s>",
        "mask": "<mask>",
    },
}
_WORDS = (
    "i you he she we it am is are was not no yes so very the a my your this that and but what why how do did "
    "happy glad great love good fun sad cry lost alone bad angry hate mad stop shut up ok fine hello hi bye day dog "
    "cat home work play smiling face tears joy user joey ross monica rachel chandler phoebe url"
)


def make_tiny_encoder(folder: Path, kind: str = "bert", seed: int = 0, layers: int = 2) -> Path:
    """Write a random encoder (`bert` or `mpnet`) with its tokenizer into `folder`, and return it.

    Letters are in the vocabulary, so every ASCII word has pieces.
    """
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

    folder.mkdir(parents=True, exist_ok=True)
    signs = [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?'@<>#[]/-:;()…"]
    pieces = dict.fromkeys(
        [*_SPECIAL[kind], *_WORDS.split(), *signs, *(f"##{sign}" for sign in signs), "##ing", "##ed", "##ly"]
    )
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(_SPECIAL[kind]))
    tokenizer.save(str(folder / "tokenizer.json"))
    roles = {f"{role}_token": token for role, token in _ROLES[kind].items()}
    described = {"tokenizer_class": "BertTokenizer" if kind == "bert" else "MPNetTokenizer", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps({**described, **roles}), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    shape = {
        "vocab_size": len(vocabulary),
        "hidden_size": HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.3,  # as wide as it must be for so small a network to tell texts apart
        "pad_token_id": vocabulary[_ROLES[kind]["pad"]],
    }
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    model = BertModel(BertConfig(**shape)) if kind == "bert" else MPNetModel(MPNetConfig(**shape))
    torch.random.set_rng_state(state)
    model.config.save_pretrained(folder)
    save_file(model.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    return folder
