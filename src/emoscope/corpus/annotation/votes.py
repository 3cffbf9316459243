"""Votes on a corpus: per label, per item, and Fleiss' kappa."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.annotation.agreement import fleiss_kappa, fleiss_kappa_per_label
from emoscope.corpus.describe.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Votes:
    """The annotators' votes on a corpus.

    `raters` is the distribution of votes on an item, `largest` that of the votes its most chosen label got, `by_label`
    the votes on the items of each final label. A kappa that is not defined is None.
    """

    items: int
    counts: Mapping[str, int]
    raters: Distribution
    largest: Distribution
    by_label: Mapping[str, Mapping[str, int]]
    kappa: float | None
    kappa_per_label: Mapping[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "items": self.items,
            "counts": dict(self.counts),
            "raters": self.raters.as_dict(),
            "largest": self.largest.as_dict(),
            "by_label": {label: dict(votes) for label, votes in self.by_label.items()},
            "kappa": self.kappa,
            "kappa_per_label": dict(self.kappa_per_label),
        }


class VoteCounter:
    """Counts votes as they stream by; memory grows with the number of different patterns, not of items."""

    def __init__(self) -> None:
        self._labels: dict[str, None] = {}  # in the order they were first seen
        self._patterns: Counter[tuple[tuple[str, int], ...]] = Counter()
        self._by_label: dict[str, Counter[str]] = {}

    def add(self, label: str | None, votes: Mapping[str, int]) -> None:
        """Count the votes on one item, whose final label is known or not."""
        if not votes:
            return
        self._labels.update(dict.fromkeys(votes))
        self._patterns[tuple(votes.items())] += 1
        if label is not None:
            self._by_label.setdefault(label, Counter()).update(votes)

    def result(self) -> Votes | None:
        """What was counted, or None if no item had votes."""
        if not self._patterns:
            return None
        labels = list(self._labels)
        table, times = self._table(labels)
        items = np.repeat(table, times, axis=0)
        return Votes(
            items=len(items),
            counts=_mapping(labels, items.sum(0)),
            raters=_distribution(items.sum(1)),
            largest=_distribution(items.max(1)),
            by_label=MappingProxyType(
                {
                    label: MappingProxyType({name: votes[name] for name in labels})
                    for label, votes in self._by_label.items()
                }
            ),
            kappa=_defined(fleiss_kappa(items)),
            kappa_per_label=MappingProxyType(
                {
                    name: _defined(float(value))
                    for name, value in zip(labels, fleiss_kappa_per_label(items), strict=True)
                }
            ),
        )

    def _table(self, labels: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The different patterns as rows of counts, and how often each occurs."""
        column = {label: index for index, label in enumerate(labels)}
        table = np.zeros((len(self._patterns), len(labels)), np.int64)
        for row, pattern in enumerate(self._patterns):
            for label, count in pattern:
                table[row, column[label]] = count
        return table, np.fromiter(self._patterns.values(), np.int64, len(self._patterns))


def _mapping(labels: list[str], values: NDArray[np.int64]) -> Mapping[str, int]:
    return MappingProxyType(dict(zip(labels, (int(value) for value in values), strict=True)))


def _distribution(values: NDArray[np.int64]) -> Distribution:
    return Distribution(Counter(int(value) for value in values))


def _defined(kappa: float) -> float | None:
    return None if math.isnan(kappa) else kappa
