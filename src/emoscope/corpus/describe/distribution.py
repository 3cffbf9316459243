"""How often each whole number occurs: words in an utterance, turns in a dialogue, votes on an item."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Distribution:
    """Numbers and how often each occurs, in rising order.

    >>> lengths = Distribution({3: 2, 1: 1})
    >>> lengths.total, lengths.median, round(lengths.mean, 2), lengths.largest
    (3, 3, 2.33, 3)
    """

    counts: Mapping[int, int]

    def __post_init__(self) -> None:
        ordered = {value: count for value, count in sorted(self.counts.items()) if count}
        object.__setattr__(self, "counts", MappingProxyType(ordered))

    @property
    def total(self) -> int:
        """How many were counted."""
        return sum(self.counts.values())

    @property
    def mean(self) -> float:
        """The average; 0 of nothing."""
        total = self.total
        return sum(value * count for value, count in self.counts.items()) / total if total else 0.0

    @property
    def median(self) -> int:
        """The smallest number that at least half of them do not exceed."""
        return self.quantile(0.5)

    @property
    def smallest(self) -> int:
        """The lowest number that occurs; 0 of nothing."""
        return min(self.counts, default=0)

    @property
    def largest(self) -> int:
        """The highest number that occurs; 0 of nothing."""
        return max(self.counts, default=0)

    def quantile(self, share: float) -> int:
        """The smallest number that at least this share of them do not exceed; 0 of nothing.

        >>> Distribution({1: 90, 2: 9, 50: 1}).quantile(0.99)
        2
        """
        wanted, reached = share * self.total, 0
        for value, count in self.counts.items():
            reached += count
            if reached >= wanted:
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
