"""A badge with a team's rank, for other websites."""

from emoscope.server.challenge.views import BoardView
from emoscope.server.http.rendering import templates

_WIDTH = 6.6  # of a character, approximately


def badge(board: BoardView | None, team: str, title: str) -> str:
    """An SVG with the challenge on the left and the team's rank and score on the right; hidden without a board."""
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
