"""Find challenges, phases and teams that the actor may see, and the state of a phase."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.views import PhaseState
from emoscope.server.errors import Conflict, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Phase, Team


def find_challenge(session: Session, actor: Actor, slug: str) -> Challenge:
    """Find a challenge by its slug; a deleted one only for its organisers."""
    challenge = session.scalar(select(Challenge).where(Challenge.slug == slug))
    if challenge is None or (challenge.deleted_at is not None and not actor.organises(challenge.id)):
        raise NotFound(f"no challenge {slug[:64]!r}")
    return challenge


def find_organised(session: Session, actor: Actor, slug: str) -> Challenge:
    """Find a challenge by its slug, for its organisers only."""
    challenge = find_challenge(session, actor, slug)
    require_organiser(actor, challenge.id)
    return challenge


def require_not_deleted(challenge: Challenge) -> None:
    """Refuse what would bring people to a challenge they cannot see."""
    if challenge.deleted_at is not None:
        raise Conflict(f"{challenge.slug} is deleted; restore it first")


@contextmanager
def reading(store: Store, actor: Actor, slug: str) -> Iterator[tuple[Session, Challenge]]:
    """Open a session for reading and find a challenge."""
    with store.database.read() as session:
        yield session, find_challenge(session, actor, slug)


@contextmanager
def changing(store: Store, actor: Actor, slug: str) -> Iterator[tuple[Session, Challenge]]:
    """Open a transaction and find a challenge that is not deleted."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        require_not_deleted(challenge)
        yield session, challenge


@contextmanager
def organising(store: Store, actor: Actor, slug: str) -> Iterator[tuple[Session, Challenge]]:
    """Open a transaction and find a challenge, deleted or not, for its organisers only."""
    with store.database.write() as session:
        yield session, find_organised(session, actor, slug)


def find_phase(challenge: Challenge, name: str) -> Phase:
    """Find a phase of a challenge by its name."""
    phases = {phase.name: phase for phase in challenge.phases}
    if name not in phases:
        raise NotFound(f"{challenge.slug} has no phase {name[:64]!r}; it has: {', '.join(phases)}", field="phase")
    return phases[name]


def phase_state(phase: Phase, now: datetime) -> PhaseState:
    """The state of a phase now."""
    return state_between(phase.opens_at, phase.closes_at, now)


def state_between(opens: datetime | None, closes: datetime | None, now: datetime) -> PhaseState:
    """The state of a phase with these times."""
    if opens is None or now < opens:
        return "planned"
    return "open" if closes is None or now < closes else "closed"


def labels_out(phase: Phase, now: datetime) -> bool:
    """Whether the time at which a phase's labels are released has come; submissions from then on are not ranked."""
    return phase.labels_at is not None and phase.labels_at <= now and phase_state(phase, now) != "planned"


def ranking_over(phase: Phase, now: datetime) -> bool:
    """Whether no further submission can be ranked: the phase has closed, or its labels are out."""
    return phase_state(phase, now) == "closed" or labels_out(phase, now)


def require_running(challenge: Challenge, now: datetime) -> None:
    """Refuse if all phases have closed."""
    if all(phase_state(phase, now) == "closed" for phase in challenge.phases):
        raise Conflict(f"{challenge.slug} has ended")


def open_phase_of(challenge: Challenge, now: datetime) -> Phase:
    """The only open phase."""
    running = [phase for phase in challenge.phases if phase_state(phase, now) == "open"]
    if not running:
        raise Conflict(f"{challenge.slug} has no open phase", field="phase")
    if len(running) > 1:
        raise Conflict(f"several phases are open, choose one: {', '.join(p.name for p in running)}", field="phase")
    return running[0]


def board_visible(actor: Actor, phase: Phase, now: datetime) -> bool:
    """Whether the actor may see scores: organisers always, others when the phase closes or has an open board."""
    state = phase_state(phase, now)
    return actor.organises(phase.challenge_id) or state == "closed" or (state == "open" and phase.board == "open")


def provisional(phase: Phase, now: datetime) -> bool:
    """Whether the board is provisional: it shows only rounded scores on the public part."""
    return phase.board == "open" and phase_state(phase, now) != "closed"


def find_team(session: Session, challenge: Challenge, team_id: int, *, lock: bool = False) -> Team:
    """Find a team of a challenge; with `lock` its row stays locked until the transaction ends."""
    query = select(Team).where(Team.id == team_id, Team.challenge_id == challenge.id)
    if lock:
        # Data read before the lock may be out of date.
        query = query.with_for_update().execution_options(populate_existing=True)
    team = session.scalar(query)
    if team is None:
        raise NotFound("no such team in this challenge")
    return team
