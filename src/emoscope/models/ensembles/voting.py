"""Voting in several steps: sets of classifiers that were asked different questions decide together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, load_block

# How much the mean probability counts beside the votes: enough to break ties, too little to do more.
_TIE = 1e-3


class MultiStepVote(Block):
    """Three sets of classifiers: of all labels, of all but `neutral`, and of neutral or not.

    Step 1: within each set every classifier has a vote. Step 2: the first and the third set decide between neutral and
    the rest. Step 3: where it is not neutral, the first and the second set decide which label it is. With `soft` the
    classifiers give their probabilities rather than a vote, and the third step shares out what the second left.
    """

    def __init__(
        self,
        labels: Sequence[str],
        neutral: str,
        every: Sequence[Block],
        others: Sequence[Block],
        gates: Sequence[Block],
        soft: bool = False,
    ) -> None:
        self.labels = tuple(labels)
        self.neutral = neutral
        self.sets = {"every": list(every), "others": list(others), "gates": list(gates)}
        self.soft = soft
        if not all(self.sets.values()):
            raise EmoscopeError("voting in steps needs at least one classifier in each set")
        rest = set(self.labels) - {neutral}
        if any(set(part.labels) != set(self.labels) for part in every) or any(set(p.labels) != rest for p in others):
            raise EmoscopeError("voting in steps: a classifier has other labels than its set")
        if any(len(part.labels) != 2 or neutral not in part.labels for part in gates):
            raise EmoscopeError(f"voting in steps: a gate's labels are {neutral!r} and one other")

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Each classifier learns its own question, the second set from the examples that are not neutral."""
        kept = [number for number, label in enumerate(labels) if label != self.neutral]
        chosen, named = [examples[number] for number in kept], [labels[number] for number in kept]
        for place, (name, part) in enumerate(self._parts()):
            own = fitting.part(name, seed=fitting.seed * 101 + place)
            if name.startswith("others"):
                part.fit(chosen, named, own)
            elif name.startswith("gates"):
                emotion = next(label for label in part.labels if label != self.neutral)
                part.fit(examples, [label if label == self.neutral else emotion for label in labels], own)
            else:
                part.fit(examples, labels, own)
        return self

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The share of votes for neutral, and the rest shared out among the other labels."""
        if not examples:
            return np.zeros((0, len(self.labels)))
        column = self.labels.index(self.neutral)
        emotions = [label for label in self.labels if label != self.neutral]
        every = self._votes("every", self.labels, examples)
        neutral = np.concatenate([every[..., column], self._votes("gates", (self.neutral,), examples)[..., 0]]).mean(0)
        shares = np.delete(every, column, axis=-1).sum(0) + self._votes("others", emotions, examples).sum(0)
        shares = self._decided(shares / shares.sum(-1, keepdims=True))
        return np.insert((1 - neutral)[:, None] * shares, column, neutral, axis=1)

    def _votes(self, name: str, labels: Sequence[str], examples: Sequence[Example]) -> Floats:
        """What each classifier of a set gives to each label: shape (classifiers, examples, labels)."""
        found = []
        for part in self.sets[name]:
            answers = self._decided(part.predict_proba(examples))
            found.append(answers[:, [part.labels.index(label) for label in labels]])
        return np.array(found)

    def _decided(self, answers: Floats) -> Floats:
        """All for the winner, but for what breaks ties."""
        if self.soft:
            return answers
        return np.asarray((np.eye(answers.shape[1])[answers.argmax(1)] + _TIE * answers) / (1 + _TIE))

    def _parts(self) -> list[tuple[str, Block]]:
        return [(f"{name}{number}", part) for name, parts in self.sets.items() for number, part in enumerate(parts)]

    def config(self) -> dict[str, Any]:
        """Labels, and the number of classifiers in each set."""
        sizes = {name: len(parts) for name, parts in self.sets.items()}
        return {"labels": list(self.labels), "neutral": self.neutral, "soft": self.soft, **sizes}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], folder: Path) -> Self:
        """Load the classifiers, then make the vote of them."""
        sets = {
            name: [load_block(folder / f"{name}{number}") for number in range(config[name])]
            for name in ("every", "others", "gates")
        }
        return cls(config["labels"], config["neutral"], soft=config["soft"], **sets)

    def save_weights(self, folder: Path) -> None:
        """Each classifier goes into a folder of its own."""
        for name, part in self._parts():
            part.save(folder / name)

    def load_weights(self, folder: Path) -> None:
        """The classifiers were loaded with the configuration."""
