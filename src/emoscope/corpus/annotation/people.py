"""Who may annotate: people with their country, approval rate and number of tasks, and a study's requirements.

EmotionX required certain countries, a minimum approval rate and a minimum number of tasks.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import csv_rows

FIELDS = ("country", "approval_rate", "tasks")
_COUNTRY = re.compile(r"[A-Z]{2}")
_RULE = re.compile(r"\s*(country|approval_rate|tasks)\s*(=|>=)\s*(.+?)\s*")


@dataclass(frozen=True, slots=True)
class AnnotatorProfile:
    """An invited annotator: ISO 3166 country code (US), share of approved tasks, and number of tasks.

    >>> AnnotatorProfile.checked("ann", {"country": "us", "approval_rate": "98%", "tasks": "1200"})
    AnnotatorProfile(name='ann', country='US', approval_rate=0.98, tasks=1200)
    """

    name: str
    country: str | None = None
    approval_rate: float | None = None
    tasks: int | None = None

    @classmethod
    def checked(cls, name: str, cells: Mapping[str, str | None]) -> "AnnotatorProfile":
        """Check a profile from a file or form; an empty cell means unknown."""
        country, rate, tasks = ((cells.get(field) or "").strip() for field in FIELDS)
        if country and not _COUNTRY.fullmatch(country.upper()):
            raise EmoscopeError(f"{name}: country must have two letters, such as US, not {country!r}")
        return cls(name, country.upper() or None, _share(name, rate), _number(name, tasks))

    @property
    def profile(self) -> dict[str, Any]:
        """The known fields of the profile."""
        return {field: value for field in FIELDS if (value := getattr(self, field)) is not None}


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a study requires of its annotators.

    >>> needed = Requirements.parse(["country=US,GB", "approval_rate>=0.95", "tasks>=1000"])
    >>> needed.missing(AnnotatorProfile("ann", "US", 0.9, 5000))
    'approval_rate is 0.9, and must be at least 0.95'
    """

    countries: tuple[str, ...] = ()
    approval_rate: float | None = None
    tasks: int | None = None

    @classmethod
    def parse(cls, rules: Iterable[str]) -> "Requirements":
        """Parse rules such as `country=US,GB`, `approval_rate>=0.95` and `tasks>=1000`."""
        found: dict[str, Any] = {}
        for rule in rules:
            match = _RULE.fullmatch(rule)
            if match is None or (match[2] == "=") != (match[1] == "country"):
                raise EmoscopeError(f"{rule!r}: expected country=US,GB or approval_rate>=0.95 or tasks>=1000")
            name, _, value = match.groups()
            if ("countries" if name == "country" else name) in found:
                raise EmoscopeError(f"{rule!r}: {name} is named twice")
            if name == "country":
                countries = tuple(sorted({part.strip().upper() for part in value.split(",")}))
                if wrong := [part for part in countries if not _COUNTRY.fullmatch(part)]:
                    raise EmoscopeError(f"{rule!r}: country must have two letters, such as US, not {wrong[0]!r}")
                found["countries"] = countries
            elif name == "approval_rate":
                found[name] = _share(repr(rule), value)
            else:
                found[name] = _number(repr(rule), value)
        return cls(**found)

    def __str__(self) -> str:
        parts = [f"country is {' or '.join(self.countries)}"] if self.countries else []
        parts += [
            f"{field} is at least {least:,}"
            for field in ("approval_rate", "tasks")
            if (least := getattr(self, field)) is not None
        ]
        return ", ".join(parts)

    def missing(self, person: AnnotatorProfile) -> str | None:
        """Why a person may not take part, or None."""
        if self.countries and person.country not in self.countries:
            found = "is not known" if person.country is None else f"is {person.country}"
            return f"country {found}, and must be {' or '.join(self.countries)}"
        for field in ("approval_rate", "tasks"):
            least, value = getattr(self, field), getattr(person, field)
            if least is not None and (value is None or value < least):
                found = "is not known" if value is None else f"is {value:,}"
                return f"{field} {found}, and must be at least {least:,}"
        return None


def read_people(path: str | Path) -> list[AnnotatorProfile]:
    """Read people from a CSV with `name` (or `worker`) and optional `country`, `approval_rate` and `tasks`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name,country\\nann,US\\n")
    >>> read_people(file)
    [AnnotatorProfile(name='ann', country='US', approval_rate=None, tasks=None)]
    """
    people: list[AnnotatorProfile] = []
    for row, cells in csv_rows(path, (), ("name", "worker", *FIELDS)):
        name = (cells.get("name") or cells.get("worker") or "").strip()
        if not name:
            raise InputError(path, "'name' is missing", row=row)
        try:
            people.append(AnnotatorProfile.checked(name, cells))
        except EmoscopeError as error:
            raise InputError(path, str(error), row=row) from None
    return people


def _share(where: str, text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise EmoscopeError(f"{where}: approval_rate must be a share, such as 0.95 or 95%, not {text!r}")
    return value


def _number(where: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise EmoscopeError(f"{where}: tasks must be a whole number, not {text!r}")
    return int(text)
