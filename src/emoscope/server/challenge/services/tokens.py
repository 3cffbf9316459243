"""Secrets, shown once and stored as hashes: tokens, which can be revoked, and one-time links.

A link is used up in the transaction that does what it allows.
"""

import contextlib
import hashlib
import hmac
import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from emoscope.server.challenge.services.actor import PUBLIC, Actor, require_organiser, require_team
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import changing, find_challenge, find_organised
from emoscope.server.challenge.views import Issued, TokenView
from emoscope.server.errors import Conflict, NotFound, StoreUnavailable, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import Member, OneTimeLink, Team, Token
from emoscope.server.store.names import clean_name

LASTS = {"confirm": timedelta(days=1), "recover": timedelta(hours=2), "register": timedelta(days=30)}  # kinds of links
MAX_TOKENS = 20  # valid ones of one member
_NOTE_USE_EVERY = timedelta(hours=1)
_REFUSED = "the token is not valid"


def new_secret(prefix: str) -> str:
    """A new secret with 256 random bits; its prefix tells people and secret scanners what it is."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def hashed(secret: str) -> str:
    """The stored hash of a secret. With 256 random bits, a slow hash would add nothing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def authenticate(store: Store, token: str | None) -> Actor:
    """The actor of a token, or the public without one; every invalid token gets the same error.

    >>> authenticate(None, None)  # type: ignore[arg-type]
    Actor(role='public', challenge_id=None, team_id=None, member_id=None, token_id=None, name='')
    """
    if not token:
        return PUBLIC
    digest = hashed(token[:200])
    with store.database.read() as session:
        row = session.scalar(select(Token).where(Token.hash == digest))
        if row is None or not hmac.compare_digest(row.hash, digest):
            raise Unauthenticated(_REFUSED)
        actor = _actor(row)
    now = store.clock()
    if row.used_at is None or now - row.used_at > _NOTE_USE_EVERY:
        # Failing to note when a token was last used must not lock anyone out.
        with contextlib.suppress(StoreUnavailable), store.database.write() as session:
            session.execute(update(Token).where(Token.id == row.id).values(used_at=now))
    return actor


def actor_of(store: Store, token_id: int) -> Actor:
    """The actor of a token by its id, for sessions; they end when their token is revoked."""
    with store.database.read() as session:
        token = session.get(Token, token_id)
        if token is None:
            raise Unauthenticated(_REFUSED)
        return _actor(token)


def _actor(token: Token) -> Actor:
    if token.revoked_at is not None:
        raise Unauthenticated(_REFUSED)
    if token.role == "organiser":
        return Actor("organiser", token.challenge_id, token_id=token.id, name=token.name)
    member = token.member
    if member is None or member.team.deleted_at or member.team.challenge.deleted_at:
        raise Unauthenticated(_REFUSED)
    return Actor("participant", member.team.challenge_id, member.team_id, member.id, token.id, member.name)


def add_member_token(
    session: Session, store: Store, member: Member, challenge_id: int, *, name: str | None = None
) -> Issued:
    """Create a token in the current transaction, listed under the member's name by default."""
    return _add_token(
        session, store, role="participant", name=name or member.name, challenge_id=challenge_id, member_id=member.id
    )


def _add_token(session: Session, store: Store, **values: Any) -> Issued:
    secret = new_secret("emo")
    token = Token(hash=hashed(secret), created_at=store.clock(), **values)
    session.add(token)
    session.flush()
    return Issued(id=token.id, token=secret)


def issue_member_token(store: Store, actor: Actor, slug: str, member_id: int | None = None) -> Issued:
    """Create another token for the actor, or as an organiser for a member who has lost theirs."""
    with changing(store, actor, slug) as (session, challenge):
        member_id = actor.member_id if member_id is None else member_id
        member = session.get(Member, member_id) if member_id is not None else None
        if member is None or member.team.challenge_id != challenge.id:
            raise NotFound("no such member in this challenge")
        require_team(actor, challenge.id, member.team_id)
        if not actor.organises(challenge.id) and actor.member_id != member.id:
            raise NotFound("no such member in this challenge")
        valid = session.scalars(select(Token.id).where(Token.member_id == member.id, Token.revoked_at.is_(None))).all()
        if len(valid) >= MAX_TOKENS:
            raise Conflict(f"a member can have at most {MAX_TOKENS} tokens; revoke one first")
        issued = add_member_token(session, store, member, challenge.id)
        record(session, store, actor, "token.issue", f"member {member.id}", challenge_id=challenge.id, token=issued.id)
        return issued


def issue_organiser_token(store: Store, actor: Actor, *, name: str, slug: str | None = None) -> Issued:
    """Create a token for an organiser of one challenge or of all; nobody can grant more rights than they have."""
    with store.database.write() as session:
        challenge = None if slug is None else find_challenge(session, actor, slug)
        challenge_id = None if challenge is None else challenge.id
        require_organiser(actor, challenge_id)
        name = clean_name(name, "organiser", field="name")
        issued = _add_token(session, store, role="organiser", name=name, challenge_id=challenge_id)
        scope = slug or "all challenges"
        record(session, store, actor, "token.organiser", scope, challenge_id=challenge_id, token=issued.id)
        return issued


def list_tokens(store: Store, actor: Actor, slug: str | None = None) -> list[TokenView]:
    """List a participant's own tokens; for organisers those of a challenge, or all."""
    with store.database.read() as session:
        query = select(Token, Team.name).outerjoin(Member, Token.member_id == Member.id)
        query = query.outerjoin(Team, Member.team_id == Team.id).order_by(Token.id)
        if actor.role == "participant":
            query = query.where(Token.member_id == actor.member_id)
        elif slug is None:
            require_organiser(actor, None)
        else:
            challenge = find_organised(session, actor, slug)
            query = query.where(or_(Token.challenge_id == challenge.id, Token.challenge_id.is_(None)))
            if not actor.organises(None):
                query = query.where(Token.challenge_id == challenge.id)
        return [TokenView.of(token, team=team) for token, team in session.execute(query)]


def revoke_token(store: Store, actor: Actor, token_id: int) -> None:
    """Revoke the actor's own token, or as an organiser any token of their challenges."""
    with store.database.write() as session:
        token = session.get(Token, token_id)
        own = token is not None and token.member_id is not None and token.member_id == actor.member_id
        if token is None or not (own or actor.organises(token.challenge_id)):
            raise Unauthenticated("a token is required") if actor.role == "public" else NotFound("no such token")
        if token.revoked_at is None:
            token.revoked_at = store.clock()
            record(session, store, actor, "token.revoke", f"token {token.id}", challenge_id=token.challenge_id)


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
    secret, now = new_secret(kind[:3]), store.clock()
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
        _find_link(session, store, kind, secret)


def use_link(session: Session, store: Store, kind: str, secret: str) -> OneTimeLink:
    """Use a secret up; returns its row."""
    row = _find_link(session, store, kind, secret, lock=True)
    row.used_at = store.clock()
    return row


def _find_link(session: Session, store: Store, kind: str, secret: str, *, lock: bool = False) -> OneTimeLink:
    """Find a secret that still works; all others get the same answer."""
    query = select(OneTimeLink).where(OneTimeLink.hash == hashed(secret.strip()[:200]), OneTimeLink.kind == kind)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None or row.used_at is not None or row.expires_at <= store.clock():
        what = "invitation" if kind == "register" else "link"
        field = "invitation" if kind == "register" else None
        raise NotFound(f"the {what} is not valid: it is unknown, already used or expired", field=field)
    return row
