"""Blocks made of blocks: averages, votes, folds, cascades, stacks. Each is itself a block."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, load_block, one_hot


class Combination(Block):
    """What all combinations share: the parts are fitted, saved and loaded one by one."""

    def __init__(self, parts: Sequence[Block]) -> None:
        if not parts:
            raise EmoscopeError("a combination needs at least one part")
        self.parts = list(parts)
        self.labels = parts[0].labels

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Fit each part on everything, with a seed of its own."""
        for number, part in enumerate(self.parts):
            part.fit(examples, labels, fitting.part(f"part{number}", seed=fitting.seed * 101 + number))
        return self

    def config(self) -> dict[str, Any]:
        """The number of parts; each describes itself in its own folder."""
        return {"parts": len(self.parts), **self.options()}

    def options(self) -> dict[str, Any]:
        """What the constructor takes beside the parts."""
        return {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], folder: Path) -> Self:
        """Load the parts, then make the combination of them."""
        options = {name: value for name, value in config.items() if name != "parts"}
        return cls([load_block(folder / f"part{number}") for number in range(config["parts"])], **options)

    def save_weights(self, folder: Path) -> None:
        """Each part goes into a folder of its own."""
        for number, part in enumerate(self.parts):
            part.save(folder / f"part{number}")

    def load_weights(self, folder: Path) -> None:
        """The parts were loaded with the configuration."""


class Mean(Combination):
    """The parts' probabilities, averaged; with weights if given."""

    def __init__(self, parts: Sequence[Block], weights: Sequence[float] | None = None) -> None:
        super().__init__(parts)
        self.weights = list(weights) if weights is not None else [1.0] * len(parts)
        if len(self.weights) != len(parts) or sum(self.weights) <= 0:
            raise EmoscopeError("a weighted mean needs one weight for each part, and a positive sum")

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The weighted mean."""
        return np.average([part.predict_proba(examples) for part in self.parts], axis=0, weights=self.weights)

    def options(self) -> dict[str, Any]:
        """The weights."""
        return {"weights": self.weights}


class Majority(Combination):
    """Each part has one vote; the mean probability breaks ties."""

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The share of votes, nudged by the mean probability so that ties have a winner."""
        answers = np.stack([part.predict_proba(examples) for part in self.parts])
        votes = np.eye(len(self.labels))[answers.argmax(-1)].mean(0)
        return np.asarray((votes + 1e-3 * answers.mean(0)) / (1 + 1e-3))


class Folds(Combination):
    """The same block fitted once per fold on all other folds; the copies vote or are averaged."""

    def __init__(self, parts: Sequence[Block], vote: bool = False) -> None:
        super().__init__(parts)
        self.vote = vote

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Cut between dialogues, then fit each part on what lies outside its fold."""
        folds = dialogue_folds(examples, len(self.parts), fitting.seed)
        for number, part in enumerate(self.parts):
            kept = np.flatnonzero(folds != number).tolist()
            part.fit([examples[i] for i in kept], [labels[i] for i in kept], fitting.part(f"part{number}"))
        return self

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """Votes or the mean of the copies."""
        whole: Combination = Majority(self.parts) if self.vote else Mean(self.parts)
        return whole.predict_proba(examples)

    def options(self) -> dict[str, Any]:
        """Whether the copies vote."""
        return {"vote": self.vote}


def dialogue_folds(examples: Sequence[Example], folds: int, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A fold for each example; the turns of one dialogue stay together, and with them its rewordings.

    >>> from emoscope.core.dialogue import Dialogue
    >>> whole = Dialogue.of(["a", "b"])
    >>> dialogue_folds([Example(whole, 0), Example(whole, 1), Example(Dialogue.of(["c"]), 0)], 2, 0)[:2].tolist() in (
    ...     [0, 0], [1, 1])
    True
    """
    dialogues = list(dict.fromkeys(example.family for example in examples))
    if len(dialogues) < folds:
        raise EmoscopeError(f"{len(dialogues)} different dialogues cannot be cut into {folds} folds")
    order = np.random.default_rng(seed).permutation(len(dialogues))
    fold_of = {dialogues[index]: position % folds for position, index in enumerate(order)}
    return np.array([fold_of[example.family] for example in examples])


class Cascade(Combination):
    """First part: is it `neutral` or not? Second part: which of the other labels is it?"""

    def __init__(self, parts: Sequence[Block], labels: Sequence[str], neutral: str) -> None:
        super().__init__(parts)
        if len(parts) != 2:
            raise EmoscopeError("a cascade has two parts")
        self.labels = tuple(labels)
        self.neutral = neutral

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """The first part learns from all examples, the second from those that are not neutral."""
        gate, rest = self.parts
        other = next(label for label in gate.labels if label != self.neutral)
        gate.fit(
            examples, [self.neutral if label == self.neutral else other for label in labels], fitting.part("part0")
        )
        kept = [number for number, label in enumerate(labels) if label != self.neutral]
        rest.fit([examples[i] for i in kept], [labels[i] for i in kept], fitting.part("part1"))
        return self

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """P(neutral), and P(not neutral) shared out by the second part."""
        gate, rest = self.parts
        neutral = gate.predict_proba(examples)[:, gate.labels.index(self.neutral)]
        shares = rest.predict_proba(examples)
        answers = np.zeros((len(examples), len(self.labels)))
        answers[:, self.labels.index(self.neutral)] = neutral
        for column, label in enumerate(rest.labels):
            answers[:, self.labels.index(label)] = (1 - neutral) * shares[:, column]
        return answers

    def options(self) -> dict[str, Any]:
        """The labels and which of them is neutral."""
        return {"labels": list(self.labels), "neutral": self.neutral}


class Stack(Combination):
    """The last part learns from the probabilities that the others give to examples they did not see.

    The last part must be a block with `fit_features` and `predict_features` (a linear or boosted model).
    """

    def __init__(self, parts: Sequence[Block], folds: int = 5) -> None:
        super().__init__(parts)
        if len(parts) < 2:
            raise EmoscopeError("a stack needs at least one part below and one on top")
        self.folds = folds

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Out-of-fold probabilities teach the top; then the lower parts are fitted on everything."""
        lower, top = self.parts[:-1], self.parts[-1]
        cut = dialogue_folds(examples, self.folds, fitting.seed)
        features = np.zeros((len(examples), sum(len(part.labels) for part in lower)))
        for fold in range(self.folds):
            learn, held = np.flatnonzero(cut != fold).tolist(), np.flatnonzero(cut == fold).tolist()
            for number, part in enumerate(lower):
                part.fit(
                    [examples[i] for i in learn], [labels[i] for i in learn], fitting.part(f"fold{fold}-part{number}")
                )
            features[held] = self._below([examples[i] for i in held])
        for number, part in enumerate(lower):
            part.fit(examples, labels, fitting.part(f"part{number}"))
        top.fit_features(features, one_hot(labels, self.labels), fitting.part("top"))  # type: ignore[attr-defined]
        return self

    def _below(self, examples: Sequence[Example]) -> Floats:
        return np.concatenate([part.predict_proba(examples) for part in self.parts[:-1]], axis=1)

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """What the top makes of the lower parts' probabilities."""
        return np.asarray(self.parts[-1].predict_features(self._below(examples)))  # type: ignore[attr-defined]

    def options(self) -> dict[str, Any]:
        """The number of folds."""
        return {"folds": self.folds}
