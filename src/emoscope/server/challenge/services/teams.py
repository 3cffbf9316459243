"""Teams: register, invite, join, show, disqualify, delete and restore."""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from emoscope.core.counts import counted
from emoscope.server.challenge.limits import MAX_REASON
from emoscope.server.challenge.scoring.queue import queue_comparisons
from emoscope.server.challenge.services.actor import Actor, require_member, require_team
from emoscope.server.challenge.services.applicants import Applicant, Identity, email_key
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import (
    changing,
    find_organised,
    find_team,
    organising,
    reading,
    require_running,
)
from emoscope.server.challenge.services.tokens import add_member_token, hashed, new_secret, use_link
from emoscope.server.challenge.views import Issued, MemberView, MergeView, Registered, TeamCounts, TeamView
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Invitation, Member, Merge, Phase, Submission, Team
from emoscope.server.store.names import clean_line, clean_name, looks_like_any, name_key

MAX_MEMBERS = 20
MAX_INVITATIONS = 50
INVITATION_LASTS = timedelta(days=7)


def register_team(
    store: Store,
    actor: Actor,
    slug: str,
    *,
    team: str,
    member: str,
    email: str | None = None,
    invitation: str | None = None,
    identity: Identity | None = None,
) -> Registered:
    """Register a team with its first member, whose token is returned only here.

    Registration by `invitation` requires one; with `approval` the team must be approved before it can submit; with
    `email` the address must have been verified (see `registration`).
    """
    name, person = clean_name(team, "team"), Applicant.of(member, email, identity)
    with changing(store, actor, slug) as (session, challenge):
        if not actor.organises(challenge.id):
            if challenge.registration == "closed":
                raise NotAllowed("registration is closed; ask the organisers")
            if challenge.registration == "invitation":
                person = _invited(session, store, challenge, invitation, person)
            if challenge.registration == "email" and not person.verified:
                raise NotAllowed("the e-mail address must be verified first", field="email")
            if challenge.registration == "approval" and person.email is None:
                raise Invalid("an e-mail address is required for the organisers' approval", field="email")
        return add_team(session, store, actor, challenge, name, person)


def _invited(
    session: Session, store: Store, challenge: Challenge, invitation: str | None, person: Applicant
) -> Applicant:
    """Use an organiser's invitation; if it was mailed, the person's address is the one it was sent to."""
    if not (invitation or "").strip():
        raise NotAllowed("registration is by invitation; ask the organisers for one", field="invitation")
    row = use_link(session, store, "register", invitation or "")
    if row.challenge_id != challenge.id:
        raise NotFound("the invitation is for another challenge", field="invitation")
    email = row.payload.get("email")
    return person if email is None else replace(person, email=email, verified=True)


def add_team(
    session: Session, store: Store, actor: Actor, challenge: Challenge, name: str, person: Applicant
) -> Registered:
    """Add a team in the current transaction, if its name is free and the challenge is not full."""
    organised = actor.organises(challenge.id)
    if not organised:
        require_running(challenge, store.clock())
    waits = challenge.registration == "approval" and not organised
    lock_challenge(session, challenge.id)
    if not waits:
        _check_room(session, challenge, organised=organised)
    check_team_name(session, challenge, name)
    now = store.clock()
    row = Team(
        challenge_id=challenge.id, name=name, key=name_key(name), created_at=now, approved_at=None if waits else now
    )
    session.add(row)
    session.flush()
    record(session, store, actor, "team.register", f"team {row.id}", challenge_id=challenge.id, name=name)
    return _add_member(session, store, actor, row, person)


def lock_challenge(session: Session, challenge_id: int) -> None:
    """Allow one registration at a time until the transaction ends."""
    session.execute(select(Challenge.id).where(Challenge.id == challenge_id).with_for_update())


def _check_room(session: Session, challenge: Challenge, *, organised: bool) -> None:
    there = select(func.count()).where(Team.challenge_id == challenge.id, Team.approved_at.is_not(None))
    if (session.scalar(there) or 0) >= challenge.max_teams and not organised:
        raise Conflict(f"{challenge.slug} is limited to {counted(challenge.max_teams, 'team')}")


def check_team_name(session: Session, challenge: Challenge, name: str) -> None:
    """Refuse a name that is taken or looks like another team's."""
    if session.scalar(select(Team.id).where(Team.challenge_id == challenge.id, Team.key == name_key(name))):
        raise Conflict(f"the team name {name!r} is taken", field="team")
    if looks_like_any(name, session.scalars(select(Team.name).where(Team.challenge_id == challenge.id))):
        raise Conflict(f"the team name {name!r} looks too similar to another team's", field="team")


def check_one_team(session: Session, challenge: Challenge, person: Applicant) -> None:
    """Refuse someone who is already on a team in the challenge."""
    there = select(Member).join(Team, Member.team_id == Team.id)
    there = there.where(Team.challenge_id == challenge.id, Team.deleted_at.is_(None))
    if person.subject and session.scalar(there.where(Member.subject == person.subject).limit(1)):
        raise Conflict("you are already on a team in this challenge")
    if person.email is None:
        return
    own = email_key(person.email)
    if any(email_key(str(member.email)) == own for member in session.scalars(there.where(Member.email.is_not(None)))):
        raise Conflict("this e-mail address is already on a team in this challenge", field="email")


def _add_member(session: Session, store: Store, actor: Actor, team: Team, person: Applicant) -> Registered:
    check_one_team(session, team.challenge, person)
    now = store.clock()
    member = Member(
        team_id=team.id,
        name=person.name,
        email=person.email,
        verified_at=now if person.verified else None,
        subject=person.subject,
        created_at=now,
    )
    session.add(member)
    session.flush()
    secret = add_member_token(session, store, member, team.challenge_id).token
    record(session, store, actor, "team.join", f"team {team.id}", challenge_id=team.challenge_id, member=member.id)
    return Registered(team=team_view(session, team), member=MemberView.of(member, joined=now), token=secret)


def get_team(store: Store, actor: Actor, slug: str, team_id: int | None = None) -> TeamView:
    """Get a team, for its members and the organisers; without an id, the actor's own."""
    with reading(store, actor, slug) as (session, challenge):
        team_id = require_member(actor, challenge.id) if team_id is None else team_id
        require_team(actor, challenge.id, team_id)
        team = find_team(session, challenge, team_id)
        return team_view(session, team, _counts(session, challenge) if actor.organises(challenge.id) else None)


def list_teams(store: Store, actor: Actor, slug: str) -> list[TeamView]:
    """List all teams of a challenge, including deleted ones, for its organisers."""
    with store.database.read() as session:
        challenge = find_organised(session, actor, slug)
        query = select(Team).where(Team.challenge_id == challenge.id, Team.merged_into.is_(None)).order_by(Team.id)
        counts = _counts(session, challenge)
        return [team_view(session, team, counts) for team in session.scalars(query)]


def _counts(session: Session, challenge: Challenge) -> dict[int, TeamCounts]:
    """Submission counts by team; teams without submissions are left out."""
    gone = Submission.deleted_at.is_not(None)
    query = select(Submission.team_id, Submission.state, gone, func.count(), func.max(Submission.received_at))
    query = query.join(Submission.phase).where(Phase.challenge_id == challenge.id)
    numbers: dict[int, Counter[str]] = defaultdict(Counter)
    last: dict[int, datetime] = {}
    for team_id, state, deleted, count, newest in session.execute(
        query.group_by(Submission.team_id, Submission.state, gone)
    ):
        kind = "deleted" if deleted else state if state in ("scored", "failed", "rejected") else "waiting"
        numbers[team_id][kind] += count
        last[team_id] = max(newest, last.get(team_id, newest))
    return {team_id: TeamCounts(last=last[team_id], **count) for team_id, count in numbers.items()}


def invite(store: Store, actor: Actor, slug: str) -> Issued:
    """Create an invitation into the actor's team, for one person."""
    with changing(store, actor, slug) as (session, challenge):
        team = find_team(session, challenge, require_member(actor, challenge.id), lock=True)
        now = store.clock()
        waiting = select(func.count()).where(
            Invitation.team_id == team.id, Invitation.used_at.is_(None), Invitation.expires_at > now
        )
        if (session.scalar(waiting) or 0) >= MAX_INVITATIONS:
            raise Conflict(f"the team already has {MAX_INVITATIONS} unused invitations")
        secret = new_secret("inv")
        row = Invitation(team_id=team.id, hash=hashed(secret), created_at=now, expires_at=now + INVITATION_LASTS)
        session.add(row)
        session.flush()
        record(session, store, actor, "team.invite", f"team {team.id}", challenge_id=challenge.id, invitation=row.id)
        return Issued.of(row, token=secret)


def join_team(
    store: Store,
    actor: Actor,
    invitation: str,
    *,
    member: str,
    email: str | None = None,
    identity: Identity | None = None,
) -> Registered:
    """Join the team of an invitation, which is used up."""
    person = Applicant.of(member, email, identity)
    with store.database.write() as session:
        row, team = _find_invitation(session, store, invitation, lock=True)
        team = find_team(session, team.challenge, team.id, lock=True)
        if count_members(session, team.id) >= MAX_MEMBERS:
            raise Conflict(f"a team can have at most {MAX_MEMBERS} members")
        row.used_at = store.clock()
        lock_challenge(session, team.challenge_id)
        return _add_member(session, store, actor, team, person)


def check_invitation(store: Store, actor: Actor, invitation: str) -> None:
    """Refuse an invitation that does not work, without using it."""
    del actor  # whoever holds the invitation may use it
    with store.database.read() as session:
        _find_invitation(session, store, invitation)


def _find_invitation(session: Session, store: Store, secret: str, *, lock: bool = False) -> tuple[Invitation, Team]:
    """Find an invitation that still works, and the team it leads to; all others get the same answer."""
    query = select(Invitation).where(Invitation.hash == hashed(secret[:200]))
    row = session.scalar(query.with_for_update() if lock else query)
    team = None if row is None else session.get(Team, row.team_id)
    while team is not None and team.merged_into is not None:  # the team has merged since it invited
        team = session.get(Team, team.merged_into)
    usable = row is not None and row.used_at is None and row.expires_at > store.clock()
    if not usable or row is None or team is None or team.deleted_at or team.challenge.deleted_at:
        raise NotFound("the invitation is not valid: it is unknown, already used or expired", field="invitation")
    return row, team


def count_members(session: Session, *team_ids: int) -> int:
    """The number of members of these teams in total."""
    return session.scalar(select(func.count()).where(Member.team_id.in_(team_ids))) or 0


def _set_deleted(store: Store, actor: Actor, slug: str, team_id: int, *, deleted: bool) -> None:
    with organising(store, actor, slug) as (session, challenge):
        team = find_team(session, challenge, team_id, lock=True)
        if team.merged_into is not None:
            raise Conflict("the team has been merged into another")
        team.deleted_at = store.clock() if deleted else None
        queue_comparisons(session, challenge.id, store.clock())
        action = "team.delete" if deleted else "team.restore"
        record(session, store, actor, action, f"team {team.id}", challenge_id=challenge.id)


# A deleted team is off the boards and its tokens do not work, but nothing is lost.
delete_team = partial(_set_deleted, deleted=True)
restore_team = partial(_set_deleted, deleted=False)


def disqualify_team(store: Store, actor: Actor, slug: str, team_id: int, reason: str) -> TeamView:
    """Remove a team from the boards for a reason its members see; they can sign in, but not submit or merge."""
    return _set_reason(store, actor, slug, team_id, clean_line(reason, "reason", MAX_REASON, required=True))


def reinstate_team(store: Store, actor: Actor, slug: str, team_id: int) -> TeamView:
    """Reinstate a disqualified team."""
    return _set_reason(store, actor, slug, team_id, None)


def _set_reason(store: Store, actor: Actor, slug: str, team_id: int, reason: str | None) -> TeamView:
    with organising(store, actor, slug) as (session, challenge):
        team = find_team(session, challenge, team_id, lock=True)
        if team.merged_into is not None:
            raise Conflict("the team has been merged into another")
        if reason is None and team.disqualified_for is None:
            raise Conflict("the team is not disqualified")
        before, team.disqualified_for = team.disqualified_for, reason
        queue_comparisons(session, challenge.id, store.clock())
        action = "team.reinstate" if reason is None else "team.disqualify"
        record(session, store, actor, action, f"team {team.id}", challenge_id=challenge.id, reason=reason or before)
        return team_view(session, team, _counts(session, challenge))


def approve_team(store: Store, actor: Actor, slug: str, team_id: int) -> TeamView:
    """Approve a team that is waiting."""
    with organising(store, actor, slug) as (session, challenge):
        lock_challenge(session, challenge.id)
        team = find_team(session, challenge, team_id, lock=True)
        if team.approved_at is None:
            _check_room(session, challenge, organised=False)
            team.approved_at = store.clock()
            record(session, store, actor, "team.approve", f"team {team.id}", challenge_id=challenge.id)
        return team_view(session, team)


def merge_view(merge: Merge) -> MergeView:
    """A merge offer with the names of both teams."""
    names = {"offered_by": merge.from_team.name, "offered_to": merge.to_team.name}
    return MergeView.of(merge, offered=merge.created_at, **names)


def team_view(session: Session, team: Team, counts: dict[int, TeamCounts] | None = None) -> TeamView:
    """A team with its members and open merge offers, and its own among the given counts."""
    offers = select(Merge).where(
        (Merge.from_team_id == team.id) | (Merge.to_team_id == team.id), Merge.state == "offered"
    )
    return TeamView.of(
        team,
        challenge=team.challenge.slug,
        registered=team.created_at,
        members=tuple(MemberView.of(member, joined=member.created_at) for member in team.members),
        merge_offers=tuple(merge_view(offer) for offer in session.scalars(offers.order_by(Merge.id))),
        counts=None if counts is None else counts.get(team.id, TeamCounts()),
    )
