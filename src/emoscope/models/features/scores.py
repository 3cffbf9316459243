"""What small classifiers of other questions say of each turn: how positive it is, how offensive."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.dialogue import Example
from emoscope.errors import EmoscopeError, InputError
from emoscope.files import text_lines
from emoscope.models.block import Fitting
from emoscope.models.features.base import Extractor, Matrix, as_rows, turn_texts
from emoscope.models.features.tokens import chat_tokens
from emoscope.models.ngram_linear import NgramLinear

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SENTIMENTS = ("negative", "neutral", "positive")


class ClassifierScores(Extractor):
    """Probabilities of classifiers that are trained here, on tweets of the resources, before the main one.

    `questions` are "sentiment" (SemEval-2017 task 4A) and "offensive" (TweetEval); `limit` bounds the tweets for each.
    """

    def __init__(
        self,
        *,
        questions: Sequence[str] = ("sentiment", "offensive"),
        limit: int | None = None,
        turns: Sequence[int] = (0, 1, 2),
        bits: int = 18,
    ) -> None:
        for question in questions:
            if question not in _QUESTIONS:
                raise EmoscopeError(f"unknown scores {question!r}; expected one of {', '.join(_QUESTIONS)}")
        self.questions = tuple(questions)
        self.limit = limit
        self.turns = tuple(turns)
        self.bits = bits
        self.classifiers: list[NgramLinear] = []

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: Fitting) -> Self:
        """Train the classifiers; the examples themselves teach them nothing."""
        del examples, labels
        self.classifiers = []
        for question in self.questions:
            fitting.report(f"learning {question} from tweets", 0.0)
            name, read = _QUESTIONS[question]
            texts, answers = zip(*islice(read(fitting.resource(name)), self.limit), strict=True)
            classifier = NgramLinear(
                bits=self.bits,
                field_weights=(1.0,),
                char_lengths=(3, 4),
                strength=1.0,
                calibration_folds=0,  # a tree, or the weights above, will find the right scale
                seed=fitting.seed,
            )
            self.classifiers.append(classifier.fit(_rows(texts), answers))
        return self

    def transform(self, examples: Sequence[Example]) -> Matrix:
        """Per turn and question: the probability of each answer but the first, which the others imply."""
        blocks = []
        for back in self.turns:
            texts = turn_texts(examples, back)
            said = np.array([bool(text) for text in texts])[:, None]
            blocks += [classifier.predict_proba(_rows(texts))[:, 1:] * said for classifier in self.classifiers]
        return as_rows(np.concatenate(blocks, axis=1))

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {
            "questions": list(self.questions),
            "limit": self.limit,
            "turns": list(self.turns),
            "bits": self.bits,
        }

    def save(self, folder: Path) -> None:
        """The classifiers' weights."""
        for question, classifier in zip(self.questions, self.classifiers, strict=True):
            classifier.save(folder / f"{question}.npz")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        self.classifiers = [NgramLinear.load(folder / f"{question}.npz") for question in self.questions]


def _rows(texts: Sequence[str]) -> list[list[str]]:
    return [[" ".join(chat_tokens(text))] for text in texts]


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


_QUESTIONS: Mapping[str, tuple[str, Callable[[Path], Iterator[tuple[str, str]]]]] = {
    "sentiment": ("auxiliary/semeval2017-4a", read_sentiment),
    "offensive": ("auxiliary/tweeteval/offensive", read_offensive),
}
