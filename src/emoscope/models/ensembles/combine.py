"""Blocks made of blocks: averages, votes, folds and cascades."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, Prediction, Truncated, read_by_none


class Ensemble(Block):
    """A block that combines the probabilities of its children."""

    @abstractmethod
    def children(self) -> Mapping[str, Block]: ...

    @abstractmethod
    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        """The probability of each label, from the children's probabilities of their own labels."""

    def infer(self, examples: Sequence[Example]) -> Prediction:
        if not examples:
            return Prediction(np.zeros((0, len(self.labels))))
        blocks = self.children()
        predictions = {name: block.infer(examples) for name, block in blocks.items()}
        combined = self.combine({name: each.probabilities for name, each in predictions.items()})
        readers = [each for name, each in predictions.items() if not blocks[name].bag_of_words]
        return Prediction(combined, read_by_none(readers))

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        readers = [block for block in self.children().values() if not block.bag_of_words]
        overlong = [block.overlong(examples) for block in readers]
        return np.logical_and.reduce(overlong) if overlong else super().overlong(examples)


class Combination(Ensemble):
    """An ensemble of a list of parts, which are fitted one after the other."""

    child_arguments = ("parts",)

    def __init__(self, parts: Sequence[Block]) -> None:
        if not parts:
            raise EmoscopeError("a combination needs at least one part")
        self.parts = list(parts)
        self.labels = parts[0].labels

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        for number, part in enumerate(self.parts):
            part.fit(examples, labels, fit_context.part(f"part{number}", seed=fit_context.seed * 101 + number))
        return self

    def children(self) -> Mapping[str, Block]:
        return {f"part{number}": part for number, part in enumerate(self.parts)}

    def set_children(self, children: Mapping[str, Block]) -> None:
        self.parts = list(children.values())

    @classmethod
    def from_config(cls, config: Mapping[str, Any], children: Mapping[str, Block]) -> Self:
        # Older files also store the number of parts.
        return cls(list(children.values()), **{name: value for name, value in config.items() if name != "parts"})


class Mean(Combination):
    """The mean of the parts' probabilities, weighted if there are weights."""

    def __init__(self, parts: Sequence[Block], weights: Sequence[float] | None = None) -> None:
        super().__init__(parts)
        self.weights = list(weights) if weights is not None else [1.0] * len(parts)
        if len(self.weights) != len(parts) or sum(self.weights) <= 0:
            raise EmoscopeError("a weighted mean needs one weight for each part, and a positive sum")

    def columns(self, head: str) -> slice:
        return self.parts[0].columns(head)

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        return np.average(list(probabilities.values()), axis=0, weights=self.weights)


# The weight of the probabilities: just enough to break ties between votes.
_TIE = 1e-3


def votes_of(probabilities: Floats) -> Floats:
    """One vote per row, for its most likely label.

    >>> votes_of(np.array([[0.4, 0.6]])).round(2).tolist()
    [[0.0, 1.0]]
    """
    votes = np.eye(probabilities.shape[1])[probabilities.argmax(1)]
    return np.asarray((votes + _TIE * probabilities) / (1 + _TIE))


class Majority(Combination):
    """Each part has one vote; the mean probability breaks ties."""

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        return np.asarray(np.mean([votes_of(each) for each in probabilities.values()], axis=0))


class Folds(Combination):
    """A block fitted once per fold, on all other folds; the copies vote or are averaged."""

    def __init__(self, parts: Sequence[Block], vote: bool = False) -> None:
        super().__init__(parts)
        self.vote = vote

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        folds = dialogue_folds(examples, len(self.parts), fit_context.seed)
        for number, part in enumerate(self.parts):
            part.fit(*chosen(folds != number, examples, labels), fit_context.part(f"part{number}"))
        return self

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        return (Majority(self.parts) if self.vote else Mean(self.parts)).combine(probabilities)


def chosen(mask: Iterable[bool], examples: Sequence[Example], labels: Sequence[str]) -> tuple[list[Example], list[str]]:
    """The examples where the mask is true, and their labels."""
    selectors = list(mask)
    return list(compress(examples, selectors)), list(compress(labels, selectors))


def dialogue_folds(examples: Sequence[Example], folds: int, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A random fold for each example; the turns and rewordings of a dialogue stay together.

    >>> from emoscope.core.dialogue import Dialogue
    >>> whole = Dialogue.of(["a", "b"])
    >>> dialogue_folds([Example(whole, 0), Example(whole, 1), Example(Dialogue.of(["c"]), 0)], 2, 0)[:2].tolist() in (
    ...     [0, 0], [1, 1])
    True
    """
    dialogues = list(dict.fromkeys(example.family for example in examples))
    if len(dialogues) < folds:
        raise EmoscopeError(f"{len(dialogues)} different dialogues cannot be divided into {folds} folds")
    order = np.random.default_rng(seed).permutation(len(dialogues))
    fold_of = {dialogues[index]: position % folds for position, index in enumerate(order)}
    return np.array([fold_of[example.family] for example in examples])


class Cascade(Combination):
    """The first part separates `neutral` from the rest, the second tells the other labels apart."""

    def __init__(self, parts: Sequence[Block], labels: Sequence[str], neutral: str) -> None:
        super().__init__(parts)
        if len(parts) != 2:
            raise EmoscopeError("a cascade has two parts")
        self.labels = tuple(labels)
        self.neutral = neutral

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        gate, rest = self.parts
        other = next(label for label in gate.labels if label != self.neutral)
        gates = [label if label == self.neutral else other for label in labels]
        gate.fit(examples, gates, fit_context.part("part0"))
        rest.fit(*chosen([label != self.neutral for label in labels], examples, labels), fit_context.part("part1"))
        return self

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        gate, rest = self.parts
        neutral = probabilities["part0"][:, gate.labels.index(self.neutral)]
        combined = np.zeros((len(neutral), len(self.labels)))
        combined[:, self.labels.index(self.neutral)] = neutral
        for column, label in enumerate(rest.labels):
            combined[:, self.labels.index(label)] = (1 - neutral) * probabilities["part1"][:, column]
        return combined
