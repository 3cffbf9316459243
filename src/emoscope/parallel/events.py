"""What an engine tells while parts are done."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Advanced:
    """So many more rows of a part are done; None of them count if its worker dies before the part is done."""

    part: int
    rows: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A part is done, with this for an answer if it has one."""

    part: int
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A part cannot be done, and trying again would not help."""

    part: int
    problem: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker of a part died; the part is given to another."""

    part: int


Event = Advanced | Finished | Failed | Lost
