"""The texts of the challenge page in Markdown, with a preview, or from the edited TOML file."""

from typing import Annotated

from fastapi import Form, UploadFile
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Slug
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import challenges, creation
from emoscope.server.errors import Invalid, ServerError
from emoscope.server.markdown import markdown

router = console_router("/texts")
LongField = Annotated[str, Form(max_length=25_000)]  # above the limit, so that the form can say what is wrong


@router.get("")
def _page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return console(visitor, slug, "texts", preview={})


@router.post("")
def _change(
    visitor: FormVisitor,
    slug: Slug,
    description: LongField = "",
    rules: LongField = "",
    data: LongField = "",
    timeline: LongField = "",
    faq: LongField = "",
    preview: ShortField = "",
) -> Response:
    """Save the texts, or show a preview."""
    filled = {"description": description, "rules": rules, "data": data, "timeline": timeline, "faq": faq}
    texts = {name: text.replace("\r\n", "\n").strip() for name, text in filled.items()}  # as forms send lines
    if preview:
        shown = {name: markdown(text) for name, text in texts.items() if text}
        return console(visitor, slug, "texts", preview=shown, filled=texts)
    if error := refused(visitor, challenges.change_challenge, slug, texts):
        return console(visitor, slug, "texts", error=error, preview={}, filled=texts)
    return console(visitor, slug, "texts", done="Texts saved and published.", preview={})


@router.post("/file")
def _rewrite(visitor: FormVisitor, slug: Slug, file: UploadFile | None = None) -> Response:
    """Update texts and survey from the edited TOML file, like `emoscope challenge texts`."""
    try:
        if file is None or not file.filename:
            raise Invalid("choose the edited TOML file", field="file")
        visitor.ask(creation.rewrite_by_upload, slug, file.filename, file.file)
    except ServerError as error:
        return console(visitor, slug, "texts", error=error, preview={})
    return console(visitor, slug, "texts", done=f"Texts and survey were updated from {file.filename}.", preview={})
