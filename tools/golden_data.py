"""Made-up data for `golden.py`: dialogues, files of all tasks, and a tiny encoder; the same in every run."""

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

LABELS = {
    "emocontext": ("others", "happy", "sad", "angry"),
    "emotionx-friends": ("neutral", "joy", "sadness", "anger"),
    "iest": ("anger", "disgust", "fear", "joy", "sad", "surprise"),
}
_CUES = {
    "others": "what time train okay question name",
    "happy": "happy love great won 😂 haha",
    "sad": "cry alone miss lost 😭 tired",
    "angry": "hate stop liar furious idiot !!!",
    "disgust": "gross smell rotten dirty sick ugh",
    "fear": "dark scared afraid night storm help",
    "surprise": "suddenly wow unexpected what really believe",
}
_CUES |= {"neutral": _CUES["others"], "joy": _CUES["happy"], "sadness": _CUES["sad"], "anger": _CUES["angry"]}
_PLAIN = "i you we it is was so the a my your to and but not today then there me do did that this go see"
_FILLERS = tuple(_PLAIN.split())


def sentence(draw: random.Random, label: str) -> str:
    """Made-up words, most of them typical of the label."""
    words = [draw.choice(_FILLERS) for _ in range(draw.randint(2, 7))]
    for _ in range(draw.randint(1, 2)):
        cue = draw.choice(_CUES[label if draw.random() < 0.85 else draw.choice(list(_CUES))].split())
        words.insert(draw.randint(0, len(words)), cue)
    return " ".join(words)


def dialogues(count: int, seed: int = 7) -> list[list[str]]:
    """Dialogues of one to five turns, some of them empty, very long or in other scripts."""
    draw = random.Random(seed)
    made = [[sentence(draw, draw.choice(list(_CUES))) for _ in range(draw.randint(1, 5))] for _ in range(count - 5)]
    odd = [[""], ["😀"], [" ".join(_FILLERS * 12), "so"], ["HELLO!!! :)", "ünïcode ок 你好", "@me see a.example/b"]]
    return [*made, *odd, ["hi", "", "..."]]


def write_data(folder: Path) -> Path:
    """Files of all tasks in their official formats."""
    draw = random.Random(1)
    for name in ("emocontext", "emotionx", "iest"):
        (folder / name).mkdir(parents=True)
    for name, count in (("train.txt", 160), ("dev.txt", 80), ("testwithoutlabels.txt", 40)):
        labelled = name != "testwithoutlabels.txt"
        lines = ["\t".join(["id", "turn1", "turn2", "turn3", *(["label"] if labelled else [])])]
        for number in range(count):
            label = draw.choice(LABELS["emocontext"])
            turns = [sentence(draw, "others"), sentence(draw, draw.choice(["others", label])), sentence(draw, label)]
            lines.append("\t".join([str(number), *turns, *([label] if labelled else [])]))
        (folder / "emocontext" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    votes = {"neutral": "5000000", "joy": "0500000", "sadness": "0050000", "anger": "0000500"}
    for name in ("friends", "emotionpush"):
        chats: list[list[dict[str, str]]] = []
        for _ in range(40):
            labels = [draw.choice(LABELS["emotionx-friends"]) for _ in range(draw.randint(2, 6))]
            chats.append(
                [
                    {
                        **{"speaker": draw.choice(["Ross", "Joey", "Ann"]), "utterance": sentence(draw, label)},
                        **{"emotion": label, "annotation": votes[label], "utterance_de": sentence(draw, label)},
                    }
                    for label in labels
                ]
            )
        for suffix, kept in (("", 4), (".augmented", 5), ("_eval", 2)):
            rows = [[dict(list(said.items())[:kept]) for said in chat] for chat in chats[: 40 if kept > 2 else 12]]
            (folder / "emotionx" / f"{name}{suffix}.json").write_text(json.dumps(rows), encoding="utf-8")
    for name, count in (("labelled.csv", 160), ("trial.csv", 60)):
        rows_of = [draw.choice(LABELS["iest"]) for _ in range(count)]
        lines = [f"{label}\tI am [#TRIGGERWORD#] because {sentence(draw, label)}" for label in rows_of]
        (folder / "iest" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write_encoder(folder: Path) -> Path:
    """A BERT of two small layers with random weights and a vocabulary of letters and known words."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    transformers: Any = import_module("transformers")

    folder.mkdir(parents=True)
    roles = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    signs = [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?'@<>#[]/-:;()"]
    known = [*_FILLERS, *" ".join(_CUES.values()).split()]
    pieces = list(dict.fromkeys([*roles.values(), *known, *signs, *(f"##{sign}" for sign in signs)]))
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(roles.values()))
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    named = {f"{role}_token": token for role, token in roles.items()}
    (folder / "tokenizer_config.json").write_text(json.dumps({**described, **named}), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=140,
        initializer_range=0.3,
    )
    config.save_pretrained(folder)
    weights = transformers.BertModel(config).state_dict()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
