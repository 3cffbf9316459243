"""The managers' pages of a study; all of them work without scripts."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request, UploadFile
from sqlalchemy import select
from starlette.responses import RedirectResponse, Response

from emoscope.core.colours import colours_of
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.files import read_annotations, write_annotations
from emoscope.corpus.annotation.people import AnnotatorProfile
from emoscope.server.annotate.exchange import (
    final_labels,
    import_judgements,
    write_comments,
    write_final_labels,
    write_log,
)
from emoscope.server.annotate.links import link_token
from emoscope.server.annotate.managers import HOME, Manager, OwnForm, Place, SignedIn, manager_of
from emoscope.server.annotate.notes import Briefing, adjudicate, set_briefing, settle
from emoscope.server.annotate.overview import ItemRow
from emoscope.server.annotate.studies import (
    add_annotators,
    load_item,
    renew_link,
    revoke_annotator,
    study_results,
    the_study,
)
from emoscope.server.errors import Invalid, NotFound, Unauthenticated
from emoscope.server.http.forms import FormPage, Values, must_confirm, template
from emoscope.server.http.problems import Problem
from emoscope.server.http.rendering import page
from emoscope.server.http.security import is_cross_site
from emoscope.server.markdown import markdown
from emoscope.server.store.models import Annotator, StudyItem

router = APIRouter(prefix="/desk", include_in_schema=False)
annotators = FormPage(router, "/annotators", template("desk_annotators.html.j2"))
item_page = FormPage(router, "/items/{number}", template("desk_item.html.j2"))
guidelines_page = FormPage(router, "/guidelines", template("desk_guidelines.html.j2"))
files_page = FormPage(router, "/files", template("desk_files.html.j2"))

PAGE = 50
SHOWN = {
    "all": "All items",
    "open": "In progress",
    "complete": "Complete",
    "split": "No majority",
    "flagged": "Flagged",
    "adjudicated": "Adjudicated",
    "gold": "Gold, training and qualification",
}
FILES = {
    "judgements.csv": "Judgements as a table: task, worker, label",
    "label-studio.json": "Judgements and tasks for Label Studio",
    "doccano.jsonl": "Judgements and tasks for doccano",
    "prodigy.jsonl": "Judgements and tasks for Prodigy (prodigy db-in)",
    "labels.csv": "Final labels, adjudicated or by majority; ties are left out",
    "log.csv": "Everything annotators did, with the model's suggestions",
    "comments.csv": "Flags and comments, and how they were resolved",
}
_FORMATS = {"judgements": "csv", "label-studio": "label-studio", "doccano": "doccano", "prodigy": "prodigy"}
Field = Annotated[str, Form(max_length=300)]
LongField = Annotated[str, Form(max_length=200_000)]


@router.get("")
def overview_page(request: Request, place: Place) -> Response:
    """The overview, or the form to sign in."""
    try:
        manager = manager_of(request, place)
    except Problem:
        return page("desk_enter.html.j2", error=None)
    return manager.page("desk_overview.html.j2")


@router.post("/enter")
def enter(request: Request, place: Place, token: Field = "") -> Response:
    """Sign in with the managers' token."""
    number = None if is_cross_site(request) else place.desk.is_manager(token.strip().rpartition("#")[2])
    if number is None:
        wrong = Unauthenticated("this managers' link is not valid, or it has been replaced")
        return page("desk_enter.html.j2", status=401, error=wrong)
    response = RedirectResponse(HOME, 303)
    place.sessions.write(response, place.sessions.begin(number + 1))
    return response


@router.post("/leave")
def leave(manager: OwnForm) -> Response:
    """Sign out."""
    manager.place.sessions.end(manager.session)  # copies of its cookie are invalid, too
    response = manager.go("")
    response.delete_cookie(manager.place.sessions.cookie, path="/")
    return response


@annotators.page
def _annotators(manager: SignedIn) -> Values:
    """The annotators with their progress and links."""
    with manager.store.database.read() as session:
        people = session.scalars(select(Annotator).where(Annotator.study_id == the_study(session).id))
        tokens = {row.id: link_token(manager.place.desk.key, row.id, row.link) for row in people}
    return {"links": {number: f"{manager.base}/annotate#{token}" for number, token in tokens.items()}}


@annotators.form("/annotators")
def invite(
    manager: OwnForm, name: Field = "", country: Field = "", approval_rate: Field = "", tasks: Field = ""
) -> Response:
    """Add an annotator."""
    profile = {"country": country, "approval_rate": approval_rate, "tasks": tasks}
    add_annotators(manager.store, [AnnotatorProfile.checked(name, profile)])
    return manager.go("/annotators")


@annotators.form("/annotators/{number}/{action}")
def change_link(manager: OwnForm, number: int, action: Literal["revoke", "renew"], confirm: Field = "") -> Response:
    """Revoke or replace a link, once the annotator's name was typed to confirm."""
    annotator = next((row for row in manager.overview().annotators if row.id == number), None)
    if annotator is None:
        raise NotFound("there is no such annotator")
    name = annotator.name
    if not annotator.revoked:
        must_confirm(
            partial(manager.page, "desk_confirm.html.j2"),
            confirm,
            name,
            here="annotators",
            title=f"Revoke {name}’s link?" if action == "revoke" else f"Replace {name}’s link?",
            text="The current link stops working immediately and cannot be restored. Their judgements are kept.",
            action=f"{HOME}/annotators/{number}/{action}",
            back=f"{HOME}/annotators",
            buttons=[("Revoke link" if action == "revoke" else "Create new link", "", "", "danger")],
        )
    (revoke_annotator if action == "revoke" else renew_link)(manager.store, name)
    return manager.go("/annotators")


@router.get("/items")
def items_page(
    manager: SignedIn, show: str = "all", at: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1
) -> Response:
    """The items with their votes."""
    overview = manager.overview()
    show = show if show in SHOWN else "all"
    chosen = [item for item in overview.items if _is_shown(item, show)]
    pages = max(1, -(-len(chosen) // PAGE))
    at = min(at, pages)
    listed = chosen[(at - 1) * PAGE : at * PAGE]
    with manager.store.database.read() as session:
        texts = {item.id: load_item(session.get_one(StudyItem, item.id)).turns[-1].text for item in listed}
    counts = {name: sum(_is_shown(item, name) for item in overview.items) for name in SHOWN}
    values: dict[str, Any] = {"items": listed, "texts": texts, "show": show, "shown": SHOWN, "counts": counts}
    return manager.page("desk_items.html.j2", overview=overview, at=at, pages=pages, **values)


def _is_shown(item: ItemRow, show: str) -> bool:
    if show == "gold":
        return item.kind != "asked"
    return (
        item.kind == "asked"
        and {
            "all": True,
            "open": not item.complete,
            "complete": item.complete,
            "split": bool(item.judges) and item.split,
            "flagged": item.notes.flags > 0,
            "adjudicated": item.notes.adjudicated is not None,
        }[show]
    )


@item_page.page
def _item(manager: SignedIn, number: int) -> Values | Response:
    """An item with its dialogue, votes and comments, and the form to adjudicate it."""
    overview = manager.overview()
    row = next((item for item in overview.items if item.id == number), None)
    if row is None:
        return _not_found(manager, "items", "there is no such item")
    with manager.store.database.read() as session:
        stored = session.get_one(StudyItem, number)
        item, gold = load_item(stored), stored.gold
    snapshot = manager.place.desk.snapshot()
    judgements = [event for event in snapshot.judgements if event.item == item.name]
    values = {"row": row, "item": item, "gold": gold, "judgements": judgements, "queue": False}
    return {"overview": overview, "colours": colours_of(overview.rules.labels), **values}


def _not_found(manager: Manager, here: str, problem: str) -> Response:
    return manager.page("desk_message.html.j2", error=NotFound(problem), here=here, title="Not found", text="")


@router.get("/queue")
def queue_page(manager: SignedIn) -> Response:
    """The next item to adjudicate."""
    overview = manager.overview()
    if not overview.queue:
        text = "No item is flagged, and every complete item has a majority label."
        return manager.page(
            "desk_message.html.j2", overview=overview, here="queue", title="Nothing to adjudicate", text=text
        )
    return item_page.show(manager, {"number": overview.queue[0].id}, queue=True)


@item_page.form("/items/{number}/adjudicate")
def decide(
    manager: OwnForm,
    number: int,
    label: Annotated[list[str] | None, Form()] = None,
    why: LongField = "",
    queue: Field = "",
) -> Response:
    """Adjudicate an item."""
    adjudicate(manager.store, number, label or [], why, manager.overview().rules.labels)
    return manager.go("/queue" if queue else f"/items/{number}")


@item_page.form("/items/{number}/{action}")
def settle_item(
    manager: OwnForm, number: int, action: Literal["resolved", "reopened"], why: LongField = "", queue: Field = ""
) -> Response:
    """Close an item's flags, or withdraw its adjudication."""
    settle(manager.store, number, action, why)
    return manager.go("/queue" if queue else f"/items/{number}")


@guidelines_page.page
def _guidelines(manager: SignedIn) -> Values:
    """The guidelines, and the form to change them."""
    briefing = manager.place.desk.briefing()
    shown = {name: markdown(getattr(briefing, name), breaks=True) for name in ("guidelines", "consent")}
    return {"briefing": briefing, "shown": shown}


@guidelines_page.form("/guidelines")
def change_guidelines(manager: OwnForm, guidelines: LongField = "", consent: LongField = "") -> Response:
    """Change the guidelines; all annotators are asked to read them again."""
    clean = (text.replace("\r\n", "\n").strip() for text in (guidelines, consent))  # as forms send lines
    set_briefing(manager.store, Briefing(*clean))
    return manager.go("/guidelines")


@files_page.page
def _files(manager: SignedIn) -> Values:  # noqa: ARG001 (any manager)
    """Downloads, and the form to import judgements."""
    return {"files": FILES, "imported": None}


@router.get("/files/{name}")
def download(manager: SignedIn, name: str) -> Response:
    """Download a file."""
    if name not in FILES:
        return _not_found(manager, "files", "there is no such file")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        _write(manager, path)
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    media = {".csv": "text/csv", ".json": "application/json"}.get(path.suffix, "application/jsonl")
    return Response(content, headers=headers, media_type=media)


def _write(manager: Manager, path: Path) -> None:
    match path.stem:
        case "labels":
            write_final_labels(path, final_labels(manager.overview()))
        case "log":
            write_log(path, manager.store)
        case "comments":
            write_comments(path, manager.store)
        case stem:
            write_annotations(path, study_results(manager.store).annotations, _FORMATS[stem])


@files_page.form("/import")
def import_file(manager: OwnForm, file: UploadFile) -> Values:
    """Import judgements."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(file.filename or "file").name
        path.write_bytes(file.file.read())
        try:
            return {"imported": import_judgements(manager.store, read_annotations([path]))}
        except EmoscopeError as error:
            raise Invalid(str(error).replace(f"{folder}/", ""), field="file") from None
