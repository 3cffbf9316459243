"""What participants read and download: the texts of the challenge page, in Markdown or from its TOML file; files."""

from typing import Annotated

from fastapi import Form, UploadFile

from emoscope.server.challenge.dependencies import Slug, uploaded
from emoscope.server.challenge.pages.console.shell import console_page, console_router, only_the_challenge
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import challenges, handouts
from emoscope.server.http.forms import Values
from emoscope.server.markdown import markdown

router = console_router()
texts = console_page(router, "/texts", "texts")
texts.page(only_the_challenge)
files = console_page(router, "/files", "files")
LongField = Annotated[str, Form(max_length=25_000)]  # above the limit, so that the form can say what is wrong


@texts.form("/texts")
def _change(
    visitor: FormVisitor,
    slug: Slug,
    description: LongField = "",
    rules: LongField = "",
    data: LongField = "",
    timeline: LongField = "",
    faq: LongField = "",
    preview: ShortField = "",
) -> Values:
    """Save the texts, or show a preview."""
    sent = {"description": description, "rules": rules, "data": data, "timeline": timeline, "faq": faq}
    clean = {name: text.replace("\r\n", "\n").strip() for name, text in sent.items()}  # as forms send lines
    if preview:
        return {"preview": {name: markdown(text) for name, text in clean.items() if text}, "filled": clean}
    visitor.ask(challenges.change_challenge, slug, clean)
    return {"done": "Texts saved and published."}


@texts.form("/texts/file")
def _rewrite(visitor: FormVisitor, slug: Slug, file: UploadFile | None = None) -> Values:
    """Update texts and survey from the edited TOML file, like `emoscope challenge texts`."""
    with uploaded(visitor, slug, file, "choose the edited TOML file") as path:
        visitor.ask(challenges.rewrite, slug, path)
        return {"done": f"Texts and survey were updated from {path.name}."}


@files.page
def _files(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"files": visitor.ask(handouts.list_files, slug)}


@files.form("/files")
def _add(
    visitor: FormVisitor, slug: Slug, file: UploadFile | None = None, title: ShortField = "", phase: ShortField = ""
) -> Values:
    with uploaded(visitor, slug, file) as path:
        added = visitor.ask(handouts.add_file, slug, path, title=title.strip(), phase=phase or None)
    when = "Teams can download it now." if added.given_out else f"Teams get it when phase {added.phase} opens."
    return {"done": f"{added.name} was added. {when}"}


@files.form("/files/remove")
def _remove(visitor: FormVisitor, slug: Slug, name: ShortField = "") -> Values:
    """Stop offering a file."""
    visitor.ask(handouts.remove_file, slug, name)
    return {"done": f"{name} is no longer available."}
