"""Challenges, registration and boards."""

from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import OpenStore, PhaseName, Slug, board_response, download
from emoscope.server.challenge.pages.board_plot import board_plot
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, submissions, teams
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.views import TeamView
from emoscope.server.errors import NotAllowed, ServerError
from emoscope.server.store import Store

router = APIRouter(include_in_schema=False)


@router.get("/challenges")
def _list_page(visitor: CurrentVisitor, store: OpenStore) -> Response:
    return visitor.page("challenges.html.j2", challenges=challenges.list_challenges(store, visitor.actor))


@router.get("/challenges/{slug}")
def _challenge_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> Response:
    return show_challenge(visitor, store, slug)


def show_challenge(
    visitor: Visitor,
    store: Store,
    slug: str,
    *,
    error: ServerError | None = None,
    filled: Mapping[str, str] | None = None,
) -> Response:
    """The page of a challenge, with the error of a form that was sent from it."""
    challenge = challenges.get_challenge(store, visitor.actor, slug)
    team = _own_team(visitor, store, slug)
    open_phases = [phase.name for phase in challenge.phases if phase.state == "open"] if team is not None else []
    return visitor.page(
        "challenge.html.j2",
        error=error,
        challenge=challenge,
        team=team,
        quotas={name: submissions.quota(store, visitor.actor, slug, name) for name in open_phases},
        organises=challenges.organises(store, visitor.actor, slug),
        rows=getattr(error, "rows", []),
        filled=filled or {},
    )


def _own_team(visitor: Visitor, store: Store, slug: str) -> TeamView | None:
    try:
        return teams.get_team(store, visitor.actor, slug)
    except ServerError:  # not a participant, or one of another challenge
        return None


@router.post("/challenges/{slug}/register")
def register(
    visitor: FormVisitor,
    store: OpenStore,
    slug: Slug,
    team: ShortField = "",
    member: ShortField = "",
    email: ShortField = "",
) -> Response:
    """Register a team and show the token, once."""
    try:
        registered = teams.register_team(
            store, visitor.actor, slug, team=team, member=member, email=email.strip() or None
        )
        actor = authenticate(store, registered.token)
    except ServerError as error:
        filled = {"team": team, "member": member, "email": email}
        return show_challenge(visitor, store, slug, error=error, filled=filled)
    return visitor.signed_in_as(actor).page("token.html.j2", status=201, registered=registered)


@router.get("/challenges/{slug}/phases/{phase}/data")
def _data(visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    return download(challenges.unlabelled_file(store, visitor.actor, slug, phase))


@router.get("/challenges/{slug}/board/{phase}")
def _board_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    challenge = challenges.get_challenge(store, visitor.actor, slug)
    try:
        board = leaderboard(store, visitor.actor, slug, phase)
    except NotAllowed as hidden:
        return visitor.page("board_hidden.html.j2", error=hidden, challenge=challenge, phase=phase)
    labels = [label for label in challenge.labels if any(label in entry.per_class for entry in board.entries)]
    return visitor.page("board.html.j2", challenge=challenge, board=board, plot=board_plot(board), labels=labels)


@router.get("/challenges/{slug}/board/{phase}/{kind}")
def _board_file(
    visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName, kind: Literal["csv", "json"]
) -> Response:
    return board_response(leaderboard(store, visitor.actor, slug, phase), kind, attached=True)
