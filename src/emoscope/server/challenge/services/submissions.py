"""Submissions: verified on upload, counted atomically, and on disk before they are confirmed."""

import secrets
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy import select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from emoscope.server.challenge.limits import MAX_NOTE
from emoscope.server.challenge.scoring.public_part import resolution_of, rounded_score
from emoscope.server.challenge.scoring.queue import log, queue_comparison, queue_scoring
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.services import uploads
from emoscope.server.challenge.services.actor import Actor, require_member, require_team
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import (
    board_visible,
    find_phase,
    find_team,
    labels_out,
    open_phase_of,
    phase_state,
    provisional,
    reading,
)
from emoscope.server.challenge.services.quotas import check_accepted, check_rejected, local_day, usage
from emoscope.server.challenge.views import Figures, LogLine, Part, QuotaView, SubmissionView
from emoscope.server.errors import Conflict, NotAllowed, NotFound, Rejected, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Phase, Result, Submission, Team
from emoscope.server.store.names import clean_line
from emoscope.tasks import get_task

if TYPE_CHECKING:
    from _typeshed import SupportsRead


def submit(
    store: Store,
    actor: Actor,
    slug: str,
    phase: str | None,
    upload: "SupportsRead[bytes]",
    *,
    file_name: str,
    media_type: str | None = None,
    note: str = "",
    key: str | None = None,
) -> SubmissionView:
    """Submit a file to a phase, or to the only open one.

    Once accepted, the file is on disk, and the submission is counted and queued for scoring in one transaction. A
    rejected file is recorded and counts towards the daily limit of rejected files. With a `key`, a request that is sent
    again because its response was lost gets the first one's response.
    """
    uploads.check_media_type(media_type)
    name, note, key = uploads.clean_file_name(file_name), clean_line(note, "note", MAX_NOTE), uploads.clean_key(key)
    with reading(store, actor, slug) as (session, challenge):
        team_id = require_member(actor, challenge.id)
        now = store.clock()
        chosen = open_phase_of(challenge, now) if phase is None else find_phase(challenge, phase)
        if earlier := _repeated(session, actor, chosen, key, now):
            return earlier
        _check_approved(find_team(session, challenge, team_id))
        # Checked again under the lock; checking now saves reading a file that cannot be accepted.
        _check_open(chosen, now)
        used = usage(session, chosen, [team_id], now)
        check_accepted(used, now)
        check_rejected(used, now)
    scorer = scorer_sha256(challenge.task, challenge.metric)
    unlabelled = store.files.path("unlabelled", chosen.unlabelled_sha256)
    with store.files.incoming(upload, limit=chosen.max_bytes) as part:
        received = store.clock()
        problems = uploads.refusals(get_task(challenge.task), part.path, unlabelled, file_name=name, items=chosen.items)
        if not problems:
            store.files.keep(part, "submissions")
        with store.database.write() as session:
            team = find_team(session, challenge, team_id, lock=True)
            if not team.is_active:
                raise Conflict("your team has changed in the meantime; try again")
            _check_approved(team)
            current = session.get_one(Phase, chosen.id)
            if earlier := _repeated(session, actor, current, key, received):
                return earlier
            _check_open(current, received)
            (check_rejected if problems else check_accepted)(usage(session, current, [team_id], received), received)
            submission = Submission(
                public_id=secrets.token_hex(8),
                phase_id=current.id,
                team_id=team_id,
                member_id=cast(int, actor.member_id),
                request_key=key,
                sha256=part.sha256,
                file_name=name,
                size=part.size,
                note=note,
                received_at=received,
                day=local_day(current, received).isoformat(),
                state="rejected" if problems else "queued",
                charged=not problems,
                problems=problems,
            )
            session.add(submission)
            session.flush()
            thing = f"submission {submission.public_id}"
            if problems:
                log(session, submission.id, received, f"rejected: {problems[0]}")
                record(session, store, actor, "submission.reject", thing, challenge_id=challenge.id)
            else:
                log(session, submission.id, received, f"received {part.size:,} bytes and verified")
                if labels_out(current, received):
                    log(session, submission.id, received, "the phase's labels are out, so it is scored but not ranked")
                queue_scoring(session, submission, current, scorer, received)
                record(session, store, actor, "submission.accept", thing, challenge_id=challenge.id, sha256=part.sha256)
            accepted = _view(actor, submission, scorer, received)
    if problems:
        raise Rejected(problems, submission.public_id)
    return accepted


def _check_approved(team: Team) -> None:
    if team.approved_at is None:
        raise NotAllowed("your team is waiting for the organisers' approval")
    if team.disqualified_for is not None:
        raise NotAllowed(f"your team is disqualified: {team.disqualified_for}")


def _check_open(phase: Phase, now: datetime) -> None:
    state = phase_state(phase, now)
    if state == "planned":
        when = "" if phase.opens_at is None else f"; it opens at {phase.opens_at.isoformat(timespec='minutes')}"
        raise Conflict(f"phase {phase.name} is not open yet{when}", field="phase")
    if state == "closed" and phase.closes_at is not None:
        closed = phase.closes_at.isoformat(timespec="minutes")
        raise Conflict(f"phase {phase.name} closed at {closed}", field="phase")


def _repeated(session: Session, actor: Actor, phase: Phase, key: str | None, now: datetime) -> SubmissionView | None:
    """The earlier submission with the same key."""
    if key is None:
        return None
    query = select(Submission).where(
        Submission.member_id == actor.member_id, Submission.phase_id == phase.id, Submission.request_key == key
    )
    submission = session.scalar(query)
    if submission is None:
        return None
    if submission.state == "rejected":
        raise Rejected(submission.problems, submission.public_id)
    scorer = scorer_sha256(phase.challenge.task, phase.challenge.metric)
    return _view(actor, submission, scorer, now).model_copy(update={"repeated": True})


def quota(store: Store, actor: Actor, slug: str, phase: str) -> QuotaView:
    """The quota of the actor's team."""
    with reading(store, actor, slug) as (session, challenge):
        team_id = require_member(actor, challenge.id)
        return usage(session, find_phase(challenge, phase), [team_id], store.clock())


def get_submission(store: Store, actor: Actor, submission_id: str) -> SubmissionView:
    """Get a submission with its log, for its team and the organisers."""
    with store.database.read() as session:
        submission, _, challenge = _find(session, actor, submission_id)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        return _view(actor, submission, scorer, store.clock(), with_log=True)


def list_submissions(
    store: Store,
    actor: Actor,
    slug: str,
    *,
    phase: str | None = None,
    team_id: int | None = None,
    deleted: bool = False,
    limit: int | None = None,
    before: str | None = None,
) -> list[SubmissionView]:
    """List the submissions of the actor's team, newest first; for organisers all, or one team's.

    With a `limit`, `before` names the submission that the previous list ended with.
    """
    with reading(store, actor, slug) as (session, challenge):
        if not actor.organises(challenge.id):
            team_id = require_member(actor, challenge.id) if team_id is None else team_id
            require_team(actor, challenge.id, team_id)
        query = select(Submission).join(Submission.phase).where(Phase.challenge_id == challenge.id)
        query = query.order_by(Submission.id.desc()).options(
            joinedload(Submission.team), joinedload(Submission.member), selectinload(Submission.results)
        )
        if phase is not None:
            query = query.where(Phase.id == find_phase(challenge, phase).id)
        if team_id is not None:
            query = query.where(Submission.team_id == team_id)
        if not deleted:
            query = query.where(Submission.deleted_at.is_(None))
        if before is not None:
            query = query.where(Submission.id < _find(session, actor, before)[0].id)
        if limit is not None:
            query = query.limit(limit)
        scorer, now = scorer_sha256(challenge.task, challenge.metric), store.clock()
        return [_view(actor, submission, scorer, now) for submission in session.scalars(query)]


def submission_file(store: Store, actor: Actor, submission_id: str) -> tuple[Path, str]:
    """The path and name of a submitted file, for its team and the organisers."""
    with store.database.read() as session:
        submission, _, _ = _find(session, actor, submission_id)
        if submission.state == "rejected":
            raise NotFound("rejected files are not kept")
        return store.files.path("submissions", submission.sha256), submission.file_name


def _check_changeable(actor: Actor, phase: Phase, now: datetime) -> None:
    if actor.organises(phase.challenge_id):
        return
    if phase_state(phase, now) != "open":
        raise Conflict("only an organiser can change this once the phase has closed")
    if labels_out(phase, now):
        raise Conflict("only an organiser can change this once the phase's labels are out")


def _set_deleted(store: Store, actor: Actor, submission_id: str, *, deleted: bool) -> None:
    with store.database.write() as session:
        submission, phase, challenge = _find(session, actor, submission_id)
        now = store.clock()
        _check_changeable(actor, phase, now)
        submission.deleted_at = now if deleted else None
        queue_comparison(session, phase.id, now)
        action = "submission.delete" if deleted else "submission.restore"
        record(session, store, actor, action, f"submission {submission.public_id}", challenge_id=challenge.id)


# A deleted submission is off the board but still counts towards the quota.
delete_submission = partial(_set_deleted, deleted=True)
restore_submission = partial(_set_deleted, deleted=False)


def choose_submission(store: Store, actor: Actor, submission_id: str, *, chosen: bool = True) -> None:
    """Choose the submission that counts for its team instead of the best, or undo the choice."""
    with store.database.write() as session:
        submission, phase, challenge = _find(session, actor, submission_id)
        now = store.clock()
        if phase.counts == "last":
            raise Conflict(f"in phase {phase.name} the last submission counts, so there is nothing to choose")
        unlisted = submission.deleted_at is not None or labels_out(phase, submission.received_at)
        if submission.state in {"rejected", "failed"} or unlisted:
            raise Conflict("only a submission that can appear on the leaderboard can be chosen")
        _check_changeable(actor, phase, now)
        find_team(session, challenge, submission.team_id, lock=True)
        team_ones = (Submission.phase_id == phase.id, Submission.team_id == submission.team_id)
        session.execute(update(Submission).where(*team_ones).values(chosen_at=None))
        if chosen:
            submission.chosen_at = now
        queue_comparison(session, phase.id, now)
        action = "submission.choose" if chosen else "submission.unchoose"
        record(session, store, actor, action, f"submission {submission.public_id}", challenge_id=challenge.id)


def annotate_submission(store: Store, actor: Actor, submission_id: str, note: str) -> None:
    """Change the team's note on a submission."""
    note = clean_line(note, "note", MAX_NOTE)
    with store.database.write() as session:
        submission, _, challenge = _find(session, actor, submission_id)
        if not actor.plays(submission.team_id):
            raise NotAllowed("only the team can change its notes")
        submission.note = note
        record(session, store, actor, "submission.note", f"submission {submission_id}", challenge_id=challenge.id)


def _find(session: Session, actor: Actor, submission_id: str) -> tuple[Submission, Phase, Challenge]:
    """Find a submission that the actor may see; everyone else gets NotFound."""
    if actor.role == "public":
        raise Unauthenticated("a team member's token is required")
    submission = session.scalar(select(Submission).where(Submission.public_id == submission_id[:64]))
    if submission is not None:
        phase, challenge = submission.phase, submission.phase.challenge
        if actor.organises(challenge.id) or (actor.plays(submission.team_id) and challenge.deleted_at is None):
            return submission, phase, challenge
    raise NotFound("no such submission")


def figures_of(actor: Actor, phase: Phase, result: Result, now: datetime) -> Figures:
    """The figures of a result: all for organisers, only the rounded score for others while the board is provisional."""
    if provisional(phase, now) and not actor.organises(phase.challenge_id):
        return rounded_figures(phase, result)
    part: Part = "private" if result.public_score is not None else "all"
    return Figures(score=result.score, part=part, **result.figures)


def rounded_figures(phase: Phase, result: Result) -> Figures:
    """What a provisional board shows of a result: nothing that does not follow from the rounded score."""
    known, score = resolution_of(phase), rounded_score(phase, result)
    low, high = (round(min(1.0, max(0.0, score + side * known.margin)), 4) for side in (-1, 1))
    part: Part = "public" if result.public_score is not None else "all"
    return Figures(score=score, low=low, high=high, part=part, digits=known.digits)


def _view(
    actor: Actor, submission: Submission, scorer: str, now: datetime, *, with_log: bool = False
) -> SubmissionView:
    """A submission, with its figures if the actor may see scores now.

    They are those for the current code and gold, or else those of the newest result, which is then stale.
    """
    phase = submission.phase
    current = (scorer, phase.gold_sha256)
    fresh = [result for result in submission.results if (result.scorer_sha256, result.gold_sha256) == current]
    newest = next(iter(fresh or submission.results), None)
    return SubmissionView.of(
        submission,
        id=submission.public_id,
        challenge=phase.challenge.slug,
        phase=phase.name,
        team=submission.team.name,
        member=submission.member.name,
        figures=figures_of(actor, phase, newest, now) if newest and board_visible(actor, phase, now) else None,
        stale=newest is not None and not fresh,
        chosen=submission.chosen_at is not None,
        can_choose=phase.counts != "last" and phase_state(phase, now) == "open" and not labels_out(phase, now),
        late=labels_out(phase, submission.received_at),
        log=tuple(LogLine.of(line) for line in submission.log) if with_log else (),
    )
