"""Official files of a task as items to annotate, and the names of their examples in annotation files."""

from collections.abc import Iterable
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.annotation.items import Item, items_of, read_items
from emoscope.tasks import Task, get_task

LABELS = "happy,sad,angry,others"


def example_names(path: Path, examples: Iterable[Example]) -> dict[str, Example]:
    """Examples by name: the dialogue's id, with the turn (`7:2`) where dialogues have several turns to label."""
    everything = list(examples)
    last: dict[str, int] = {}
    for example in everything:
        last[str(example.dialogue.id)] = max(last.get(str(example.dialogue.id), 0), example.turn)
    whole = any(example.turn != last[str(example.dialogue.id)] for example in everything)
    named: dict[str, Example] = {}
    for example in everything:
        name = f"{example.dialogue.id}:{example.turn}" if whole else str(example.dialogue.id)
        if name in named:
            raise InputError(path, f"two examples have the id {name!r}; annotations could not tell them apart")
        named[name] = example
    return named


def task_items(task: Task, path: Path) -> list[Item]:
    """The items of an official file: whole dialogues where the task labels every turn of them."""
    named = example_names(path, task.read(path))
    dialogues = {str(example.dialogue.id): example.dialogue for example in named.values()}
    return items_of(dialogues.values(), whole=len(dialogues) != len(named))


def read_study(
    path: Path, task: str | None = None, labels: str | None = None, *, whole: bool = False
) -> tuple[list[Item], tuple[str, ...]]:
    """The items of a file to be judged, and the labels to choose from; by default, those of the task's annotators."""
    if task is None:
        items = read_items(path, whole=whole)
        offered: Iterable[str] = (labels or LABELS).split(",")
    else:
        official = get_task(task)
        items = task_items(official, path)
        offered = labels.split(",") if labels is not None else official.metadata.vote_labels or official.labels
        if whole and not all(item.whole for item in items):
            raise EmoscopeError(f"--whole-dialogues: {official.name} has one label a dialogue")
    return items, tuple(label.strip() for label in offered)
