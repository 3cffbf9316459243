"""Annotations: rows of `task, worker, label`, and the data of the tasks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from emoscope.core.judgement import Judgement


@dataclass(frozen=True, slots=True)
class Annotations:
    """Judgements, and the `data` of each task, labelled or not: its text and any other fields of the file."""

    judgements: tuple[Judgement, ...] = ()
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    labels: tuple[str, ...] = ()  # the labels annotators could choose from, if known

    @property
    def by_task(self) -> dict[str, list[Judgement]]:
        """The judgements of each task that has judgements or data, in order of appearance."""
        tasks: dict[str, list[Judgement]] = {task: [] for task in self.data}
        for judgement in self.judgements:
            tasks.setdefault(judgement.task, []).append(judgement)
        return tasks


class Answered(NamedTuple):
    """An unchecked answer from a file, and its location for error messages."""

    where: int | str
    worker: object
    label: object
    others: object = None


class FileEntry(NamedTuple):
    """One entry of a file: a task with its possible names, its data and its answers."""

    where: int | str
    names: Sequence[object]
    data: Mapping[str, Any]
    answers: Sequence[Answered]


def votes_of(judgements: Iterable[Judgement]) -> dict[str, Counter[str]]:
    """The number of votes each label got, by task.

    >>> votes_of([Judgement("1", "ann", "joy"), Judgement("1", "ben", "joy"), Judgement("2", "ann", "sad")])
    {'1': Counter({'joy': 2}), '2': Counter({'sad': 1})}
    """
    votes: dict[str, Counter[str]] = {}
    for judgement in judgements:
        votes.setdefault(judgement.task, Counter())[judgement.label] += 1
    return votes
