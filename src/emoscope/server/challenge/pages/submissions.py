"""Handing in a file and following what becomes of it."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, UploadFile
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from emoscope.server.challenge.api.access import OpenStore, Slug, SubmissionId, handed_out
from emoscope.server.challenge.pages.challenges import organises, show_challenge
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor
from emoscope.server.challenge.services import challenges, submissions
from emoscope.server.errors import ChallengeError, Invalid

router = APIRouter(include_in_schema=False)
SHOWN = 500  # submissions on one page


@router.post("/challenges/{slug}/submissions")
def submit(
    request: Request,
    visitor: FormVisitor,
    store: OpenStore,
    slug: Slug,
    file: UploadFile | None = None,
    phase: Annotated[str, Form(max_length=64)] = "",
    note: Annotated[str, Form(max_length=500)] = "",
    key: Annotated[str, Form(max_length=128)] = "",
) -> Response:
    """Takes a file; the script of the page asks for JSON, a plain form gets a page."""
    wants_json = "application/json" in request.headers.get("accept", "")
    try:
        if file is None or not file.filename:
            raise Invalid("choose a file first", field="file")
        made = submissions.submit(
            store,
            visitor.actor,
            slug,
            phase or None,
            file.file,
            file_name=file.filename,
            media_type=file.content_type,
            note=note,
            key=key or None,
        )
    except ChallengeError as error:
        if wants_json:
            raise
        return show_challenge(visitor, store, slug, error=error)
    address = f"/submissions/{made.id}"
    return JSONResponse({"location": address}, 201) if wants_json else visitor.go(address)


@router.get("/challenges/{slug}/submissions")
def list_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """The own team's submissions; all of them for organisers."""
    challenge = challenges.get_challenge(store, visitor.actor, slug)
    found = submissions.list_submissions(store, visitor.actor, slug, deleted=True, limit=SHOWN)
    return visitor.page(
        "submissions.html.j2",
        here="challenges",
        challenge=challenge,
        submissions=found,
        organises=organises(visitor, store, slug),
    )


@router.get("/submissions/{submission}")
def one_page(visitor: CurrentVisitor, store: OpenStore, submission: SubmissionId) -> HTMLResponse:
    """A submission's state, figures and log."""
    found = submissions.get_submission(store, visitor.actor, submission)
    return visitor.page("submission.html.j2", here="challenges", submission=found)


@router.get("/submissions/{submission}/state")
def state(visitor: CurrentVisitor, store: OpenStore, submission: SubmissionId) -> JSONResponse:
    """The state alone, which the page asks for until it is final."""
    found = submissions.get_submission(store, visitor.actor, submission)
    return JSONResponse({"state": found.state, "final": found.final})


@router.get("/submissions/{submission}/file")
def file(visitor: CurrentVisitor, store: OpenStore, submission: SubmissionId) -> FileResponse:
    """The file as it was handed in."""
    return handed_out(submissions.submission_file(store, visitor.actor, submission))


@router.post("/submissions/{submission}/delete")
def delete(visitor: FormVisitor, store: OpenStore, submission: SubmissionId) -> Response:
    """Takes a submission off the board."""
    submissions.delete_submission(store, visitor.actor, submission)
    return visitor.go(f"/submissions/{submission}")


@router.post("/submissions/{submission}/restore")
def restore(visitor: FormVisitor, store: OpenStore, submission: SubmissionId) -> Response:
    """Brings it back."""
    submissions.restore_submission(store, visitor.actor, submission)
    return visitor.go(f"/submissions/{submission}")
