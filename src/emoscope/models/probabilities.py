"""From logits to label probabilities: softmax, coarser auxiliary questions, and temperature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.metrics import Floats


@dataclass(frozen=True, slots=True)
class LabelGrouping:
    """A coarser auxiliary question: its number of groups, and the group of each label, -1 for labels left out."""

    groups: int
    grouping: Sequence[int]


def label_probabilities(scores: Floats, questions: Sequence[LabelGrouping], labels: int) -> Floats:
    """The labels' probabilities, each multiplied by those of its groups, normalised to sum to 1.

    >>> sure = np.log([[0.5, 0.25, 0.25, 0.8, 0.2]])
    >>> label_probabilities(sure, [LabelGrouping(2, (0, 1, 1))], 3).round(2).tolist()
    [[0.8, 0.1, 0.1]]
    """
    answers = softmax(scores[:, :labels])
    start = labels
    for question in questions:
        grouped = softmax(scores[:, start : start + question.groups])
        start += question.groups
        for label, group in enumerate(question.grouping):
            if group >= 0:
                answers[:, label] *= grouped[:, group]
    return np.asarray(answers / np.maximum(answers.sum(-1, keepdims=True), 1e-30))


def head_columns(heads: Mapping[str, Sequence[str]], head: str) -> slice:
    """The columns of a head's labels, where those of all heads are side by side.

    >>> head_columns({"mood": ["good", "bad"], "tone": ["up", "down"]}, "tone")
    slice(2, 4, None)
    """
    if head not in heads:
        raise EmoscopeError(f"no head {head!r}; there are: {', '.join(heads)}")
    first = sum(len(heads[before]) for before in takewhile(lambda name: name != head, heads))
    return slice(first, first + len(heads[head]))


def in_order(probabilities: Floats, labels: Sequence[str], wanted: Sequence[str]) -> Floats:
    """Probabilities with their columns in another order; zeros for labels that have no column.

    >>> in_order(np.array([[0.2, 0.8]]), ["b", "a"], ["a", "b", "c"]).tolist()
    [[0.8, 0.2, 0.0]]
    """
    columns = np.zeros((len(probabilities), len(wanted)))
    columns[:, [wanted.index(label) for label in labels]] = probabilities
    return columns


def softmax(scores: Floats) -> Floats:
    """Scores as probabilities.

    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def temperature_of(
    scores: Floats, classes: NDArray[np.int64], *, reach: float = 2.5, offsets: ArrayLike = 0.0
) -> float:
    """The divisor of scores under which the classes are most likely (Guo et al. 2017), from exp(-reach) to exp(reach).

    `offsets` are added to the divided scores: the log of how much more frequent each class is than in training.

    >>> sure = np.array([[4.0, 0.0]] * 3 + [[0.0, 4.0]])
    >>> temperature_of(sure, np.array([0, 0, 1, 1])) > 1  # one answer of four is wrong, so it is overconfident
    True
    """

    def loss(log_temperature: float) -> float:
        chosen = softmax(scores / np.exp(log_temperature) + np.asarray(offsets))[np.arange(len(classes)), classes]
        return float(-np.log(np.maximum(chosen, 1e-12)).mean())

    optimise = require("scipy.optimize", extra="train")
    return float(np.exp(optimise.minimize_scalar(loss, bounds=(-reach, reach), method="bounded").x))
