"""The annotation page and the calls it makes.

The page is the same for everyone: it sends the token of the annotator's link as a bearer token. There is no cookie, so
no other site can act for the annotator; cross-site calls are refused all the same.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse

from emoscope.corpus.annotation.assignment import Answer
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.rules import KEYS
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem, running
from emoscope.server.http.rendering import page
from emoscope.server.http.security import is_cross_site

router = APIRouter(prefix="/annotate", include_in_schema=False)


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


OpenDesk = Annotated[Desk, Depends(running("annotation_desk", "the store is not open"))]


def _annotator(request: Request, desk: OpenDesk) -> int:
    if is_cross_site(request):
        raise Problem(403, "foreign-call", "this call came from another site")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("this link is not valid; ask for a new one")
    return desk.annotator(token.strip()[:200])


CurrentAnnotator = Annotated[int, Depends(_annotator)]


@router.get("")
async def annotate_page() -> HTMLResponse:
    """Label one dialogue after another."""
    return page("annotate.html.j2")


@router.post("/look")
def look(desk: OpenDesk, annotator: CurrentAnnotator) -> dict[str, Any]:
    """The current item, or the next one."""
    return desk.look(annotator)


@router.post("/judge")
def _judge(desk: OpenDesk, annotator: CurrentAnnotator, body: JudgeIn) -> dict[str, Any]:
    answers = tuple(Answer(answer.label, tuple(answer.others)) for answer in body.answers)
    return desk.judge(annotator, body.version, answers)


@router.post("/skip")
def skip(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Leave the item to others."""
    return desk.skip(annotator, body.version)


@router.post("/undo")
def _undo(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    return desk.undo(annotator, body.version)
