"""Labelled and unlabelled text of the resources, for what a model learns before its own task."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from emoscope.dialogue import Dialogue, Example, Turn
from emoscope.errors import EmoscopeError, InputError
from emoscope.files import text_lines
from emoscope.models.block import Fitting
from emoscope.models.features.scores import read_sentiment

T = TypeVar("T")
Labelled = Iterator[tuple[str, str]]
_EKMAN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")


@dataclass(frozen=True, slots=True)
class Source:
    """An auxiliary task: its labels, where it lies, and how it is read."""

    labels: tuple[str, ...]
    folder: str
    read: Callable[[Path], Labelled]


def read_tweeteval(folder: Path) -> Labelled:
    """The tweets of TweetEval's training files: texts and labels line by line."""
    texts, labels = folder / "train_text.txt", folder / "train_labels.txt"
    for (row, text), (_, label) in zip(text_lines(texts), text_lines(labels), strict=True):
        if not label.isdigit():
            raise InputError(labels, f"expected the number of a label, found {label!r}", row=row)
        yield text, label


def read_goemotions(folder: Path) -> Labelled:
    """The training comments of GoEmotions to which the annotators gave one emotion: `text<TAB>number<TAB>id`."""
    path = folder / "train.tsv"
    for row, line in text_lines(path):
        cells = line.split("\t")
        if len(cells) != 3:
            raise InputError(path, f"expected 3 tab-separated columns, found {len(cells)}", row=row)
        if cells[1].isdigit():
            yield cells[0], _EKMAN[int(cells[1])]


SOURCES = {
    "semeval2017-4a": Source(("negative", "neutral", "positive"), "auxiliary/semeval2017-4a", read_sentiment),
    "goemotions-ekman": Source(_EKMAN, "auxiliary/goemotions/ekman", read_goemotions),
    # TweetEval's files have numbers for labels: anger, joy, optimism, sadness; and twenty emoji.
    "tweeteval-emotion": Source(tuple(map(str, range(4))), "auxiliary/tweeteval/emotion", read_tweeteval),
    "tweeteval-emoji": Source(tuple(map(str, range(20))), "auxiliary/tweeteval/emoji", read_tweeteval),
}


def source(name: str) -> Source:
    """An auxiliary task by name."""
    if name not in SOURCES:
        raise EmoscopeError(f"unknown auxiliary task {name!r}; expected one of {', '.join(SOURCES)}")
    return SOURCES[name]


def source_examples(name: str, fitting: Fitting, limit: int | None = None) -> list[Example]:
    """The labelled examples of an auxiliary task; with a limit, a fixed random choice of that many."""
    found = source(name)
    rows = list(found.read(fitting.resource(found.folder)))
    return [Example(Dialogue((Turn(text),)), 0, label) for text, label in chosen(rows, limit)]


def unlabelled_texts(fitting: Fitting, limit: int | None = None) -> list[str]:
    """Tweets and Reddit comments, each once; with a limit, a fixed random choice of that many."""
    folder = fitting.resource("auxiliary")
    sentiment = (text for text, _ in read_sentiment(fitting.resource("auxiliary/semeval2017-4a")))
    tweets = (text for path in sorted(folder.glob("tweeteval/*/*_text.txt")) for _, text in text_lines(path))
    comments = (text for text, _ in read_goemotions(fitting.resource("auxiliary/goemotions/ekman")))
    return chosen(list(dict.fromkeys(chain(sentiment, tweets, comments))), limit)


def chosen(items: Sequence[T], limit: int | None) -> list[T]:
    """At most `limit` of the items, the same ones each time, in a random order.

    >>> sorted(chosen([1, 2, 3], 5)), len(chosen([1, 2, 3], 2))
    ([1, 2, 3], 2)
    """
    order = np.random.default_rng(0).permutation(len(items))[:limit]
    return [items[number] for number in order.tolist()]
