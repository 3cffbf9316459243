"""Scores of small auxiliary classifiers for each turn: how positive, how offensive."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import Matrix, TurnExtractor, as_rows
from emoscope.models.features.tokens import chat_tokens
from emoscope.models.linear.ngram_linear import NgramLinear
from emoscope.tasks.datasets.auxiliary import source


@dataclass(eq=False, repr=False, kw_only=True)
class ClassifierScores(TurnExtractor):
    """Probabilities of classifiers that are first trained on tweets in the resources.

    `questions` are "sentiment" (SemEval-2017 task 4A) and "offensive" (TweetEval); `limit` is the
    maximum number of tweets for each.
    """

    questions: Sequence[str] = ("sentiment", "offensive")
    limit: int | None = None
    bits: int = 18
    classifiers: list[NgramLinear] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        for question in self.questions:
            if question not in _QUESTIONS:
                raise EmoscopeError(f"unknown scores {question!r}; expected one of {', '.join(_QUESTIONS)}")

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Train the classifiers; the examples are not used."""
        del examples, labels
        self.classifiers = []
        for question in self.questions:
            fit_context.progress(f"learning {question} from tweets", 0.0)
            corpus = source(_QUESTIONS[question])
            tweets: Any = islice(corpus.read(fit_context.resource(corpus.folder)), self.limit)
            texts, answers = zip(*tweets, strict=True)
            classifier = NgramLinear(
                bits=self.bits,
                field_weights=(1.0,),
                char_lengths=(3, 4),
                strength=1.0,
                calibration_folds=0,  # the classifier above finds the right scale
                seed=fit_context.seed,
            )
            self.classifiers.append(classifier.fit(_rows(texts), answers))
        return self

    def transform_turn(self, texts: Sequence[str], _: int) -> Matrix:
        """Per question the probability of each answer except the first, which follows from the others."""
        present = np.array([bool(text) for text in texts])[:, None]
        rows = _rows(texts)
        answers = [classifier.predict_proba(rows)[:, 1:] * present for classifier in self.classifiers]
        return as_rows(np.concatenate(answers, axis=1))

    def corpora(self) -> frozenset[str]:
        return frozenset(_QUESTIONS[question] for question in self.questions)

    def save_weights(self, folder: Path) -> None:
        for question, classifier in zip(self.questions, self.classifiers, strict=True):
            classifier.save(folder / f"{question}.npz")

    def load_weights(self, folder: Path) -> None:
        self.classifiers = [NgramLinear.load(folder / f"{question}.npz") for question in self.questions]


def _rows(texts: Sequence[str]) -> list[list[str]]:
    return [[" ".join(chat_tokens(text))] for text in texts]


_QUESTIONS = {"sentiment": "semeval2017-4a", "offensive": "tweeteval-offensive"}  # to its training corpus
