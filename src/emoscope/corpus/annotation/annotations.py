"""What annotators said, as rows of `task, worker, label`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from emoscope.core.errors import EmoscopeError, InputError

# They would break a line of a file, or could not be written at all.
_CONTROL = re.compile("[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Judgement:
    """One worker's label for one task, and other labels that worker found possible.

    >>> Judgement("d-17", "ann", "joy")
    Judgement(task='d-17', worker='ann', label='joy', others=())
    """

    task: str
    worker: str
    label: str
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("task", self.task), ("worker", self.worker), ("label", self.label)):
            _check_name(name, value)
        for other in self.others:
            _check_name("other", other)
            if ";" in other:
                raise EmoscopeError(f"'other' {other!r} holds a ';', which separates labels")


def _check_name(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise EmoscopeError(f"{name!r} must be a string, not {type(value).__name__}")
    if not value.strip():
        raise EmoscopeError(f"{name!r} is missing")
    if value != value.strip() or _CONTROL.search(value):
        raise EmoscopeError(f"{name!r} {value!r} holds a control character or space at its ends")


@dataclass(frozen=True, slots=True)
class Annotations:
    """Judgements, and what is known of the tasks: `data[task]` is its text and whatever else a file held.

    A task may have data and no judgement yet: such annotations are what is sent out to be labelled.
    """

    judgements: tuple[Judgement, ...] = ()
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def workers(self) -> tuple[str, ...]:
        """Everyone who judged, in alphabetical order.

        >>> Annotations((Judgement("1", "ben", "joy"), Judgement("1", "ann", "sad"))).workers
        ('ann', 'ben')
        """
        return tuple(sorted({judgement.worker for judgement in self.judgements}))

    @property
    def by_task(self) -> dict[str, list[Judgement]]:
        """The judgements of each task that has some or has data, tasks in the order they were met."""
        found: dict[str, list[Judgement]] = {task: [] for task in self.data}
        for judgement in self.judgements:
            found.setdefault(judgement.task, []).append(judgement)
        return found


class Read(NamedTuple):
    """What one place in a file gave: data of a task, and a judgement of it if there is one."""

    where: int | str
    task: str
    judgement: Judgement | None
    data: Mapping[str, Any] | None = None


def votes_of(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """The number of votes each label got, by task.

    >>> votes_of([Judgement("1", "ann", "joy"), Judgement("1", "ben", "joy"), Judgement("2", "ann", "sad")])
    {'1': {'joy': 2}, '2': {'sad': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for judgement in judgements:
        votes = found.setdefault(judgement.task, {})
        votes[judgement.label] = votes.get(judgement.label, 0) + 1
    return found


def judgement_at(path: Path, row: int | str, task: object, worker: object, label: object, others: object) -> Judgement:
    """A judgement from the values of a file; what is wrong with them is said with the file and row."""
    if others is None:
        others = ()
    if isinstance(others, str) or not isinstance(others, Sequence):
        raise InputError(path, "'other' must be a list of labels", row=row)
    try:
        return Judgement(_named(task), _named(worker), _named(label), tuple(_named(one) for one in others))
    except EmoscopeError as error:
        raise InputError(path, str(error), row=row) from None


def _named(value: Any) -> Any:
    """Numbers are names too: doccano and Label Studio count their tasks and workers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def task_name(path: Path, row: int | str, *candidates: object) -> str:
    """The first of the candidates that names a task."""
    for candidate in candidates:
        name = _named(candidate)
        if isinstance(name, str) and name:
            return name
    raise InputError(path, "the task has no name: expected 'task' or 'id'", row=row)
