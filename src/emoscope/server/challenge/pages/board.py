"""Leaderboards, their files and badges, and the survey of teams' systems."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.board.techniques import techniques, techniques_text
from emoscope.server.challenge.dependencies import PhaseName, Slug, attachment, board_file
from emoscope.server.challenge.pages.board_plot import board_plot, history_plot, sorted_entries
from emoscope.server.challenge.pages.visitors import CurrentVisitor
from emoscope.server.challenge.services import challenges
from emoscope.server.challenge.services.actor import PUBLIC
from emoscope.server.challenge.views import BoardView
from emoscope.server.errors import NotAllowed
from emoscope.server.http.rendering import templates

router = APIRouter(prefix="/challenges/{slug}", include_in_schema=False)
_ASCENDING = {"rank", "team", "received"}
_CHARACTER = 6.6  # the approximate width of a badge's character
_SORTS = {"rank", "team", "score", "change", "submissions", "received"}
Text = Annotated[str, Query(max_length=100)]


@router.get("/board/{phase}")
def _board_page(
    visitor: CurrentVisitor,
    slug: Slug,
    phase: PhaseName,
    sort: Text = "rank",
    order: Text = "",
    q: Text = "",
    line: Text = "",
) -> Response:
    challenge = visitor.ask(challenges.get_challenge, slug)
    try:
        board = visitor.ask(leaderboard, slug, phase)
    except NotAllowed as hidden:
        return visitor.page("board_hidden.html.j2", error=hidden, challenge=challenge, phase=phase)
    labels = [label for label in challenge.labels if any(label in entry.per_class for entry in board.entries)]
    if sort not in _SORTS | {f"f1-{label}" for label in labels} | {f"by-{name}" for name in board.further_metrics}:
        sort = "rank"
    order = order if order in ("asc", "desc") else "asc" if sort in _ASCENDING else "desc"
    entries = list(board.entries)
    if (sort, order) != ("rank", "asc"):
        entries = sorted_entries(entries, sort, descending=order == "desc")
    matching = [entry for entry in entries if q.strip().casefold() in entry.name.casefold()]
    shown = next(other for other in challenge.phases if other.name == phase)
    return visitor.page(
        "board.html.j2",
        challenge=challenge,
        organises=visitor.ask(challenges.organises, slug),
        board=board,
        entries=matching,
        teams=[entry for entry in board.entries if entry.kind == "team"],
        mine=next((entry for entry in board.entries if entry.mine), None),
        plot=board_plot(board),
        histories=history_plot(board, shown.opens, shown.closes, line),
        labels=labels,
        rows_differ=any(entry.row is not None and entry.rank is None for entry in board.entries),
        ascending=_ASCENDING,
        sort=sort,
        order=order,
        q=q,
        line=line,
    )


@router.get("/board/{phase}/badge.svg")
def _badge(visitor: CurrentVisitor, slug: Slug, phase: PhaseName, team: Text = "") -> Response:
    """A team's rank for other websites: only what is public, whoever asks."""
    title = challenges.get_challenge(visitor.store, PUBLIC, slug).title
    try:
        standing = _standing(leaderboard(visitor.store, PUBLIC, slug, phase, published=False), team)
    except NotAllowed:
        standing = "hidden"
    headers = {"Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}
    texts = {"left": title[:40], "right": standing}
    widths = [round(len(text) * _CHARACTER) + 12 for text in texts.values()]
    svg = templates().get_template("badge.svg.j2").render(**texts, widths=widths)
    return Response(svg, media_type="image/svg+xml", headers=headers)


def _standing(board: BoardView, team: str) -> str:
    teams = [entry for entry in board.entries if entry.kind == "team"]
    entry = next((entry for entry in teams if entry.name == team), None)
    if entry is None or entry.score is None:
        return "no score"
    score = f"{entry.score:.{board.digits}f}"
    if entry.rank is None:
        return f"not ranked, {score}"
    return f"rank {entry.rank} of {sum(one.rank is not None for one in teams)}, {score}"


@router.get("/board/{phase}/{kind}")
def _board_file(visitor: CurrentVisitor, slug: Slug, phase: PhaseName, kind: Literal["csv", "json"]) -> Response:
    return board_file(visitor.ask(leaderboard, slug, phase), kind)


@router.get("/techniques")
def _techniques_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    challenge = visitor.ask(challenges.get_challenge, slug)
    try:
        tables = visitor.ask(techniques, slug)
    except NotAllowed as hidden:
        return visitor.page("techniques.html.j2", error=hidden, challenge=challenge, tables=[])
    return visitor.page("techniques.html.j2", challenge=challenge, tables=tables)


@router.get("/techniques/csv")
def _techniques_file(visitor: CurrentVisitor, slug: Slug) -> Response:
    return attachment(techniques_text(visitor.ask(techniques, slug)), f"{slug}-techniques.csv")
