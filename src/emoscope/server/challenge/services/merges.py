"""Merging two teams: the offer, the answer, and the rules."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.queue import queue_comparisons
from emoscope.server.challenge.services.actor import Actor, require_member
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import changing, find_team, require_running
from emoscope.server.challenge.services.quotas import days_running, usage
from emoscope.server.challenge.services.teams import MAX_MEMBERS, count_members, merge_view
from emoscope.server.challenge.views import MergeView
from emoscope.server.errors import Conflict, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Member, Merge, Notice, Report, Submission, Team
from emoscope.server.store.names import name_key


def offer_merge(store: Store, actor: Actor, slug: str, team_name: str) -> MergeView:
    """Offer to merge the actor's team into another, which must accept."""
    with changing(store, actor, slug) as (session, challenge):
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
            raise Conflict("this offer has already been made", field="team")
        _check_rule(session, store, challenge, own, other)
        merge = Merge(from_team_id=own.id, to_team_id=other.id, state="offered", created_at=store.clock())
        session.add(merge)
        session.flush()
        record(session, store, actor, "merge.offer", f"team {own.id}", challenge_id=challenge.id, to=other.id)
        return merge_view(merge)


def answer_merge(store: Store, actor: Actor, slug: str, merge_id: int, *, accept: bool) -> MergeView:
    """Accept or decline an offer to the actor's team; the offering team can withdraw it by declining."""
    with changing(store, actor, slug) as (session, challenge):
        own_id = require_member(actor, challenge.id)
        merge = session.get(Merge, merge_id)
        if merge is None or own_id not in (merge.from_team_id, merge.to_team_id):
            raise NotFound("no such offer to your team")
        # Always in the order of their ids, so that two merges cannot deadlock.
        teams = {
            team_id: find_team(session, challenge, team_id, lock=True)
            for team_id in sorted((merge.from_team_id, merge.to_team_id))
        }
        session.refresh(merge)
        if merge.state != "offered":
            raise Conflict(f"the offer was already {merge.state}")
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
        return merge_view(merge)


def _check_rule(session: Session, store: Store, challenge: Challenge, first: Team, second: Team) -> None:
    """Refuse to merge teams that are gone, disqualified, not approved or too large together.

    As on Kaggle, together they may not have submitted more than one team could have by now.
    """
    for team in (first, second):
        if not team.is_active:
            raise Conflict(f"team {team.name!r} no longer exists")
        if team.disqualified_for is not None:
            raise Conflict(f"team {team.name!r} is disqualified")
        if team.approved_at is None:
            raise Conflict(f"team {team.name!r} is waiting for the organisers' approval")
    now = store.clock()
    require_running(challenge, now)
    people = count_members(session, first.id, second.id)
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
    if session.get(Report, staying.id) is None:
        session.execute(update(Report).where(Report.team_id == joining.id).values(team_id=staying.id))
    session.execute(update(Notice).where(Notice.team_id == joining.id).values(team_id=staying.id))
    joining.merged_into = staying.id
    queue_comparisons(session, staying.challenge_id, store.clock())
    others = (Merge.from_team_id == joining.id) | (Merge.to_team_id == joining.id)
    declined = {"state": "declined", "decided_at": store.clock()}
    session.execute(update(Merge).where(others, Merge.state == "offered").values(declined))
