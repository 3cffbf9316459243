"""Teams: register, invite, join, show, merge, delete and restore."""

import re
from datetime import timedelta
from functools import partial

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.queue import queue_comparisons
from emoscope.server.challenge.services.actor import Actor, require_member, require_organiser, require_team
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import find_challenge, find_team, require_running
from emoscope.server.challenge.services.quotas import days_running, usage
from emoscope.server.challenge.services.tokens import add_member_token, hashed, new_secret
from emoscope.server.challenge.views import Issued, MemberView, MergeView, Registered, TeamView
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Invitation, Member, Merge, Submission, Team
from emoscope.server.store.names import clean_name, looks_like_any, name_key

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
            if looks_like_any(name, session.scalars(select(Team.name).where(Team.challenge_id == challenge.id))):
                raise Conflict(f"the team name {name!r} looks like that of another team", field="team")
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
    return Registered(team=_view(session, team), member=MemberView.of(member, joined=member.created_at), token=secret)


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
        return Issued.of(row, token=secret)


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
        if _count_members(session, team.id) >= MAX_MEMBERS:
            raise Conflict(f"a team has at most {MAX_MEMBERS} members")
        row.used_at = store.clock()
        return _add_member(session, store, actor, team, person, address)


def _count_members(session: Session, *team_ids: int) -> int:
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


def offer_merge(store: Store, actor: Actor, slug: str, team_name: str) -> MergeView:
    """Offer to merge the actor's team into another, which has to accept."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        own = find_team(session, challenge, require_member(actor, challenge.id), lock=True)
        key = name_key(team_name[:200])
        other = session.scalar(select(Team).where(Team.challenge_id == challenge.id, Team.key == key))
        if other is None or not other.is_active:
            raise NotFound("no such team in this challenge", field="team")
        if other.id == own.id:
            raise Conflict("a team cannot merge with itself", field="team")
        same = select(Merge.id).where(
            Merge.from_team_id == own.id, Merge.to_team_id == other.id, Merge.state == "offered"
        )
        if session.scalar(same):
            raise Conflict("this offer is waiting for an answer already", field="team")
        _check_rule(session, store, challenge, own, other)
        merge = Merge(from_team_id=own.id, to_team_id=other.id, state="offered", created_at=store.clock())
        session.add(merge)
        session.flush()
        record(session, store, actor, "merge.offer", f"team {own.id}", challenge_id=challenge.id, to=other.id)
        return _merge_view(merge)


def answer_merge(store: Store, actor: Actor, slug: str, merge_id: int, *, accept: bool) -> MergeView:
    """Accept or decline an offer to the actor's team; the offering team takes it back by declining."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        own_id = require_member(actor, challenge.id)
        merge = session.get(Merge, merge_id)
        if merge is None or own_id not in (merge.from_team_id, merge.to_team_id):
            raise NotFound("no such offer to your team")
        # Always in the order of the ids, so that two mergers cannot wait for each other.
        teams = {
            team_id: find_team(session, challenge, team_id, lock=True)
            for team_id in sorted((merge.from_team_id, merge.to_team_id))
        }
        session.refresh(merge)
        if merge.state != "offered":
            raise Conflict(f"the offer was {merge.state} already")
        joining, staying = teams[merge.from_team_id], teams[merge.to_team_id]
        if accept:
            if own_id != staying.id:
                raise Conflict("the other team has to accept the offer")
            _check_rule(session, store, challenge, joining, staying)
            _join(session, store, joining, staying)
        merge.state = "accepted" if accept else "declined"
        merge.decided_at = store.clock()
        action = "merge.accept" if accept else "merge.decline"
        record(session, store, actor, action, f"team {staying.id}", challenge_id=challenge.id, joining=joining.id)
        return _merge_view(merge)


def _check_rule(session: Session, store: Store, challenge: Challenge, first: Team, second: Team) -> None:
    """Refuse a merger of teams that are gone or have too many members.

    By Kaggle's rule they may not have submitted more together than one team could have by now.
    """
    for team in (first, second):
        if not team.is_active:
            raise Conflict(f"team {team.name!r} is no longer there")
    now = store.clock()
    require_running(challenge, now)
    people = _count_members(session, first.id, second.id)
    if people > MAX_MEMBERS:
        raise Conflict(f"together the teams have {people} members, at most {MAX_MEMBERS} are allowed")
    for phase in challenge.phases:
        used = usage(session, phase, [first.id, second.id], now).used_total
        allowed = phase.per_day * days_running(phase, now)
        if phase.total is not None:
            allowed = min(allowed, phase.total)
        if used > allowed:
            raise Conflict(
                f"together the teams have made {used:,} submissions in phase {phase.name}, "
                f"one team could have made {allowed:,} by now"
            )


def _join(session: Session, store: Store, joining: Team, staying: Team) -> None:
    session.execute(update(Member).where(Member.team_id == joining.id).values(team_id=staying.id))
    session.execute(update(Submission).where(Submission.team_id == joining.id).values(team_id=staying.id))
    joining.merged_into = staying.id
    queue_comparisons(session, staying.challenge_id, store.clock())
    others = (Merge.from_team_id == joining.id) | (Merge.to_team_id == joining.id)
    session.execute(
        update(Merge)
        .where(others, Merge.state == "offered")
        .values(state="declined", decided_at=store.clock())
        .execution_options(synchronize_session="fetch")
    )


def _merge_view(merge: Merge) -> MergeView:
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
        merge_offers=tuple(_merge_view(offer) for offer in session.scalars(offers.order_by(Merge.id))),
    )
