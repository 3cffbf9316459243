"""A judgement: what one worker says about one task."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError

# Characters that would break a line of a file, or cannot be encoded.
_CONTROL = re.compile("[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Judgement:
    """One worker's label for one task, and other labels that the worker considered possible.

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


def judgement_at(
    path: str | Path, row: int | str, task: object, worker: object, label: object, others: object = None
) -> Judgement:
    """A judgement from the values of a file; errors name the file and row."""
    others = () if others is None else others
    if isinstance(others, str) or not isinstance(others, Sequence):
        raise InputError(path, "'other' must be a list of labels", row=row)
    try:
        return Judgement(as_name(task), as_name(worker), as_name(label), tuple(map(as_name, others)))
    except EmoscopeError as error:
        raise InputError(path, str(error), row=row) from None


def as_name(value: Any) -> Any:
    """Strip a string, or convert a number to one: doccano and Label Studio number their tasks and workers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value
