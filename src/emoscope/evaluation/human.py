"""Compare human judgements with systems on the same items.

Judgements are a CSV file with the columns `task,worker,label` and, if workers could name further possible labels,
`other` with those, separated by `;`. `task` is an example's position in the gold file, from 0, or a dialogue's id.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import csv_rows
from emoscope.core.judgement import Judgement, judgement_at
from emoscope.core.metrics import confusion_matrix
from emoscope.evaluation.compare import system_names
from emoscope.evaluation.error_analysis import examples_of, scores_on
from emoscope.evaluation.score import GoldSource, Scores, flat_dict, read_gold, read_predictions, scores_of
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import Task
from emoscope.tasks.published import published

_COLUMNS = ("task", "worker", "label")
HUMANS = "humans"
HUMAN_TASK = "iest"  # the task whose paper has human judgements


@dataclass(frozen=True, slots=True)
class JudgeScores(Scores):
    """Scores of people or a system; `top2` is the share whose first or other guesses include the gold label."""

    top2: float | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """People or a system on the judged items, and on each group of them."""

    name: str
    overall: JudgeScores
    groups: Mapping[str, JudgeScores] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return flat_dict(self)


@dataclass(frozen=True, slots=True)
class HumanComparison:
    """People first, then the systems in the order they were named."""

    task: str
    metric: str
    judgements: int = 0
    items: int = 0
    workers: int = 0
    discarded: int = 0  # judgements of items that the task does not score
    matched_by: str | None = None
    by: str | None = None
    judges: tuple[Judge, ...] = ()


def read_judgements(task: Task, path: str | Path) -> tuple[dict[int, Judgement], bool]:
    """The judgements of a CSV file by row, and whether it has a column of other labels."""
    judgements: dict[int, Judgement] = {}
    rows: dict[tuple[str, str], int] = {}
    asked_others = False
    for row, cells in csv_rows(path, _COLUMNS, ("other",)):
        asked_others = "other" in cells
        others = [part for part in cells.get("other", "").split(";") if part.strip()]
        judgement = judgement_at(path, row, cells["task"], cells["worker"], cells["label"], others)
        for label in (judgement.label, *sorted(judgement.others)):
            if label not in task.labels:
                raise InputError(path, task.unknown_label(label), row=row)
        earlier = rows.setdefault((judgement.task, judgement.worker), row)
        if earlier != row:
            problem = f"worker {judgement.worker!r} has judged task {judgement.task!r} already in row {earlier}"
            raise InputError(path, problem, row=row)
        judgements[row] = judgement
    return judgements, asked_others


def compare_with_humans(
    task: Task,
    gold: GoldSource,
    judgements: str | Path,
    predictions: Sequence[str | Path] = (),
    *,
    by: str | None = None,
) -> HumanComparison:
    """Score human judgements like a system's answers, each judgement once, and systems on each judged item once.

    >>> from emoscope.tasks import get_task
    >>> comparison = compare_with_humans(get_task("iest"), "trial.csv", "crowd.csv", by="cue")  # doctest: +SKIP
    >>> comparison.judges[0].overall.top2  # doctest: +SKIP
    0.57
    """
    by_slice = None if by is None else SLICES[by]
    systems = system_names(predictions) if predictions else []
    read = read_gold(task, gold)
    examples = examples_of(read)
    predicted = [read_predictions(task, read, path) for path in predictions]
    every, asked_others = read_judgements(task, judgements)
    judged, matched_by = _items(judgements, every, examples)
    counted = [pair for pair in zip(judged, every.values(), strict=True) if task.scored(read.labels[pair[0]])]
    if not counted:
        raise InputError(judgements, f"judges no item that {task.name} scores")
    items = sorted({item for item, _ in counted})
    groups: dict[str, list[int]] = {}
    if by_slice is not None:
        places = by_slice.positions([examples[item] for item in items])
        groups = {group: [items[place] for place in members] for group, members in places.items()}

    def judge(name: str, scores: Callable[[Sequence[int]], JudgeScores]) -> Judge:
        return Judge(name, scores(items), {group: scores(members) for group, members in groups.items()})

    def people(among: Sequence[int]) -> JudgeScores:
        chosen = set(among)
        pairs = [pair for pair in counted if pair[0] in chosen]
        labels = [read.labels[item] for item, _ in pairs]
        confusion = confusion_matrix(labels, [judgement.label for _, judgement in pairs], task.labels)
        named = [read.labels[item] in (judgement.label, *judgement.others) for item, judgement in pairs]
        scores = scores_of(task, confusion, task.labels)
        return JudgeScores(**asdict(scores), top2=sum(named) / len(named) if asked_others else None)

    def system(labels: Sequence[str]) -> Callable[[Sequence[int]], JudgeScores]:
        return lambda among: JudgeScores(**asdict(scores_on(task, read, labels, among)))

    judges = [judge(name, system(labels)) for name, labels in zip(systems, predicted, strict=True)]
    return HumanComparison(
        task=task.name,
        metric=task.metric.name,
        judgements=len(counted),
        items=len(items),
        workers=len({judgement.worker for _, judgement in counted}),
        discarded=len(every) - len(counted),
        matched_by=matched_by,
        by=by,
        judges=(judge(HUMANS, people), *judges),
    )


def published_humans(task: Task) -> Judge:
    """The human judgements of a paper, scored like a system.

    >>> from emoscope.tasks import get_task
    >>> scores = published_humans(get_task("iest")).overall
    >>> round(scores.macro_f1, 2), round(scores.micro_f1, 2), scores.items
    (0.45, 0.47, 3619)
    """
    try:
        confusion = published(task.name).confusion(HUMANS)
    except EmoscopeError:
        raise EmoscopeError(f"{task.name}: no human judgements are published; they are for {HUMAN_TASK}") from None
    scores = scores_of(task, np.array(confusion.counts), confusion.labels)
    return Judge(f"{HUMANS} ({confusion.source.table})", JudgeScores(**asdict(scores)))


def with_published(task: Task, comparison: HumanComparison | None = None) -> HumanComparison:
    """Add the human judgements of the task's paper, which are of other items, to a comparison or an empty one."""
    comparison = comparison or HumanComparison(task.name, task.metric.name)
    return replace(comparison, judges=(*comparison.judges, published_humans(task)))


def _items(path: str | Path, judgements: Mapping[int, Judgement], examples: Sequence[Example]) -> tuple[list[int], str]:
    """The judged items, named by dialogue id if ids are unique and every name is one, else by position."""
    ids = {str(example.dialogue.id): position for position, example in enumerate(examples)}
    names = {row: judgement.task for row, judgement in judgements.items()}
    if len(ids) == len(examples) and all(name in ids for name in names.values()):
        return [ids[name] for name in names.values()], "dialogue id"
    for row, name in names.items():
        # No file has more than ten digits of rows, and Python refuses to parse thousands of digits.
        if not (name.isascii() and name.isdecimal() and len(name) <= 10) or int(name) >= len(examples):
            last = f"{len(examples) - 1:,}"
            raise InputError(path, f"task {name!r} is neither a dialogue's id nor a position from 0 to {last}", row=row)
    return [int(name) for name in names.values()], "position"
