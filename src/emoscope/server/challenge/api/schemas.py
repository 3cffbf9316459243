"""What the platform's routes take. Their answers are the views of `emoscope.server.challenge`."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from emoscope.server.detect.schemas import Text


def _no_control(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("must not hold control characters")
    return value


Line = Annotated[Text, AfterValidator(_no_control)]
Name = Annotated[Line, Field(min_length=1, max_length=200)]
Email = Annotated[Line | None, Field(max_length=254)]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RegisterIn(_Input):
    """A new team and its first member."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"team": "Aurora", "member": "Ana"}]})
    team: Name
    member: Name
    email: Email = None


class JoinIn(_Input):
    """A new member of a team that invited them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"invitation": "inv_...", "member": "Ben"}]})
    invitation: Name
    member: Name
    email: Email = None


class MergeIn(_Input):
    """The team to join with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"team": "Borealis"}]})
    team: Name


class AnswerIn(_Input):
    """Whether an offered merge is accepted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"accept": True}]})
    accept: bool


class RescoreIn(_Input):
    """What is to be scored again: one phase, or all."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"phase": "practice"}]})
    phase: Annotated[Line | None, Field(max_length=64)] = None


class RescoreOut(BaseModel):
    """How much is to be scored again."""

    queued: int
