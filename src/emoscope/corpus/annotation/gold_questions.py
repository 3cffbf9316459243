"""Questions whose answer is known, mixed in among the others: when one is due, and who fails them.

A worker's questions are counted in blocks, of twenty where the share is 5 %, and one of each block is a gold question:
at a place nobody can foresee, and the same one again after a restart. Everyone meets the gold questions in an order of
their own.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.workers import MIN_GOLD

SHARE = 0.05
LEAST_ANSWERS = 5


@dataclass(frozen=True, slots=True)
class GoldRules:
    """How many questions are gold, and who is refused: less than `least_right` of `least_answers` answers or more.

    >>> GoldRules().refuses(right=3, answers=5), GoldRules().refuses(right=0, answers=4)
    (True, False)
    """

    share: float = SHARE
    least_right: float = MIN_GOLD
    least_answers: int = LEAST_ANSWERS

    def __post_init__(self) -> None:
        if not 0 < self.share <= 0.5:
            raise EmoscopeError(f"the share of gold questions must lie above 0 and not above 0.5, not {self.share}")
        if not 0 <= self.least_right <= 1:
            raise EmoscopeError(f"the least share of right answers must lie between 0 and 1, not {self.least_right}")
        if self.least_answers < 1:
            raise EmoscopeError(f"at least 1 gold question must be answered before a refusal, not {self.least_answers}")

    def refuses(self, right: int, answers: int) -> bool:
        """Whether a worker with so many right answers is refused."""
        return answers >= self.least_answers and right / answers < self.least_right

    def due(self, seed: int, worker: str, position: int) -> bool:
        """Whether a worker's question number `position`, from 0, is to be a gold one.

        >>> [sum(GoldRules().due(1, "ann", place) for place in range(start, start + 20)) for start in (0, 20, 40)]
        [1, 1, 1]
        """
        block, place = divmod(position, round(1 / self.share))
        return drawn(seed, worker, str(block)) % round(1 / self.share) == place


@dataclass(frozen=True, slots=True)
class Check:
    """One answer to a gold question, as the worker is told of it at once; `place` is which of the item's answers."""

    place: int
    said: str
    expected: str

    @property
    def right(self) -> bool:
        """Whether it was the answer expected."""
        return self.said == self.expected


def checks(said: Iterable[str], expected: Iterable[str | None]) -> tuple[Check, ...]:
    """The answers that can be checked, of all that were given to one item.

    >>> checks(["joy", "sad"], [None, "fear"])
    (Check(place=1, said='sad', expected='fear'),)
    """
    pairs = enumerate(zip(said, expected, strict=True))
    return tuple(Check(place, one, known) for place, (one, known) in pairs if known is not None)


def drawn(seed: int, *names: str) -> int:
    """A number that depends on nothing but the seed and the names."""
    key = "\x00".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
