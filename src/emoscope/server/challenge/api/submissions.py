"""Submissions: submit, list, delete, choose."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Header, Query, UploadFile
from starlette.responses import FileResponse, Response

from emoscope.server.challenge.api.schemas import Line, NoteIn
from emoscope.server.challenge.dependencies import MAX_ID, PhaseName, Slug, SubmissionId, TokenCaller, download, hand_in
from emoscope.server.challenge.limits import MAX_NOTE, MAX_PHASE_NAME
from emoscope.server.challenge.services import submissions
from emoscope.server.challenge.views import PHASE_PATTERN, QuotaView, SubmissionView
from emoscope.server.http.problems import CHANGING, refusal

router = APIRouter(prefix="/v1", tags=["submissions"], responses=CHANGING)

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
        Line | None, Form(max_length=MAX_PHASE_NAME, description="Required if several phases are open")
    ] = None,
    note: Annotated[Line, Form(max_length=MAX_NOTE, description="A note for your team")] = "",
    idempotency_key: Annotated[
        str | None,
        Header(
            max_length=128, pattern=r"^[\x21-\x7e]+$", description="A repeated request with the same key counts once"
        ),
    ] = None,
) -> SubmissionView:
    """Verifies the file and queues it for scoring, or responds 422 with each row and reason."""
    return hand_in(caller, slug, phase, file, note, idempotency_key)


@router.get("/challenges/{slug}/submissions", summary="Submissions")
def list_all(
    caller: TokenCaller,
    slug: Slug,
    phase: PhaseChoice = None,
    team: Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only this team, for organisers")] = None,
    deleted: Annotated[bool, Query(description="Include deleted submissions")] = False,
    limit: Annotated[int, Query(ge=1, le=1000, description="The maximum number of submissions")] = 200,
    before: Annotated[str | None, Query(max_length=64, description="Only submissions older than this one")] = None,
) -> list[SubmissionView]:
    """Your team's submissions, newest first; all for organisers. `before` continues a list after its last entry."""
    return caller.ask(
        submissions.list_submissions, slug, phase=phase, team_id=team, deleted=deleted, limit=limit, before=before
    )


@router.get("/challenges/{slug}/phases/{phase}/quota", summary="Quota")
def quota(caller: TokenCaller, slug: Slug, phase: PhaseName) -> QuotaView:
    """What your team has used and has left."""
    return caller.ask(submissions.quota, slug, phase)


@router.get("/submissions/{submission}", summary="One submission")
def one(caller: TokenCaller, submission: SubmissionId) -> SubmissionView:
    """A submission's state, figures and log."""
    return caller.ask(submissions.get_submission, submission)


@router.get("/submissions/{submission}/file", summary="The submitted file", response_class=Response)
def file(caller: TokenCaller, submission: SubmissionId) -> FileResponse:
    """The file as it was submitted."""
    return download(caller.ask(submissions.submission_file, submission))


@router.delete("/submissions/{submission}", summary="Delete a submission", status_code=204)
def delete(caller: TokenCaller, submission: SubmissionId) -> None:
    """Removes a submission from the board; it still counts against the quota, and can be restored."""
    caller.ask(submissions.delete_submission, submission)


@router.post("/submissions/{submission}/restore", summary="Restore a submission", status_code=204)
def restore(caller: TokenCaller, submission: SubmissionId) -> None:
    """Restores a deleted submission."""
    caller.ask(submissions.restore_submission, submission)


@router.put("/submissions/{submission}/note", summary="Change the note", status_code=204)
def note(caller: TokenCaller, submission: SubmissionId, body: NoteIn) -> None:
    """Changes the team's note on its submission."""
    caller.ask(submissions.annotate_submission, submission, body.note)


@router.put("/submissions/{submission}/chosen", summary="Choose the final submission", status_code=204)
def choose(caller: TokenCaller, submission: SubmissionId) -> None:
    """Makes a submission the one that counts for its team, instead of the best."""
    caller.ask(submissions.choose_submission, submission)


@router.delete("/submissions/{submission}/chosen", summary="Undo the choice", status_code=204)
def unchoose(caller: TokenCaller, submission: SubmissionId) -> None:
    """The best submission counts again."""
    caller.ask(submissions.choose_submission, submission, chosen=False)
