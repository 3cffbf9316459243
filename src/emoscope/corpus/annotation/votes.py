"""Votes on a corpus: per label, per item, and Fleiss' kappa."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emoscope.core.agreement import fleiss_kappa, fleiss_kappa_per_label
from emoscope.corpus.describe.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Votes:
    """The annotators' votes on a corpus; an undefined kappa is None."""

    items: int
    counts: dict[str, int]
    raters: Distribution  # votes per item
    largest: Distribution  # votes for each item's most chosen label
    by_label: dict[str, dict[str, int]]  # votes on the items of each final label
    kappa: float | None
    kappa_per_label: dict[str, float | None]


class VoteCounter:
    """Counts votes from a stream; memory grows with the number of distinct vote patterns, not of items."""

    def __init__(self) -> None:
        self._labels: dict[str, None] = {}  # in order of appearance
        self._patterns: Counter[tuple[tuple[str, int], ...]] = Counter()
        self._by_label: dict[str, Counter[str]] = {}

    def add(self, label: str | None, votes: Mapping[str, int]) -> None:
        """Count the votes on one item, and its final label, if known."""
        if not votes:
            return
        self._labels.update(dict.fromkeys(votes))
        self._patterns[tuple(votes.items())] += 1
        if label is not None:
            self._by_label.setdefault(label, Counter()).update(votes)

    def result(self) -> Votes | None:
        """The totals, or None if no item had votes."""
        if not self._patterns:
            return None
        labels = list(self._labels)
        patterns = [[dict(pattern).get(label, 0) for label in labels] for pattern in self._patterns]
        items = np.repeat(np.array(patterns, np.int64), list(self._patterns.values()), axis=0)
        per_label = map(float, fleiss_kappa_per_label(items))
        return Votes(
            items=len(items),
            counts=dict(zip(labels, items.sum(0).tolist(), strict=True)),
            raters=Distribution.of(Counter(items.sum(1).tolist())),
            largest=Distribution.of(Counter(items.max(1).tolist())),
            by_label={label: {name: votes[name] for name in labels} for label, votes in self._by_label.items()},
            kappa=_defined(fleiss_kappa(items)),
            kappa_per_label={label: _defined(kappa) for label, kappa in zip(labels, per_label, strict=True)},
        )


def _defined(kappa: float) -> float | None:
    return None if math.isnan(kappa) else kappa
