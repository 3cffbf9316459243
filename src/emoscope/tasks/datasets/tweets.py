"""Readers of the tweet corpora: SemEval-2017 task 4A and TweetEval."""

import re
from collections.abc import Iterator
from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.core.files import text_lines

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SENTIMENTS = ("negative", "neutral", "positive")


def read_sentiment(folder: Path) -> Iterator[tuple[str, str]]:
    r"""The tweets of SemEval-2017 task 4A's training files: `id<TAB>label<TAB>text`, some marks written as \u002c."""
    for path in sorted((folder / "train").glob("*.tsv")):
        for row, line in text_lines(path):
            cells = line.split("\t")
            if len(cells) < 3 or cells[1] not in _SENTIMENTS:
                raise InputError(path, f"expected id, one of {', '.join(_SENTIMENTS)}, and text between tabs", row=row)
            yield _ESCAPE.sub(lambda mark: chr(int(mark.group(1), 16)), cells[2]), cells[1]


def read_offensive(folder: Path) -> Iterator[tuple[str, str]]:
    """The tweets of TweetEval's training files: texts and labels line by line."""
    texts, labels = folder / "train_text.txt", folder / "train_labels.txt"
    for (row, text), (_, label) in zip(text_lines(texts), text_lines(labels), strict=True):
        if label not in ("0", "1"):
            raise InputError(labels, f"expected 0 or 1, found {label!r}", row=row)
        yield text, label
