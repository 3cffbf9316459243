"""Boards and challenges as files, with what the actor may see; gold files are never read."""

import csv
import io
import json
from typing import Any, Literal

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.challenges import get_challenge, organises
from emoscope.server.challenge.services.submissions import list_submissions
from emoscope.server.challenge.services.teams import list_teams
from emoscope.server.challenge.views import BoardView
from emoscope.server.store import Store
from emoscope.server.store.names import cell

_COLUMNS = (
    *("rank", "kind", "name", "score", "low", "high", "cluster", "first_different"),
    *("received", "submissions", "stale", "state", "former_rank", "reported"),
)
_FIGURES = ("precision", "recall", "f1")


def board_text(board: BoardView, kind: Literal["csv", "json"]) -> str:
    """A board as JSON, or as CSV with a column for each further metric and each figure of each label."""
    if kind == "json":
        return json.dumps(board.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    labels = list(dict.fromkeys(label for entry in board.entries for label in entry.per_class))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [*_COLUMNS, *board.further_metrics, *(f"{figure}_{label}" for label in labels for figure in _FIGURES)]
    )
    for entry in board.entries:
        values = entry.as_dict()
        figures = [entry.further.get(name) for name in board.further_metrics]
        figures += [entry.per_class.get(label, {}).get(key) for label in labels for key in _FIGURES]
        writer.writerow([cell(value) for value in [*(values[column] for column in _COLUMNS), *figures]])
    return out.getvalue()


def export_challenge(store: Store, actor: Actor, slug: str) -> dict[str, Any]:
    """A challenge with the boards the actor may see; for organisers also its teams and submissions."""
    challenge = get_challenge(store, actor, slug)
    visible = [phase.name for phase in challenge.phases if phase.board_visible]
    exported: dict[str, Any] = {
        "challenge": challenge.as_dict(),
        "exported": store.clock().isoformat(),
        "boards": [leaderboard(store, actor, slug, phase).as_dict() for phase in visible],
    }
    if organises(store, actor, slug):
        exported["teams"] = [team.as_dict() for team in list_teams(store, actor, slug)]
        exported["submissions"] = [
            submission.as_dict() for submission in list_submissions(store, actor, slug, deleted=True)
        ]
    return exported
