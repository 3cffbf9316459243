"""The TOML file that defines a challenge, and its validation."""

import tomllib
from datetime import date, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text
from emoscope.server.challenge.limits import MAX_DESCRIPTION, MAX_TEAMS, MAX_TITLE
from emoscope.server.challenge.scoring.scorer import measured
from emoscope.server.challenge.services.survey import SurveyQuestion, ready_surveys
from emoscope.server.challenge.views import Registration
from emoscope.server.errors import Invalid
from emoscope.server.store.names import printable
from emoscope.tasks import TASKS, get_task

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]


Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE), AfterValidator(printable)
]
Description = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION),
    AfterValidator(partial(printable, lines=True)),
]
MaxTeams = Annotated[int, Field(ge=1, le=MAX_TEAMS)]
DEFAULT_MAX_BYTES = 16 << 20
TEXTS = ("rules", "data", "timeline", "faq")  # besides the description


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def check_year(time: datetime | None) -> None:
    """Refuse a time that some time zones or databases cannot represent.

    >>> check_year(datetime(1, 1, 1))
    Traceback (most recent call last):
    ValueError: times must be in the years 1970 to 9000
    """
    if time is not None and not 1970 <= time.year <= 9000:
        raise ValueError("times must be in the years 1970 to 9000")


class PhaseDefinition(_Strict):
    """One phase; times without an offset are in its time zone, and without times it is opened and closed manually."""

    name: Slug
    title: Title
    unlabelled: str = Field(min_length=1)
    gold: str = Field(min_length=1)
    opens: datetime | None = None
    closes: datetime | None = None
    time_zone: str = "UTC"
    per_day: int = Field(ge=1, le=10_000)
    total: int | None = Field(default=None, ge=1, le=1_000_000)
    rejected_per_day: int = Field(default=50, ge=1, le=10_000)
    board: Literal["open", "hidden"] = "open"
    public_share: float | None = Field(
        default=None, gt=0, le=1
    )  # of the gold that an open board scores; the rest decides the final ranking
    counts: Literal["best", "last"] = "best"
    max_bytes: int = Field(default=DEFAULT_MAX_BYTES, ge=1_000, le=1 << 30)
    published: bool = False  # show the paper's systems on the board
    humans: str | None = None  # "published", or a file of judgements (task,worker,label)
    # When teams get the gold: never, at the close, when the next phase opens, or at a time, after which no submission
    # is ranked.
    labels: Literal["secret", "closed", "next"] | datetime = "secret"

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, KeyError):
            raise ValueError(f"unknown time zone {name!r}, expected one such as 'Europe/Berlin' or 'UTC'") from None
        return name

    @field_validator("labels", mode="before")
    @classmethod
    def _word_or_time(cls, value: Any) -> Any:
        if isinstance(value, date) or value in ("secret", "closed", "next"):
            return value
        raise ValueError("expected 'secret', 'closed', 'next' or a time without quotes, such as 2030-01-10T00:00:00")

    @property
    def labels_at(self) -> datetime | None:
        """When the labels are released, if that is at a given time."""
        return self.moment(self.labels) if isinstance(self.labels, datetime) else None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        opens, closes, labels = self.moment(self.opens), self.moment(self.closes), self.labels_at
        for time in (opens, closes, labels):
            check_year(time)
        if labels is not None and opens is not None and labels <= opens:
            raise ValueError("'labels' must come after 'opens'")
        if closes is not None and (opens is None or closes <= opens):
            raise ValueError("'closes' must come after 'opens'")
        if self.board == "hidden" and self.public_share is not None:
            raise ValueError("'public_share' is for an open leaderboard; a hidden one uses all of the gold")
        return self

    def moment(self, time: datetime | None) -> datetime | None:
        """A time of this phase with its zone."""
        if time is None or time.tzinfo is not None:
            return time
        return time.replace(tzinfo=ZoneInfo(self.time_zone))


class FileDefinition(_Strict):
    """A file for participants, such as training data, available immediately or when a phase opens."""

    file: str = Field(min_length=1)
    title: Title | None = None
    phase: str | None = None


class Definition(_Strict):
    """A whole challenge."""

    slug: Slug
    title: Title
    task: str
    metric: str | None = None  # the task's official metric by default
    description: Description = ""
    rules: Description = ""
    data: Description = ""
    timeline: Description = ""
    faq: Description = ""
    registration: Registration = "open"
    max_teams: MaxTeams = 2_000
    downloads: Literal["open", "registered"] = "open"  # for everyone, or for approved teams
    files: tuple[FileDefinition, ...] = Field(default=(), max_length=50)
    survey: tuple[SurveyQuestion, ...] = Field(default=(), max_length=20)  # or the name of a template
    report: Literal["optional", "ranked"] = "optional"  # "ranked": teams without a report are not ranked at the close
    phases: tuple[PhaseDefinition, ...] = Field(min_length=1, max_length=20)

    @field_validator("task")
    @classmethod
    def _known_task(cls, name: str) -> str:
        try:
            TASKS[name]
        except EmoscopeError as error:
            raise ValueError(str(error)) from None
        return name

    @field_validator("survey", mode="before")
    @classmethod
    def _ready_survey(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value not in (ready := ready_surveys()):
            raise ValueError(f"no survey template {value!r}; available: {', '.join(ready)}")
        return ready[value]

    @property
    def row(self) -> dict[str, Any]:
        """The values of the challenge's row."""
        values = self.model_dump(exclude={"phases", "files", "survey", *TEXTS})
        return values | {"texts": self.texts, "survey": [one.model_dump(mode="json") for one in self.survey]}

    @property
    def texts(self) -> dict[str, str]:
        """The texts other than the description, without empty ones."""
        return {name: text for name in TEXTS if (text := getattr(self, name))}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            task = measured(self.task, self.metric)
        except EmoscopeError as error:
            raise ValueError(str(error)) from None
        official = task.metric == get_task(self.task).metric
        if not official and any(phase.published or phase.humans == "published" for phase in self.phases):
            raise ValueError(f"the paper does not report {self.metric}; remove 'published' or 'metric'")
        if len({phase.name for phase in self.phases}) != len(self.phases):
            raise ValueError("two phases have the same name")
        names = {phase.name for phase in self.phases}
        for file in self.files:
            if file.phase is not None and file.phase not in names:
                raise ValueError(f"the file {file.file} is for an unknown phase {file.phase!r}")
        if len({Path(file.file).name for file in self.files}) != len(self.files):
            raise ValueError("two files have the same name")
        if self.phases[-1].labels == "next":
            raise ValueError(f'labels = "next" in {self.phases[-1].name}, but it is the last phase')
        if len({question.name for question in self.survey}) != len(self.survey):
            raise ValueError("two questions of the survey have the same name")
        if self.report == "ranked" and not self.survey:
            raise ValueError('report = "ranked" needs a survey for teams to answer')
        return self


class Changes(_Strict):
    """What can be changed after a challenge was created."""

    title: Title | None = None
    description: Description | None = None
    rules: Description | None = None
    data: Description | None = None
    timeline: Description | None = None
    faq: Description | None = None
    registration: Registration | None = None
    max_teams: MaxTeams | None = None

    @classmethod
    def of(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The validated values, without those that are None.

        >>> Changes.of({"title": " Mine ", "max_teams": None})
        {'title': 'Mine'}
        """
        try:
            return cls.model_validate(values).model_dump(exclude_none=True)
        except ValidationError as error:
            (location, problem), *_ = _mistakes(error)
            field = ".".join(map(str, location))
            raise Invalid(f"{field}: {problem}", field=field) from None


def read_definition(path: str | Path) -> Definition:
    """Read and validate a challenge's file; errors name the file and the field.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.toml"
    >>> _ = file.write_text('slug = "mine"')
    >>> read_definition(file)
    Traceback (most recent call last):
    emoscope.core.errors.InputError: ...mine.toml, title: Field required (and 2 more mistakes)
    """
    try:
        document = tomllib.loads(whole_text(path, max_bytes=1 << 20))
        return Definition.model_validate(document)
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, f"is not valid TOML: {error}") from None
    except ValidationError as error:
        (location, problem), *others = _mistakes(error)
        more = f" (and {len(others)} more mistake{'s' if len(others) > 1 else ''})" if others else ""
        raise InputError(path, f"{problem}{more}", row=_field(location, document) or None) from None


def mistakes(document: dict[str, Any]) -> dict[str, str]:
    """All mistakes in a definition, by field, such as `phases.0.per_day`.

    >>> mistakes({"slug": "Mine", "title": "Mine", "task": "emocontext", "phases": [{}]})["slug"]
    "String should match pattern '^[a-z0-9][a-z0-9-]{0,62}$'"
    """
    try:
        Definition.model_validate(document)
    except ValidationError as error:
        return {".".join(map(str, location)): problem for location, problem in reversed(_mistakes(error))}
    return {}


def _mistakes(error: ValidationError) -> list[tuple[tuple[int | str, ...], str]]:
    faults = error.errors(include_url=False, include_context=False)
    # A list whose items are wrong is reported as too short as well, since they do not count.
    inner = {fault["loc"][:1] for fault in faults if len(fault["loc"]) > 1}
    real = [fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in inner]
    return [(fault["loc"], fault["msg"].removeprefix("Value error, ")) for fault in real]


def _field(location: tuple[int | str, ...], document: dict[str, Any]) -> str:
    """`phases.practice.per_day` rather than `phases.0.per_day`, where the phase has a name."""
    parts = [str(part) for part in location]
    if len(location) > 1 and location[0] == "phases" and isinstance(location[1], int):
        phase = document["phases"][location[1]]
        name = phase.get("name") if isinstance(phase, dict) else None
        parts[1] = str(name) if isinstance(name, str) else f"[{location[1] + 1}]"
    return ".".join(parts)


def ready_challenges() -> list[str]:
    """The names of the challenge templates that come with the package.

    >>> ready_challenges()
    ['emocontext', 'emotionx-friends', 'emotionx-push', 'iest']
    """
    folder = files("emoscope.server.challenge").joinpath("ready")
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def ready_challenge(name: str) -> str:
    """The text of a challenge template that comes with the package."""
    if name not in ready_challenges():
        raise EmoscopeError(f"no challenge template {name!r}; available: {', '.join(ready_challenges())}")
    return files("emoscope.server.challenge").joinpath("ready", f"{name}.toml").read_text(encoding="utf-8")
