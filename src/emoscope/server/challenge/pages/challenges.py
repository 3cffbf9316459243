"""Challenges, registration and boards."""

import contextlib
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import PhaseName, Slug, board_response, download
from emoscope.server.challenge.pages.board_plot import board_plot
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, registration, submissions, teams
from emoscope.server.challenge.views import MailSent
from emoscope.server.errors import NotAllowed, ServerError

router = APIRouter(include_in_schema=False)


@router.get("/challenges")
def _list_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("challenges.html.j2", challenges=visitor.ask(challenges.list_challenges))


@router.get("/challenges/{slug}")
def _challenge_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return show_challenge(visitor, slug)


def show_challenge(visitor: Visitor, slug: str, error: ServerError | None = None, **filled: str) -> Response:
    """The page of a challenge, with the error of a form that was sent from it and what was filled in."""
    challenge = visitor.ask(challenges.get_challenge, slug)
    team = None
    with contextlib.suppress(ServerError):  # not a participant, or one of another challenge
        team = visitor.ask(teams.get_team, slug)
    open_phases = [phase.name for phase in challenge.phases if phase.state == "open"] if team is not None else []
    return visitor.page(
        "challenge.html.j2",
        error=error,
        challenge=challenge,
        team=team,
        quotas={name: visitor.ask(submissions.quota, slug, name) for name in open_phases},
        organises=visitor.ask(challenges.organises, slug),
        rows=getattr(error, "rows", []),
        filled=filled,
    )


@router.post("/challenges/{slug}/register")
def register(
    visitor: FormVisitor,
    slug: Slug,
    team: ShortField = "",
    member: ShortField = "",
    email: ShortField = "",
    invitation: ShortField = "",
) -> Response:
    """Register a team and show the token, once; or mail the link that does."""
    filled = {"team": team, "member": member, "email": email, "invitation": invitation}
    try:
        with visitor.gate.registering(visitor.actor):
            made = visitor.ask(registration.register, slug, visitor.post, identity=visitor.identity, **filled)
    except ServerError as error:
        return show_challenge(visitor, slug, error, **filled)
    if isinstance(made, MailSent):
        challenge = visitor.ask(challenges.get_challenge, slug)
        return visitor.page("mail_sent.html.j2", status=202, challenge=challenge, sent=made)
    return visitor.signed_in_with(made.token).page("token.html.j2", status=201, registered=made)


@router.get("/challenges/{slug}/phases/{phase}/data")
def _data(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    return download(visitor.ask(challenges.unlabelled_file, slug, phase))


@router.get("/challenges/{slug}/board/{phase}")
def _board_page(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    challenge = visitor.ask(challenges.get_challenge, slug)
    try:
        board = visitor.ask(leaderboard, slug, phase)
    except NotAllowed as hidden:
        return visitor.page("board_hidden.html.j2", error=hidden, challenge=challenge, phase=phase)
    labels = [label for label in challenge.labels if any(label in entry.per_class for entry in board.entries)]
    return visitor.page("board.html.j2", challenge=challenge, board=board, plot=board_plot(board), labels=labels)


@router.get("/challenges/{slug}/board/{phase}/{kind}")
def _board_file(visitor: CurrentVisitor, slug: Slug, phase: PhaseName, kind: Literal["csv", "json"]) -> Response:
    return board_response(visitor.ask(leaderboard, slug, phase), kind, attached=True)
