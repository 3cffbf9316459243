"""Measuring a model's answers on labelled data: the score with its interval, calibration, classes and slices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.jsonable import jsonable
from emoscope.core.metrics import Counts, Metric, accuracy, confusion_matrix, encode, macro_f1
from emoscope.core.significance import SAMPLES, bootstrap_interval
from emoscope.detector import Detector
from emoscope.evaluation.results import HeadResults
from emoscope.evaluation.score import class_results
from emoscope.evaluation.slices import SLICES, DataSlice
from emoscope.models.label_shift import prior_vector, shift_prior

CARD_SLICES = ("emoji", "negation", "irony", "long", "dialect", "code-mixed")
# A score of fewer items says nothing.
MIN_SLICE = 20
CALIBRATION_BINS = 15


@dataclass(frozen=True, slots=True)
class Answers:
    """Probabilities of labelled examples, and the label chosen for each."""

    labels: tuple[str, ...]
    probabilities: NDArray[np.float64]
    chosen: NDArray[np.int64]
    training: NDArray[np.float64] | None = None  # the probabilities under the training prior

    def __post_init__(self) -> None:
        if self.probabilities.shape != (len(self.chosen), len(self.labels)):
            raise EmoscopeError(f"expected {len(self.chosen):,} rows of {len(self.labels)} probabilities")


def answers_of(detector: Detector, examples: Sequence[Example]) -> Answers:
    """A detector's answers; each example is seen with the turns before it."""
    contexts = [example.context for example in examples]
    parts = [detector.predict_proba(contexts[start : start + 256]) for start in range(0, len(contexts), 256)]
    probabilities = np.concatenate(parts) if parts else np.zeros((0, len(detector.labels)))
    priors = [prior_vector(prior, detector.labels) for prior in (detector.prior, detector.training_prior)]
    # Bayes' rule can be undone unless a label was ruled out.
    training = shift_prior(probabilities, *priors) if (priors[0] > 0).all() else None
    return Answers(detector.labels, probabilities, detector.choose(probabilities), training)


def measure(
    answers: Answers,
    examples: Sequence[Example],
    metric: Metric,
    *,
    head: str,
    data: str,
    split: str,
    labels: Sequence[str] = (),
    slices: Sequence[str] = CARD_SLICES,
    samples: int = SAMPLES,
    notes: Sequence[str] = (),
) -> HeadResults:
    """Score answers to examples; those whose gold label is not among the answers' labels are left out, with a note.

    `labels` is the order to show the labels in, if not the model's own.
    """
    if len(examples) != len(answers.chosen):
        raise EmoscopeError(f"{data}: {len(examples):,} examples but {len(answers.chosen):,} answers")
    known = [number for number, example in enumerate(examples) if example.label in answers.labels]
    if not known:
        raise EmoscopeError(f"{data}: no example has one of the labels {', '.join(answers.labels)}")
    scored = [examples[number] for number in known]
    gold = [str(example.label) for example in scored]
    predicted = [answers.labels[column] for column in answers.chosen[known]]
    codes = encode(gold, answers.labels)
    names = tuple(labels) if set(labels) == set(answers.labels) else answers.labels
    confusion = confusion_matrix(gold, predicted, names)
    left_out = len(examples) - len(known)
    left_out_note = [f"{left_out:,} items with other labels are left out"] if left_out else []
    training = answers.training

    def score_and_interval(counts: Counts) -> dict[str, object]:
        interval = bootstrap_interval(counts, lambda stack: metric(stack, names), samples=samples, seed=0)
        return {"score": metric(counts, names), "interval": interval}

    def slice_figures(by_slice: DataSlice) -> dict[str, object]:
        group = by_slice.groups[0]  # the one it is named for; the others are the rest of the data
        members = by_slice.positions(scored).get(group, [])
        figures: dict[str, object] = {"name": group, "n": len(members)}
        if len(members) < MIN_SLICE:
            return figures
        counts = confusion_matrix([gold[item] for item in members], [predicted[item] for item in members], names)
        return figures | score_and_interval(counts)

    figures = {
        "head": head,
        "labels": names,
        "data": data,
        "split": split,
        "n": len(scored),
        "metric": metric.name,
        **score_and_interval(confusion),
        "accuracy": accuracy(confusion),
        "macro_f1": macro_f1(confusion),
        "ece": calibration_error(answers.probabilities[known], codes),
        "ece_training_prior": None if training is None else calibration_error(training[known], codes),
        "per_class": class_results(confusion, names),
        "slices": [slice_figures(SLICES[name]) for name in slices],
        "notes": [*notes, *left_out_note],
    }
    return HeadResults.model_validate(_rounded(jsonable(figures)))


def calibration_error(
    probabilities: NDArray[np.float64], gold: NDArray[np.int64], *, bins: int = CALIBRATION_BINS
) -> float:
    """Expected calibration error: the gap between the best label's probability and how often it is right.

    Averaged over bins of equal width, each weighted by the items in it; `gold` are columns.

    >>> calibration_error(np.array([[0.8, 0.2]] * 5), np.array([0, 0, 0, 0, 1]))
    0.0
    >>> round(calibration_error(np.array([[0.9, 0.1]] * 2), np.array([0, 1])), 4)
    0.4
    """
    sure = probabilities.max(1)
    right = probabilities.argmax(1) == gold
    place = np.minimum((sure * bins).astype(np.int64), bins - 1)
    items = np.bincount(place, minlength=bins)
    gap = np.bincount(place, sure, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap[items > 0]).sum() / len(sure))


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(float(value), 6)
        case dict():
            return {key: _rounded(inner) for key, inner in value.items()}
        case list():
            return [_rounded(inner) for inner in value]
    return value
