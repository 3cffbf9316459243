"""Submitting a file, and the pages of submissions."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, UploadFile
from starlette.responses import JSONResponse, Response

from emoscope.server.challenge.dependencies import Slug, SubmissionId, download, hand_in
from emoscope.server.challenge.pages.challenges import challenge_page
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor
from emoscope.server.challenge.services import challenges, submissions
from emoscope.server.errors import Invalid, ServerError
from emoscope.server.http.forms import FormPage, Values, template

router = APIRouter(include_in_schema=False)
one = FormPage(router, "/submissions/{submission}", template("submission.html.j2"))
SHOWN = 200  # submissions on one page


@router.post("/challenges/{slug}/submissions")
def submit(
    request: Request,
    visitor: FormVisitor,
    slug: Slug,
    file: UploadFile | None = None,
    phase: Annotated[str, Form(max_length=64)] = "",
    note: Annotated[str, Form(max_length=500)] = "",
    key: Annotated[str, Form(max_length=128)] = "",
) -> Response:
    """Submit a file; the page's script asks for JSON, a plain form gets a page."""
    wants_json = "application/json" in request.headers.get("accept", "")
    try:
        if file is None or not file.filename:
            raise Invalid("choose a file first", field="file")
        accepted = hand_in(visitor, slug, phase, file, note, key)
    except ServerError as error:
        if wants_json:
            raise
        return challenge_page.show(visitor, {"slug": slug}, error=error, filled={"phase": phase, "note": note})
    address = f"/submissions/{accepted.id}"
    return JSONResponse({"location": address}, 201) if wants_json else visitor.go(address)


@router.get("/challenges/{slug}/submissions")
def list_page(
    visitor: CurrentVisitor, slug: Slug, before: Annotated[str | None, Query(max_length=64)] = None
) -> Response:
    """The submissions of the visitor's team, or all for organisers, page by page."""
    listed = visitor.ask(submissions.list_submissions, slug, deleted=True, limit=SHOWN, before=before)
    return visitor.page(
        "submissions.html.j2",
        challenge=visitor.ask(challenges.get_challenge, slug),
        submissions=listed,
        more=len(listed) == SHOWN,
        organises=visitor.ask(challenges.organises, slug),
    )


@one.page
def _one(visitor: CurrentVisitor, submission: SubmissionId) -> Values:
    return {"submission": visitor.ask(submissions.get_submission, submission)}


@router.get("/submissions/{submission}/state")
def state(visitor: CurrentVisitor, submission: SubmissionId) -> Response:
    """The state, which the page polls until it is final."""
    current = visitor.ask(submissions.get_submission, submission)
    return JSONResponse({"state": current.state, "final": current.final})


@router.get("/submissions/{submission}/file")
def _file(visitor: CurrentVisitor, submission: SubmissionId) -> Response:
    return download(visitor.ask(submissions.submission_file, submission))


@one.form("/submissions/{submission}/choose")
def _choose(visitor: FormVisitor, submission: SubmissionId, chosen: Annotated[bool, Form()] = True) -> Response:
    """Choose a submission as the final one, or undo the choice."""
    visitor.ask(submissions.choose_submission, submission, chosen=chosen)
    return visitor.go(f"/submissions/{submission}")


@one.form("/submissions/{submission}/note")
def _note(
    visitor: FormVisitor, submission: SubmissionId, note: Annotated[str, Form(max_length=2_000)] = ""
) -> Response:
    visitor.ask(submissions.annotate_submission, submission, note)
    return visitor.go(f"/submissions/{submission}")


@one.form("/submissions/{submission}/delete")
def _delete(visitor: FormVisitor, submission: SubmissionId) -> Values:
    visitor.ask(submissions.delete_submission, submission)
    return {"undo": True}


@one.form("/submissions/{submission}/restore")
def _restore(visitor: FormVisitor, submission: SubmissionId) -> Response:
    visitor.ask(submissions.restore_submission, submission)
    return visitor.go(f"/submissions/{submission}")
