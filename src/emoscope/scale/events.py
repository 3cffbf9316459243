"""What an engine tells while parts are scored."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advanced:
    """So many more rows of a part are done; None of them count if its worker dies before the part is written."""

    part: int
    rows: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A part is written."""

    part: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A part cannot be written, and trying again would not help."""

    part: int
    problem: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker of a part died; the part is given to another."""

    part: int


Event = Advanced | Finished | Failed | Lost
