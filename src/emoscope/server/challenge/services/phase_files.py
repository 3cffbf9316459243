"""The files of a phase, checked against each other before the challenge is created."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.evaluation.human import compare_with_humans, published_humans
from emoscope.evaluation.score import read_gold
from emoscope.server.challenge.scoring.measure import measured
from emoscope.server.challenge.services.definition import Definition, PhaseDefinition
from emoscope.tasks import Task


@dataclass(frozen=True, slots=True)
class PhaseFiles:
    """Files that fit together; `humans` is a file of judgements, or "published"."""

    unlabelled: Path
    gold: Path
    items: int
    humans: str | None = None

    @classmethod
    def checked(cls, task: Task, unlabelled: Path, gold: Path, humans: str | None = None) -> "PhaseFiles":
        """The files, if participants get no labels and the gold is for the same items in the same order."""
        items = list(task.read(unlabelled))
        for number, example in enumerate(items, start=1):
            if example.label is not None or example.votes:
                raise InputError(unlabelled, "has a label; participants would get it", row=f"item {number:,}")
        gold_labels = read_gold(task, gold)
        gold_labels.scored(task)
        count = len(gold_labels.labels)
        if count != len(items):
            raise InputError(gold, f"has {count:,} labels for the {len(items):,} items of {unlabelled.name}")
        for number, (one, other) in enumerate(zip(items, gold_labels.examples or [], strict=False), start=1):
            if _content(one) != _content(other):
                raise InputError(gold, f"is not the same item as in {unlabelled.name}", row=f"item {number:,}")
        return cls(unlabelled, gold, len(items), humans)


def _content(example: Example) -> tuple[object, ...]:
    return (example.turn, example.dialogue.texts)


def check_files(definition: Definition, source: Path, folder: Path) -> list[PhaseFiles]:
    """The files of every phase; a mistake names the definition's field and the file at fault."""
    task = measured(definition.task, definition.metric)
    checked = []
    for phase in definition.phases:
        unlabelled = _located(source, folder, phase, "unlabelled", phase.unlabelled)
        gold = _located(source, folder, phase, "gold", phase.gold)
        humans = phase.humans
        if humans is not None and humans != "published":
            humans = str(_located(source, folder, phase, "humans", humans))
        try:
            checked.append(PhaseFiles.checked(task, unlabelled, gold, humans))
            human_figures(task, gold, humans)
        except EmoscopeError as error:
            raise InputError(source, str(error), row=f"phases.{phase.name}") from None
    return checked


def _located(source: Path, folder: Path, phase: PhaseDefinition, field: str, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(source, f"{path}: no such file", row=f"phases.{phase.name}.{field}")
    return path


def human_figures(task: Task, gold: Path, humans: str | None) -> dict[str, Any] | None:
    """The human baseline: that of the task's paper, or a file of judgements scored on this gold."""
    if humans is None:
        return None
    if humans == "published":
        judge = published_humans(task)
        return {"name": judge.name, "score": judge.overall.score, "items": judge.overall.items}
    comparison = compare_with_humans(task, gold, humans)
    scores = comparison.judges[0].overall
    return {"name": f"humans ({comparison.workers} workers)", "score": scores.score, "items": scores.items}
