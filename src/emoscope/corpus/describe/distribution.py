"""Distributions of whole numbers: words in an utterance, turns in a dialogue, votes on an item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Distribution:
    """Numbers and how often each occurs, in ascending order.

    >>> lengths = Distribution({3: 2, 1: 1})
    >>> lengths.total, lengths.median, round(lengths.mean, 2), lengths.largest
    (3, 3, 2.33, 3)
    """

    counts: Mapping[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", {value: count for value, count in sorted(self.counts.items()) if count})

    @property
    def total(self) -> int:
        """The number of observations."""
        return sum(self.counts.values())

    @property
    def mean(self) -> float:
        """The average; 0 if empty."""
        return sum(value * count for value, count in self.counts.items()) / max(self.total, 1)

    @property
    def median(self) -> int:
        """The 50 % quantile."""
        return self.quantile(0.5)

    @property
    def smallest(self) -> int:
        """The lowest number; 0 if empty."""
        return min(self.counts, default=0)

    @property
    def largest(self) -> int:
        """The highest number; 0 if empty."""
        return max(self.counts, default=0)

    def quantile(self, share: float) -> int:
        """The smallest number that at least this share of observations do not exceed; 0 if empty.

        >>> Distribution({1: 90, 2: 9, 50: 1}).quantile(0.99)
        2
        """
        target, reached = share * self.total, 0
        for value, count in self.counts.items():
            reached += count
            if reached >= target:
                return value
        return self.largest

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "total": self.total,
            "mean": self.mean,
            "median": self.median,
            "min": self.smallest,
            "max": self.largest,
            "counts": {str(value): count for value, count in self.counts.items()},
        }
