"""The provenance of a prediction file: which model wrote it, and how many of its items that model learnt.

The official formats have no place for it, so it is a small file beside the predictions.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import read_json, write_file
from emoscope.core.frozen import FrozenModel, first_problem
from emoscope.core.learnt import Overlap
from emoscope.tasks.data import sha256_of

ENDING = ".learnt.json"


class Provenance(FrozenModel):
    """The content of `FILE.learnt.json`, valid only for predictions with this checksum."""

    format: Literal["emoscope-learnt-1"] = "emoscope-learnt-1"
    model: str
    predictions_sha256: str
    learnt: Overlap | None  # None if the model has no record of what it learnt


class PredictedLabels(list[str]):
    """Labels in memory that know how many of their items the model learnt, as a file's record does.

    >>> PredictedLabels(["joy"], Overlap(1, 1)).learnt
    Overlap(items=1, of=1)
    """

    def __init__(self, labels: Iterable[str], learnt: Overlap | None) -> None:
        super().__init__(labels)
        self.learnt = learnt


def write_provenance(predictions: str | Path, model: str, learnt: Overlap | None) -> None:
    """Write `FILE.learnt.json` beside predictions, also if the model learnt none of their items.

    >>> write_provenance("out.txt", "default", Overlap(9591, 9591))  # doctest: +SKIP
    """
    provenance = Provenance(model=model, predictions_sha256=sha256_of(Path(predictions)), learnt=learnt)
    write_file(f"{predictions}{ENDING}", provenance.model_dump_json(indent=2) + "\n")


def learnt_of(predictions: str | Path) -> Overlap | None:
    """How many items of a prediction file its model learnt; None if that is not known.

    A file without a record of its own may be a copy of one in the same folder.

    >>> learnt_of("no-such-file.txt")
    """
    file = Path(predictions)
    if not file.is_file():
        return None
    own, sha256 = Path(f"{file}{ENDING}"), sha256_of(file)
    # A record with another checksum is of other predictions that had this name.
    if own.is_file() and (provenance := _read(own)).predictions_sha256 == sha256:
        return provenance.learnt
    copied = (_read_or_none(path) for path in file.parent.glob(f"*{ENDING}") if path != own)
    overlaps = [each.learnt for each in copied if each is not None and each.predictions_sha256 == sha256]
    # Two models may give the same answers; then the one that learnt more is suspected.
    return max((each for each in overlaps if each is not None), key=lambda each: each.items, default=None)


def _read(path: Path) -> Provenance:
    try:
        return Provenance.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(path, f"is not what `emoscope predict` writes ({first_problem(error)})") from None


def _read_or_none(path: Path) -> Provenance | None:
    """The record of another file, which may be broken or unreadable without harm to this one."""
    try:
        return _read(path)
    except EmoscopeError:
        return None


def learnt_note(learnt: Overlap | None) -> str | None:
    """A note for readers of the score, if one is needed.

    >>> learnt_note(Overlap(3, 1000))
    'the model learnt 3 of 1,000 items; so few occur by chance'
    """
    if learnt is None or not learnt.items:
        return None
    if not learnt.is_learnt:
        return f"the model learnt {learnt}; so few occur by chance"
    return (
        f"the model learnt {learnt}, itself or through its teachers: "
        "a score on them says nothing about new text, and has no rank"
    )
