"""A badge with a team's place on a board, for a page elsewhere."""

from emoscope.server.challenge.views import BoardView
from emoscope.server.http.rendering import templates

_WIDTH = 6.6  # of a character of the badge's font, about


def badge(board: BoardView | None, team: str, title: str) -> str:
    """An SVG: the challenge on the left, rank and score of the team on the right; without a board it is hidden."""
    left, right = title[:40], "hidden" if board is None else _standing(board, team)
    widths = [round(len(text) * _WIDTH) + 12 for text in (left, right)]
    return templates().get_template("badge.svg.j2").render(left=left, right=right, widths=widths)


def _standing(board: BoardView, team: str) -> str:
    teams = [entry for entry in board.entries if entry.kind == "team"]
    entry = next((entry for entry in teams if entry.name == team), None)
    if entry is None or entry.score is None:
        return "no score"
    score = f"{entry.score:.{board.digits}f}"
    if entry.rank is None:
        return f"not ranked, {score}"
    return f"rank {entry.rank} of {sum(one.rank is not None for one in teams)}, {score}"
