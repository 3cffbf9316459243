"""One-time secrets, stored as hashes and used up in the transaction that does what they allow."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.tokens import hashed, new_secret
from emoscope.server.errors import NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import OneTimeLink

LASTS = {"confirm": timedelta(days=1), "recover": timedelta(hours=2), "register": timedelta(days=30)}
_PREFIX = {"confirm": "con", "recover": "rec", "register": "reg"}


def make_link(
    session: Session,
    store: Store,
    kind: str,
    challenge_id: int,
    *,
    member_id: int | None = None,
    payload: dict[str, Any] | None = None,
) -> tuple[str, OneTimeLink]:
    """Create a secret and its row in the current transaction."""
    secret, now = new_secret(_PREFIX[kind]), store.clock()
    row = OneTimeLink(
        kind=kind,
        hash=hashed(secret),
        challenge_id=challenge_id,
        member_id=member_id,
        payload=payload or {},
        created_at=now,
        expires_at=now + LASTS[kind],
    )
    session.add(row)
    session.flush()
    return secret, row


def check_link(store: Store, actor: Actor, kind: str, secret: str) -> None:
    """Refuse a secret that does not work, without using it."""
    del actor  # whoever holds the secret may use it
    with store.database.read() as session:
        _find(session, store, kind, secret)


def use_link(session: Session, store: Store, kind: str, secret: str) -> OneTimeLink:
    """Use a secret up; returns its row."""
    row = _find(session, store, kind, secret, lock=True)
    row.used_at = store.clock()
    return row


def _find(session: Session, store: Store, kind: str, secret: str, *, lock: bool = False) -> OneTimeLink:
    """Find a secret that still works; all others get the same answer."""
    query = select(OneTimeLink).where(OneTimeLink.hash == hashed(secret.strip()[:200]), OneTimeLink.kind == kind)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None or row.used_at is not None or row.expires_at <= store.clock():
        what = "invitation" if kind == "register" else "link"
        field = "invitation" if kind == "register" else None
        raise NotFound(f"the {what} is not valid: it is unknown, already used or expired", field=field)
    return row
