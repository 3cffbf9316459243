"""Overview, scoring, exports, audit log and settings of a challenge."""

import json
from typing import Annotated, Literal

from fastapi import Form, Query
from starlette.responses import Response

from emoscope.server.challenge.board.export import export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import MAX_ID, PhaseName, Slug, attachment, board_file
from emoscope.server.challenge.pages.console.shell import (
    being_scored,
    console_page,
    console_router,
    only_the_challenge,
)
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import audit, challenges, notices, operation, teams
from emoscope.server.challenge.services.actor import PUBLIC
from emoscope.server.http.forms import Values

router = console_router()
overview = console_page(router, "", "")
scoring = console_page(router, "/scoring", "scoring")
settings = console_page(router, "/settings", "settings")
settings.page(only_the_challenge)
AUDIT_LINES = 100
Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@overview.page
def _overview(visitor: CurrentVisitor, slug: Slug) -> Values:
    there = [team for team in visitor.ask(teams.list_teams, slug) if not team.deleted]
    return {
        "teams": there,
        "waiting": [team for team in there if not team.approved],
        "jobs": visitor.ask(operation.jobs, slug),
        "stale": visitor.ask(challenges.count_stale, slug),
        "unsent": sum(notice.unsent for notice in visitor.ask(notices.list_notices, slug)),
        "storage": visitor.ask(operation.storage, slug),
        "audit": visitor.ask(audit.read_audit, slug, limit=10),
    }


@scoring.page
def _scoring(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"jobs": visitor.ask(operation.jobs, slug)}


@scoring.form("/rescore")
def _rescore(visitor: FormVisitor, slug: Slug, phase: Annotated[str, Form(max_length=64)] = "") -> Values:
    queued = visitor.ask(challenges.rescore, slug, phase or None)
    current = "" if queued else " All scores are current."
    return {"done": f"{being_scored(queued)}{current}"}


@console_page(router, "/exports", "exports").page
def _exports(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"storage": visitor.ask(operation.storage, slug)}


@router.get("/exports/{kind}.json")
def _export(visitor: CurrentVisitor, slug: Slug, kind: Literal["all", "public"]) -> Response:
    """The challenge with its boards: everything for organisers, or only what is public."""
    actor = PUBLIC if kind == "public" else visitor.actor
    text = json.dumps(export_challenge(visitor.store, actor, slug), indent=2, ensure_ascii=False) + "\n"
    return attachment(text, f"{slug}.json" if kind == "all" else f"{slug}-public.json")


@router.get("/exports/{phase}/{kind}")
def _final_board(visitor: CurrentVisitor, slug: Slug, phase: PhaseName, kind: Literal["csv", "json"]) -> Response:
    """The final ranking if the phase closed now."""
    return board_file(visitor.ask(leaderboard, slug, phase, final=True), kind)


@console_page(router, "/audit", "audit").page
def _audit(visitor: CurrentVisitor, slug: Slug, before: Before = None) -> Values:
    lines = visitor.ask(audit.read_audit, slug, limit=AUDIT_LINES, before=before)
    return {"audit": lines, "more": len(lines) == AUDIT_LINES}


@settings.form("/settings")
def _change(
    visitor: FormVisitor,
    slug: Slug,
    title: ShortField = "",
    registration: ShortField = "",
    max_teams: ShortField = "",
) -> Values:
    changes = {"title": title, "registration": registration, "max_teams": max_teams}
    visitor.ask(challenges.change_challenge, slug, changes)
    return {"done": "Settings saved."}


@settings.form("/delete")
def _delete(visitor: FormVisitor, slug: Slug) -> Response:
    """Delete a challenge: only its organisers see it, and they can undo it."""
    visitor.ask(challenges.delete_challenge, slug)
    done = "The challenge is deleted. Only its organisers can see it, and teams cannot sign in."
    return overview.show(visitor, {"slug": slug}, done=done, undo=f"/challenges/{slug}/organise/restore")


@overview.form("/restore")
def _restore(visitor: FormVisitor, slug: Slug) -> Values:
    visitor.ask(challenges.restore_challenge, slug)
    return {"done": "The challenge is restored.", "undo": f"/challenges/{slug}/organise/delete"}
