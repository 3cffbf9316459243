"""Submissions: hand in, follow, take back."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Header, Query, UploadFile
from starlette.responses import FileResponse, Response

from emoscope.server.challenge.api.schemas import Line, NoteIn
from emoscope.server.challenge.dependencies import MAX_ID, PhaseName, Slug, SubmissionId, TokenCaller, download, hand_in
from emoscope.server.challenge.limits import MAX_NOTE, MAX_PHASE_NAME
from emoscope.server.challenge.services import submissions
from emoscope.server.challenge.views import PHASE_PATTERN, QuotaView, SubmissionView
from emoscope.server.http.problems import refusal, responses

router = APIRouter(
    prefix="/v1", tags=["submissions"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503)
)

PhaseChoice = Annotated[str | None, Query(pattern=PHASE_PATTERN, max_length=MAX_PHASE_NAME)]


@router.post(
    "/challenges/{slug}/submissions",
    summary="Submit a file",
    status_code=201,
    responses=refusal("The task's verifier refuses the file; `detail` names the row and the reason"),
)
def submit(
    caller: TokenCaller,
    slug: Slug,
    file: Annotated[UploadFile, File(description="Predictions in the task's submission format")],
    phase: Annotated[
        Line | None, Form(max_length=MAX_PHASE_NAME, description="Needed where several phases are open")
    ] = None,
    note: Annotated[Line, Form(max_length=MAX_NOTE, description="For yourself")] = "",
    idempotency_key: Annotated[
        str | None,
        Header(max_length=128, pattern=r"^[\x21-\x7e]+$", description="Sent again, the same file counts once"),
    ] = None,
) -> SubmissionView:
    """Verified at once: 201 with the queued submission, or 422 naming row and reason."""
    return hand_in(caller, slug, phase, file, note, idempotency_key)


@router.get("/challenges/{slug}/submissions", summary="Submissions")
def list_all(
    caller: TokenCaller,
    slug: Slug,
    phase: PhaseChoice = None,
    team: Annotated[int | None, Query(ge=1, le=MAX_ID, description="One team's, for organisers")] = None,
    deleted: Annotated[bool, Query(description="With those that were deleted")] = False,
    limit: Annotated[int, Query(ge=1, le=1000, description="The newest so many")] = 200,
    before: Annotated[str | None, Query(max_length=64, description="Older than this submission")] = None,
) -> list[SubmissionView]:
    """The own team's submissions; all for organisers. `before` the last one of a list is where the next goes on."""
    return caller.ask(
        submissions.list_submissions, slug, phase=phase, team_id=team, deleted=deleted, limit=limit, before=before
    )


@router.get("/challenges/{slug}/phases/{phase}/quota", summary="What is left today")
def quota(caller: TokenCaller, slug: Slug, phase: PhaseName) -> QuotaView:
    """What the own team has used and has left."""
    return caller.ask(submissions.quota, slug, phase)


@router.get("/submissions/{submission}", summary="One submission")
def one(caller: TokenCaller, submission: SubmissionId) -> SubmissionView:
    """Its state, figures and log."""
    return caller.ask(submissions.get_submission, submission)


@router.get("/submissions/{submission}/file", summary="The submitted file", response_class=Response)
def file(caller: TokenCaller, submission: SubmissionId) -> FileResponse:
    """The file as it was handed in."""
    return download(caller.ask(submissions.submission_file, submission))


@router.delete("/submissions/{submission}", summary="Delete a submission", status_code=204)
def delete(caller: TokenCaller, submission: SubmissionId) -> None:
    """Takes it off the board; its quota stays used, and it can be restored."""
    caller.ask(submissions.delete_submission, submission)


@router.post("/submissions/{submission}/restore", summary="Restore a submission", status_code=204)
def restore(caller: TokenCaller, submission: SubmissionId) -> None:
    """Brings a deleted submission back."""
    caller.ask(submissions.restore_submission, submission)


@router.put("/submissions/{submission}/note", summary="Change the note", status_code=204)
def note(caller: TokenCaller, submission: SubmissionId, body: NoteIn) -> None:
    """The team's note on its submission."""
    caller.ask(submissions.annotate_submission, submission, body.note)


@router.put("/submissions/{submission}/chosen", summary="Choose the final submission", status_code=204)
def choose(caller: TokenCaller, submission: SubmissionId) -> None:
    """Makes it the one that counts for its team, in place of the best."""
    caller.ask(submissions.choose_submission, submission)


@router.delete("/submissions/{submission}/chosen", summary="Choose no longer", status_code=204)
def unchoose(caller: TokenCaller, submission: SubmissionId) -> None:
    """The best submission counts again."""
    caller.ask(submissions.choose_submission, submission, chosen=False)
