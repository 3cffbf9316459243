"""The request bodies of the challenge routes, which answer with the views of `emoscope.server.challenge.views`."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from emoscope.server.challenge.services.teams import clean_email
from emoscope.server.challenge.views import PHASE_PATTERN
from emoscope.server.errors import Invalid
from emoscope.server.http.schemas import StrictInput, example, whole_characters
from emoscope.server.store.names import MAX_NAME


def _no_control(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not hold control characters")
    return value


def _address(value: str) -> str:
    try:
        address = clean_email(value)
    except Invalid:
        address = None
    if address is None:
        raise ValueError("is not an e-mail address")
    return address


# What validators refuse is said in the schemas too. Names have more rules than a pattern can say, so a format has.
_ONE_LINE = {"pattern": r"^[^\x00-\x1f\x7f]*$"}
_Whole = AfterValidator(whole_characters)
Line = Annotated[str, _Whole, AfterValidator(_no_control), Field(json_schema_extra=_ONE_LINE)]
Name = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME, json_schema_extra={"format": "display-name"}),
    _Whole,
    AfterValidator(_no_control),
]
Secret = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
Address = Annotated[str, _Whole, AfterValidator(_address), Field(json_schema_extra={"format": "email"})]
Email = Address | None


class RegisterIn(StrictInput):
    """A new team and its first member."""

    model_config = example({"team": "Aurora", "member": "Ana"})
    team: Name
    member: Name
    email: Email = None
    invitation: Annotated[Secret | None, Field(description="Where registration is by invitation")] = None


class LinkIn(StrictInput):
    """What a mailed link ends with."""

    model_config = example({"link": "con_abc"})
    link: Secret


class RecoverIn(LinkIn):
    """What a mailed link ends with, and whether the old tokens stay valid."""

    model_config = example({"link": "rec_abc"})
    keep: bool = False


class RecoveryIn(StrictInput):
    """The address a member gave."""

    model_config = example({"email": "ana@example.org"})
    email: Address


class RecoveryOut(BaseModel):
    """The same answer for everybody."""

    detail: str = "if a member has this address, a link is on its way"


class InviteTeamIn(StrictInput):
    """The address an invitation is mailed to, if any."""

    model_config = example({"email": "ana@example.org"})
    email: Email = None


class JoinIn(StrictInput):
    """A new member of a team that invited them."""

    model_config = example({"invitation": "inv_abc", "member": "Ben"})
    invitation: Secret
    member: Name
    email: Email = None


class MergeIn(StrictInput):
    """The team to join with."""

    model_config = example({"team": "Borealis"})
    team: Name


class AnswerIn(StrictInput):
    """Whether an offered merge is accepted."""

    model_config = example({"accept": True})
    accept: bool


class RescoreIn(StrictInput):
    """What is to be scored again: one phase, or all."""

    model_config = example({"phase": "practice"})
    phase: Annotated[str, Field(max_length=64, pattern=PHASE_PATTERN)] | None = None


class RescoreOut(BaseModel):
    """How much is to be scored again."""

    queued: int
