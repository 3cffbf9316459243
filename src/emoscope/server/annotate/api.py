"""The annotation page and the calls it makes.

Annotators are known by the token of their link, which the page sends as a bearer token with every call. There is no
cookie, so no other site can act for them; that a call comes from our own page is checked all the same.
"""

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from emoscope.corpus.annotation.assignment import Answer
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.schemas import Judged, Step, shown
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem
from emoscope.server.http.rendering import page

router = APIRouter(prefix="/annotate", include_in_schema=False)


def _desk(request: Request) -> Desk:
    desk: Desk | None = request.app.state.annotation_desk
    if desk is None:
        raise Problem(503, "starting", "the store is not open", headers={"Retry-After": "1"})
    return desk


OpenDesk = Annotated[Desk, Depends(_desk)]


def _annotator(request: Request, desk: OpenDesk) -> int:
    origin = request.headers.get("origin")
    foreign = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if foreign or (origin is not None and urlsplit(origin).netloc != request.headers.get("host")):
        raise Problem(403, "foreign-call", "this call came from another site")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("this link is not valid; ask for a new one")
    return desk.annotator(token.strip()[:200])


CurrentAnnotator = Annotated[int, Depends(_annotator)]


@router.get("")
async def annotate_page() -> HTMLResponse:
    """The page; who looks at it, its script says."""
    return page("annotate.html.j2")


@router.post("/look")
def look(desk: OpenDesk, annotator: CurrentAnnotator) -> dict[str, Any]:
    """What is at hand, or the next item."""
    return shown(desk.look(annotator))


@router.post("/judge")
def judge(desk: OpenDesk, annotator: CurrentAnnotator, judged: Judged) -> dict[str, Any]:
    """Keep a judgement."""
    answers = tuple(Answer(answer.label, tuple(answer.others)) for answer in judged.answers)
    return shown(desk.judge(annotator, judged.version, answers))


@router.post("/skip")
def skip(desk: OpenDesk, annotator: CurrentAnnotator, step: Step) -> dict[str, Any]:
    """Leave the item to others."""
    return shown(desk.skip(annotator, step.version))


@router.post("/undo")
def undo(desk: OpenDesk, annotator: CurrentAnnotator, step: Step) -> dict[str, Any]:
    """Take back what was done last."""
    return shown(desk.undo(annotator, step.version))
