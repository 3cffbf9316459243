"""What API routes and pages share: the caller, path parameters, uploads and downloads."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, TypeVar

from fastapi import BackgroundTasks, Depends, Path, Query, Request, Security, UploadFile
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import FileResponse, Response

from emoscope.server.challenge.board.export import board_text
from emoscope.server.challenge.limits import MAX_PHASE_NAME
from emoscope.server.challenge.services import creation
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.applicants import email_key
from emoscope.server.challenge.services.notices import post_notice, send_notice
from emoscope.server.challenge.services.registration import Post
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.throttle import admitted, network_of
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.services.uploads import clean_file_name
from emoscope.server.challenge.views import PHASE_PATTERN, BoardView, ChallengeView, NoticeView, SubmissionView
from emoscope.server.errors import Invalid, NotAllowed, Unauthenticated
from emoscope.server.http.problems import running
from emoscope.server.settings import Settings
from emoscope.server.store import Store

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
MAX_ID = 2**31 - 1  # the largest integer all databases store

# The API accepts tokens in the header only, never cookies, so other sites cannot act for a signed-in person.
_bearer = HTTPBearer(auto_error=False, description="A team member's or organiser's token")

OpenStore = Annotated[Store, Depends(running("store", "the store is not open"))]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """The actor behind a request, and the store."""

    store: Store
    actor: Actor

    def ask(self, service: Callable[Concatenate[Store, Actor, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a service function as this caller."""
        return service(self.store, self.actor, *arguments, **options)


def _anybody(
    request: Request,
    store: OpenStore,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None,
) -> Caller:
    if credentials is None and request.headers.get("authorization"):
        raise Unauthenticated("the Authorization header must be: Bearer TOKEN")
    return Caller(store, authenticate(store, credentials.credentials if credentials else None))


def _somebody(caller: Annotated[Caller, Depends(_anybody)]) -> Caller:
    if caller.actor.role == "public":
        raise Unauthenticated("a token is required")
    return caller


@dataclass(frozen=True, slots=True)
class Gate(Post):
    """The client's address, its rate limits, and how links are mailed."""

    store: Store
    settings: Settings
    address: str

    def registering(self, actor: Actor) -> AbstractContextManager[None]:
        """Count a registration from this address, or refuse it; organisers are not limited."""
        if actor.role == "organiser":
            return nullcontext()
        known = self.settings
        limits = {self.address: known.registrations_per_address}
        network = network_of(self.address)
        if network != self.address:
            limits[network] = known.registrations_per_network
        return admitted(self.store, "register", limits)

    def admit(self, to: str) -> AbstractContextManager[None]:
        """Count a mail by client and recipient, or refuse it."""
        limit = self.settings.mails_per_address
        return admitted(self.store, "mail", {self.address: limit, f"to {email_key(to)[:300]}": limit})


def _gate(request: Request, store: OpenStore) -> Gate:
    settings: Settings = request.app.state.settings
    base = (settings.public_url or str(request.base_url)).rstrip("/")
    address = request.client.host if request.client else "unknown"
    return Gate(request.app.state.mailer, base, store, settings, address)


OpenGate = Annotated[Gate, Depends(_gate)]
TokenCaller = Annotated[Caller, Depends(_somebody)]
# Anyone, with or without a token. FastAPI cannot tell that it is optional, so these routes add NO_TOKEN_NEEDED.
AnyCaller = Annotated[Caller, Depends(_anybody)]
NO_TOKEN_NEEDED: dict[str, Any] = {"security": [{}]}
Slug = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64, examples=["emocontext"])]
PhaseName = Annotated[str, Path(pattern=PHASE_PATTERN, max_length=MAX_PHASE_NAME, examples=["practice"])]
Number = Annotated[int, Path(ge=1, le=MAX_ID)]
AuditLimit = Annotated[int, Query(ge=1, le=1000)]
AuditBefore = Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only entries older than this one")]
SubmissionId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]


def download(file: tuple[FilePath, str]) -> FileResponse:
    """A file to download, by its path and name; never shown or run by a browser."""
    return FileResponse(file[0], filename=file[1], media_type="application/octet-stream")


def hand_in(
    caller: Caller, slug: str, phase: str | None, file: UploadFile, note: str, key: str | None
) -> SubmissionView:
    """Submit an uploaded file to a phase, or to the only open one."""
    name, media_type = file.filename or "", file.content_type
    return caller.ask(submit, slug, phase or None, file.file, file_name=name, media_type=media_type, note=note, key=key)


def uploaded(
    caller: Caller, slug: str, file: UploadFile | None, missing: str = "choose a file first"
) -> AbstractContextManager[FilePath]:
    """An organiser's upload as a temporary file."""
    if file is None or not file.filename:
        raise Invalid(missing, field="file")
    return caller.ask(creation.uploaded, slug, file.filename, file.file)


def received(caller: Caller, definition: bytes, name: str, files: Sequence[UploadFile]) -> ChallengeView:
    """Create a challenge from an uploaded TOML file and the files it names."""
    try:
        text = definition.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid("the definition is not UTF-8 text", field="definition") from None
    named = {clean_file_name(file.filename or ""): file.file for file in files}
    return caller.ask(creation.create_from_uploads, text, named, source=clean_file_name(name))


def posted(
    caller: Caller,
    post: Post,
    later: BackgroundTasks,
    slug: str,
    title: str,
    text: str,
    *,
    team_id: int | None = None,
    mail: bool = False,
) -> NoticeView:
    """Post an announcement or a message to a team; mails are sent after the response."""
    if mail and post.mailer is None:
        raise NotAllowed("this server sends no e-mail", field="mail")
    notice = caller.ask(post_notice, slug, title=title, text=text, team_id=team_id, mail=mail)
    if notice.unsent:
        later.add_task(send_notice, caller.store, caller.actor, slug, notice.id, post)
    return notice


def attachment(text: str, name: str) -> Response:
    """A CSV or JSON file to download."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=_MEDIA_TYPES[name.rpartition(".")[2]], headers=headers)


def board_file(board: BoardView, format: Literal["csv", "json"]) -> Response:
    """A board as a file to download."""
    return attachment(board_text(board, format), f"{board.challenge}-{board.phase}.{format}")
