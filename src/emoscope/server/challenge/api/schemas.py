"""Request bodies of the challenge routes; responses are the views of `emoscope.server.challenge.views`."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from pydantic.config import JsonDict

from emoscope.server.challenge import limits
from emoscope.server.challenge.services.applicants import clean_email
from emoscope.server.challenge.views import PHASE_PATTERN, Registration
from emoscope.server.errors import Invalid
from emoscope.server.http.schemas import Integral, StrictInput, example, whole_characters
from emoscope.server.store.names import LINE_PATTERN, MAX_NAME, TEXT_PATTERN, printable


def _address(value: str) -> str:
    try:
        address = clean_email(value)
    except Invalid:
        address = None
    if address is None:
        raise ValueError("is not a valid e-mail address")
    return address


def _not_blank(pattern: str) -> JsonDict:
    """The pattern of a text with at least one character that is not a blank."""
    characters = pattern.removeprefix("^").removesuffix("*$")
    return {"pattern": f"^{characters}*{characters[:-1]}\\s]{characters}*$"}


# The schemas describe what validators check. Names have more rules than a pattern can express, hence their format.
_NAME = r"^[^\x00-\x1f\x7f-\x9f<>\"`\\/=+@-][^\x00-\x1f\x7f-\x9f<>\"`\\/]*$"
_Whole = AfterValidator(whole_characters)
Line = Annotated[str, _Whole, AfterValidator(printable), Field(json_schema_extra={"pattern": LINE_PATTERN})]
Text = Annotated[
    str, _Whole, AfterValidator(partial(printable, lines=True)), Field(json_schema_extra={"pattern": TEXT_PATTERN})
]
Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_NAME,
        description="With a letter or digit; no markup, control or invisible characters, nor stacked accents",
        json_schema_extra={"format": "display-name", "pattern": _NAME},
    ),
    _Whole,
    AfterValidator(printable),
]
Secret = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
Address = Annotated[str, _Whole, AfterValidator(_address), Field(json_schema_extra={"format": "email"})]
Email = Address | None
Title = Annotated[Line, Field(min_length=1, max_length=limits.MAX_TITLE, json_schema_extra=_not_blank(LINE_PATTERN))]
PageText = Annotated[Text, Field(max_length=limits.MAX_DESCRIPTION)]
SurveyAnswer = Annotated[Line, Field(max_length=limits.MAX_ANSWER)]
SurveyAnswers = Annotated[list[SurveyAnswer], Field(max_length=limits.MAX_ANSWERS)]


class RegisterIn(StrictInput):
    """A new team and its first member."""

    model_config = example({"team": "Aurora", "member": "Ana"})
    team: Name
    member: Name
    email: Email = None
    invitation: Annotated[Secret | None, Field(description="Required where registration is by invitation")] = None


class LinkIn(StrictInput):
    """The last part of a mailed link."""

    model_config = example({"link": "con_abc"})
    link: Secret


class RecoverIn(LinkIn):
    """The last part of a mailed link, and whether the old tokens stay valid."""

    model_config = example({"link": "rec_abc"})
    keep: bool = False


class RecoveryIn(StrictInput):
    """A member's e-mail address."""

    model_config = example({"email": "ana@example.org"})
    email: Address


class RecoveryOut(BaseModel):
    """The same response for every address."""

    detail: str = "if a member has this address, we have sent them a link"


class InviteTeamIn(StrictInput):
    """The address to mail the invitation to, if any."""

    model_config = example({"email": "ana@example.org"})
    email: Email = None


class JoinIn(StrictInput):
    """A new member with an invitation."""

    model_config = example({"invitation": "inv_abc", "member": "Ben"})
    invitation: Secret
    member: Name
    email: Email = None


class NoteIn(StrictInput):
    """A team's note on its submission."""

    model_config = example({"note": "with the larger encoder"})
    note: Annotated[Line, Field(max_length=limits.MAX_NOTE)]


class ReportIn(StrictInput):
    """A team's report on its system: answers by survey question, a summary, a link to a paper."""

    model_config = example({"answers": {"representations": ["GloVe", "BERT"]}, "paper": "https://example.org/paper"})
    answers: dict[Annotated[str, Field(max_length=64)], SurveyAnswers]
    summary: Annotated[Text, Field(max_length=limits.MAX_SUMMARY)] = ""
    paper: Annotated[Line, Field(max_length=500)] = ""


class MergeIn(StrictInput):
    """The team to merge into."""

    model_config = example({"team": "Borealis"})
    team: Name


class AnswerIn(StrictInput):
    """Whether the merge offer is accepted."""

    model_config = example({"accept": True})
    accept: bool


class ChangesIn(StrictInput):
    """Changes to a challenge; values that are not given stay."""

    model_config = example({"registration": "closed"})
    title: Title | None = None
    description: PageText | None = None
    rules: PageText | None = None
    data: PageText | None = None
    timeline: PageText | None = None
    faq: PageText | None = None
    registration: Registration | None = None
    max_teams: Annotated[int, Field(ge=1, le=limits.MAX_TEAMS), Integral] | None = None


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a time such as 2030-01-20T00:00:00")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("is not a time such as 2030-01-20T00:00:00") from None


Moment = Annotated[datetime, BeforeValidator(_moment)]


class ScheduleIn(StrictInput):
    """A phase's times, in its time zone unless given an offset; values that are not given stay."""

    model_config = example({"closes": "2030-01-20T00:00:00"})
    opens: Moment | None = None
    closes: Moment | None = None
    labels: Annotated[Moment | None, Field(description="Teams get the labels; later submissions are unranked")] = None
    clear: Annotated[
        list[Literal["opens", "closes", "labels"]], Field(description="Times to remove", default_factory=list)
    ]


class ReasonIn(StrictInput):
    """Why a team is disqualified, shown to its members."""

    model_config = example({"reason": "two accounts of one person"})
    reason: Annotated[
        Line, Field(min_length=1, max_length=limits.MAX_REASON, json_schema_extra=_not_blank(LINE_PATTERN))
    ]


class NoticeIn(StrictInput):
    """An announcement, or a message to one team."""

    model_config = example({"title": "One day more", "text": "The phase closes on Sunday."})
    title: Title
    text: Annotated[
        Text, Field(min_length=1, max_length=limits.MAX_ANNOUNCEMENT, json_schema_extra=_not_blank(TEXT_PATTERN))
    ]
    mail: Annotated[bool, Field(description="Also mail it to all members with an address")] = False


class OrganiserIn(StrictInput):
    """The organiser's name, for the audit log."""

    model_config = example({"name": "Olga"})
    name: Name


class RescoreIn(StrictInput):
    """The phase to rescore; all by default."""

    model_config = example({"phase": "practice"})
    phase: Annotated[str, Field(max_length=limits.MAX_PHASE_NAME, pattern=PHASE_PATTERN)] | None = None


class RescoreOut(BaseModel):
    """The number of submissions queued for rescoring."""

    queued: int
