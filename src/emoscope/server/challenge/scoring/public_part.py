"""What a board shows while a phase is open: scores on a public part of the gold, rounded to a meaningful precision.

The private part decides when the phase closes. Someone who submits often enough can work out some labels of the public
part from its scores, but learns nothing about the private part.
"""

import json
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from emoscope.core.errors import EmoscopeError
from emoscope.evaluation.score import evaluate_labels
from emoscope.server.store.models import Phase, Result
from emoscope.tasks import Task

DEFAULT_SHARE = 0.3
_RIGHT = 0.75  # share of right answers when the width of an interval is estimated
_Z_95, _Z_99 = 1.960, 2.576
_STEPS = (5, 2, 1)


def choose(task: Task, labels: Sequence[str], share: float, seed: str) -> list[int] | None:
    """The positions of the public items: this share of each label, but never all of one; None if all items are public.

    >>> from emoscope.tasks import get_task
    >>> len(choose(get_task("emocontext"), ["happy"] * 10 + ["others"] * 30, 0.3, "any"))
    12
    """
    if share >= 1:
        return None
    places: dict[str, list[int]] = defaultdict(list)
    for position, label in enumerate(labels):
        if task.scored(label):
            places[label].append(position)
    draw = random.Random(seed)
    chosen: list[int] = []
    for label in sorted(places):
        count = min(max(1, round(share * len(places[label]))), len(places[label]) - 1)
        chosen += draw.sample(places[label], count)
    if not chosen:
        raise EmoscopeError("the gold is too small to be split; with public_share = 1 all of it is public")
    return sorted(chosen)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The precision of shown scores: they are rounded to `step` and uncertain by `margin`, half of a 95 % interval."""

    step: float
    margin: float

    def rounded(self, score: float) -> float:
        """The score as it is shown.

        >>> Resolution(0.02, 0.031).rounded(0.7357)
        0.74
        """
        return min(1.0, round(round(score / self.step) * self.step, self.digits))

    @property
    def digits(self) -> int:
        """The number of decimals to show."""
        return max(1, math.ceil(-math.log10(self.step) - 1e-9))

    def differ(self, first: float, second: float) -> bool:
        """Whether two rounded scores differ at the level of 0.99, whatever their exact values are."""
        return abs(first - second) > math.sqrt(2) * self.margin * _Z_99 / _Z_95 + self.step + 1e-9


def resolution(task: Task, labels: Sequence[str]) -> Resolution:
    """The resolution that the interval of a good system's score on these labels justifies, in any order."""
    draw, gold = random.Random(0), sorted(labels)
    answers = [label if draw.random() < _RIGHT else draw.choice(gold) for label in gold]
    interval = evaluate_labels(task, gold, answers, samples=2_000).interval
    return _resolution((interval.high - interval.low) / 2)


def _resolution(margin: float) -> Resolution:
    """A step of 1, 2 or 5 in the first digit of the margin.

    >>> _resolution(0.031), _resolution(0.0099)
    (Resolution(step=0.02, margin=0.031), Resolution(step=0.005, margin=0.0099))
    """
    margin = min(0.5, max(margin, 1e-4))
    exponent = math.floor(math.log10(margin) + 1e-9)
    step = next(size for size in _STEPS if size * 10.0**exponent <= margin + 1e-12) * 10.0**exponent
    return Resolution(round(step, 6), round(margin, 4))


def resolution_of(phase: Phase) -> Resolution:
    """The resolution of a phase's scores while it is open; old phases without one get it from their size."""
    if phase.public is None:
        return _resolution(_Z_95 * 0.5 / math.sqrt(phase.items))
    return Resolution(phase.public["step"], phase.public["margin"])


def rounded_score(phase: Phase, result: Result) -> float:
    """A result's score as an open phase shows it."""
    return resolution_of(phase).rounded(result.score if result.public_score is None else result.public_score)


def encoded(positions: Sequence[int]) -> bytes:
    """The public positions as the file that scorers read, stored with the gold."""
    return json.dumps(list(positions)).encode()
