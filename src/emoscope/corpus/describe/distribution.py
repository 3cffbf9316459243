"""Distributions of integers, such as words per utterance, turns per dialogue or votes per item."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Distribution:
    """Integers and their counts, in ascending order; all statistics are 0 if nothing was counted.

    >>> Distribution.of({3: 2, 1: 2})
    Distribution(total=4, mean=2.0, median=1, min=1, max=3, counts={1: 2, 3: 2})
    """

    total: int
    mean: float
    median: int
    min: int
    max: int
    counts: Mapping[int, int]

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Self:
        ordered = {value: count for value, count in sorted(counts.items()) if count}
        total = sum(ordered.values())
        mean = sum(value * count for value, count in ordered.items()) / max(total, 1)
        distribution = cls(total, mean, 0, min(ordered, default=0), max(ordered, default=0), ordered)
        return replace(distribution, median=distribution.quantile(0.5))

    def quantile(self, share: float) -> int:
        """The smallest value that at least this share of observations do not exceed.

        >>> Distribution.of({1: 90, 2: 9, 50: 1}).quantile(0.99)
        2
        """
        target, reached = share * self.total, 0
        for value, count in self.counts.items():
            reached += count
            if reached >= target:
                return value
        return self.max
