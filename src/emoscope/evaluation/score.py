"""One prediction file against gold: the official score, what it is made of, how sure it is, and where it would rank."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import existing_file
from emoscope.core.metrics import Counts, accuracy, class_scores, confusion_matrix, macro_f1, micro_f1
from emoscope.core.significance import SAMPLES, Interval, bootstrap_interval
from emoscope.evaluation.ranking import Placement, place
from emoscope.tasks import Task
from emoscope.tasks.base import is_label_list, label_lines
from emoscope.tasks.data import Located, sha256_of
from emoscope.tasks.published import published

LEVEL = 0.95
# A few labels outside the task's are a system's mistake and scored; more, or longer, mean the file is something else.
MAX_OUTSIDE = 20
MAX_LABEL = 100

GoldSource = str | Path | Located  # a file, or a split that `emoscope.tasks.data.find_split` has found


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answers, one per item of a file; `examples` is None where the file holds labels alone.

    `split` and `revision` are known where the file is one that was published.
    """

    labels: Sequence[str]
    examples: Sequence[Example] | None = None
    path: str | None = None
    split: str | None = None
    revision: str | None = None

    def scored(self, task: Task) -> list[int]:
        """The positions of the items that count; those with a label the task does not score are left out."""
        kept = [position for position, label in enumerate(self.labels) if task.scored(label)]
        if not kept:
            raise InputError(self.path or "gold", f"holds no label that {task.name} scores ({', '.join(task.labels)})")
        return kept

    def discarded(self, task: Task) -> dict[str, int]:
        """How many items do not count, by label."""
        return dict(Counter(label for label in self.labels if not task.scored(label)).most_common())


def read_gold(task: Task, source: GoldSource) -> Gold:
    """Read a labelled file of the task, or a plain list of labels such as IEST's `trial-v3.labels`."""
    split: str | None
    revision: str | None
    if isinstance(source, Located):
        path, revision = source.path, source.revision.name
        split = next(name for name, file in source.revision.splits.items() if file == source.file)
    else:
        path = existing_file(source)
        split, revision = _published_as(task, path)
    examples = None if is_label_list(path) else list(task.read(path))
    found = [item.label for item in label_lines(path)] if examples is None else [example.label for example in examples]
    labels = [label for label in found if label is not None]
    if not labels:
        raise InputError(path, "has no labels: scoring needs a labelled file")
    if len(labels) != len(found):
        problem = f"has no label; only {len(labels):,} of the {len(found):,} items have one"
        raise InputError(path, problem, row=f"item {found.index(None) + 1:,}")
    return Gold(labels, examples, str(path), split, revision)


def _published_as(task: Task, path: Path) -> tuple[str | None, str | None]:
    """The split and revision whose published file this is, by its checksum and whatever its name."""
    sha256 = sha256_of(path)
    for revision in task.metadata.revisions:
        for split, file in revision.splits.items():
            if file.sha256 == sha256:
                return split, revision.name
    return None, None


def read_predictions(task: Task, gold: Gold, path: str | Path) -> list[str]:
    """The predicted label of every gold item, checked to be for the same items."""
    labels = task.read_predictions(path, gold.examples)
    if len(labels) != len(gold.labels):
        raise InputError(path, f"has {len(labels):,} labels, expected {len(gold.labels):,}")
    strange = outside_labels(task, labels)
    if len(strange) > MAX_OUTSIDE or any(len(label) > MAX_LABEL for label in strange):
        problem = f"holds {len(strange):,} labels that {task.name} does not have, such as {next(iter(strange))[:40]!r}"
        raise InputError(path, f"{problem}; these are no predictions for it")
    return labels


def label_names(task: Task, *answers: Sequence[str]) -> tuple[str, ...]:
    """The task's labels, then any others among the answers: they are wrong, and count."""
    others = {label for labels in answers for label in labels} - set(task.labels)
    return (*task.labels, *sorted(others))


@dataclass(frozen=True, slots=True)
class Scores:
    """The figures of one confusion matrix."""

    items: int
    official: float
    accuracy: float
    micro_f1: float
    macro_f1: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "items": self.items,
            "score": self.official,
            "accuracy": self.accuracy,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
        }


def scores_of(task: Task, confusion: Counts, names: Sequence[str]) -> Scores:
    """The official score and the usual averages of a confusion matrix.

    Micro-F1 is over all labels, where it equals accuracy; macro-F1 over those that occur in gold or predictions.

    >>> from emoscope.tasks import get_task
    >>> task = get_task("iest")
    >>> round(scores_of(task, np.diag([1, 1, 1, 1, 1, 1]), task.labels).official, 2)
    1.0
    """
    return Scores(
        items=int(np.sum(confusion)),
        official=float(task.official(confusion, names)),
        accuracy=float(accuracy(confusion)),
        micro_f1=float(micro_f1(confusion)),
        macro_f1=float(macro_f1(confusion)),
    )


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Precision, recall and F1 of one label, and how many gold items have it."""

    precision: float
    recall: float
    f1: float
    support: int

    def as_dict(self) -> dict[str, float | int]:
        """Plain values for JSON."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, "support": self.support}


def class_results(confusion: Counts, names: Sequence[str]) -> dict[str, ClassResult]:
    """The figures of each label.

    >>> class_results(np.array([[1, 0], [1, 1]]), ["a", "b"])["a"]
    ClassResult(precision=0.5, recall=1.0, f1=0.6666666666666666, support=1)
    """
    figures = class_scores(confusion)
    columns = zip(figures.precision, figures.recall, figures.f1, figures.support, strict=True)
    return {
        name: ClassResult(float(precision), float(recall), float(f1), int(support))
        for name, (precision, recall, f1, support) in zip(names, columns, strict=True)
    }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that is known of one system's answers."""

    task: str
    metric: str
    metric_description: str
    scores: Scores
    interval: Interval
    per_class: Mapping[str, ClassResult]
    confusion: NDArray[np.int64]
    rank: Placement | None
    seed: int
    discarded: Mapping[str, int] = field(default_factory=dict)
    outside: Mapping[str, int] = field(default_factory=dict)  # predicted labels that the task does not have
    gold: str | None = None
    predictions: str | None = None

    @property
    def score(self) -> float:
        """The official score."""
        return self.scores.official

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the confusion matrix, gold in rows and predicted in columns."""
        return tuple(self.per_class)

    @property
    def notes(self) -> list[str]:
        """What a reader of the score should know, one line each."""
        lines = [discarded_note(self.discarded)] if self.discarded else []
        return [*lines, outside_note(self.outside)] if self.outside else lines

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "task": self.task,
            "gold": self.gold,
            "predictions": self.predictions,
            "metric": self.metric,
            "metric_description": self.metric_description,
            **self.scores.as_dict(),
            "interval": {**self.interval.as_dict(), "seed": self.seed},
            "per_class": {label: result.as_dict() for label, result in self.per_class.items()},
            "confusion": {"labels": list(self.labels), "matrix": self.confusion.tolist()},
            "rank": None if self.rank is None else self.rank.as_dict(),
            "discarded": dict(self.discarded),
            "outside": dict(self.outside),
            "notes": self.notes,
        }


def discarded_note(discarded: Mapping[str, int]) -> str:
    """The sentence for gold items that do not count."""
    return f"gold items left out, as the task does not score their label: {_listed(discarded)}"


def outside_note(outside: Mapping[str, int]) -> str:
    """The sentence for predictions that are not labels of the task."""
    return f"predictions outside the task's labels, counted as errors as in the official scoring: {_listed(outside)}"


def outside_labels(task: Task, predicted: Sequence[str]) -> dict[str, int]:
    """How often each label that the task does not have was predicted."""
    return dict(Counter(label for label in predicted if label not in task.labels).most_common())


def _listed(counts: Mapping[str, int]) -> str:
    shown = [f"{label[:40]} ({count:,})" for label, count in list(counts.items())[:8]]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more labels" if more else "")


def evaluate(
    task: Task, gold: GoldSource, predictions: str | Path, *, samples: int = SAMPLES, seed: int = 0
) -> Evaluation:
    """Score a prediction file in the task's official way.

    >>> from emoscope.tasks import get_task
    >>> evaluate(get_task("emocontext"), "dev.txt", "predictions.txt").score  # doctest: +SKIP
    0.7304
    """
    right = read_gold(task, gold)
    predicted = read_predictions(task, right, predictions)
    return _evaluation(task, right, predicted, str(predictions), samples, seed)


def evaluate_labels(
    task: Task, gold: Sequence[str], predicted: Sequence[str], *, samples: int = SAMPLES, seed: int = 0
) -> Evaluation:
    """Score labels that are already in memory, in the order of the items.

    >>> from emoscope.tasks import get_task
    >>> gold, predicted = ["happy", "sad", "others", "sad"], ["happy", "others", "others", "sad"]
    >>> round(evaluate_labels(get_task("emocontext"), gold, predicted, samples=100).score, 4)
    0.8
    """
    if len(gold) != len(predicted):
        raise EmoscopeError(f"{len(gold):,} gold labels but {len(predicted):,} predictions")
    return _evaluation(task, Gold(gold), predicted, None, samples, seed)


def _evaluation(
    task: Task, right: Gold, answers: Sequence[str], answers_path: str | None, samples: int, seed: int
) -> Evaluation:
    kept = right.scored(task)
    gold, predicted = [right.labels[item] for item in kept], [answers[item] for item in kept]
    names = label_names(task, predicted)
    confusion = confusion_matrix(gold, predicted, names)
    scores = scores_of(task, confusion, names)
    return Evaluation(
        task=task.name,
        metric=task.metadata.metric.name,
        metric_description=task.metadata.metric.description,
        scores=scores,
        interval=bootstrap_interval(
            confusion, lambda drawn: task.official(drawn, names), level=LEVEL, samples=samples, seed=seed
        ),
        per_class=class_results(confusion, names),
        confusion=confusion,
        rank=_place(task, scores.official, right),
        seed=seed,
        discarded=right.discarded(task),
        outside=outside_labels(task, predicted),
        gold=right.path,
        predictions=answers_path,
    )


def _place(task: Task, score: float, right: Gold) -> Placement | None:
    try:
        results = published(task.name)
    except EmoscopeError:  # somebody's own task has none
        return None
    return place(score, results, split=right.split, revision=right.revision)
