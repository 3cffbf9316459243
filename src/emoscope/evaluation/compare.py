"""Compare prediction files on the same gold: which systems differ, and by how much."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.learnt import Overlap
from emoscope.core.metrics import Floats, confusion_matrix, encode
from emoscope.core.significance import (
    SAMPLES,
    Interval,
    check_level,
    difference,
    resampled_scores,
    wilcoxon,
)
from emoscope.evaluation.provenance import learnt_note, learnt_of
from emoscope.evaluation.results import ClassFigures
from emoscope.evaluation.score import (
    GoldSource,
    Scores,
    class_results,
    flat_dict,
    label_names,
    label_notes,
    may_be_learnt,
    outside_labels,
    read_gold,
    read_predictions,
    score_interval,
    scores_of,
)
from emoscope.tasks import Task

# Scores closer than this are the same fraction, computed in another order.
_EQUAL = 1e-12

HOW = (
    "Sorted by score, ties in the order the files were named. Bootstrap: two-sided p-value of the difference in the "
    "official score on resamplings of the same items. Wilcoxon: signed-rank test on whether each item is right, which "
    "sees accuracy and not the official score. B: the first row below that differs significantly by the bootstrap. A "
    "line stands where every system above differs significantly from every system below. P-values are not corrected "
    "for the number of comparisons."
)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A system against the one in the next row."""

    difference: float
    interval: Interval
    p_bootstrap: float
    p_wilcoxon: float


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A row of the table; rows and clusters count from 1, `first_different` is the IEST paper's column B."""

    number: int
    name: str
    path: str
    scores: Scores
    interval: Interval
    cluster: int
    first_different: int | None
    to_next: PairedTest | None
    per_class: Mapping[str, ClassFigures]
    outside: Mapping[str, int]  # predicted labels that the task does not have
    learnt: Overlap | None = None  # how many items the model learnt, if known

    @property
    def is_learnt(self) -> bool:
        """Whether its model learnt the items, so that the score says nothing about new text."""
        return self.learnt is not None and self.learnt.is_learnt

    @property
    def title(self) -> str:
        """The name, marked if the model learnt the items."""
        return f"{self.name} (learnt)" if self.is_learnt else self.name

    def as_dict(self) -> dict[str, Any]:
        return flat_dict(self, number="row", path="predictions")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The table of systems, best first, and the bootstrap p-value of every pair of rows."""

    task: str
    gold: str | None
    metric: str
    metric_description: str
    level: float
    samples: int
    seed: int
    how: str
    rows: tuple[ComparedSystem, ...]
    clusters: tuple[tuple[str, ...], ...]  # the names of the systems in each
    p_values: Floats
    discarded: Mapping[str, int]
    notes: tuple[str, ...]


def compare(
    task: Task,
    gold: GoldSource,
    predictions: Sequence[str | Path],
    *,
    items: Collection[int] | None = None,
    level: float = 0.99,
    samples: int = SAMPLES,
    seed: int = 0,
    advance: Callable[[int], object] = lambda _: None,
) -> Comparison:
    """Compare prediction files on all items or the given ones; `advance` is called with the number of new samples done.

    >>> from emoscope.tasks import get_task
    >>> compare(get_task("iest"), "trial.csv", ["a.txt", "b.txt"]).rows[0].name  # doctest: +SKIP
    'b'
    """
    check_level(level)
    if (samples + 1) * (1 - level) <= 1:
        raise EmoscopeError(f"{samples:,} samples cannot show a difference at {level:g}; take more")
    systems = system_names(predictions)
    read = read_gold(task, gold)
    chosen = set(items or ())
    scored = [item for item in read.scored(task) if items is None or item in chosen]
    gold_labels = [read.labels[item] for item in scored]
    answers = [read_predictions(task, read, path) for path in predictions]
    predicted = [[labels[item] for item in scored] for labels in answers]

    names = label_names(task, *predicted)
    confusions = [confusion_matrix(gold_labels, labels, names) for labels in predicted]
    scores = [scores_of(task, confusion, names) for confusion in confusions]
    # A stable sort keeps ties in the order of the files.
    order = sorted(range(len(predicted)), key=lambda system: -round(scores[system].score, 12))
    gold_codes = encode(gold_labels, names)
    codes = [encode(predicted[system], names) for system in order]
    drawn = resampled_scores(
        gold_codes,
        codes,
        classes=len(names),
        metric=lambda matrices: task.metric(matrices, names),
        samples=samples,
        seed=seed,
        advance=advance,
    )
    pairs = list(zip([scores[system].score for system in order], drawn, strict=True))
    differences = [
        [difference(_gap(first, second), first_drawn - second_drawn, level=level) for second, second_drawn in pairs]
        for first, first_drawn in pairs
    ]
    p_values = np.array([[pair.p_value for pair in row] for row in differences])
    differs = p_values < 1 - level
    clusters = significance_clusters(differs)
    rows = []
    for position, system in enumerate(order):
        to_next = None
        if position + 1 < len(order):
            pair = differences[position][position + 1]
            gain = (codes[position] == gold_codes).astype(int) - (codes[position + 1] == gold_codes)
            to_next = PairedTest(pair.observed, pair.interval, pair.p_value, wilcoxon(gain))
        below = np.flatnonzero(differs[position, position + 1 :])
        rows.append(
            ComparedSystem(
                number=position + 1,
                name=systems[system],
                path=str(predictions[system]),
                scores=scores[system],
                interval=score_interval(task, confusions[system], names, samples, seed),
                cluster=clusters[position],
                first_different=position + 2 + int(below[0]) if len(below) else None,
                to_next=to_next,
                per_class=class_results(confusions[system], names),
                outside=outside_labels(task, predicted[system]),
                learnt=learnt_of(predictions[system]),
            )
        )
    discarded = read.discarded(task)
    warned = sorted(rows, key=lambda row: not row.is_learnt)  # warnings first
    notes = [f"{row.name}: {note}" for row in warned if (note := learnt_note(row.learnt))]
    if (unknown := [row.name for row in rows if row.learnt is None]) and may_be_learnt(task, read):
        notes.append(f"{', '.join(unknown)}: nothing tells what the model learnt, perhaps these items")
    notes += label_notes(discarded, {})
    notes += [f"{row.name}: {note}" for row in rows for note in label_notes({}, row.outside)]
    return Comparison(
        task=task.name,
        gold=read.path,
        metric=task.metric.name,
        metric_description=task.metric.description,
        level=level,
        samples=samples,
        seed=seed,
        how=HOW,
        rows=tuple(rows),
        clusters=tuple(tuple(row.name for row in each) for _, each in groupby(rows, key=lambda row: row.cluster)),
        p_values=p_values,
        discarded=discarded,
        notes=tuple(notes),
    )


def system_names(paths: Sequence[str | Path]) -> list[str]:
    """Short names for files: without folder and ending if that keeps them distinct.

    >>> system_names(["runs/a.txt", "runs/b.txt"]), system_names(["x/out.txt", "y/out.txt"])
    (['a', 'b'], ['x/out.txt', 'y/out.txt'])
    """
    if isinstance(paths, str | Path):
        raise EmoscopeError(f"{paths}: expected a list of prediction files, not one")
    if not paths:
        raise EmoscopeError("name at least one prediction file")
    whole = [str(path) for path in paths]
    if repeated := [path for path in whole if whole.count(path) > 1]:
        raise EmoscopeError(f"{repeated[0]} is named twice")
    for short in ([Path(path).stem for path in paths], [Path(path).name for path in paths]):
        if len(set(short)) == len(short):
            return short
    return whole


def significance_clusters(differs: NDArray[np.bool_]) -> list[int]:
    """The cluster of each row: a new one begins where all above differ from all below.

    >>> significance_clusters(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], bool))
    [1, 1, 2]
    """
    begins = [row > 0 and bool(differs[:row, row:].all()) for row in range(len(differs))]
    return [1 + number for number in accumulate(map(int, begins))]


def _gap(first: float, second: float) -> float:
    return first - second if abs(first - second) > _EQUAL else 0.0
