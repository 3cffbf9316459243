"""The provenance of a prediction file: which model wrote it, and how many of its items that model learnt.

The official formats have no place for it, so it is a small file beside the predictions.
"""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from emoscope.core.errors import InputError
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
    learnt: Overlap


def write_provenance(predictions: str | Path, model: str, learnt: Overlap | None) -> None:
    """Write `FILE.learnt.json` beside predictions if the model learnt any of their items, else remove an old one.

    >>> write_provenance("out.txt", "default", Overlap(9591, 9591))  # doctest: +SKIP
    """
    path = Path(f"{predictions}{ENDING}")
    if learnt is None or not learnt.items:
        path.unlink(missing_ok=True)
        return
    provenance = Provenance(model=model, predictions_sha256=sha256_of(Path(predictions)), learnt=learnt)
    write_file(path, provenance.model_dump_json(indent=2) + "\n")


def learnt_of(predictions: str | Path) -> Overlap | None:
    """How many items of a prediction file its model learnt; None if that is not known.

    >>> learnt_of("no-such-file.txt")
    """
    path = Path(f"{predictions}{ENDING}")
    if not path.is_file():
        return None
    try:
        provenance = Provenance.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(path, f"is not what `emoscope predict` writes ({first_problem(error)})") from None
    # Ignore a record of other predictions that had this name.
    return provenance.learnt if provenance.predictions_sha256 == sha256_of(Path(predictions)) else None


def learnt_note(learnt: Overlap | None) -> str | None:
    """A note for readers of the score, if one is needed.

    >>> learnt_note(Overlap(3, 1000))
    'the model learnt 3 of 1,000 items; so few occur by chance'
    """
    if learnt is None or not learnt.items:
        return None
    if not learnt.is_learnt:
        return f"the model learnt {learnt}; so few occur by chance"
    return f"the model learnt {learnt}: a score on them says nothing about new text, and has no rank"
