"""Rounds before a study's own items: a training round, whose answers are explained at once, and a qualification.

EmoContext's judges were trained before they judged. Both rounds use items with known answers. Workers who score below
the pass mark in the qualification, or in training if there is no qualification, get no further items.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from emoscope.core.errors import EmoscopeError

RoundName = Literal["training", "qualification"]
PASS_MARK = 0.7


@dataclass(frozen=True, slots=True)
class RoundScore:
    """A worker's score in a round; `pass_mark` is the share needed to pass, if the round decides.

    >>> RoundScore(7, 10, 10, 0.7).passed, RoundScore(3, 4, 10, 0.7).complete
    (True, False)
    """

    right: int
    answers: int
    wanted: int
    pass_mark: float | None = None

    @property
    def complete(self) -> bool:
        """Whether every item was answered."""
        return self.answers >= self.wanted

    @property
    def passed(self) -> bool:
        """Whether the score reaches the pass mark."""
        return self.pass_mark is None or self.right >= self.pass_mark * self.wanted - 1e-9


@dataclass(frozen=True)
class Rounds:
    """The items of each round, in order.

    >>> rounds = Rounds(training=("a", "b"))
    >>> rounds.of("b"), rounds.decides
    ('training', 'training')
    """

    training: tuple[str, ...] = ()
    qualification: tuple[str, ...] = ()
    pass_mark: float = PASS_MARK

    def __post_init__(self) -> None:
        if not 0 <= self.pass_mark <= 1:
            raise EmoscopeError(f"the pass mark must lie between 0 and 1, not {self.pass_mark}")
        if both := set(self.training) & set(self.qualification):
            raise EmoscopeError(f"{sorted(both)[0]!r} is in the training and in the qualification")

    @property
    def decides(self) -> RoundName | None:
        """The round whose score decides who may continue."""
        return "qualification" if self.qualification else "training" if self.training else None

    @cached_property
    def all(self) -> tuple[str, ...]:
        """The items of both rounds, in order."""
        return (*self.training, *self.qualification)

    @cached_property
    def _by_item(self) -> dict[str, RoundName]:
        by_item: dict[str, RoundName] = dict.fromkeys(self.training, "training")
        return by_item | dict.fromkeys(self.qualification, "qualification")

    def of(self, item: str) -> RoundName | None:
        """The round of an item."""
        return self._by_item.get(item)

    def items(self, name: RoundName) -> tuple[str, ...]:
        """The items of a round."""
        return self.training if name == "training" else self.qualification
