"""Official files of a task as what annotators judge: the name each example has in annotation files."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from emoscope.core.errors import InputError

if TYPE_CHECKING:
    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.corpus.annotation.items import Item
    from emoscope.tasks import Task


def example_names(path: Path, examples: "Iterable[Example]") -> "dict[str, Example]":
    """Examples by name: the dialogue's id, with the turn (`7:2`) where several turns of a dialogue are asked for."""
    everything = list(examples)
    last: dict[str, int] = {}
    for example in everything:
        last[str(example.dialogue.id)] = max(last.get(str(example.dialogue.id), 0), example.turn)
    whole = any(example.turn != last[str(example.dialogue.id)] for example in everything)
    found: dict[str, Example] = {}
    for example in everything:
        name = f"{example.dialogue.id}:{example.turn}" if whole else str(example.dialogue.id)
        if name in found:
            raise InputError(path, f"two examples have the id {name!r}; annotations could not tell them apart")
        found[name] = example
    return found


def task_items(task: "Task", path: Path) -> "list[Item]":
    """What annotators are shown of an official file: whole dialogues where the task labels every turn of them."""
    from emoscope.corpus.annotation.items import items_of

    named = example_names(path, task.read(path))
    dialogues: dict[str, Dialogue] = {str(example.dialogue.id): example.dialogue for example in named.values()}
    return items_of(dialogues.values(), whole=len(dialogues) != len(named))


def study_labels(task: "Task") -> tuple[str, ...]:
    """The labels annotators choose from: those the task's own annotators had, or its labels."""
    return task.metadata.vote_labels or task.labels
