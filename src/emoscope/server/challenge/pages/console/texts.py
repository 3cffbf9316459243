"""The texts of a challenge's page: description, rules, data, timeline and questions, in Markdown with a preview."""

from typing import Annotated

from fastapi import Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Slug
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import challenges
from emoscope.server.markdown import markdown

router = console_router("/texts")
LongField = Annotated[str, Form(max_length=25_000)]  # a longer one than is kept, so that it is refused with the form


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
    """Save the texts, or show how they would look."""
    filled = {"description": description, "rules": rules, "data": data, "timeline": timeline, "faq": faq}
    texts = {name: text.replace("\r\n", "\n").strip() for name, text in filled.items()}  # as forms send lines
    if preview:
        shown = {name: markdown(text) for name, text in texts.items() if text}
        return console(visitor, slug, "texts", preview=shown, filled=texts)
    if error := refused(visitor, challenges.change_challenge, slug, texts):
        return console(visitor, slug, "texts", error=error, preview={}, filled=texts)
    return console(visitor, slug, "texts", done="The texts are saved and stand on the challenge's page.", preview={})
