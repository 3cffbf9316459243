"""Teams: register, invite, join, show, delete and restore."""

import re
from datetime import timedelta
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.queue import queue_comparisons
from emoscope.server.challenge.services.actor import Actor, require_member, require_organiser, require_team
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import find_challenge, find_team, require_running
from emoscope.server.challenge.services.tokens import add_member_token, hashed, new_secret
from emoscope.server.challenge.views import Issued, MemberView, MergeView, Registered, TeamView
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Invitation, Member, Merge, Team
from emoscope.server.store.names import clean_name, name_key

MAX_MEMBERS = 20
MAX_INVITATIONS = 50
INVITATION_LASTS = timedelta(days=7)
_EMAIL = re.compile(r"[^@\s<>\"',;:()\\\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


def register_team(
    store: Store, actor: Actor, slug: str, *, team: str, member: str, email: str | None = None
) -> Registered:
    """Register a team with its first member, whose token is shown this once."""
    name, person, address = clean_name(team, "team"), clean_name(member, "member"), clean_email(email)
    try:
        with store.database.write() as session:
            challenge = find_challenge(session, actor, slug)
            organised = actor.organises(challenge.id)
            if challenge.registration != "open" and not organised:
                raise NotAllowed("registration is closed; ask the organisers")
            if not organised:
                require_running(challenge, store.clock())
            # One registration at a time, so that the cap holds.
            session.execute(select(Challenge.id).where(Challenge.id == challenge.id).with_for_update())
            count = session.scalar(select(func.count()).where(Team.challenge_id == challenge.id)) or 0
            if count >= challenge.max_teams and not organised:
                raise Conflict(f"{challenge.slug} takes no more than {challenge.max_teams:,} teams")
            if session.scalar(select(Team.id).where(Team.challenge_id == challenge.id, Team.key == name_key(name))):
                raise Conflict(f"the team name {name!r} is taken", field="team")
            row = Team(challenge_id=challenge.id, name=name, key=name_key(name), created_at=store.clock())
            session.add(row)
            session.flush()
            record(session, store, actor, "team.register", f"team {row.id}", challenge_id=challenge.id, name=name)
            return _add_member(session, store, actor, row, person, address)
    except IntegrityError:
        raise Conflict(f"the team name {name!r} is taken", field="team") from None


def clean_email(text: str | None) -> str | None:
    """An email address, or None.

    >>> clean_email("ana@example.org"), clean_email(" ")
    ('ana@example.org', None)
    """
    address = (text or "").strip()
    if not address:
        return None
    if len(address) > 254 or not _EMAIL.fullmatch(address):
        raise Invalid("the email is not an address", field="email")
    return address


def _add_member(session: Session, store: Store, actor: Actor, team: Team, name: str, email: str | None) -> Registered:
    member = Member(team_id=team.id, name=name, email=email, created_at=store.clock())
    session.add(member)
    session.flush()
    secret = add_member_token(session, store, member, team.challenge_id).token
    record(session, store, actor, "team.join", f"team {team.id}", challenge_id=team.challenge_id, member=member.id)
    return Registered(_view(session, team), MemberView.of(member, joined=member.created_at), secret)


def get_team(store: Store, actor: Actor, slug: str, team_id: int | None = None) -> TeamView:
    """A team, for its members and the organisers; without an id the actor's own."""
    with store.database.read() as session:
        challenge = find_challenge(session, actor, slug)
        team_id = require_member(actor, challenge.id) if team_id is None else team_id
        require_team(actor, challenge.id, team_id)
        return _view(session, find_team(session, challenge, team_id))


def list_teams(store: Store, actor: Actor, slug: str) -> list[TeamView]:
    """All teams of a challenge, deleted ones too, for its organisers."""
    with store.database.read() as session:
        challenge = find_challenge(session, actor, slug, deleted=True)
        require_organiser(actor, challenge.id)
        query = select(Team).where(Team.challenge_id == challenge.id, Team.merged_into.is_(None)).order_by(Team.id)
        return [_view(session, team) for team in session.scalars(query)]


def invite(store: Store, actor: Actor, slug: str) -> Issued:
    """A one-time invitation into the actor's team, for one person."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        team = find_team(session, challenge, require_member(actor, challenge.id), lock=True)
        now = store.clock()
        waiting = select(func.count()).where(
            Invitation.team_id == team.id, Invitation.used_at.is_(None), Invitation.expires_at > now
        )
        if (session.scalar(waiting) or 0) >= MAX_INVITATIONS:
            raise Conflict(f"the team has {MAX_INVITATIONS} unused invitations already")
        secret = new_secret("inv")
        row = Invitation(team_id=team.id, hash=hashed(secret), created_at=now, expires_at=now + INVITATION_LASTS)
        session.add(row)
        session.flush()
        record(session, store, actor, "team.invite", f"team {team.id}", challenge_id=challenge.id, invitation=row.id)
        return Issued(row.id, secret, row.expires_at)


def join_team(store: Store, actor: Actor, invitation: str, *, member: str, email: str | None = None) -> Registered:
    """Join the team of an invitation, which cannot be used again."""
    person, address = clean_name(member, "member"), clean_email(email)
    with store.database.write() as session:
        query = select(Invitation).where(Invitation.hash == hashed(invitation[:200])).with_for_update()
        row = session.scalar(query)
        team = None if row is None else session.get(Team, row.team_id)
        while team is not None and team.merged_into is not None:  # the team has merged since it invited
            team = session.get(Team, team.merged_into)
        usable = row is not None and row.used_at is None and row.expires_at > store.clock()
        if not usable or row is None or team is None or team.deleted_at or team.challenge.deleted_at:
            raise NotFound("the invitation is not valid: unknown, used or out of date", field="invitation")
        team = find_team(session, team.challenge, team.id, lock=True)
        if count_members(session, team.id) >= MAX_MEMBERS:
            raise Conflict(f"a team has at most {MAX_MEMBERS} members")
        row.used_at = store.clock()
        return _add_member(session, store, actor, team, person, address)


def count_members(session: Session, *team_ids: int) -> int:
    """How many members teams have together."""
    return session.scalar(select(func.count()).where(Member.team_id.in_(team_ids))) or 0


def _set_deleted(store: Store, actor: Actor, slug: str, team_id: int, *, deleted: bool) -> None:
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug, deleted=True)
        require_organiser(actor, challenge.id)
        team = find_team(session, challenge, team_id, lock=True)
        if team.merged_into is not None:
            raise Conflict("the team has merged into another")
        team.deleted_at = store.clock() if deleted else None
        queue_comparisons(session, challenge.id, store.clock())
        action = "team.delete" if deleted else "team.restore"
        record(session, store, actor, action, f"team {team.id}", challenge_id=challenge.id)


# A deleted team is off the board and its tokens do not work, but nothing of it is lost.
delete_team = partial(_set_deleted, deleted=True)
restore_team = partial(_set_deleted, deleted=False)


def merge_view(merge: Merge) -> MergeView:
    """An offer with the names of both teams."""
    names = {"offered_by": merge.from_team.name, "offered_to": merge.to_team.name}
    return MergeView.of(merge, offered=merge.created_at, **names)


def _view(session: Session, team: Team) -> TeamView:
    offers = select(Merge).where(
        (Merge.from_team_id == team.id) | (Merge.to_team_id == team.id), Merge.state == "offered"
    )
    return TeamView.of(
        team,
        challenge=team.challenge.slug,
        registered=team.created_at,
        members=tuple(MemberView.of(member, joined=member.created_at) for member in team.members),
        merge_offers=tuple(merge_view(offer) for offer in session.scalars(offers.order_by(Merge.id))),
        deleted=team.deleted_at is not None,
    )
