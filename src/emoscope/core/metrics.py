"""Scores from confusion matrices.

Every official metric here is a function of the confusion matrix alone (rows gold, columns predicted), and takes a
whole stack of them: a bootstrap then draws matrices instead of items, which is the same draw and far faster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError

Floats = NDArray[np.float64]
Counts = NDArray[np.integer] | NDArray[np.floating]
MetricName = Literal["micro-f1", "macro-f1", "accuracy"]


def encode(labels: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """Each label's position among the names.

    >>> encode(["b", "a"], ["a", "b"]).tolist()
    [1, 0]
    """
    position = {name: index for index, name in enumerate(names)}
    try:
        return np.fromiter((position[label] for label in labels), dtype=np.int64, count=len(labels))
    except KeyError as error:
        raise EmoscopeError(f"unknown label {error.args[0]!r}; expected one of: {', '.join(names)}") from None


def confusion_matrix(gold: Sequence[str], predicted: Sequence[str], names: Sequence[str]) -> NDArray[np.int64]:
    """Counts with gold labels in rows and predicted ones in columns.

    >>> confusion_matrix(["a", "b", "b"], ["a", "a", "b"], ["a", "b"]).tolist()
    [[1, 0], [1, 1]]
    """
    if len(gold) != len(predicted):
        raise EmoscopeError(f"{len(gold):,} gold labels but {len(predicted):,} predictions")
    size = len(names)
    cells = encode(gold, names) * size + encode(predicted, names)
    return np.bincount(cells, minlength=size * size).reshape(size, size)


def safe_divide(numerator: Counts, denominator: Counts) -> Floats:
    """Division where 0 / 0 is 0, as in the shared tasks' scorers."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    quotient: Floats = np.divide(top, bottom, out=np.zeros(top.shape), where=bottom != 0, dtype=np.float64)
    return quotient


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Precision, recall and F1 per class, each an array whose last axis is the classes."""

    precision: Floats
    recall: Floats
    f1: Floats
    support: Floats


def class_scores(confusion: Counts) -> ClassScores:
    """Precision, recall, F1 and support of each class.

    >>> class_scores(np.array([[1, 0], [1, 1]])).f1.round(3).tolist()
    [0.667, 0.667]
    """
    matrix = np.asarray(confusion, np.float64)
    hits = np.diagonal(matrix, axis1=-2, axis2=-1)
    support, chosen = matrix.sum(-1), matrix.sum(-2)
    return ClassScores(
        precision=safe_divide(hits, chosen),
        recall=safe_divide(hits, support),
        f1=safe_divide(2 * hits, support + chosen),
        support=support,
    )


def micro_f1(confusion: Counts, classes: Sequence[int] | None = None) -> Floats:
    """F1 of the summed counts of the given classes (all if none are given).

    With all classes this is accuracy; with some, the others count only as false negatives and false positives.

    >>> micro_f1(np.array([[8, 1, 1], [2, 3, 0], [0, 0, 5]]), [1, 2]).round(4).item()
    0.8
    """
    matrix = np.asarray(confusion, np.float64)
    chosen = slice(None) if classes is None else list(classes)
    hits = np.diagonal(matrix, axis1=-2, axis2=-1)[..., chosen].sum(-1)
    total = matrix.sum(-1)[..., chosen].sum(-1) + matrix.sum(-2)[..., chosen].sum(-1)
    return safe_divide(2 * hits, total)


def macro_f1(confusion: Counts, classes: Sequence[int] | None = None) -> Floats:
    """Mean F1 over the given classes, or over those that occur in gold or predictions if none are given.

    >>> round(float(macro_f1(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]]))), 4)
    0.6667
    """
    f1 = class_scores(confusion).f1
    if classes is not None:
        return np.asarray(f1[..., list(classes)].mean(-1))
    matrix = np.asarray(confusion)
    occurs = (matrix.sum(-1) + matrix.sum(-2)) > 0
    return safe_divide((f1 * occurs).sum(-1), occurs.sum(-1))


def accuracy(confusion: Counts) -> Floats:
    """Share of items on the diagonal.

    >>> float(accuracy(np.array([[3, 1], [0, 4]])))
    0.875
    """
    matrix = np.asarray(confusion, np.float64)
    return safe_divide(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum((-2, -1)))


METRICS: Mapping[str, Callable[..., Floats]] = {"micro-f1": micro_f1, "macro-f1": macro_f1, "accuracy": accuracy}


@dataclass(frozen=True, slots=True)
class Metric:
    """A named score: a function of the confusion matrix, and a description for readers.

    `function` takes a confusion matrix or a stack of them and, if there are `labels`, their positions; it may be left
    out for the names in `METRICS`.

    >>> emotions = Metric("micro-f1", "micro-F1 over the emotions", labels=("happy", "sad"))
    >>> emotions(np.array([[8, 1, 1], [2, 3, 0], [0, 0, 5]]), ["others", "happy", "sad"]).round(4).item()
    0.8
    """

    name: str
    description: str
    function: Callable[..., Floats] | None = None
    labels: tuple[str, ...] | None = None

    def __call__(self, confusion: Counts, names: Sequence[str]) -> Floats:
        """The score of a confusion matrix whose rows and columns are `names`, or of each in a stack."""
        function = self.function or METRICS[self.name]
        if self.labels is None:
            return function(confusion)
        return function(confusion, [index for index, name in enumerate(names) if name in self.labels])


def standard_metric(name: MetricName, labels: Sequence[str] = (), neutral: str | None = None) -> Metric:
    """One of the metrics any set of labels can be scored by; micro-F1 leaves out the neutral label.

    >>> standard_metric("micro-f1", ["others", "happy", "sad"], neutral="others").description
    'micro-averaged F1 over happy, sad'
    """
    match name:
        case "micro-f1":
            emotions = tuple(label for label in labels if label != neutral)
            return Metric(name, f"micro-averaged F1 over {', '.join(emotions)}", labels=emotions)
        case "macro-f1":
            return Metric(name, "macro-F1 over the labels that occur in gold or predictions")
        case "accuracy":
            return Metric(name, "the share of right answers")
