"""Guidelines and consents as HTML: what a manager writes in Markdown, without raw HTML, images or odd links."""

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup


@cache
def _renderer() -> MarkdownIt:
    # Raw HTML is shown as text; `javascript:` and the like are never made links. Turns of a dialogue keep their lines.
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")


def markdown(text: str) -> Markup:
    """Markdown as HTML that is safe to show; headings begin below those of the page.

    >>> markdown("**Joy** <script>")
    Markup('<p><strong>Joy</strong> &lt;script&gt;</p>\\n')
    """
    tokens = _renderer().parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    ranks = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(6, 3 + ranks.index(token.tag))}"
    return Markup(_renderer().renderer.render(tokens, _renderer().options, {}))
