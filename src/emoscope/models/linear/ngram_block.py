"""Hashed n-grams of the last three turns in a linear classifier: the smallest model, and the block of `nano`."""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import LONG_MESSAGE, Block, Floats, Prediction, Truncated
from emoscope.models.features.tokens import lower_case
from emoscope.models.linear.ngram_linear import NgramLinear
from emoscope.models.probabilities import in_order

WINDOW = 3
MAX_CHARACTERS = 2000
WEIGHTS = "model.npz"

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\S")


class NgramBlock(Block):
    """Word and character n-grams, with emoji and spellings unchanged; `settings` are those of `NgramLinear`.

    >>> from emoscope.core.dialogue import Dialogue
    >>> examples = [Example(Dialogue.of([text]), 0) for text in ("I won!", "I lost")] * 5
    >>> block = NgramBlock(("happy", "sad"), bits=10).fit(examples, ["happy", "sad"] * 5, FitContext())
    >>> block.predict([Example(Dialogue.of(["we won"]), 0)])
    ['happy']
    """

    bag_of_words = True

    def __init__(self, labels: Sequence[str], **settings: Any) -> None:
        self.labels = tuple(labels)
        self.settings = settings
        self.classifier = NgramLinear(**settings)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        self.classifier = NgramLinear(**{"seed": fit_context.seed, **self.settings})
        texts = [example.dialogue.texts[: example.turn + 1] for example in examples]
        self.classifier.fit(texts, labels, spaced_tokens)
        return self

    def infer(self, examples: Sequence[Example]) -> Prediction:
        spoken = [each.dialogue.turns[max(0, each.turn - WINDOW) : each.turn + 1] for each in examples]
        return self.infer_texts([[turn.text for turn in turns] for turns in spoken])

    def infer_texts(self, dialogues: Sequence[Sequence[str]]) -> Prediction:
        rows = [texts[-WINDOW:] for texts in dialogues]
        truncated = np.fromiter(map(len, dialogues), np.int64, len(dialogues)) > WINDOW
        if max(map(len, chain.from_iterable(rows)), default=0) > MAX_CHARACTERS:
            truncated |= np.array([max(map(len, row)) > MAX_CHARACTERS for row in rows])
            rows = [[text[:MAX_CHARACTERS] for text in row] for row in rows]
        probabilities = self.classifier.predict_proba(rows, spaced_tokens)
        return Prediction(in_order(probabilities, self.classifier.labels, self.labels), truncated)

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        # More could be read, but in a long message the few n-grams that carry an emotion hardly count.
        return np.array([len(each.text) > LONG_MESSAGE for each in examples], bool)

    def turns_read(self) -> int:
        return WINDOW

    def out_of_fold(self) -> Floats | None:
        held_out = self.classifier.held_out
        return None if held_out is None else in_order(held_out, self.classifier.labels, self.labels)

    def save_weights(self, folder: Path) -> None:
        self.classifier.save(folder / WEIGHTS)

    def load_weights(self, folder: Path) -> None:
        self.classifier = NgramLinear.load(folder / WEIGHTS)


def spaced_tokens(text: str) -> str:
    """Lower-case words and single punctuation marks between spaces.

    An emoji stays a character: as its own token it tells n-grams more than the words of its name ("face with tears of
    joy"), which it shares with others.

    >>> spaced_tokens("Soooo happy!")
    'soo happy !'
    """
    return " ".join(_TOKEN.findall(lower_case(text[:MAX_CHARACTERS])))
