"""Files for participants, such as training data."""

from fastapi import UploadFile

from emoscope.server.challenge.dependencies import Slug, uploaded
from emoscope.server.challenge.pages.console.shell import console_page, console_router
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import handouts
from emoscope.server.http.forms import Values

router = console_router("/files")
files = console_page(router, "", "files")


@files.page
def _files(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"files": visitor.ask(handouts.list_files, slug)}


@files.form("")
def _add(
    visitor: FormVisitor, slug: Slug, file: UploadFile | None = None, title: ShortField = "", phase: ShortField = ""
) -> Values:
    with uploaded(visitor, slug, file) as path:
        added = visitor.ask(handouts.add_file, slug, path, title=title.strip(), phase=phase or None)
    when = "Teams can download it now." if added.given_out else f"Teams get it when phase {added.phase} opens."
    return {"done": f"{added.name} was added. {when}"}


@files.form("/remove")
def _remove(visitor: FormVisitor, slug: Slug, name: ShortField = "") -> Values:
    """Stop offering a file."""
    visitor.ask(handouts.remove_file, slug, name)
    return {"done": f"{name} is no longer available."}
