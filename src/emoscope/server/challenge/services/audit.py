"""The append-only audit log: who did what. Database triggers refuse changes."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.lookup import find_challenge
from emoscope.server.challenge.views import AuditLine
from emoscope.server.store import Store
from emoscope.server.store.models import AuditEntry


def record(
    session: Session,
    store: Store,
    actor: Actor | str,
    action: str,
    thing: str,
    *,
    challenge_id: int | None = None,
    **detail: Any,
) -> None:
    """Record an action in the transaction that performs it."""
    session.add(
        AuditEntry(
            at=store.clock(),
            actor=(actor if isinstance(actor, str) else actor.label)[:120],
            action=action,
            object=thing[:200],
            challenge_id=challenge_id,
            detail=detail,
        )
    )


def read_audit(
    store: Store, actor: Actor, slug: str | None = None, *, limit: int = 200, before: int | None = None
) -> list[AuditLine]:
    """The newest entries first, of one challenge or all; `before` continues an earlier list."""
    with store.database.read() as session:
        challenge_id = None if slug is None else find_challenge(session, actor, slug).id
        require_organiser(actor, challenge_id)
        query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(max(1, min(limit, 1000)))
        if challenge_id is not None:
            query = query.where(AuditEntry.challenge_id == challenge_id)
        if before is not None:
            query = query.where(AuditEntry.id < before)
        return [AuditLine.of(line) for line in session.scalars(query)]
