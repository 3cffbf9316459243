"""Organisers' Markdown as safe HTML, and how long it is until something happens."""

from datetime import timedelta
from functools import cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_BLOCKS = {"h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "pre", "blockquote", "div"}
_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
_INLINE = {"em", "strong", "s", "code", "a"}
# The region around a table is ours: it scrolls, also with the keyboard.
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "div": {"class", "tabindex", "role", "aria-label"}}
_TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    return parser


def _open_table(*_: Any) -> str:
    return _TABLE


def _close_table(*_: Any) -> str:
    return "</table></div>"


def markdown(text: str) -> Markup:
    """Markdown as HTML to put into a page below a heading of the second level.

    HTML in the text is shown as text; what is made is sanitised once more: no scripts, styles, images or forms.

    >>> str(markdown("# Rules\\n*Be* <b onclick=x>fair</b>"))
    '<h3>Rules</h3>\\n<p><em>Be</em> &lt;b onclick=x&gt;fair&lt;/b&gt;</p>\\n'
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _lower(token)
    made = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        made,
        tags=_BLOCKS | _TABLES | _INLINE,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return Markup(clean)


def _lower(token: Token) -> None:
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def remaining(time: timedelta) -> str:
    """How long something takes, in the two largest units.

    >>> remaining(timedelta(days=3, hours=4, minutes=5)), remaining(timedelta(hours=1, seconds=20))
    ('3 days 4 hours', '1 hour')
    """
    minutes = max(0, int(time.total_seconds()) // 60)
    parts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    named = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts[:2] if count]
    return " ".join(named) or "less than a minute"
