"""Evaluate one prediction file: the official score, its interval and rank, and the figures behind it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import existing_file
from emoscope.core.jsonable import jsonable
from emoscope.core.learnt import LearntItems, Overlap
from emoscope.core.metrics import Counts, Metric, accuracy, class_scores, confusion_matrix, macro_f1, micro_f1
from emoscope.core.significance import SAMPLES, Interval, bootstrap_interval
from emoscope.detector.bundle import resolve
from emoscope.evaluation.provenance import PredictedLabels, learnt_note, learnt_of
from emoscope.evaluation.ranking import Placement, place, unofficial
from emoscope.evaluation.results import ClassFigures
from emoscope.tasks import Task
from emoscope.tasks.base import is_label_list, label_lines
from emoscope.tasks.data import Located, sha256_of
from emoscope.tasks.published import published

LEVEL = 0.95
DEV, TEST = "dev", "test"  # the splits whose scores may be ranked
_UNKNOWN = (
    "no rank: nothing tells what the model that made these predictions learnt "
    "(keep FILE.learnt.json of `emoscope predict` beside the file, or score on the test set)"
)
_TRAINING = "no rank: this is training data"

GoldSource = str | Path | Located  # a file, or a split from `emoscope.tasks.data.find_split`


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold labels of a file."""

    labels: Sequence[str]
    examples: Sequence[Example] | None = None  # None if the file has only labels
    path: str | None = None
    split: str | None = None  # split and revision are known for published files
    revision: str | None = None

    def scored(self, task: Task) -> list[int]:
        """The positions of the items whose labels the task scores."""
        positions = [position for position, label in enumerate(self.labels) if task.scored(label)]
        if not positions:
            raise InputError(self.path or "gold", f"has no label that {task.name} scores ({', '.join(task.labels)})")
        return positions

    def discarded(self, task: Task) -> dict[str, int]:
        return dict(Counter(label for label in self.labels if not task.scored(label)).most_common())


def read_gold(task: Task, source: GoldSource) -> Gold:
    """Read a labelled file of the task, or a plain list of labels such as IEST's `trial-v3.labels`."""
    path = source.path if isinstance(source, Located) else existing_file(source)
    examples = None if is_label_list(path) else list(task.read(path))
    items = [item.label for item in (label_lines(path) if examples is None else examples)]
    labels = [label for label in items if label is not None]
    if not labels:
        raise InputError(path, "has no labels: scoring needs a labelled file")
    if len(labels) != len(items):
        problem = f"has no label; only {len(labels):,} of the {len(items):,} items have one"
        raise InputError(path, problem, row=f"item {items.index(None) + 1:,}")
    return Gold(labels, examples, str(path), *_published_as(task, source))


def _published_as(task: Task, source: GoldSource) -> tuple[str | None, str | None]:
    """The split and revision of a source; a file is recognised by its checksum."""
    if isinstance(source, Located):
        splits = source.revision.splits.items()
        return next(name for name, file in splits if file == source.file), source.revision.name
    sha256, revisions = sha256_of(Path(source)), task.metadata.revisions
    files = ((split, revision.name, file) for revision in revisions for split, file in revision.splits.items())
    return next(((split, revision) for split, revision, file in files if file.sha256 == sha256), (None, None))


def read_predictions(task: Task, gold: Gold, path: str | Path) -> list[str]:
    """The predicted label of every gold item, checked to be for the same items."""
    labels = task.read_predictions(path, gold.examples)
    if len(labels) != len(gold.labels):
        raise InputError(path, f"has {len(labels):,} labels, expected {len(gold.labels):,}")
    if problem := task.outside_problem(labels):
        raise InputError(path, problem)
    return labels


def label_names(task: Task, *answers: Sequence[str]) -> tuple[str, ...]:
    """The task's labels, then any others that were predicted, which count as errors."""
    others = {label for labels in answers for label in labels} - set(task.labels)
    return (*task.labels, *sorted(others))


@dataclass(frozen=True, slots=True)
class Scores:
    """The figures of one confusion matrix."""

    items: int
    score: float  # by the task's metric
    accuracy: float
    micro_f1: float
    macro_f1: float


def flat_dict(result: Any, **renamed: str) -> dict[str, Any]:
    """A result as plain values, with its `Scores` inlined and some fields renamed."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= asdict(value) if isinstance(value, Scores) else {renamed.get(name, name): value}
    return dict(jsonable(flat))


def scores_of(task: Task, confusion: Counts, names: Sequence[str]) -> Scores:
    """The scores of a confusion matrix by the task's metric and the usual averages.

    Micro-F1 is over all labels, where it equals accuracy; macro-F1 over those that occur in gold or predictions.

    >>> from emoscope.tasks import get_task
    >>> task = get_task("iest")
    >>> round(scores_of(task, np.diag([1, 1, 1, 1, 1, 1]), task.labels).score, 2)
    1.0
    """
    return Scores(
        items=int(np.sum(confusion)),
        score=float(task.metric(confusion, names)),
        accuracy=float(accuracy(confusion)),
        micro_f1=float(micro_f1(confusion)),
        macro_f1=float(macro_f1(confusion)),
    )


def score_interval(task: Task, confusion: Counts, names: Sequence[str], samples: int, seed: int) -> Interval:
    """The interval of the official score, the same wherever these predictions are shown.

    Only the task's labels and predicted ones are used: others would change the random draws.
    """
    kept = [place for place, name in enumerate(names) if name in task.labels or confusion[:, place].any()]
    own, labels = confusion[np.ix_(kept, kept)], [names[place] for place in kept]
    return bootstrap_interval(own, lambda drawn: task.metric(drawn, labels), level=LEVEL, samples=samples, seed=seed)


def class_results(confusion: Counts, names: Sequence[str]) -> dict[str, ClassFigures]:
    """The figures of each label.

    >>> class_results(np.array([[1, 0], [1, 1]]), ["a", "b"])["a"]
    ClassFigures(precision=0.5, recall=1.0, f1=0.6666666666666666, support=1)
    """
    scores = class_scores(confusion)
    columns = (scores.precision, scores.recall, scores.f1, scores.support.astype(int))
    rows = zip(names, *map(np.ndarray.tolist, columns), strict=True)
    return {name: ClassFigures(precision=p, recall=r, f1=f1, support=support) for name, p, r, f1, support in rows}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of one prediction file."""

    task: str
    gold: str | None
    predictions: str | None
    metric: str
    metric_description: str
    scores: Scores
    interval: Interval
    per_class: Mapping[str, ClassFigures]
    confusion: NDArray[np.int64]
    rank: Placement | None
    discarded: Mapping[str, int]
    outside: Mapping[str, int]  # predicted labels that the task does not have
    seed: int
    learnt: Overlap | None = None  # how many items the model learnt, if known
    no_rank: str | None = None  # why a score that could be ranked is not, unless the model learnt the items

    @property
    def score(self) -> float:
        return self.scores.score

    @property
    def is_learnt(self) -> bool:
        """Whether the model learnt the items, so that the score says nothing about new text."""
        return self.learnt is not None and self.learnt.is_learnt

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the confusion matrix, gold in rows and predicted in columns."""
        return tuple(self.per_class)

    @property
    def notes(self) -> list[str]:
        note = learnt_note(self.learnt)
        return [*([note] if note else []), *label_notes(self.discarded, self.outside)]

    def as_dict(self) -> dict[str, Any]:
        flat = flat_dict(self)
        flat["interval"]["seed"] = flat.pop("seed")
        flat["confusion"] = {"labels": list(self.labels), "matrix": flat["confusion"]}
        return {**flat, "notes": self.notes}


def label_notes(discarded: Mapping[str, int], outside: Mapping[str, int]) -> list[str]:
    """Notes on gold items that are not scored, and on predictions outside the task's labels."""
    sentences = {
        "gold items left out, as the task does not score their label": discarded,
        "predictions outside the task's labels, counted as wrong": outside,
    }
    return [f"{sentence}: {_listed(counts)}" for sentence, counts in sentences.items() if counts]


def outside_labels(task: Task, predicted: Sequence[str]) -> dict[str, int]:
    """How often each label that the task does not have was predicted."""
    return dict(Counter(label for label in predicted if label not in task.labels).most_common())


def shown_label(label: str) -> str:
    """The label, in quotes if it is empty or has characters or blanks that cannot be seen.

    >>> print(shown_label("joy"), shown_label("\ufeffjoy"))
    joy '\\ufeffjoy'
    """
    return label if label and label.isprintable() and label == label.strip() else ascii(label)


def _listed(counts: Mapping[str, int]) -> str:
    named = ((label[:40], count) for label, count in list(counts.items())[:8])
    shown = [f"{shown_label(label)} ({count:,})" for label, count in named]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more labels" if more else "")


def evaluate(
    task: Task,
    gold: GoldSource,
    predictions: str | Path | Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    ranked: bool = True,
    own_labels: bool = False,
) -> Evaluation:
    """Score a file of predictions, or labels in order, in the task's official way.

    `ranked` places the score among the published results. `own_labels` averages over the task's own labels only: IEST's
    official macro-F1 counts a predicted label outside the task as one more label, with an F1 of 0. If there are such
    predictions, the rank by the task's own labels is unofficial, and says so.

    If `emoscope predict` recorded that the model learnt the items, the result says so and has no rank. Nor have
    predictions without such a record on published items outside the test set, or any score on training data.

    >>> from emoscope.tasks import get_task
    >>> evaluate(get_task("emocontext"), "dev.txt", "predictions.txt").score  # doctest: +SKIP
    0.7304
    """
    read = read_gold(task, gold)
    official = task.metric
    if own_labels:
        task = task.with_metric(_own_labels(task))
    path, learnt = None, predictions.learnt if isinstance(predictions, PredictedLabels) else None
    if isinstance(predictions, str | Path):
        path, learnt = str(predictions), learnt_of(predictions)
        predictions = read_predictions(task, read, predictions)
    unknown = ranked and learnt is None and may_be_learnt(task, read)
    no_rank = _TRAINING if read.split not in (None, DEV, TEST) else _UNKNOWN if unknown else None
    found = evaluate_labels(
        task, read, predictions, samples=samples, seed=seed, ranked=ranked, path=path, learnt=learnt, no_rank=no_rank
    )
    if task.metric != official and found.rank is not None and found.outside:
        return replace(found, rank=unofficial(found.rank, "published scores count labels outside the task's too"))
    return found


def may_be_learnt(task: Task, gold: Gold) -> bool:
    """Whether models learn these items: those of a split other than the test set, or a part or copy of one.

    A file that is not a published split is known by its items, which the embedded model learnt, and a list of labels by
    its length.
    """
    if gold.split is not None:
        return gold.split != TEST
    if gold.examples is None:
        splits = (split for revision in task.metadata.revisions for split in revision.splits.items())
        return any(name != TEST and file.examples == len(gold.labels) for name, file in splits)
    learnt = LearntItems.load(resolve("default"))
    return learnt is not None and learnt.overlap(gold.examples).is_learnt


def _own_labels(task: Task) -> Metric:
    """The task's metric over its own labels only."""
    metric = task.metric
    if metric.labels is not None or metric.name == "accuracy":
        return metric
    measure = metric.description.partition(" over ")[0]
    return replace(metric, description=f"{measure} over the task's {len(task.labels)} labels only", labels=task.labels)


def evaluate_labels(
    task: Task,
    gold: Sequence[str] | Gold,
    predicted: Sequence[str],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    ranked: bool = True,
    path: str | None = None,
    learnt: Overlap | None = None,
    no_rank: str | None = None,
) -> Evaluation:
    """Score labels in memory, in the order of the items; see `evaluate`.

    `path` is the file they were read from, `learnt` how many of the items the model learnt, if known, and `no_rank` a
    reason not to rank the score.

    >>> from emoscope.tasks import get_task
    >>> gold, predicted = ["happy", "sad", "others", "sad"], ["happy", "others", "others", "sad"]
    >>> round(evaluate_labels(get_task("emocontext"), gold, predicted, samples=100).score, 4)
    0.8
    """
    gold = gold if isinstance(gold, Gold) else Gold(gold)
    if len(gold.labels) != len(predicted):
        raise EmoscopeError(f"{len(gold.labels):,} gold labels but {len(predicted):,} predictions")
    scored = gold.scored(task)
    predicted = [predicted[item] for item in scored]
    names = label_names(task, predicted)
    confusion = confusion_matrix([gold.labels[item] for item in scored], predicted, names)
    scores = scores_of(task, confusion, names)
    rank = None
    if learnt is not None and learnt.is_learnt:
        ranked, no_rank = False, None  # the note on what was learnt says why
    try:
        results = published(task.name) if ranked else None
    except EmoscopeError:  # a custom task has none
        results = None
    if results is None:
        no_rank = None
    elif no_rank is None:
        rank = place(scores.score, results, split=gold.split, revision=gold.revision)
    return Evaluation(
        task=task.name,
        gold=gold.path,
        predictions=path,
        metric=task.metric.name,
        metric_description=task.metric.description,
        scores=scores,
        interval=score_interval(task, confusion, names, samples, seed),
        per_class=class_results(confusion, names),
        confusion=confusion,
        rank=rank,
        discarded=gold.discarded(task),
        outside=outside_labels(task, predicted),
        seed=seed,
        learnt=learnt,
        no_rank=no_rank,
    )
