"""Phases: calendar, opening and closing times, gold labels."""

from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from fastapi import Query, UploadFile

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import PhaseName, Slug, uploaded
from emoscope.server.challenge.pages.console.calendar import month_of
from emoscope.server.challenge.pages.console.shell import being_scored, console_page, console_router
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges
from emoscope.server.challenge.services.lookup import state_between
from emoscope.server.challenge.views import ChallengeView, PhaseView
from emoscope.server.errors import Invalid, NotFound
from emoscope.server.http.forms import Values
from emoscope.server.http.rendering import in_zone
from emoscope.server.store.names import name_key

router = console_router("/phases")
phases = console_page(router, "", "phases")
_OPENS = "Participants can download the phase's data and submit. Data that has been downloaded cannot be recalled."
_CLOSES = (
    "Submissions end, and everyone sees the final scores. This cannot be fully undone: people will have seen them."
)
_BECOMES = {"open": _OPENS, "closed": _CLOSES, "planned": "The phase is no longer open, and nobody can submit."}


@phases.page
def _phases(visitor: CurrentVisitor, slug: Slug, month: Annotated[str, Query(max_length=40)] = "") -> Values:
    challenge = visitor.ask(challenges.get_challenge, slug)
    return {"month": month_of(challenge.phases, visitor.store.clock(), month)}


@console_page(router, "/{phase}/final", "phases", "final").page
def _final(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Values:
    """The final ranking if the phase closed now."""
    return {"board": visitor.ask(leaderboard, slug, phase, final=True)}


def _phase(visitor: Visitor, slug: str, name: str) -> tuple[ChallengeView, PhaseView]:
    """The challenge, and one of its phases by name."""
    challenge = visitor.ask(challenges.get_challenge, slug)
    for phase in challenge.phases:
        if phase.name == name:
            return challenge, phase
    raise NotFound(f"{slug} has no phase {name!r}")


@phases.form("/{phase}/schedule")
def _schedule(
    visitor: FormVisitor,
    slug: Slug,
    phase: PhaseName,
    opens: ShortField = "",
    closes: ShortField = "",
    labels: ShortField = "",
    confirm: ShortField = "",
) -> Values:
    """Set the times; if that opens, closes or reopens the phase immediately, its name must be typed."""
    challenge, before = _phase(visitor, slug, phase)
    typed = (("opens", opens), ("closes", closes), ("labels", labels))
    begin, end, release = (_moment(name, text, before.time_zone) for name, text in typed)
    if before.labels_at is not None and labels == in_zone(before.labels_at, before.time_zone):
        release = before.labels_at  # the form shows no seconds
    state = state_between(begin, end, visitor.store.clock())
    if state != before.state:
        visitor.must_confirm(
            confirm,
            phase,
            challenge=challenge,
            title=f"With these times, phase {phase} is {state} immediately",
            text=_BECOMES[state],
            back=f"/challenges/{slug}/organise/phases",
            hidden=dict(typed),
            button="Save these times",
        )
    times = {"opens": begin, "closes": end, "labels": release}
    gone = {name for name, moment in times.items() if moment is None}
    visitor.ask(challenges.reschedule, slug, phase, **times, clear=gone)
    return {"done": f"The times of {before.title} were saved."}


def _moment(field: str, text: str, zone: str) -> datetime | None:
    """A form's time, in the phase's time zone."""
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{text[:40]!r} is not a valid time; expected 2030-05-01T12:00", field=field) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))


@phases.form("/{phase}/gold")
def _gold(
    visitor: FormVisitor, slug: Slug, phase: PhaseName, file: UploadFile | None = None, confirm: ShortField = ""
) -> Values:
    """Replace the gold labels and rescore everything, once the phase's name was typed."""
    _, changed = _phase(visitor, slug, phase)
    if name_key(confirm.strip()) != name_key(phase):
        raise Invalid(f"type {phase!r} to confirm, and choose the file again")
    with uploaded(visitor, slug, file, "choose the new gold file") as path:
        gold = visitor.ask(challenges.replace_gold, slug, phase, path)
    same = " The file is identical to the previous one." if gold.before == gold.after else ""
    return {"done": f"The gold labels of {changed.title} were replaced; {being_scored(gold.queued)}{same}"}


@phases.form("/{phase}/{action}")
def _move_phase(
    visitor: FormVisitor, slug: Slug, phase: PhaseName, action: Literal["open", "close"], confirm: ShortField = ""
) -> Values:
    """Open or close a phase, once its name was typed: what people have seen cannot be undone."""
    challenge, before = _phase(visitor, slug, phase)
    visitor.must_confirm(
        confirm,
        phase,
        challenge=challenge,
        title=f"{action.title()} phase {phase}?",
        text=_OPENS if action == "open" else _CLOSES,
        back=f"/challenges/{slug}/organise/phases",
        buttons=[(f"{action.title()} {phase} now", "", "", "primary" if action == "open" else "danger")],
    )
    service = challenges.open_phase if action == "open" else challenges.close_phase
    visitor.ask(service, slug, phase)
    return {"done": f"{before.title} is {'open' if action == 'open' else 'closed'} now."}
