"""The texts of the challenge page in Markdown, with a preview, or from the edited TOML file."""

from typing import Annotated

from fastapi import Form, UploadFile

from emoscope.server.challenge.dependencies import Slug, uploaded
from emoscope.server.challenge.pages.console.shell import console_page, console_router, only_the_challenge
from emoscope.server.challenge.pages.visitors import FormVisitor, ShortField
from emoscope.server.challenge.services import challenges
from emoscope.server.http.forms import Values
from emoscope.server.markdown import markdown

router = console_router("/texts")
texts = console_page(router, "", "texts")
texts.page(only_the_challenge)
LongField = Annotated[str, Form(max_length=25_000)]  # above the limit, so that the form can say what is wrong


@texts.form("")
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


@texts.form("/file")
def _rewrite(visitor: FormVisitor, slug: Slug, file: UploadFile | None = None) -> Values:
    """Update texts and survey from the edited TOML file, like `emoscope challenge texts`."""
    with uploaded(visitor, slug, file, "choose the edited TOML file") as path:
        visitor.ask(challenges.rewrite, slug, path)
        return {"done": f"Texts and survey were updated from {path.name}."}
