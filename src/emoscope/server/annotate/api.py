"""The annotation page and the calls it makes.

The page is the same for everyone: it sends the token of the annotator's link as a bearer token. There is no cookie, so
no other site can act for the annotator; cross-site calls are refused all the same.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from emoscope.corpus.annotation.assignment import Answer
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.schemas import JudgeIn, StepIn
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem, running
from emoscope.server.http.rendering import page
from emoscope.server.http.security import is_cross_site

router = APIRouter(prefix="/annotate", include_in_schema=False)


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
def judge(desk: OpenDesk, annotator: CurrentAnnotator, body: JudgeIn) -> dict[str, Any]:
    """Save a judgement."""
    answers = tuple(Answer(answer.label, tuple(answer.others)) for answer in body.answers)
    return desk.judge(annotator, body.version, answers)


@router.post("/skip")
def skip(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Leave the item to others."""
    return desk.skip(annotator, body.version)


@router.post("/undo")
def undo(desk: OpenDesk, annotator: CurrentAnnotator, body: StepIn) -> dict[str, Any]:
    """Undo the last step."""
    return desk.undo(annotator, body.version)
