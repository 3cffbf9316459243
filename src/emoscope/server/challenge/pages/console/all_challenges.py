"""The console's front page, new challenges from a form or a TOML file, and what concerns the whole server."""

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, UploadFile
from starlette.datastructures import FormData
from starlette.datastructures import UploadFile as FormFile
from starlette.responses import Response

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.dependencies import Number, received
from emoscope.server.challenge.pages.console.overview import AUDIT_LINES, Before
from emoscope.server.challenge.pages.console.tokens import issue, revoke
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, WholeForm
from emoscope.server.challenge.services import audit, challenges, creation, definition, operation, tokens
from emoscope.server.challenge.services.actor import require_organiser
from emoscope.server.challenge.services.uploads import clean_file_name
from emoscope.server.errors import Invalid, NotAllowed, NotFound, ServerError, Unauthenticated
from emoscope.server.http.forms import FormPage, Values, template
from emoscope.tasks import TASKS

router = APIRouter(prefix="/organise", include_in_schema=False)
front = FormPage(router, "", template("console_front.html.j2"))
new_form = FormPage(router, "/new", template("console_new.html.j2"))
new_toml = FormPage(router, "/new/toml", template("console_toml.html.j2"))
PHASES = 4  # in the form
_FILES = ("unlabelled", "gold", "humans")


@front.page
def _front(visitor: CurrentVisitor) -> Values:
    actor = visitor.actor
    if actor.role != "organiser":
        raise (Unauthenticated if actor.role == "public" else NotAllowed)("only organisers can do this")
    everything = actor.organises(None)
    own = [item for item in visitor.ask(challenges.list_challenges) if visitor.ask(challenges.organises, item.slug)]
    listed = visitor.ask(tokens.list_tokens) if everything else []
    return {
        "challenges": own,
        "everything": everything,
        "storage": visitor.ask(operation.storage) if everything else None,
        "tokens": [token for token in listed if token.role == "organiser"],
        "done": None,
        "undo": None,
        "secret": None,
    }


@router.get("/audit")
def _audit_page(visitor: CurrentVisitor, before: Before = None) -> Response:
    lines = visitor.ask(audit.read_audit, limit=AUDIT_LINES, before=before)
    return visitor.page("console_whole_audit.html.j2", audit=lines, more=len(lines) == AUDIT_LINES)


@front.form("/tokens")
def _issue(visitor: FormVisitor, name: ShortField = "") -> Values:
    """Create a token for another organiser of all challenges."""
    return issue(visitor, name)


@front.form("/tokens/{token_id}/revoke")
def _revoke(visitor: FormVisitor, token_id: Number, confirm: ShortField = "") -> Values | Response:
    require_organiser(visitor.actor, None)
    return revoke(visitor, visitor.ask(tokens.list_tokens), token_id, confirm, back="/organise")


@new_form.page
def _form(visitor: CurrentVisitor) -> Values:
    require_organiser(visitor.actor, None)
    return {"wrong": {}, "tasks": sorted(TASKS), "rooms": range(PHASES), "opened": {0}}


def _used(filled: dict[str, str]) -> set[int]:
    """The phases of the form that were filled in, and always the first."""
    names = (f"phases.{number}.{field}" for number in range(PHASES) for field in ("name", "title", "per_day"))
    return {0, *(int(name.split(".")[1]) for name in names if filled.get(name))}


@new_form.form("/new")
def _create(visitor: FormVisitor, form: WholeForm) -> Values | Response:
    """Create a challenge from the form's fields and files."""
    filled = {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}
    try:
        document, uploads = _document(form, filled)
        created = visitor.ask(creation.create_from_uploads, document, uploads, source="the form")
    except ServerError as error:
        return {"error": error, "filled": filled, "wrong": getattr(error, "fields", {}), "opened": _used(filled)}
    return visitor.go(f"/challenges/{created.slug}/organise")


def _document(form: FormData, filled: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The form as a definition, and its files by names that differ between phases."""
    document: dict[str, Any] = {name: value for name, value in filled.items() if "." not in name and value.strip()}
    uploads: dict[str, Any] = {}
    phases = []
    for number in sorted(_used(filled)):
        start = f"phases.{number}."
        phase: dict[str, Any] = {
            name.removeprefix(start): value
            for name, value in filled.items()
            if name.startswith(start) and value.strip()
        }
        for field in _FILES:
            file = form.get(start + field)
            if isinstance(file, FormFile) and file.filename:
                phase[field] = f"{number}-{field}/{clean_file_name(file.filename)}"
                uploads[phase[field]] = file.file
        if phase.pop("published_humans", None):
            phase["humans"] = "published"
        phases.append(phase)
    return {**document, "phases": phases}, uploads


@new_toml.page
def _toml(visitor: CurrentVisitor, name: Annotated[str, Query(alias="template", max_length=64)] = "") -> Values:
    require_organiser(visitor.actor, None)
    try:
        text = definition.ready_challenge(name) if name else ""
    except EmoscopeError as error:
        raise NotFound(str(error)) from None
    return {"text": text, "templates": definition.ready_challenges()}


@new_toml.form("/new/toml")
def _create_from_toml(
    visitor: FormVisitor,
    text: Annotated[str, Form(max_length=200_000)] = "",
    toml: UploadFile | None = None,
    files: Annotated[list[UploadFile] | None, File()] = None,
) -> Values | Response:
    """Create a challenge from an uploaded or pasted TOML file and the files it names."""
    content, name = text.encode(errors="replace"), "definition"
    try:
        if toml is not None and toml.filename:
            content, name = toml.file.read(), toml.filename
        if not content.strip():
            raise Invalid("choose a TOML file or paste its text", field="text")
        created = received(visitor, content, name, [file for file in files or [] if file.filename])
    except ServerError as error:
        return {"error": error, "text": content.decode("utf-8", errors="replace")}
    return visitor.go(f"/challenges/{created.slug}/organise")
