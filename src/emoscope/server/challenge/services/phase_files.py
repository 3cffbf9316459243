"""Checks that the files of a phase fit together, before the challenge is created."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.evaluation.human import compare_with_humans, published_humans
from emoscope.evaluation.score import read_gold
from emoscope.server.challenge.scoring.scorer import measured
from emoscope.server.challenge.services.definition import Definition
from emoscope.tasks import Task


@dataclass(frozen=True, slots=True)
class PhaseFiles:
    """The files of a phase, and the scores of the human baseline if there is one."""

    unlabelled: Path
    gold: Path
    items: int
    humans: dict[str, Any] | None
    judgements: Path | None  # of the human baseline, unless it is the published one
    labels: Sequence[str]

    @classmethod
    def checked(
        cls,
        task: Task,
        unlabelled: Path,
        gold: Path,
        judgements: Path | None = None,
        *,
        published: bool = False,
        given_as: str | None = None,
    ) -> "PhaseFiles":
        """Check that the unlabelled file has no labels, and that the gold has the same items in the same order.

        `given_as` is the name that the unlabelled file had, if it is a stored copy.
        """
        name = given_as or unlabelled.name
        items = list(task.read(unlabelled))
        for number, example in enumerate(items, start=1):
            if example.label is not None or example.votes:
                raise InputError(unlabelled, "has a label; participants would get it", row=f"item {number:,}")
        gold_labels = read_gold(task, gold)
        gold_labels.scored(task)
        count = len(gold_labels.labels)
        if count != len(items):
            raise InputError(gold, f"has {count:,} labels for the {len(items):,} items of {name}")
        for number, (one, other) in enumerate(zip(items, gold_labels.examples or [], strict=False), start=1):
            if (one.turn, one.dialogue.texts) != (other.turn, other.dialogue.texts):
                raise InputError(gold, f"is not the same item as in {name}", row=f"item {number:,}")
        humans = None
        if published:
            judge = published_humans(task)
            humans = {"name": judge.name, "score": judge.overall.score, "items": judge.overall.items}
        elif judgements is not None:
            people = compare_with_humans(task, gold, str(judgements))
            scores = people.judges[0].overall
            humans = {"name": f"humans ({people.workers} workers)", "score": scores.score, "items": scores.items}
        return cls(unlabelled, gold, len(items), humans, judgements, gold_labels.labels)


def check_files(definition: Definition, source: Path, folder: Path) -> list[PhaseFiles]:
    """Check the files of every phase; errors name the field of the definition and the file."""
    task = measured(definition.task, definition.metric)
    checked = []
    for phase in definition.phases:
        published = phase.humans == "published"
        named = {"unlabelled": phase.unlabelled, "gold": phase.gold, "humans": None if published else phase.humans}
        paths = {field: folder / name for field, name in named.items() if name is not None}
        for field, path in paths.items():
            if not path.is_file():
                raise InputError(source, f"{path}: no such file", row=f"phases.{phase.name}.{field}")
        try:
            files = PhaseFiles.checked(
                task, paths["unlabelled"], paths["gold"], paths.get("humans"), published=published
            )
        except EmoscopeError as error:
            raise InputError(source, str(error), row=f"phases.{phase.name}") from None
        checked.append(files)
    for file in definition.files:
        if not (folder / file.file).is_file():
            raise InputError(source, f"{folder / file.file}: no such file", row="files")
    return checked
