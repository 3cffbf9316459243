"""The request bodies of the challenge routes, which answer with the views of `emoscope.server.challenge.views`."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from emoscope.server.http.schemas import StrictInput, Text, example


def _no_control(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not hold control characters")
    return value


Line = Annotated[Text, AfterValidator(_no_control)]
Name = Annotated[Line, Field(min_length=1, max_length=200)]
Email = Annotated[Line | None, Field(max_length=254)]


class RegisterIn(StrictInput):
    """A new team and its first member."""

    model_config = example({"team": "Aurora", "member": "Ana"})
    team: Name
    member: Name
    email: Email = None
    invitation: Annotated[Line | None, Field(max_length=200, description="Where registration is by invitation")] = None


class LinkIn(StrictInput):
    """What a mailed link ends with."""

    model_config = example({"link": "con_..."})
    link: Name


class RecoverIn(LinkIn):
    """What a mailed link ends with, and whether the old tokens stay valid."""

    model_config = example({"link": "rec_..."})
    keep: bool = False


class RecoveryIn(StrictInput):
    """The address a member gave."""

    model_config = example({"email": "ana@example.org"})
    email: Annotated[Line, Field(min_length=3, max_length=254)]


class RecoveryOut(BaseModel):
    """The same answer for everybody."""

    detail: str = "if a member has this address, a link is on its way"


class InviteTeamIn(StrictInput):
    """The address an invitation is mailed to, if any."""

    model_config = example({"email": "ana@example.org"})
    email: Email = None


class JoinIn(StrictInput):
    """A new member of a team that invited them."""

    model_config = example({"invitation": "inv_...", "member": "Ben"})
    invitation: Name
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
    phase: Annotated[Line | None, Field(max_length=64)] = None


class RescoreOut(BaseModel):
    """How much is to be scored again."""

    queued: int
