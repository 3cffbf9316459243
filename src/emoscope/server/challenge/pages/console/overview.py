"""Overview, scoring, exports, audit log and settings of a challenge."""

import json
from typing import Annotated, Any, Literal

from fastapi import Form, Query
from starlette.responses import Response

from emoscope.server.challenge.board.export import export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import MAX_ID, PhaseName, Slug, attachment, board_file
from emoscope.server.challenge.pages.console.shell import being_scored, console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import audit, challenges, jobs, notices, storage, teams
from emoscope.server.challenge.services.actor import PUBLIC
from emoscope.server.errors import ServerError

router = console_router()
AUDIT_LINES = 100
Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
def _overview_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _overview(visitor, slug)


def _overview(visitor: Visitor, slug: str, **values: Any) -> Response:
    there = [team for team in visitor.ask(teams.list_teams, slug) if not team.deleted]
    return console(
        visitor,
        slug,
        "",
        teams=there,
        waiting=[team for team in there if not team.approved],
        jobs=visitor.ask(jobs.jobs, slug),
        stale=visitor.ask(challenges.count_stale, slug),
        unsent=sum(notice.unsent for notice in visitor.ask(notices.list_notices, slug)),
        storage=visitor.ask(storage.storage, slug),
        audit=visitor.ask(audit.read_audit, slug, limit=10),
        **values,
    )


@router.get("/scoring")
def _scoring_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _scoring(visitor, slug)


def _scoring(visitor: Visitor, slug: str, **values: Any) -> Response:
    return console(visitor, slug, "scoring", jobs=visitor.ask(jobs.jobs, slug), **values)


@router.post("/rescore")
def _rescore(visitor: FormVisitor, slug: Slug, phase: Annotated[str, Form(max_length=64)] = "") -> Response:
    try:
        queued = visitor.ask(challenges.rescore, slug, phase or None)
    except ServerError as error:
        return _scoring(visitor, slug, error=error)
    current = "" if queued else " All scores are current."
    return _scoring(visitor, slug, done=f"{being_scored(queued)}{current}")


@router.get("/exports")
def _exports_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return console(visitor, slug, "exports", storage=visitor.ask(storage.storage, slug))


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


@router.get("/audit")
def _audit_page(visitor: CurrentVisitor, slug: Slug, before: Before = None) -> Response:
    lines = visitor.ask(audit.read_audit, slug, limit=AUDIT_LINES, before=before)
    return console(visitor, slug, "audit", audit=lines, more=len(lines) == AUDIT_LINES)


@router.get("/settings")
def _settings_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return console(visitor, slug, "settings")


@router.post("/settings")
def _change(
    visitor: FormVisitor,
    slug: Slug,
    title: ShortField = "",
    registration: ShortField = "",
    max_teams: ShortField = "",
) -> Response:
    changes = {"title": title, "registration": registration, "max_teams": max_teams}
    if error := refused(visitor, challenges.change_challenge, slug, changes):
        return console(visitor, slug, "settings", error=error, filled=changes)
    return console(visitor, slug, "settings", done="Settings saved.")


@router.post("/delete")
def _delete(visitor: FormVisitor, slug: Slug) -> Response:
    """Delete a challenge: only its organisers see it, and they can undo it."""
    if error := refused(visitor, challenges.delete_challenge, slug):
        return console(visitor, slug, "settings", error=error)
    done = "The challenge is deleted. Only its organisers can see it, and teams cannot sign in."
    return _overview(visitor, slug, done=done, undo=f"/challenges/{slug}/organise/restore")


@router.post("/restore")
def _restore(visitor: FormVisitor, slug: Slug) -> Response:
    if error := refused(visitor, challenges.restore_challenge, slug):
        return _overview(visitor, slug, error=error)
    return _overview(visitor, slug, done="The challenge is restored.", undo=f"/challenges/{slug}/organise/delete")
