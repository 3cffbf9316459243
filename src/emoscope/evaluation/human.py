"""How people do at a task, beside systems on the same items.

Judgements are a CSV file with the columns `task,worker,label` and, if workers could name further possible labels,
`other` with those, separated by `;`. `task` is an example's position in the gold file, from 0, or a dialogue's id.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.core.metrics import confusion_matrix
from emoscope.evaluation.compare import system_names
from emoscope.evaluation.error_analysis import examples_of, scores_on
from emoscope.evaluation.score import Gold, GoldSource, Scores, flat_dict, read_gold, read_predictions, scores_of
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import Task
from emoscope.tasks.published import published

_COLUMNS = ("task", "worker", "label")
HUMANS = "humans"


@dataclass(frozen=True, slots=True)
class HumanJudgement:
    """One worker's answer: the best guess (Q1), and labels that might apply too (Q2; None if that was not asked)."""

    row: int
    task: str
    worker: str
    label: str
    others: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class JudgeScores(Scores):
    """Scores of people or of a system; `top2` is the share whose guesses, first or other, hold the gold label."""

    top2: float | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """People, or a system, on the judged items and on each group of them."""

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


def read_judgements(task: Task, path: str | Path) -> list[HumanJudgement]:
    """Read the CSV; other columns than ours are left alone, a worker may judge a task once."""
    judgements: dict[tuple[str, str], HumanJudgement] = {}
    for row, cells in _table(path):
        for name in _COLUMNS:
            if not cells[name].strip():
                raise InputError(path, f"{name!r} is missing", row=row)
        judged, worker, label = (cells[name].strip() for name in _COLUMNS)
        others = None
        if "other" in cells:
            others = frozenset(part.strip() for part in cells["other"].split(";") if part.strip())
        for named in (label, *sorted(others or ())):
            if named not in task.labels:
                raise InputError(path, task.unknown_label(named), row=row)
        if earlier := judgements.get((judged, worker)):
            problem = f"worker {worker!r} has judged task {judged!r} already in row {earlier.row}"
            raise InputError(path, problem, row=row)
        judgements[judged, worker] = HumanJudgement(row, judged, worker, label, others)
    if not judgements:
        raise InputError(path, "has a header but no rows")
    return list(judgements.values())


def _table(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader((line for _, line in text_lines(path)), strict=True)
    try:
        header = [cell.strip() for cell in next(reader, ())]
        if any(header.count(name) != 1 for name in _COLUMNS) or header.count("other") > 1:
            shown = ",".join(header)[:60]
            raise InputError(path, f"expected columns task,worker,label[,other], found {shown!r}", row=1)
        for cells in reader:
            if len(cells) != len(header):
                problem = f"expected {len(header)} comma-separated columns, found {len(cells)}"
                raise InputError(path, problem, row=reader.line_num)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(path, f"is not valid CSV: {error}", row=reader.line_num) from None


def compare_with_humans(
    task: Task,
    gold: GoldSource,
    judgements: str | Path,
    predictions: Sequence[str | Path] = (),
    *,
    by: str | None = None,
) -> HumanComparison:
    """Score people's judgements as a system's answers, each judgement once, and systems on each judged item once.

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
    every = read_judgements(task, judgements)
    judged, matched_by = _items(judgements, every, examples)
    counted = [pair for pair in zip(judged, every, strict=True) if task.scored(read.labels[pair[0]])]
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
        return _people(task, read, [pair for pair in counted if pair[0] in set(among)])

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
    """The human judgements a paper printed, scored as if they were a system.

    >>> from emoscope.tasks import get_task
    >>> scores = published_humans(get_task("iest")).overall
    >>> round(scores.macro_f1, 2), round(scores.micro_f1, 2), scores.items
    (0.45, 0.47, 3619)
    """
    try:
        confusion = published(task.name).confusion(HUMANS)
    except EmoscopeError:
        raise EmoscopeError(f"{task.name}: no human judgements are published; they are for iest") from None
    scores = scores_of(task, np.array(confusion.counts), confusion.labels)
    return Judge(f"{HUMANS} ({confusion.source.table})", JudgeScores(**asdict(scores)))


def with_published(task: Task, comparison: HumanComparison | None = None) -> HumanComparison:
    """A comparison with the people of the task's paper as its last row, who judged other items, or those alone."""
    comparison = comparison or HumanComparison(task.name, task.metric.name)
    return replace(comparison, judges=(*comparison.judges, published_humans(task)))


def _items(
    path: str | Path, judgements: Sequence[HumanJudgement], examples: Sequence[Example]
) -> tuple[list[int], str]:
    """The judged items; a file names them by dialogue id if every name is one and ids are unique, else by position."""
    ids = {str(example.dialogue.id): position for position, example in enumerate(examples)}
    if len(ids) == len(examples) and all(judgement.task in ids for judgement in judgements):
        return [ids[judgement.task] for judgement in judgements], "dialogue id"
    for judgement in judgements:
        # Ten digits are more than any file has rows; Python refuses to read thousands of them as a number.
        digits = judgement.task.isascii() and judgement.task.isdecimal() and len(judgement.task) <= 10
        if not digits or int(judgement.task) >= len(examples):
            last = f"{len(examples) - 1:,}"
            problem = f"task {judgement.task!r} is neither a dialogue's id nor a position from 0 to {last}"
            raise InputError(path, problem, row=judgement.row)
    return [int(judgement.task) for judgement in judgements], "position"


def _people(task: Task, gold: Gold, counted: Sequence[tuple[int, HumanJudgement]]) -> JudgeScores:
    labels = [gold.labels[item] for item, _ in counted]
    guesses = [judgement.label for _, judgement in counted]
    scores = scores_of(task, confusion_matrix(labels, guesses, task.labels), task.labels)
    if any(judgement.others is None for _, judgement in counted):
        return JudgeScores(**asdict(scores))
    held = [gold.labels[item] in {judgement.label, *(judgement.others or ())} for item, judgement in counted]
    return JudgeScores(**asdict(scores), top2=sum(held) / len(counted))
