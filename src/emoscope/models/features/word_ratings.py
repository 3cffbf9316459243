"""Lexicons that rate words: the mean, highest and lowest rating of a turn's words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.core.fit_context import FitContext
from emoscope.models.features.tokens import chat_tokens
from emoscope.models.features.word_table import Floats32, WordTable

Ratings = Mapping[str, Floats32]  # 0 is neutral

# Smoothing for rare words, as a number of comments, and how often a word must occur to be rated.
_DOUBT = 10.0
_MIN_COMMENTS = 5

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(eq=False, repr=False, kw_only=True)
class WordRatings(WordTable):
    """Mean, highest and lowest rating of a turn's rated words in each dimension, and how many of its words are rated.

    `source` is "vad" (NRC-VAD: valence, arousal, dominance, less the neutral 0.5) or "intensity" (how much more often
    than usual GoEmotions' annotators saw each emotion in comments with that word).
    """

    file = "ratings.npz"
    source: Literal["vad", "intensity"] = "vad"

    def __post_init__(self) -> None:
        if self.source not in _SOURCES:
            raise EmoscopeError(f"unknown word ratings {self.source!r}; expected one of {', '.join(_SOURCES)}")

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Read the lexicon; the examples are not used."""
        del examples, labels
        name, read = _SOURCES[self.source]
        self.table = read(fit_context.resource(name))
        return self

    def corpora(self) -> frozenset[str]:
        return frozenset({"goemotions-ekman"} if self.source == "intensity" else ())

    def summary_size(self) -> int:
        return 3 * len(next(iter(self.table.values()))) + 1 if self.table else 1

    def summarise(self, known: Floats32, tokens: int) -> Floats32:
        return np.concatenate([known.mean(0), known.max(0), known.min(0), [len(known) / tokens]])


def read_vad(path: Path) -> Ratings:
    """The NRC-VAD lexicon, single words only: valence, arousal and dominance between -0.5 and 0.5."""
    ratings = {}
    for row, line in text_lines(path):
        cells = line.split("\t")
        if row == 1 and cells[0].lower() in ("word", "term"):
            continue
        # The published file has a number with a letter after it ("0.445z"), so only the number is read.
        numbers = [_NUMBER.match(cell) for cell in cells[1:]]
        if len(numbers) != 3 or not all(numbers):
            raise InputError(path, "expected a word and three numbers between tabs", row=row)
        values = np.array([number.group() for number in numbers if number], np.float32)
        if " " not in cells[0]:
            ratings[cells[0].lower()] = values - np.float32(0.5)
    return ratings


def learn_intensity(comments: Iterable[tuple[str, Sequence[int]]]) -> Ratings:
    """How much more often than usual each emotion occurs in texts with a word; rare words are shrunk towards 0.

    >>> ratings = learn_intensity([("good day", [0])] * 5 + [("bad day", [1])] * 5)
    >>> {word: [round(float(value), 2) for value in values] for word, values in ratings.items()}
    {'bad': [-0.17, 0.17], 'day': [0.0, 0.0], 'good': [0.17, -0.17]}
    """
    texts: Counter[str] = Counter()
    seen: Counter[tuple[str, int]] = Counter()
    emotions: Counter[int] = Counter()
    total = 0
    for text, emotions_seen in comments:
        total += 1
        words = set(chat_tokens(text))
        texts.update(words)
        for emotion in emotions_seen:
            emotions[emotion] += 1
            seen.update((word, emotion) for word in words)
    usual = np.array([emotions[emotion] for emotion in range(max(emotions, default=-1) + 1)]) / max(total, 1)
    return {
        word: np.array(
            [(seen[word, number] + _DOUBT * share) / (count + _DOUBT) - share for number, share in enumerate(usual)],
            np.float32,
        )
        for word, count in sorted(texts.items())
        if count >= _MIN_COMMENTS
    }


def _read_intensity(path: Path) -> Ratings:
    """GoEmotions in its seven-way grouping: `text<TAB>ids<TAB>comment id`."""

    def comments() -> Iterable[tuple[str, Sequence[int]]]:
        for row, line in text_lines(path):
            cells = line.split("\t")
            try:
                yield cells[0], [int(number) for number in cells[1].split(",")]
            except (IndexError, ValueError):
                raise InputError(path, "expected a text and the numbers of its emotions", row=row) from None

    return learn_intensity(comments())


_SOURCES: Mapping[str, tuple[str, Callable[[Path], Ratings]]] = {
    "vad": ("lexicons/NRC-VAD-Lexicon.txt", read_vad),
    "intensity": ("auxiliary/goemotions/ekman/train.tsv", _read_intensity),
}
