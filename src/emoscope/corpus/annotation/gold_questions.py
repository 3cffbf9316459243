"""Gold questions, whose answer is known, mixed in among the others: when one is due, and who fails them.

A worker's questions are counted in blocks, of twenty where the share is 5 %, and one of each block is a gold question:
at an unpredictable place, which is the same after a restart. Each worker meets the gold questions in an order of their
own.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from emoscope.core.errors import EmoscopeError


@dataclass(frozen=True, slots=True)
class GoldRules:
    """The share of gold questions, and who is refused: less than `least_right` of at least `least_answers` answers.

    >>> GoldRules().refuses(right=3, answers=5), GoldRules().refuses(right=0, answers=4)
    (True, False)
    """

    share: float = 0.05
    least_right: float = 0.7
    least_answers: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 0.5:
            raise EmoscopeError(f"the share of gold questions must lie above 0 and not above 0.5, not {self.share}")
        if not 0 <= self.least_right <= 1:
            raise EmoscopeError(
                f"the least share of right gold answers must lie between 0 and 1, not {self.least_right}"
            )
        if self.least_answers < 1:
            raise EmoscopeError(f"the least number of gold answers must be 1 or more, not {self.least_answers}")

    def judges(self, answers: int) -> bool:
        """Whether so many answers are enough to refuse or trust a worker."""
        return answers >= self.least_answers

    def refuses(self, right: int, answers: int) -> bool:
        """Whether a worker with so many right answers is refused."""
        return self.judges(answers) and right / answers < self.least_right

    def due(self, seed: int, worker: str, position: int) -> bool:
        """Whether a worker's question number `position`, from 0, is to be a gold one.

        >>> [sum(GoldRules().due(1, "ann", place) for place in range(start, start + 20)) for start in (0, 20, 40)]
        [1, 1, 1]
        """
        block, place = divmod(position, round(1 / self.share))
        return drawn(seed, worker, str(block)) % round(1 / self.share) == place


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """A worker's answer to a gold question; `place` is its number among the item's answers."""

    place: int
    said: str
    expected: str

    @property
    def right(self) -> bool:
        return self.said == self.expected


def checks(labels: Iterable[str], expected: Iterable[str | None]) -> tuple[GoldCheck, ...]:
    """The answers to an item that can be checked.

    >>> checks(["joy", "sad"], [None, "fear"])
    (GoldCheck(place=1, said='sad', expected='fear'),)
    """
    pairs = enumerate(zip(labels, expected, strict=True))
    return tuple(GoldCheck(place, label, known) for place, (label, known) in pairs if known is not None)


def drawn(seed: int, *names: str) -> int:
    """A random number that depends on the seed and the names alone."""
    key = "\x00".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
