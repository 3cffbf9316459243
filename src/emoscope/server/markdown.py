"""Renders Markdown by organisers and managers as safe HTML."""

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_BLOCKS = {"h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "pre", "blockquote", "div"}
_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
_INLINE = {"em", "strong", "s", "code", "a"}
# We wrap tables in a region that can be scrolled with the keyboard.
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "div": {"class", "tabindex", "role", "aria-label"}}
_TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'


@cache
def _parser(*, breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable(["table", "strikethrough"])
    parser.add_render_rule("table_open", lambda *_: _TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser.disable("image")


def markdown(text: str, *, breaks: bool = False) -> Markup:
    """Markdown as HTML, with headings from the third level; with `breaks`, line breaks are kept.

    HTML in the text is escaped, and the output is sanitised: no scripts, styles, images or forms.

    >>> str(markdown("# Rules\\n*Be* <b onclick=x>fair</b>"))
    '<h3>Rules</h3>\\n<p><em>Be</em> &lt;b onclick=x&gt;fair&lt;/b&gt;</p>\\n'
    """
    parser = _parser(breaks=breaks)
    tokens = parser.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    ranks = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(6, 3 + ranks.index(token.tag))}"  # without gaps between levels
    clean = nh3.clean(
        parser.renderer.render(tokens, parser.options, {}),
        tags=_BLOCKS | _TABLES | _INLINE,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return Markup(clean)
