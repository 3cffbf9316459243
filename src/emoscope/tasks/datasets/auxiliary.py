"""Labelled and unlabelled text of the resources, for what a model learns before its own task."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.core.fit_context import FitContext
from emoscope.tasks.datasets.triggers import masked_triggers
from emoscope.tasks.datasets.tweets import read_sentiment

T = TypeVar("T")
Labelled = Iterator[tuple[str, str]]
EKMAN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
_ISEAR = ("joy", "fear", "anger", "sadness", "disgust", "shame", "guilt")


@dataclass(frozen=True, slots=True)
class Source:
    """An auxiliary task: its labels, where it lies, and how it is read."""

    labels: tuple[str, ...]
    folder: str
    read: Callable[[Path], Iterator[Example]]


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
            yield cells[0], EKMAN[int(cells[1])]


def read_isear(folder: Path) -> Labelled:
    """The self-reports of ISEAR: what happened, and which emotion the person named."""
    path = folder / "isear.csv"
    lines = text_lines(path)
    _, head = next(lines)
    names = head.split("|")
    emotion, situation = names.index("Field1"), names.index("SIT")
    for _, line in lines:
        cells = line.split("|")
        # A few reports hold the separator themselves, and some only say that there was no answer.
        if len(cells) == len(names) and cells[emotion] in _ISEAR and not cells[situation].strip().startswith("["):
            yield " ".join(cells[situation].replace("á", " ").split()), cells[emotion]


def read_meld(folder: Path, split: str = "train") -> Iterator[Example]:
    """The utterances of MELD, each within its dialogue."""
    path = folder / f"{split}_sent_emo.csv"
    dialogues: dict[str, list[tuple[Turn, str]]] = {}
    with path.open(encoding="utf-8", newline="") as handle:
        for row, cells in enumerate(csv.DictReader(handle), start=2):
            if cells.get("Emotion") not in EKMAN:
                raise InputError(path, f"unknown emotion {cells.get('Emotion')!r}", row=row)
            turn = Turn(cells["Utterance"], cells["Speaker"])
            dialogues.setdefault(cells["Dialogue_ID"], []).append((turn, cells["Emotion"]))
    for said in dialogues.values():
        dialogue = Dialogue(tuple(turn for turn, _ in said))
        for place, (_, emotion) in enumerate(said):
            yield Example(dialogue, place, emotion)


def read_masked_words(folder: Path) -> Labelled:
    """Tweets and comments that hold one of IEST's emotion words, the word masked: more of what IEST asks."""
    return masked_triggers(_unlabelled(folder))


def _single(read: Callable[[Path], Labelled]) -> Callable[[Path], Iterator[Example]]:
    """A reader of texts as one of examples that stand alone."""
    return lambda folder: (Example(Dialogue((Turn(text),)), 0, label) for text, label in read(folder))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


SOURCES = {
    "semeval2017-4a": Source(("negative", "neutral", "positive"), "auxiliary/semeval2017-4a", _single(read_sentiment)),
    "goemotions-ekman": Source(EKMAN, "auxiliary/goemotions/ekman", _single(read_goemotions)),
    "meld": Source(EKMAN, "auxiliary/meld", read_meld),
    "isear": Source(_ISEAR, "auxiliary/isear", _single(read_isear)),
    "masked-words": Source(tuple(TRIGGERS), "auxiliary", _single(read_masked_words)),
    # TweetEval's files have numbers for labels: anger, joy, optimism, sadness; twenty emoji; no or yes.
    "tweeteval-emotion": Source(_numbers(4), "auxiliary/tweeteval/emotion", _single(read_tweeteval)),
    "tweeteval-emoji": Source(_numbers(20), "auxiliary/tweeteval/emoji", _single(read_tweeteval)),
    "tweeteval-offensive": Source(_numbers(2), "auxiliary/tweeteval/offensive", _single(read_tweeteval)),
    "tweeteval-irony": Source(_numbers(2), "auxiliary/tweeteval/irony", _single(read_tweeteval)),
}


def source(name: str) -> Source:
    """An auxiliary task by name."""
    if name not in SOURCES:
        raise EmoscopeError(f"unknown auxiliary task {name!r}; expected one of {', '.join(SOURCES)}")
    return SOURCES[name]


def source_examples(name: str, fitting: FitContext, limit: int | None = None) -> list[Example]:
    """The labelled examples of an auxiliary task; with a limit, a fixed random choice of that many."""
    found = source(name)
    return chosen(list(found.read(fitting.resource(found.folder))), limit)


def unlabelled_texts(fitting: FitContext, limit: int | None = None) -> list[str]:
    """Tweets and Reddit comments, each once; with a limit, a fixed random choice of that many."""
    return chosen(list(dict.fromkeys(_unlabelled(fitting.resource("auxiliary")))), limit)


def _unlabelled(folder: Path) -> Iterator[str]:
    sentiment = (text for text, _ in read_sentiment(folder / "semeval2017-4a"))
    tweets = (text for path in sorted(folder.glob("tweeteval/*/*_text.txt")) for _, text in text_lines(path))
    comments = (text for text, _ in read_goemotions(folder / "goemotions/ekman"))
    return chain(sentiment, tweets, comments)


def chosen(items: Sequence[T], limit: int | None) -> list[T]:
    """At most `limit` of the items, the same ones each time, in a random order.

    >>> sorted(chosen([1, 2, 3], 5)), len(chosen([1, 2, 3], 2))
    ([1, 2, 3], 2)
    """
    order = np.random.default_rng(0).permutation(len(items))[:limit]
    return [items[number] for number in order.tolist()]
