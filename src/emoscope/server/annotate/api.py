"""The calls the annotation page makes.

The page sends the token of the annotator's link as a bearer token. There is no cookie, so no other site can act for
the annotator; cross-site calls are refused all the same.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from emoscope.corpus.annotation.assignment import Answer
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.schemas import JudgeIn, StepIn, shown
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem, from_state
from emoscope.server.http.security import is_cross_site

router = APIRouter(prefix="/annotate", include_in_schema=False)


def _desk(request: Request) -> Desk:
    desk: Desk = from_state(request, "annotation_desk", "the store is not open")
    return desk


OpenDesk = Annotated[Desk, Depends(_desk)]


def _annotator(request: Request, desk: OpenDesk) -> int:
    if is_cross_site(request):
        raise Problem(403, "foreign-call", "this call came from another site")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("this link is not valid; ask for a new one")
    return desk.annotator(token.strip()[:200])


CurrentAnnotator = Annotated[int, Depends(_annotator)]


@router.post("/look")
def look(desk: OpenDesk, annotator: CurrentAnnotator) -> dict[str, Any]:
    """The current item, or the next one."""
    return shown(desk.look(annotator))


@router.post("/judge")
def judge(desk: OpenDesk, annotator: CurrentAnnotator, body: JudgeIn) -> dict[str, Any]:
    """Save a judgement."""
    answers = tuple(Answer(answer.label, tuple(answer.others)) for answer in body.answers)
    return shown(desk.judge(annotator, body.version, answers))


@router.post("/skip")
def skip(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Leave the item to others."""
    return shown(desk.skip(annotator, body.version))


@router.post("/undo")
def undo(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Undo the last step."""
    return shown(desk.undo(annotator, body.version))
