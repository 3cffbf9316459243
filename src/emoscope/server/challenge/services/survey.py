"""Survey questions about teams' systems, and the papers' questionnaires as templates."""

import tomllib
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from emoscope.server.challenge.limits import MAX_ANSWER, MAX_TITLE

Option = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_ANSWER)]


class SurveyQuestion(BaseModel):
    """A question with its options; teams may add other answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE)]
    options: tuple[Option, ...] = Field(min_length=1, max_length=60)


def ready_surveys() -> dict[str, list[dict[str, Any]]]:
    """The questionnaires that come with the package: Table 4 of EmoContext, Tables 6 to 8 of IEST.

    >>> [question["name"] for question in ready_surveys()["iest"]]
    ['tools', 'methods', 'information']
    """
    text = files("emoscope.server.challenge").joinpath("ready_surveys.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text))
