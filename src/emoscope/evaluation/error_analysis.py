"""What the systems have in common: items all get right, items none does, and how they fare on parts of the data."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.errors import InputError
from emoscope.core.metrics import confusion_matrix
from emoscope.evaluation.compare import system_names
from emoscope.evaluation.score import (
    Gold,
    GoldSource,
    Scores,
    label_names,
    read_gold,
    read_predictions,
    scores_of,
)
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import Task

# Turns shown before the one that is labelled.
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Item:
    """An example to look at: its position in the file, what was said, and how many systems answered what."""

    position: int
    turns: tuple[str, ...]
    answers: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"position": self.position, "turns": list(self.turns), "answers": dict(self.answers)}


@dataclass(frozen=True, slots=True)
class ClassErrors:
    """The easy and the hard items of one gold label, with some of each."""

    items: int
    all_right: int
    none_right: int
    easy: tuple[Item, ...]
    hard: tuple[Item, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "items": self.items,
            "all_right": self.all_right,
            "none_right": self.none_right,
            "easy": [item.as_dict() for item in self.easy],
            "hard": [item.as_dict() for item in self.hard],
        }


@dataclass(frozen=True, slots=True)
class SliceScores:
    """Each system's scores on each group of a slice."""

    description: str
    groups: Mapping[str, Mapping[str, Scores]]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "description": self.description,
            "groups": {
                group: {system: scores.as_dict() for system, scores in systems.items()}
                for group, systems in self.groups.items()
            },
        }


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """Errors of several systems on the same items."""

    task: str
    metric: str
    gold: str | None
    systems: tuple[str, ...]
    classes: Mapping[str, ClassErrors]
    slices: Mapping[str, SliceScores]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "task": self.task,
            "metric": self.metric,
            "gold": self.gold,
            "systems": list(self.systems),
            "classes": {label: errors.as_dict() for label, errors in self.classes.items()},
            "slices": {name: scores.as_dict() for name, scores in self.slices.items()},
        }


def analyse_errors(
    task: Task,
    gold: GoldSource,
    predictions: Sequence[str | Path],
    *,
    by: Sequence[str] = (),
    show: int = 3,
    seed: int = 0,
) -> ErrorAnalysis:
    """Find what all systems get right and what none does, per class, and score them by slices of the data.

    Up to `show` examples of each kind are drawn at random by `seed`, and shown in file order.

    >>> from emoscope.tasks import get_task
    >>> found = analyse_errors(get_task("iest"), "trial.csv", ["a.txt", "b.txt"], by=["cue"])  # doctest: +SKIP
    >>> found.classes["anger"].none_right  # doctest: +SKIP
    412
    """
    slices = {name: SLICES[name] for name in by}
    names = system_names(predictions)
    right = read_gold(task, gold)
    examples = examples_of(right)
    kept = right.scored(task)
    answers = [read_predictions(task, right, path) for path in predictions]
    rng = random.Random(seed)
    hits = {item: sum(answer[item] == right.labels[item] for answer in answers) for item in kept}
    classes = {}
    for label in task.labels:
        items = [item for item in kept if right.labels[item] == label]
        easy = [item for item in items if hits[item] == len(answers)]
        hard = [item for item in items if hits[item] == 0]
        classes[label] = ClassErrors(
            items=len(items),
            all_right=len(easy),
            none_right=len(hard),
            easy=_sample(easy, show, rng, examples, answers),
            hard=_sample(hard, show, rng, examples, answers),
        )
    return ErrorAnalysis(
        task=task.name,
        metric=task.metadata.metric.name,
        gold=right.path,
        systems=tuple(names),
        classes=classes,
        slices={
            name: SliceScores(
                chosen.description,
                {
                    group: {
                        system: scores_on(task, right, answer, [kept[place] for place in places])
                        for system, answer in zip(names, answers, strict=True)
                    }
                    for group, places in chosen.positions([examples[item] for item in kept]).items()
                },
            )
            for name, chosen in slices.items()
        },
    )


def examples_of(gold: Gold) -> Sequence[Example]:
    """The examples behind the labels, which a plain list of labels does not have."""
    if gold.examples is None:
        raise InputError(gold.path or "gold", "holds labels alone; this needs the file with the text")
    return gold.examples


def scores_on(task: Task, gold: Gold, answers: Sequence[str], items: Sequence[int]) -> Scores:
    """The scores of a system on some of the items; an item named twice counts twice."""
    labels = [gold.labels[item] for item in items]
    predicted = [answers[item] for item in items]
    names = label_names(task, predicted)
    return scores_of(task, confusion_matrix(labels, predicted, names), names)


def _sample(
    items: Sequence[int],
    show: int,
    rng: random.Random,
    examples: Sequence[Example],
    answers: Sequence[Sequence[str]],
) -> tuple[Item, ...]:
    return tuple(
        Item(
            position,
            examples[position].context.texts[-_CONTEXT - 1 :],
            dict(Counter(answer[position] for answer in answers).most_common()),
        )
        for position in sorted(rng.sample(items, min(show, len(items))))
    )
