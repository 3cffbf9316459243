"""Voting in several steps, by sets of classifiers for different questions."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.ensembles.combine import Ensemble, chosen, votes_of


class MultiStepVote(Ensemble):
    """Three sets of classifiers: of all labels (`every`), of all but `neutral` (`others`), of neutral or not (`gates`).

    Step 1: in each set every classifier has one vote. Step 2: the first and the third set decide between neutral and
    the rest. Step 3: if it is not neutral, the first and the second set choose the label. With `soft`, probabilities
    are added instead of votes, and the third step divides the probability that is not neutral's.
    """

    child_arguments = ("every", "others", "gates")

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

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        emotional = chosen([label != self.neutral for label in labels], examples, labels)
        for place, (name, part) in enumerate(self.children().items()):
            own = fit_context.part(name, seed=fit_context.seed * 101 + place)
            if name.startswith("others"):
                part.fit(*emotional, own)
            elif name.startswith("gates"):
                emotion = next(label for label in part.labels if label != self.neutral)
                part.fit(examples, [label if label == self.neutral else emotion for label in labels], own)
            else:
                part.fit(examples, labels, own)
        return self

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        column = self.labels.index(self.neutral)
        emotions = [label for label in self.labels if label != self.neutral]
        every = self._votes("every", self.labels, probabilities)
        gates = self._votes("gates", (self.neutral,), probabilities)
        neutral = np.concatenate([every[..., column], gates[..., 0]]).mean(0)
        shares = np.delete(every, column, axis=-1).sum(0) + self._votes("others", emotions, probabilities).sum(0)
        shares = self._decided(shares / shares.sum(-1, keepdims=True))
        return np.insert((1 - neutral)[:, None] * shares, column, neutral, axis=1)

    def _votes(self, name: str, labels: Sequence[str], probabilities: Mapping[str, Floats]) -> Floats:
        """The votes of each classifier of a set: shape (classifiers, examples, labels)."""
        votes = []
        for number, part in enumerate(self.sets[name]):
            decided = self._decided(probabilities[f"{name}{number}"])
            votes.append(decided[:, [part.labels.index(label) for label in labels]])
        return np.array(votes)

    def _decided(self, probabilities: Floats) -> Floats:
        return probabilities if self.soft else votes_of(probabilities)

    def children(self) -> Mapping[str, Block]:
        return {f"{name}{number}": part for name, parts in self.sets.items() for number, part in enumerate(parts)}

    def set_children(self, children: Mapping[str, Block]) -> None:
        self.sets = _sets(children)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], children: Mapping[str, Block]) -> Self:
        return cls(config["labels"], config["neutral"], **_sets(children), soft=config["soft"])


def _sets(children: Mapping[str, Block]) -> dict[str, list[Block]]:
    return {
        name: [part for number, part in children.items() if number.rstrip("0123456789") == name]
        for name in ("every", "others", "gates")
    }
