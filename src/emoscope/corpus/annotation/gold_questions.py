"""Gold questions, which have known answers and are mixed in with the others: when one is due, and who fails them.

At first one question in four is gold, then one in ten, at an unpredictable place in each block that stays the same
after a restart. Each worker gets the gold questions in a different order.

A sequential test after every answer decides who fails. It compares the likelihood of the answers under an accuracy
below `least_right`, averaged uniformly, with their likelihood at `least_right`; once the ratio reaches 1 / `error`, the
worker is refused. By Ville's inequality, a worker whose accuracy is at least `least_right` is refused with probability
at most `error`, no matter how many questions there are.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from emoscope.core.errors import EmoscopeError

_STEPS = 200  # accuracies below `least_right` that the test averages over
_EARLY_BLOCK = 4


@dataclass(frozen=True, slots=True)
class GoldRules:
    """How often gold questions come, and who is refused.

    Without `least_answers`, the sequential test decides. With it, a worker with at least that many answers is refused
    if less than `least_right` of them are correct.

    >>> [GoldRules().refuses(*score) for score in ((0, 3), (2, 4), (1, 6), (18, 20))]
    [True, False, True, False]
    >>> GoldRules(least_answers=5).refuses(right=3, answers=5), GoldRules(least_answers=5).refuses(right=0, answers=4)
    (True, False)
    """

    share: float = 0.1
    least_right: float = 0.7
    least_answers: int | None = None
    error: float = 0.1
    early: int = 3  # gold questions asked at one in four, before one in ten

    def __post_init__(self) -> None:
        if not 0 < self.share <= 0.5:
            raise EmoscopeError(f"the share of gold questions must lie above 0 and not above 0.5, not {self.share}")
        if not 0 <= self.least_right <= 1:
            raise EmoscopeError(
                f"the least share of right gold answers must lie between 0 and 1, not {self.least_right}"
            )
        if self.least_answers is not None and self.least_answers < 1:
            raise EmoscopeError(f"the least number of gold answers must be 1 or more, not {self.least_answers}")
        if not 0 < self.error < 1:
            raise EmoscopeError(f"the error rate of gold questions must lie between 0 and 1, not {self.error}")

    @property
    def fewest(self) -> int:
        """The fewest answers after which a worker can be refused.

        >>> GoldRules().fewest, GoldRules(least_answers=5).fewest
        (3, 5)
        """
        if self.least_answers is not None:
            return self.least_answers
        return next((answers for answers in range(1, 1000) if self.refuses(0, answers)), 1)

    def refuses(self, right: int, answers: int) -> bool:
        """Whether a worker with this score is refused."""
        if self.least_answers is not None:
            return answers >= self.least_answers and right / answers < self.least_right
        return answers > 0 and self._evidence(right, answers - right) >= 1 / self.error

    def _evidence(self, right: int, wrong: int) -> float:
        """The likelihood ratio of the answers: averaged over accuracies below `least_right`, to that at it."""
        least = self.least_right
        if least == 0:
            return 0.0
        if least == 1:
            return math.inf if wrong else 0.0
        steps = [least * (step + 0.5) / _STEPS for step in range(_STEPS)]
        at_least = right * math.log(least) + wrong * math.log(1 - least)
        return sum(math.exp(right * math.log(p) + wrong * math.log(1 - p) - at_least) for p in steps) / _STEPS

    def due(self, seed: int, worker: str, position: int) -> bool:
        """Whether the worker's question number `position`, from 0, is a gold question.

        >>> [sum(GoldRules().due(1, "ann", place) for place in range(start, start + 12)) for start in (0, 12)]
        [3, 2]
        """
        size = round(1 / self.share)
        if size > _EARLY_BLOCK and position < self.early * _EARLY_BLOCK:
            block, place = divmod(position, _EARLY_BLOCK)
            return drawn(seed, worker, "early", str(block)) % _EARLY_BLOCK == place
        block, place = divmod(position, size)
        return drawn(seed, worker, str(block)) % size == place


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """A worker's answer to a gold question; `place` is its index among the item's answers."""

    place: int
    said: str
    expected: str

    @property
    def right(self) -> bool:
        return self.said == self.expected


def checks(labels: Iterable[str], expected: Iterable[str | None]) -> tuple[GoldCheck, ...]:
    """Check those of an item's answers whose correct label is known.

    >>> checks(["joy", "sad"], [None, "fear"])
    (GoldCheck(place=1, said='sad', expected='fear'),)
    """
    pairs = enumerate(zip(labels, expected, strict=True))
    return tuple(GoldCheck(place, label, known) for place, (label, known) in pairs if known is not None)


def drawn(seed: int, *names: str) -> int:
    """A random number that depends only on the seed and the names."""
    key = "\x00".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
