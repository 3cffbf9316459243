"""The annotation page and its API.

The page sends the token of the annotator's link as a bearer token. There is no cookie, so no other site can act for
the annotator; cross-site calls are refused nevertheless.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse

from emoscope.corpus.annotation.assignment import Assignment, LabelChoice
from emoscope.server.annotate import manager_pages
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.notes import MAX_TEXT, Briefing
from emoscope.server.annotate.rules import KEYS
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem, running
from emoscope.server.http.rendering import page
from emoscope.server.http.security import is_cross_site
from emoscope.server.markdown import markdown

router = APIRouter(prefix="/annotate", include_in_schema=False)
router.include_router(manager_pages.router)

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]  # as many as an integer column holds


class StepIn(BaseModel, extra="forbid"):
    """A change of one version of the annotator's state; it has no effect on any other version."""

    version: Count


class JudgementIn(BaseModel, extra="forbid"):
    """A label, and other labels that might apply."""

    label: str = Field(max_length=500)
    others: list[str] = Field(default_factory=list, max_length=len(KEYS))


class JudgeIn(StepIn):
    """The answers to the current item, one for each turn to label."""

    answers: list[JudgementIn] = Field(min_length=1, max_length=10_000)

    @property
    def choices(self) -> tuple[LabelChoice, ...]:
        """The answers as the desk expects them."""
        return tuple(LabelChoice(answer.label, tuple(answer.others)) for answer in self.answers)


class ReviseIn(JudgeIn):
    """New answers to an earlier item."""

    place: Count


class BeginIn(BaseModel, extra="forbid"):
    """The version of the briefing that the annotator accepts."""

    briefing: str = Field(max_length=64)


class EarlierIn(BaseModel, extra="forbid"):
    """The place before which to list earlier items; the latest ones by default."""

    before: Count | None = None


class RemarkIn(BaseModel, extra="forbid"):
    """A comment or a flag for the managers, on the current item or an earlier one."""

    flag: bool = False
    text: str = Field("", max_length=4 * MAX_TEXT)
    place: Count | None = None


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
def annotate_page(request: Request) -> HTMLResponse:
    """The annotation page; it contains the guidelines, which can be read without scripts."""
    desk: Desk | None = request.app.state.annotation_desk
    briefing = Briefing() if desk is None else desk.briefing()
    return page(
        "annotate.html.j2",
        guidelines=markdown(briefing.guidelines, breaks=True),
        consent=markdown(briefing.consent, breaks=True),
        briefing=briefing.version,
    )


@router.post("/look")
def look(desk: OpenDesk, annotator: CurrentAnnotator) -> dict[str, Any]:
    """The current item, or the next one."""
    return desk.act(annotator)


@router.post("/judge")
def _judge(desk: OpenDesk, annotator: CurrentAnnotator, body: JudgeIn) -> dict[str, Any]:
    choices = body.choices
    return desk.act(annotator, lambda state, worker, at: state.judge(worker, choices, at), body.version, choices)


@router.post("/skip")
def skip(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Leave the item to other annotators."""
    return desk.act(annotator, Assignment.skip, body.version)


@router.post("/begin")
def begin(desk: OpenDesk, annotator: CurrentAnnotator, body: BeginIn) -> dict[str, Any]:
    """Accept the briefing."""
    return desk.begin(annotator, body.briefing)


@router.post("/earlier")
def earlier(desk: OpenDesk, annotator: CurrentAnnotator, body: EarlierIn) -> dict[str, Any]:
    """List earlier items, the latest first."""
    return desk.earlier(annotator, body.before)


@router.post("/revise")
def revise(desk: OpenDesk, annotator: CurrentAnnotator, body: ReviseIn) -> dict[str, Any]:
    """Change the answer to an earlier item."""
    choices, place = body.choices, body.place
    return desk.act(
        annotator, lambda state, worker, at: state.revise(worker, place, choices, at), body.version, choices
    )


@router.post("/remark")
def remark(desk: OpenDesk, annotator: CurrentAnnotator, body: RemarkIn) -> dict[str, Any]:
    """Flag an item, or comment on it."""
    return desk.remark(annotator, "flag" if body.flag else "comment", body.text, body.place)


@router.post("/undo")
def _undo(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    return desk.act(annotator, Assignment.undo, body.version)
