"""Annotations: rows of `task, worker, label`, and the data of the tasks."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from emoscope.core.errors import EmoscopeError, InputError

# Characters that would break a line of a file, or could not be written.
_CONTROL = re.compile("[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Judgement:
    """One worker's label for one task, and other labels the worker found possible.

    >>> Judgement("d-17", "ann", "joy")
    Judgement(task='d-17', worker='ann', label='joy', others=())
    """

    task: str
    worker: str
    label: str
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        others = (("other", other) for other in self.others)
        for name, value in (("task", self.task), ("worker", self.worker), ("label", self.label), *others):
            if not isinstance(value, str):
                raise EmoscopeError(f"{name!r} must be a string, not {type(value).__name__}")
            if not value.strip():
                raise EmoscopeError(f"{name!r} is missing")
            if value != value.strip() or _CONTROL.search(value):
                raise EmoscopeError(f"{name!r} {value!r} holds a control character or space at its ends")
            if name == "other" and ";" in value:
                raise EmoscopeError(f"'other' {value!r} holds a ';', which separates labels")


@dataclass(frozen=True, slots=True)
class Annotations:
    """Judgements, and `data` of each task, labelled or not: its text and whatever else a file held."""

    judgements: tuple[Judgement, ...] = ()
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def workers(self) -> tuple[str, ...]:
        """All workers, in alphabetical order.

        >>> Annotations((Judgement("1", "ben", "joy"), Judgement("1", "ann", "sad"))).workers
        ('ann', 'ben')
        """
        return tuple(sorted({judgement.worker for judgement in self.judgements}))

    @property
    def by_task(self) -> dict[str, list[Judgement]]:
        """The judgements of each task that has judgements or data, in order of appearance."""
        tasks: dict[str, list[Judgement]] = {task: [] for task in self.data}
        for judgement in self.judgements:
            tasks.setdefault(judgement.task, []).append(judgement)
        return tasks


class FileEntry(NamedTuple):
    """What one place in a file holds: data of a task, or a judgement of it."""

    where: int | str
    task: str
    judgement: Judgement | None
    data: Mapping[str, Any] | None = None


def votes_of(judgements: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """The number of votes each label got, by task.

    >>> votes_of([Judgement("1", "ann", "joy"), Judgement("1", "ben", "joy"), Judgement("2", "ann", "sad")])
    {'1': {'joy': 2}, '2': {'sad': 1}}
    """
    votes: dict[str, dict[str, int]] = {}
    for judgement in judgements:
        own = votes.setdefault(judgement.task, {})
        own[judgement.label] = own.get(judgement.label, 0) + 1
    return votes


def judgement_at(path: Path, row: int | str, task: object, worker: object, label: object, others: object) -> Judgement:
    """A judgement from the values of a file; errors name the file and row."""
    others = () if others is None else others
    if isinstance(others, str) or not isinstance(others, Sequence):
        raise InputError(path, "'other' must be a list of labels", row=row)
    try:
        return Judgement(_as_name(task), _as_name(worker), _as_name(label), tuple(_as_name(one) for one in others))
    except EmoscopeError as error:
        raise InputError(path, str(error), row=row) from None


def _as_name(value: Any) -> Any:
    """A value as a name: doccano and Label Studio number their tasks and workers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def parsed_json(path: Path, text: str, row: int | None = None) -> Any:
    """The value of a JSON text; errors name the file and row, by default the line in the text."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        problem = f"is not valid JSON: {getattr(error, 'msg', 'nested too deeply')}"
        raise InputError(path, problem, row=row or getattr(error, "lineno", None)) from None


def task_name(path: Path, row: int | str, *candidates: object) -> str:
    """The first of the candidates that is a name."""
    for candidate in candidates:
        name = _as_name(candidate)
        if isinstance(name, str) and name:
            return name
    raise InputError(path, "the task has no name: expected 'task' or 'id'", row=row)
