"""A small data folder in EmoContext's format."""

from pathlib import Path

HEADER = "id\tturn1\tturn2\tturn3\tlabel\n"


def make_corpus(folder: Path) -> Path:
    """A small data folder with an EmoContext training and development set of its own."""
    said = {
        "happy": ["I am so happy", "this is great 😂", "I love it", "yay we won"],
        "sad": ["I feel so sad", "she left me 😭", "I miss him", "I want to cry"],
        "angry": ["I hate you", "shut up 😡", "you make me angry", "leave me alone"],
        "others": ["what is the time", "my name is Bob", "where are you", "I am at home"],
    }
    rows = [(text, label) for label, texts in said.items() for text in texts]
    target = folder / "data" / "emocontext"
    target.mkdir(parents=True)
    for name, repeats, first in (("train.txt", 6, "hi"), ("dev.txt", 1, "hey")):
        lines = [
            f"{number}\t{first} {number}\thello\t{text}\t{label}\n"
            for number, (text, label) in enumerate(rows * repeats)
        ]
        (target / name).write_text(HEADER + "".join(lines), encoding="utf-8")
    unlabelled = [f"{number}\thi\thello\t{text}\n" for number, (text, _) in enumerate(rows)]
    (target / "testwithoutlabels.txt").write_text("id\tturn1\tturn2\tturn3\n" + "".join(unlabelled), encoding="utf-8")
    return folder / "data"
