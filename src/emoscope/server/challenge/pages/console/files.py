"""Files for participants, such as training data."""

from typing import Any

from fastapi import UploadFile
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Slug
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import creation, handouts
from emoscope.server.errors import Invalid, ServerError

router = console_router("/files")


@router.get("")
def _page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug)


def _show(visitor: Visitor, slug: str, **values: Any) -> Response:
    return console(visitor, slug, "files", files=visitor.ask(handouts.list_files, slug), **values)


@router.post("")
def _add(
    visitor: FormVisitor, slug: Slug, file: UploadFile | None = None, title: ShortField = "", phase: ShortField = ""
) -> Response:
    try:
        if file is None or not file.filename:
            raise Invalid("choose a file first", field="file")
        added = visitor.ask(creation.add_uploaded_file, slug, file.filename, file.file, title=title, phase=phase)
    except ServerError as error:
        return _show(visitor, slug, error=error, filled={"title": title, "phase": phase})
    when = "Teams can download it now." if added.given_out else f"Teams get it when phase {added.phase} opens."
    return _show(visitor, slug, done=f"{added.name} was added. {when}")


@router.post("/remove")
def _remove(visitor: FormVisitor, slug: Slug, name: ShortField = "") -> Response:
    """Stop offering a file."""
    if error := refused(visitor, handouts.remove_file, slug, name):
        return _show(visitor, slug, error=error)
    return _show(visitor, slug, done=f"{name} is no longer available.")
