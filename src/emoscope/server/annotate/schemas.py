"""The bodies of the annotation page's requests."""

from pydantic import BaseModel, ConfigDict, Field

from emoscope.server.annotate.rules import KEYS


class StepIn(BaseModel):
    """A request made at one version of the annotator's state; at any other it changes nothing."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=0, le=2**31 - 1)


class JudgementIn(BaseModel):
    """A label, and others that might apply."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(max_length=500)
    others: list[str] = Field(default_factory=list, max_length=len(KEYS))


class JudgeIn(StepIn):
    """The answers to the current item, one for each turn to be labelled."""

    answers: list[JudgementIn] = Field(min_length=1, max_length=10_000)
