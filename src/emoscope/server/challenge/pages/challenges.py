"""Challenges, registration and boards."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form
from starlette.responses import FileResponse, HTMLResponse, Response

from emoscope.server.challenge.api.access import OpenStore, PhaseName, Slug, handed_out
from emoscope.server.challenge.board import board as boards
from emoscope.server.challenge.board.plot import board_plot
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from emoscope.server.challenge.services import challenges, export, submissions, teams
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.services.views import ChallengeView
from emoscope.server.errors import ChallengeError, NotAllowed
from emoscope.server.store import Store

router = APIRouter(include_in_schema=False)

Short = Annotated[str, Form(max_length=300)]


@router.get("/challenges")
def list_page(visitor: CurrentVisitor, store: OpenStore) -> HTMLResponse:
    """All challenges."""
    found = challenges.list_challenges(store, visitor.actor)
    return visitor.page("challenges.html.j2", here="challenges", challenges=found)


@router.get("/challenges/{slug}")
def challenge_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """One challenge: its phases, and how to take part."""
    return show_challenge(visitor, store, slug)


def show_challenge(
    visitor: Visitor,
    store: Store,
    slug: str,
    *,
    error: ChallengeError | None = None,
    filled: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The page of a challenge, with what went wrong with the form that was just sent from it."""
    found = challenges.get_challenge(store, visitor.actor, slug)
    team = own_team(visitor, store, found)
    quotas = {}
    if team is not None:
        open_phases = [phase.name for phase in found.phases if phase.state == "open"]
        quotas = {name: submissions.quota(store, visitor.actor, slug, name) for name in open_phases}
    return visitor.page(
        "challenge.html.j2",
        status=error.status if error else 200,
        here="challenges",
        challenge=found,
        team=team,
        quotas=quotas,
        organises=organises(visitor, store, slug),
        error=error,
        rows=getattr(error, "rows", []),
        filled=filled or {},
    )


def own_team(visitor: Visitor, store: Store, challenge: ChallengeView) -> Any:
    """The visitor's team in this challenge, or None."""
    if visitor.actor.role != "participant":
        return None
    try:
        return teams.get_team(store, visitor.actor, challenge.slug)
    except ChallengeError:  # a team in another challenge
        return None


def organises(visitor: Visitor, store: Store, slug: str) -> bool:
    """Whether the visitor runs this challenge."""
    if visitor.actor.role != "organiser":
        return False
    try:
        teams.list_teams(store, visitor.actor, slug)
    except ChallengeError:
        return False
    return True


@router.post("/challenges/{slug}/register")
def register(
    visitor: FormVisitor, store: OpenStore, slug: Slug, team: Short = "", member: Short = "", email: Short = ""
) -> HTMLResponse:
    """Makes a team and shows the token, once."""
    try:
        made = teams.register_team(store, visitor.actor, slug, team=team, member=member, email=email.strip() or None)
        actor = authenticate(store, made.token)
    except ChallengeError as error:
        return show_challenge(
            visitor, store, slug, error=error, filled={"team": team, "member": member, "email": email}
        )
    return visitor.signed_in_as(actor).page("token.html.j2", status=201, here="challenges", made=made)


@router.get("/challenges/{slug}/phases/{phase}/data")
def data(visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> FileResponse:
    """The file to label."""
    return handed_out(challenges.unlabelled_file(store, visitor.actor, slug, phase))


@router.get("/challenges/{slug}/board/{phase}")
def board_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> HTMLResponse:
    """The leaderboard of a phase."""
    challenge = challenges.get_challenge(store, visitor.actor, slug)
    try:
        found = boards.leaderboard(store, visitor.actor, slug, phase)
    except NotAllowed as hidden:
        return visitor.page(
            "board_hidden.html.j2", status=403, here="challenges", challenge=challenge, phase=phase, reason=str(hidden)
        )
    return visitor.page(
        "board.html.j2",
        here="challenges",
        challenge=challenge,
        board=found,
        plot=board_plot(found),
        labels=[label for label in challenge.labels if any(label in entry.per_class for entry in found.entries)],
    )


@router.get("/challenges/{slug}/board/{phase}/{kind}")
def board_file(
    visitor: CurrentVisitor, store: OpenStore, slug: Slug, phase: PhaseName, kind: Literal["csv", "json"]
) -> Response:
    """The leaderboard as a file: `csv` or `json`, for whoever may see the page."""
    found = boards.leaderboard(store, visitor.actor, slug, phase)
    as_csv = kind == "csv"
    content = export.board_csv(found) if as_csv else export.board_json(found)
    name = f"{slug}-{phase}.{'csv' if as_csv else 'json'}"
    media = "text/csv; charset=utf-8" if as_csv else "application/json"
    return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})
