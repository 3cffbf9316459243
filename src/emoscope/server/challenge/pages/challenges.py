"""The list of challenges, the page of a challenge, and registration."""

import contextlib
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.dependencies import PhaseName, Slug, download
from emoscope.server.challenge.pages.durations import remaining
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, handouts, notices, registration, submissions, teams
from emoscope.server.challenge.services.definition import TEXTS
from emoscope.server.challenge.views import ChallengeView, MailSent
from emoscope.server.errors import ServerError
from emoscope.server.markdown import markdown

router = APIRouter(include_in_schema=False)


@router.get("/challenges")
def _list_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("challenges.html.j2", challenges=visitor.ask(challenges.list_challenges))


@router.get("/challenges/{slug}")
def _challenge_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return show_challenge(visitor, slug)


def show_challenge(visitor: Visitor, slug: str, error: ServerError | None = None, **filled: str) -> Response:
    """The page of a challenge; after a refused form with its error and what was filled in."""
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
        notices=visitor.ask(notices.list_notices, slug),
        files=visitor.ask(handouts.list_files, slug),
        description=markdown(challenge.description),
        texts={name: markdown(challenge.texts.get(name, "")) for name in TEXTS},
        **_timeline(challenge, visitor.store.clock()),
    )


def _timeline(challenge: ChallengeView, now: datetime) -> dict[str, Any]:
    """The phases' opening and closing times in order, and the time until the next."""
    events: list[dict[str, Any]] = []
    for phase in challenge.phases:
        for happens, happened, at in (("opens", "opened", phase.opens), ("closes", "closed", phase.closes)):
            if at is not None:
                what = f"{phase.title} {happened if at <= now else happens}"
                events.append({"at": at, "zone": phase.time_zone, "what": what, "over": at <= now})
    events.sort(key=lambda event: event["at"])
    coming = next((event for event in events if not event["over"]), None)
    left = None if coming is None else remaining(coming["at"] - now)
    return {"events": events, "coming": coming, "left": left, "now": now}


@router.post("/challenges/{slug}/register")
def register(
    visitor: FormVisitor,
    slug: Slug,
    team: ShortField = "",
    member: ShortField = "",
    email: ShortField = "",
    invitation: ShortField = "",
) -> Response:
    """Register a team and show the token once, or mail a confirmation link."""
    filled = {"team": team, "member": member, "email": email, "invitation": invitation}
    try:
        with visitor.gate.registering(visitor.actor):
            registered = visitor.ask(registration.register, slug, visitor.gate, identity=visitor.identity, **filled)
    except ServerError as error:
        return show_challenge(visitor, slug, error, **filled)
    if isinstance(registered, MailSent):
        challenge = visitor.ask(challenges.get_challenge, slug)
        return visitor.page("mail_sent.html.j2", status=202, challenge=challenge, sent=registered)
    return visitor.signed_in_with(registered.token).page("token.html.j2", status=201, registered=registered)


@router.get("/challenges/{slug}/phases/{phase}/data")
def _data(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    return download(visitor.ask(challenges.unlabelled_file, slug, phase))
