"""Which annotators to trust: their answers to gold questions, and a report on each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.core.files import csv_rows
from emoscope.core.judgement import Judgement, judgement_at
from emoscope.corpus.annotation.aggregate import Aggregated
from emoscope.corpus.annotation.gold_questions import GoldRules

SCREENING_RULES = GoldRules()  # the same as on the annotation page


@dataclass(frozen=True, slots=True)
class Screening:
    """Judgements to aggregate, without gold questions, and the discarded ones of refused workers."""

    kept: tuple[Judgement, ...]
    discarded: tuple[Judgement, ...]
    gold: Mapping[str, tuple[int, int]]  # each worker's correct and total answers to gold questions
    judged: frozenset[str]  # workers with enough gold answers to be refused or trusted
    refused: frozenset[str]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """One annotator: non-gold judgements, the share that match the aggregated label, and gold question results."""

    worker: str
    judgements: int
    agreement: float | None
    gold_answers: int
    gold_accuracy: float | None
    judged: bool
    refused: bool


def read_gold(path: str | Path) -> dict[str, str]:
    """Read the correct answers to gold questions from a CSV file with the columns `task,label`."""
    answers: dict[str, str] = {}
    for row, cells in csv_rows(path, ("task", "label")):
        answer = judgement_at(path, row, cells["task"], "gold", cells["label"])
        if answer.task in answers:
            raise InputError(path, f"task {answer.task!r} has an answer already", row=row)
        answers[answer.task] = answer.label
    return answers


def read_round(path: str | Path) -> dict[str, tuple[str, str]]:
    """Read a training or qualification round from a CSV with `task,label[,why]`: each task's answer and explanation."""
    answers = read_gold(path)
    why = {cells["task"].strip(): cells.get("why", "").strip() for _, cells in csv_rows(path, ("task",), ("why",))}
    return {task: (label, why.get(task, "")) for task, label in answers.items()}


def screen(judgements: Iterable[Judgement], gold: Mapping[str, str], rules: GoldRules = SCREENING_RULES) -> Screening:
    """Refuse workers who fail the gold questions, and discard all their judgements.

    >>> judgements = [Judgement("g", "ann", "joy"), Judgement("g", "ben", "sad"), Judgement("1", "ann", "joy")]
    >>> screen(judgements, {"g": "joy"}).refused, screen(judgements, {"g": "joy"}, GoldRules(least_answers=1)).refused
    (frozenset(), frozenset({'ben'}))
    """
    everything = tuple(judgements)
    answers: defaultdict[str, list[bool]] = defaultdict(list)
    for judgement in everything:
        if judgement.task in gold:
            answers[judgement.worker].append(judgement.label == gold[judgement.task])
    scores = {worker: (sum(right), len(right)) for worker, right in answers.items()}
    refused = frozenset(worker for worker, score in scores.items() if rules.refuses(*score))
    asked = [judgement for judgement in everything if judgement.task not in gold]
    return Screening(
        kept=tuple(judgement for judgement in asked if judgement.worker not in refused),
        discarded=tuple(judgement for judgement in asked if judgement.worker in refused),
        gold=scores,
        judged=frozenset(worker for worker, (_, total) in scores.items() if total >= rules.fewest),
        refused=refused,
    )


def worker_reports(screening: Screening, aggregated: Sequence[Aggregated]) -> list[WorkerReport]:
    """Report on all annotators by name, refused ones too; agreement ignores tasks with the fallback label."""
    labels = {result.task: result.label for result in aggregated if not result.fallback}
    by_worker: defaultdict[str, list[Judgement]] = defaultdict(list)
    for judgement in (*screening.kept, *screening.discarded):
        by_worker[judgement.worker].append(judgement)
    reports: list[WorkerReport] = []
    for worker in sorted({*by_worker, *screening.gold}):
        own = by_worker[worker]
        agreeing = [judgement.label == labels[judgement.task] for judgement in own if judgement.task in labels]
        right, answers = screening.gold.get(worker, (0, 0))
        reports.append(
            WorkerReport(
                worker=worker,
                judgements=len(own),
                agreement=sum(agreeing) / len(agreeing) if agreeing else None,
                gold_answers=answers,
                gold_accuracy=right / answers if answers else None,
                judged=worker in screening.judged,
                refused=worker in screening.refused,
            )
        )
    return reports
