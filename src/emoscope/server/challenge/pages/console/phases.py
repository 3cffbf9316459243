"""Phases: calendar, opening and closing times, gold labels."""

from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from fastapi import Query, UploadFile
from starlette.responses import Response

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import PhaseName, Slug
from emoscope.server.challenge.pages.console.calendar import month_of
from emoscope.server.challenge.pages.console.shell import being_scored, console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, creation
from emoscope.server.challenge.services.lookup import state_between
from emoscope.server.challenge.views import ChallengeView, PhaseView
from emoscope.server.errors import Invalid, NotFound, ServerError
from emoscope.server.store.names import name_key

router = console_router("/phases")
_OPENS = "Participants can download the phase's data and submit. Data that has been downloaded cannot be recalled."
_CLOSES = (
    "Submissions end, and everyone sees the final scores. This cannot be fully undone: people will have seen them."
)
_BECOMES = {"open": _OPENS, "closed": _CLOSES, "planned": "The phase is no longer open, and nobody can submit."}


@router.get("")
def _page(visitor: CurrentVisitor, slug: Slug, month: Annotated[str, Query(max_length=40)] = "") -> Response:
    return _show(visitor, slug, month=month)


def _show(visitor: Visitor, slug: str, *, month: str = "", **values: Any) -> Response:
    phases = visitor.ask(challenges.get_challenge, slug).phases
    return console(visitor, slug, "phases", month=month_of(phases, visitor.store.clock(), month), **values)


@router.get("/{phase}/final")
def _final_page(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    """The final ranking if the phase closed now."""
    board = visitor.ask(leaderboard, slug, phase, final=True)
    return console(visitor, slug, "phases", template="final", board=board)


def _phase(visitor: Visitor, slug: str, name: str) -> tuple[ChallengeView, PhaseView]:
    """The challenge, and one of its phases by name."""
    challenge = visitor.ask(challenges.get_challenge, slug)
    for phase in challenge.phases:
        if phase.name == name:
            return challenge, phase
    raise NotFound(f"{slug} has no phase {name!r}")


@router.post("/{phase}/schedule")
def _schedule(
    visitor: FormVisitor,
    slug: Slug,
    phase: PhaseName,
    opens: ShortField = "",
    closes: ShortField = "",
    confirm: ShortField = "",
) -> Response:
    """Set both times; if that opens, closes or reopens the phase immediately, its name must be typed."""
    challenge, before = _phase(visitor, slug, phase)
    try:
        begin, end = (_moment(name, text, before.time_zone) for name, text in (("opens", opens), ("closes", closes)))
    except Invalid as error:
        return _show(visitor, slug, error=error)
    state = state_between(begin, end, visitor.store.clock())
    if state != before.state:
        question = visitor.must_confirm(
            confirm,
            phase,
            challenge=challenge,
            title=f"With these times, phase {phase} is {state} immediately",
            text=_BECOMES[state],
            back=f"/challenges/{slug}/organise/phases",
            hidden={"opens": opens, "closes": closes},
            button="Save these times",
        )
        if question is not None:
            return question
    gone = {name for name, moment in (("opens", begin), ("closes", end)) if moment is None}
    if problem := refused(visitor, challenges.reschedule, slug, phase, opens=begin, closes=end, clear=gone):
        return _show(visitor, slug, error=problem)
    return _show(visitor, slug, done=f"The times of {before.title} were saved.")


def _moment(field: str, text: str, zone: str) -> datetime | None:
    """A form's time, in the phase's time zone."""
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{text[:40]!r} is not a valid time; expected 2030-05-01T12:00", field=field) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))


@router.post("/{phase}/gold")
def _gold(
    visitor: FormVisitor, slug: Slug, phase: PhaseName, file: UploadFile | None = None, confirm: ShortField = ""
) -> Response:
    """Replace the gold labels and rescore everything, once the phase's name was typed."""
    _, changed = _phase(visitor, slug, phase)
    try:
        if name_key(confirm.strip()) != name_key(phase):
            raise Invalid(f"type {phase!r} to confirm, and choose the file again")
        if file is None or not file.filename:
            raise Invalid("choose the new gold file", field="file")
        gold = visitor.ask(creation.replace_gold_by_upload, slug, phase, file.filename, file.file)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    same = " The file is identical to the previous one." if gold.before == gold.after else ""
    done = f"The gold labels of {changed.title} were replaced; {being_scored(gold.queued)}{same}"
    return _show(visitor, slug, done=done)


@router.post("/{phase}/{action}")
def _move_phase(
    visitor: FormVisitor, slug: Slug, phase: PhaseName, action: Literal["open", "close"], confirm: ShortField = ""
) -> Response:
    """Open or close a phase, once its name was typed: what people have seen cannot be undone."""
    challenge, before = _phase(visitor, slug, phase)
    question = visitor.must_confirm(
        confirm,
        phase,
        challenge=challenge,
        title=f"{action.title()} phase {phase}?",
        text=_OPENS if action == "open" else _CLOSES,
        back=f"/challenges/{slug}/organise/phases",
        buttons=[(f"{action.title()} {phase} now", "", "", "primary" if action == "open" else "danger")],
    )
    if question is not None:
        return question
    service = challenges.open_phase if action == "open" else challenges.close_phase
    if problem := refused(visitor, service, slug, phase):
        return _show(visitor, slug, error=problem)
    return _show(visitor, slug, done=f"{before.title} is {'open' if action == 'open' else 'closed'} now.")
