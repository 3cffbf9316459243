"""Measuring a model's answers on labelled data: the score with its interval, calibration, classes and slices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Counts, Floats, Metric, accuracy, confusion_matrix, encode, macro_f1
from emoscope.core.significance import SAMPLES, bootstrap_interval
from emoscope.detector import Detector
from emoscope.evaluation.calibration import calibration_error
from emoscope.evaluation.results import ClassFigures, HeadResults, IntervalFigures, SliceFigures
from emoscope.evaluation.score import class_results
from emoscope.evaluation.slices import SLICES
from emoscope.models.label_shift import prior_vector, shift_prior

CARD_SLICES = ("emoji", "negation", "irony", "long", "dialect", "code-mixed")
# A score of fewer items says nothing.
MIN_SLICE = 20


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
    kept = [number for number, example in enumerate(examples) if example.label in answers.labels]
    if not kept:
        raise EmoscopeError(f"{data}: no example has one of the labels {', '.join(answers.labels)}")
    scored = [examples[number] for number in kept]
    gold = [str(example.label) for example in scored]
    predicted = [answers.labels[column] for column in answers.chosen[kept]]
    codes = encode(gold, answers.labels)
    names = tuple(labels) if set(labels) == set(answers.labels) else answers.labels
    confusion = confusion_matrix(gold, predicted, names)
    left_out = len(examples) - len(kept)
    left_out_note = [f"{left_out:,} items with other labels are left out"] if left_out else []
    training = answers.training
    return HeadResults(
        head=head,
        labels=names,
        data=data,
        split=split,
        n=len(scored),
        metric=metric.name,
        score=_rounded(metric(confusion, names)),
        interval=_interval(confusion, names, metric, samples),
        accuracy=_rounded(accuracy(confusion)),
        macro_f1=_rounded(macro_f1(confusion)),
        ece=_rounded(calibration_error(answers.probabilities[kept], codes)),
        ece_training_prior=None if training is None else _rounded(calibration_error(training[kept], codes)),
        per_class={
            label: ClassFigures(
                precision=_rounded(result.precision),
                recall=_rounded(result.recall),
                f1=_rounded(result.f1),
                support=result.support,
            )
            for label, result in class_results(confusion, names).items()
        },
        slices=tuple(
            _slice(name, members, gold, predicted, names, metric, samples) for name, members in _groups(slices, scored)
        ),
        notes=(*notes, *left_out_note),
    )


def _groups(slices: Sequence[str], examples: Sequence[Example]) -> list[tuple[str, list[int]]]:
    """Of each slice the group it is named for; the others are the rest of the data."""
    named = [(SLICES[name].groups[0], SLICES[name]) for name in slices]
    return [(group, by_slice.positions(examples).get(group, [])) for group, by_slice in named]


def _slice(
    name: str,
    members: Sequence[int],
    gold: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str],
    metric: Metric,
    samples: int,
) -> SliceFigures:
    if len(members) < MIN_SLICE:
        return SliceFigures(name=name, n=len(members))
    confusion = confusion_matrix([gold[item] for item in members], [predicted[item] for item in members], labels)
    interval = _interval(confusion, labels, metric, samples)
    return SliceFigures(name=name, n=len(members), score=_rounded(metric(confusion, labels)), interval=interval)


def _interval(confusion: Counts, labels: Sequence[str], metric: Metric, samples: int) -> IntervalFigures:
    drawn = bootstrap_interval(confusion, lambda stack: metric(stack, labels), samples=samples, seed=0)
    return IntervalFigures(level=drawn.level, low=_rounded(drawn.low), high=_rounded(drawn.high), samples=drawn.samples)


def _rounded(value: Floats | float) -> float:
    return round(float(value), 6)
