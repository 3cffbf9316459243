"""Error analysis: items that all systems or none get right, and scores on slices of the data."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.errors import InputError
from emoscope.core.metrics import confusion_matrix
from emoscope.evaluation.compare import system_names
from emoscope.evaluation.score import Gold, GoldSource, Scores, label_names, read_gold, read_predictions, scores_of
from emoscope.evaluation.slices import SLICES, DataSlice
from emoscope.tasks import Task

# Turns shown before the labelled one.
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class AnalysedItem:
    """An example: its position in the file, its turns, and how many systems gave each answer."""

    position: int
    turns: tuple[str, ...]
    answers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ClassErrors:
    """The easy and hard items of one gold label, with examples of each."""

    items: int
    all_right: int
    none_right: int
    easy: tuple[AnalysedItem, ...]
    hard: tuple[AnalysedItem, ...]


@dataclass(frozen=True, slots=True)
class SliceScores:
    """Each system's scores on each group of a slice."""

    description: str
    groups: Mapping[str, Mapping[str, Scores]]


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """Errors of several systems on the same items."""

    task: str
    metric: str
    gold: str | None
    systems: tuple[str, ...]
    classes: Mapping[str, ClassErrors]
    slices: Mapping[str, SliceScores]


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
    >>> analysis = analyse_errors(get_task("iest"), "trial.csv", ["a.txt", "b.txt"], by=["cue"])  # doctest: +SKIP
    >>> analysis.classes["anger"].none_right  # doctest: +SKIP
    412
    """
    slices = {name: SLICES[name] for name in by}
    systems = system_names(predictions)
    read = read_gold(task, gold)
    examples = examples_of(read)
    scored = read.scored(task)
    predicted = [read_predictions(task, read, path) for path in predictions]
    rng = random.Random(seed)

    def sample(items: Sequence[int]) -> tuple[AnalysedItem, ...]:
        return tuple(
            AnalysedItem(
                position,
                examples[position].context.texts[-_CONTEXT - 1 :],
                dict(Counter(labels[position] for labels in predicted).most_common()),
            )
            for position in sorted(rng.sample(items, min(show, len(items))))
        )

    hits = {item: sum(labels[item] == read.labels[item] for labels in predicted) for item in scored}
    classes = {}
    for label in task.labels:
        items = [item for item in scored if read.labels[item] == label]
        easy = [item for item in items if hits[item] == len(predicted)]
        hard = [item for item in items if hits[item] == 0]
        classes[label] = ClassErrors(len(items), len(easy), len(hard), sample(easy), sample(hard))
    answers = dict(zip(systems, predicted, strict=True))
    parts = slice_scores(task, read, answers, slices)
    return ErrorAnalysis(task.name, task.metric.name, read.path, tuple(systems), classes, parts)


def slice_scores(
    task: Task, gold: Gold, answers: Mapping[str, Sequence[str]], slices: Mapping[str, DataSlice]
) -> dict[str, SliceScores]:
    """The scores of each system's answers on each group of each slice."""
    scored = gold.scored(task)
    results = {}
    for name, by_slice in slices.items():
        groups = by_slice.positions([examples_of(gold)[item] for item in scored])
        scores = {
            group: {
                system: scores_on(task, gold, labels, [scored[place] for place in places])
                for system, labels in answers.items()
            }
            for group, places in groups.items()
        }
        results[name] = SliceScores(by_slice.description, scores)
    return results


def examples_of(gold: Gold) -> Sequence[Example]:
    """The examples of the gold labels; an error if the file has only labels."""
    if gold.examples is None:
        raise InputError(gold.path or "gold", "has only labels; this needs the file with the text")
    return gold.examples


def scores_on(task: Task, gold: Gold, predicted: Sequence[str], items: Sequence[int]) -> Scores:
    """The scores of a system on the given items; duplicates count twice."""
    labels = [predicted[item] for item in items]
    names = label_names(task, labels)
    return scores_of(task, confusion_matrix([gold.labels[item] for item in items], labels, names), names)
