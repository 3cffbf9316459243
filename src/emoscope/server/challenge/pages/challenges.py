"""The list of challenges, the page of a challenge with its downloads, registration, and a team's report."""

import contextlib
from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.dependencies import PhaseName, Slug, download
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, WholeForm
from emoscope.server.challenge.services import challenges, handouts, notices, registration, reports, submissions, teams
from emoscope.server.challenge.services.definition import TEXTS
from emoscope.server.challenge.views import ChallengeView, MailSent, ReportView
from emoscope.server.errors import Invalid, ServerError
from emoscope.server.http.forms import FormPage, Values, template
from emoscope.server.markdown import markdown

router = APIRouter(include_in_schema=False)
challenge_page = FormPage(router, "/challenges/{slug}", template("challenge.html.j2"))
report_page = FormPage(router, "/challenges/{slug}/report", template("report.html.j2"))


@router.get("/challenges")
def _list_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("challenges.html.j2", challenges=visitor.ask(challenges.list_challenges))


@challenge_page.page
def _challenge(visitor: CurrentVisitor, slug: Slug) -> Values:
    challenge = visitor.ask(challenges.get_challenge, slug)
    team = None
    with contextlib.suppress(ServerError):  # not a participant, or one of another challenge
        team = visitor.ask(teams.get_team, slug)
    open_phases = [phase.name for phase in challenge.phases if phase.state == "open"] if team is not None else []
    return {
        "challenge": challenge,
        "team": team,
        "quotas": {name: visitor.ask(submissions.quota, slug, name) for name in open_phases},
        "organises": visitor.ask(challenges.organises, slug),
        "notices": visitor.ask(notices.list_notices, slug),
        "files": visitor.ask(handouts.list_files, slug),
        "description": markdown(challenge.description),
        "texts": {name: markdown(challenge.texts.get(name, "")) for name in TEXTS},
        **_timeline(challenge, visitor.store.clock()),
    }


def _timeline(challenge: ChallengeView, now: datetime) -> dict[str, Any]:
    """The phases' times in order, and the time until the next."""
    events: list[dict[str, Any]] = []
    for phase in challenge.phases:
        for happens, happened, at in (
            (" opens", " opened", phase.opens),
            (": labels are released", ": labels were released", phase.labels_at),
            (" closes", " closed", phase.closes),
        ):
            if at is not None:
                what = f"{phase.title}{happened if at <= now else happens}"
                events.append({"at": at, "zone": phase.time_zone, "what": what, "over": at <= now})
    events.sort(key=lambda event: event["at"])
    coming = next((event for event in events if not event["over"]), None)
    left = None if coming is None else _remaining(coming["at"] - now)
    return {"events": events, "coming": coming, "left": left, "now": now}


def _remaining(time: timedelta) -> str:
    """A duration in its two largest units.

    >>> _remaining(timedelta(days=3, hours=4, minutes=5)), _remaining(timedelta(hours=1, seconds=20))
    ('3 days 4 hours', '1 hour')
    """
    minutes = max(0, int(time.total_seconds()) // 60)
    parts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    named = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts[:2] if count]
    return " ".join(named) or "less than a minute"


@challenge_page.form("/challenges/{slug}/register")
def register(
    visitor: FormVisitor,
    slug: Slug,
    team: ShortField = "",
    member: ShortField = "",
    email: ShortField = "",
    invitation: ShortField = "",
) -> Response:
    """Register a team and show the token once, or mail a confirmation link."""
    with visitor.gate.registering(visitor.actor):
        registered = visitor.ask(
            registration.register,
            slug,
            visitor.gate,
            team=team,
            member=member,
            email=email,
            invitation=invitation,
            identity=visitor.identity,
        )
    if isinstance(registered, MailSent):
        challenge = visitor.ask(challenges.get_challenge, slug)
        return visitor.page("mail_sent.html.j2", status=202, challenge=challenge, sent=registered)
    return visitor.welcome(registered)


@router.get("/challenges/{slug}/phases/{phase}/data")
def _data(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    return download(visitor.ask(challenges.unlabelled_file, slug, phase))


@router.get("/challenges/{slug}/files/{name}")
def _file(visitor: CurrentVisitor, slug: Slug, name: str) -> Response:
    return download(visitor.ask(handouts.challenge_file, slug, name))


@router.get("/challenges/{slug}/phases/{phase}/labels")
def _labels(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    return download(visitor.ask(handouts.labels_file, slug, phase))


@report_page.page
def _report(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {
        "challenge": visitor.ask(challenges.get_challenge, slug),
        "questions": visitor.ask(reports.survey, slug),
        "report": visitor.ask(reports.get_report, slug),
        "saved": False,
    }


@report_page.form("/challenges/{slug}/report")
def _keep_report(visitor: FormVisitor, slug: Slug, form: WholeForm) -> Values:
    """Save the report, or show what is wrong at its field."""

    def sent(name: str) -> list[str]:
        return [value for value in form.getlist(name) if isinstance(value, str)]

    answers = {}
    for question in visitor.ask(reports.survey, slug):
        written = [part for text in sent(f"other-{question.name}") for part in text.split(",")]
        answers[question.name] = [*sent(f"q-{question.name}"), *written]
    summary, paper = "".join(sent("summary")), "".join(sent("paper"))
    try:
        kept = visitor.ask(reports.keep_report, slug, answers=answers, summary=summary, paper=paper)
    except Invalid as error:
        given = {name: tuple(part.strip() for part in parts if part.strip()) for name, parts in answers.items()}
        shown = ReportView(answers=given, summary=summary, paper=paper, updated=visitor.store.clock())
        return {"report": shown, "error": error}
    return {"report": kept, "saved": True}
