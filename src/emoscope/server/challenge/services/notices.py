"""Announcements to everyone and messages to one team, on the challenge page and optionally by e-mail."""

from datetime import timedelta
from functools import partial

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from emoscope.server.challenge.limits import MAX_ANNOUNCEMENT, MAX_TITLE
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import find_team, organising, reading, require_not_deleted
from emoscope.server.challenge.services.registration import Post
from emoscope.server.challenge.views import NoticeView
from emoscope.server.errors import Conflict, NotAllowed, NotFound, ServerError
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Member, Notice, Team
from emoscope.server.store.names import clean_line, clean_lines

_LEASE = timedelta(minutes=2)  # longer than a mail server may take for one mail
_GIVE_UP = 3  # after this many failures in a row


def post_notice(
    store: Store, actor: Actor, slug: str, *, title: str, text: str, team_id: int | None = None, mail: bool = False
) -> NoticeView:
    """Post an announcement, or a message to one team; with `mail`, `send_notice` can then mail it to members."""
    title = clean_line(title, "title", MAX_TITLE, required=True)
    text = clean_lines(text, "text", MAX_ANNOUNCEMENT, required=True)
    with organising(store, actor, slug) as (session, challenge):
        if mail:
            require_not_deleted(challenge)
        if team_id is not None and find_team(session, challenge, team_id).merged_into is not None:
            raise Conflict("the team has been merged into another")
        notice = Notice(
            challenge_id=challenge.id,
            team_id=team_id,
            author=actor.name[:64],
            title=title,
            text=text,
            created_at=store.clock(),
            mailed=0,
            unsent=_recipients(session, challenge, team_id) if mail else [],
        )
        session.add(notice)
        session.flush()
        thing, action = (challenge.slug, "notice.post") if team_id is None else (f"team {team_id}", "team.message")
        detail = {"notice": notice.id, "title": title, "mails": len(notice.unsent)}
        record(session, store, actor, action, thing, challenge_id=challenge.id, **detail)
        return _view(notice, organises=True)


def _recipients(session: Session, challenge: Challenge, team_id: int | None) -> list[int]:
    query = select(Member.id).join(Member.team).where(Team.challenge_id == challenge.id, Member.email.is_not(None))
    query = query.where(Team.deleted_at.is_(None)) if team_id is None else query.where(Team.id == team_id)
    return list(session.scalars(query.order_by(Member.id)))


def send_notice(store: Store, actor: Actor, slug: str, notice_id: int, post: Post) -> NoticeView:
    """Mail a notice to the members who have not received it yet; failed recipients can be tried again.

    Each mail is recorded when it is sent, so that another process can continue where a killed one stopped.
    """
    if post.mailer is None:
        raise NotAllowed("this server sends no e-mail; the announcement is on the challenge page")
    with organising(store, actor, slug) as (session, challenge):
        require_not_deleted(challenge)
        notice = _find(session, challenge, notice_id)
        if notice.sending_until is not None and notice.sending_until > store.clock():
            raise Conflict("the e-mails are already being sent; check back later")
        members = {row.id: row for row in session.scalars(select(Member).where(Member.id.in_(notice.unsent)))}
        # Skip members who have left or have no address.
        notice.unsent = [member for member in notice.unsent if member in members and members[member].email]
        notice.sending_until = store.clock() + _LEASE
    failures, address = 0, f"{post.base}/challenges/{challenge.slug}"
    for member_id in notice.unsent:
        try:
            subject = f"{challenge.title}: {notice.title}"
            post.send(str(members[member_id].email), subject, notice.text, f"All announcements: {address}")
            failures = 0
        except ServerError:
            failures += 1
            if failures >= _GIVE_UP:
                break
            continue
        with store.database.write() as session:
            current = session.get_one(Notice, notice.id, with_for_update=True)
            current.unsent = [member for member in current.unsent if member != member_id]
            current.mailed, current.sending_until = current.mailed + 1, store.clock() + _LEASE
    with store.database.write() as session:
        current = session.get_one(Notice, notice.id, with_for_update=True)
        current.sending_until = None
        detail = {"notice": current.id, "mailed": current.mailed, "unsent": len(current.unsent)}
        record(session, store, actor, "notice.mail", challenge.slug, challenge_id=challenge.id, **detail)
        return _view(current, organises=True)


def list_notices(store: Store, actor: Actor, slug: str) -> list[NoticeView]:
    """List announcements and messages to the actor's team, newest first; organisers see all, also withdrawn ones."""
    with reading(store, actor, slug) as (session, challenge):
        organises = actor.organises(challenge.id)
        query = select(Notice).where(Notice.challenge_id == challenge.id).order_by(Notice.id.desc())
        if not organises:
            own = actor.team_id if actor.challenge_id == challenge.id else None
            query = query.where(or_(Notice.team_id.is_(None), Notice.team_id == own), Notice.withdrawn_at.is_(None))
        return [_view(notice, organises=organises) for notice in session.scalars(query)]


def _set_withdrawn(store: Store, actor: Actor, slug: str, notice_id: int, *, withdrawn: bool) -> NoticeView:
    with organising(store, actor, slug) as (session, challenge):
        notice = _find(session, challenge, notice_id)
        notice.withdrawn_at = store.clock() if withdrawn else None
        action = "notice.withdraw" if withdrawn else "notice.restore"
        record(session, store, actor, action, challenge.slug, challenge_id=challenge.id, notice=notice.id)
        return _view(notice, organises=True)


# Only organisers see a withdrawn notice; mails cannot be recalled.
withdraw_notice = partial(_set_withdrawn, withdrawn=True)
restore_notice = partial(_set_withdrawn, withdrawn=False)


def _find(session: Session, challenge: Challenge, notice_id: int) -> Notice:
    query = select(Notice).where(Notice.id == notice_id, Notice.challenge_id == challenge.id)
    notice = session.scalar(query.with_for_update())
    if notice is None:
        raise NotFound("no such announcement in this challenge")
    return notice


def _view(notice: Notice, *, organises: bool) -> NoticeView:
    return NoticeView.of(
        notice,
        posted=notice.created_at,
        team=None if notice.team is None else notice.team.name,
        mailed=notice.mailed if organises else 0,
        unsent=len(notice.unsent) if organises else 0,
    )
