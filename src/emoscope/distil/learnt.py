"""Add the record of learnt items to a model that was trained without one."""

from collections.abc import Sequence
from pathlib import Path

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.distil.pool import pool_part
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.auxiliary import AUXILIARY_CORPORA, source_examples


def source_items(name: str, fit_context: FitContext) -> list[Example]:
    """The examples of a source: a split ("iest/dev"), an auxiliary corpus ("meld") or a part of the student's pool."""
    task_name, mark, split = name.partition("/")
    if mark:
        task = get_task(task_name)
        return [e for e in read_split(task, split, fit_context.resources) if e.label in task.labels]
    return source_examples(name, fit_context) if name in AUXILIARY_CORPORA else pool_part(name, fit_context)


def add_sources(folder: Path, names: Sequence[str], fit_context: FitContext) -> LearntItems:
    """Add sources to the record of the model in a folder; the record is created if needed.

    >>> add_sources(Path("model"), ["iest/train", "iest/dev"], FitContext())  # doctest: +SKIP
    """
    learnt = LearntItems.load(folder) or LearntItems()
    for name in names:
        learnt |= LearntItems.of({name: source_items(name, fit_context)})
    learnt.save(folder)
    return learnt
