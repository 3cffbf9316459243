"""The interface of feature extractors, and how their features are joined."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Component

Matrix = Any  # a scipy csr_matrix; scipy has no types, and is imported only when used


@dataclass(eq=False, repr=False)
class Extractor(Component):
    """One kind of feature; `transform` returns one row per example."""

    registered_as = "extractor"

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Learn vocabularies or read lexicons, if it has any."""
        del examples, labels, fit_context
        return self

    @abstractmethod
    def transform(self, examples: Sequence[Example]) -> Matrix:
        """The features of each example."""


@dataclass(eq=False, repr=False, kw_only=True)
class TurnExtractor(Extractor):
    """Features of each of `turns`, which count back from the one to label, side by side."""

    turns: Sequence[int] = (0, 1, 2)

    @abstractmethod
    def transform_turn(self, texts: Sequence[str], number: int) -> Matrix:
        """The features of the texts of one turn, which is at the position `number` in `turns`."""

    def transform(self, examples: Sequence[Example]) -> Matrix:
        texts = (turn_texts(examples, back) for back in self.turns)
        return side_by_side([self.transform_turn(each, number) for number, each in enumerate(texts)])


def all_features(extractors: Sequence[Extractor], examples: Sequence[Example]) -> Matrix:
    """The features of each example, those of all extractors side by side."""
    if not extractors:
        raise EmoscopeError("a classifier of examples needs at least one kind of feature")
    return side_by_side([each.transform(examples) for each in extractors])


def side_by_side(parts: Sequence[Matrix]) -> Matrix:
    """Matrices with the same rows as one."""
    return require("scipy.sparse", extra="features").hstack(parts, format="csr", dtype=np.float32)


def turn_texts(examples: Sequence[Example], back: int) -> list[str]:
    """The text `back` turns before the one to label (0 is that one); empty if there is none.

    >>> from emoscope.core.dialogue import Dialogue
    >>> turn_texts([Example(Dialogue.of(["hi", "hello"]), 1), Example(Dialogue.of(["yes"]), 0)], 1)
    ['hi', '']
    """
    return [example.dialogue.turns[example.turn - back].text if example.turn >= back else "" for example in examples]


def as_rows(values: NDArray[Any]) -> Matrix:
    """A dense matrix as the sparse rows that extractors return."""
    return require("scipy.sparse", extra="features").csr_matrix(np.asarray(values, np.float32))


def column_counts(rows: Iterable[Iterable[int]], width: int) -> Matrix:
    """How often each row contains each of `width` columns.

    >>> column_counts([[0, 2, 2], []], 3).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    """
    columns: list[int] = []
    ends = [0]
    for row in rows:
        columns.extend(row)
        ends.append(len(columns))
    content = (np.ones(len(columns), np.float32), np.array(columns, np.int32), np.array(ends, np.int64))
    matrix = require("scipy.sparse", extra="features").csr_matrix(content, shape=(len(ends) - 1, width))
    matrix.sum_duplicates()
    return matrix
