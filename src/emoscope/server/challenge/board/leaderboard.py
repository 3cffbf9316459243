"""The leaderboard of a phase: its rows, their history, and notes on them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.core.errors import EmoscopeError
from emoscope.evaluation.compare import significance_clusters
from emoscope.server.challenge.board.summary import class_winners, statistics
from emoscope.server.challenge.scoring.public_part import resolution_of, rounded_score
from emoscope.server.challenge.scoring.scorer import LEVEL, measured, scorer_sha256
from emoscope.server.challenge.scoring.standing import TeamStanding, fingerprint, in_time, standings
from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.lookup import (
    board_visible,
    find_phase,
    labels_out,
    phase_state,
    provisional,
    reading,
)
from emoscope.server.challenge.services.submissions import rounded_figures
from emoscope.server.challenge.views import BoardView, Entry, HistoryPoint, SubmissionState
from emoscope.server.errors import NotAllowed
from emoscope.server.store import Store
from emoscope.server.store.models import BoardComparison, Challenge, Job, Phase, Report, Result, Submission
from emoscope.tasks.published import published as published_results


def leaderboard(
    store: Store, actor: Actor, slug: str, phase_name: str, *, published: bool = True, final: bool = False
) -> BoardView:
    """The board: teams by score, ties by time; teams without a current score come last, unranked.

    While a phase with an open board runs, scores are rounded and on the public part of the gold; with `final`,
    organisers get the final ranking if the phase closed now. `published=False` leaves out the systems of the paper.
    """
    with reading(store, actor, slug) as (session, challenge):
        phase = find_phase(challenge, phase_name)
        now = store.clock()
        if not board_visible(actor, phase, now):
            when = "opens" if phase_state(phase, now) == "planned" else "closes"
            raise NotAllowed(f"the leaderboard of phase {phase_name} is shown when the phase {when}")
        running = provisional(phase, now)
        if final and running:
            require_organiser(actor, challenge.id)
            running = False
        task = measured(challenge.task, challenge.metric)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        teams = standings(session, phase, scorer, final=not running)
        ranked = [standing for standing in teams if standing.ranked]
        reported = set(session.scalars(select(Report.team_id))) if challenge.survey else None
        former, former_ranks = _former(session, actor, phase, scorer, now, reported)
        history_of = _histories(session, phase, scorer, final=not running)
        comparison = session.get(BoardComparison, phase.id)
        failed = session.scalar(select(Job.id).where(Job.key == f"compare:{phase.id}", Job.state == "failed"))
    known = resolution_of(phase)
    current = fingerprint([standing.submission for standing in ranked], phase, scorer)
    ready = running or (comparison is not None and comparison.fingerprint == current)
    compared = (
        _rounded_clusters(phase, ranked) if running else comparison.rows if ready and comparison is not None else {}
    )
    silent = _silent(challenge, [standing.team.id for standing in ranked], reported, running=running)
    ranks = count(1)

    def entry_of(standing: TeamStanding, row: int | None = None) -> Entry:
        team = standing.team.id
        values = {
            **compared.get(standing.submission.public_id, {}),
            "row": row,
            "rank": None if row is None or team in silent else next(ranks),
            "former_rank": former_ranks.get(team),
            "reported": None if reported is None else team in reported,
            "history": history_of.get(team, ()),
        }
        return _team(actor, phase, standing, values, running=running)

    entries = [entry_of(standing, row) for row, standing in enumerate(ranked, start=1)]
    scores = [entry.score for entry in entries if entry.score is not None]
    winners, spread = ((), None) if running else (class_winners(entries, task.metric.labels), statistics(scores))
    beside = _published(task.name) if published and phase.published else []
    if people := phase.humans:
        note = f"{people['items']:,} judgements"
        beside.append(Entry(kind="human", name=people["name"], score=people["score"], note=note))
    for other in beside:
        # After teams with the same score.
        place = next((at for at, entry in enumerate(entries) if (entry.score or 0) < (other.score or 0)), len(entries))
        entries.insert(place, other)
    unranked = [entry_of(standing) for standing in teams if not standing.ranked]
    return BoardView.of(
        phase,
        challenge=challenge.slug,
        phase=phase.name,
        title=f"{challenge.title}: {phase.title}",
        task=task.name,
        metric=task.metadata.metric.name,
        metric_description=task.metadata.metric.description,
        state=phase_state(phase, now),
        part="all" if phase.public is None or phase.public["sha256"] is None else "public" if running else "private",
        step=known.step if running else None,
        digits=known.digits if running else 4,
        computed=now,
        entries=(*entries, *unranked),
        former=former,
        further_metrics=tuple(dict.fromkeys(name for entry in entries for name in entry.further)),
        winners=winners,
        statistics=spread,
        clusters_ready=ready or not ranked,
        comparison_failed=failed is not None and not ready,
        level=LEVEL,
        notes=(
            *_notes(teams, beside),
            *_report_notes(challenge, len(silent)),
            *_part_notes(phase, running=running),
            *_label_notes(phase, now),
        ),
    )


def _former(
    session: Session, actor: Actor, phase: Phase, scorer: str, now: datetime, reported: set[int] | None
) -> tuple[str | None, dict[int, int]]:
    """The title of the previous phase and the teams' ranks in it, if the actor may see its board."""
    before = [other for other in phase.challenge.phases if other.position < phase.position]
    if not before or not board_visible(actor, before[-1], now):
        return None, {}
    running = provisional(before[-1], now)
    previous = standings(session, before[-1], scorer, final=not running)
    stood = [standing.team.id for standing in previous if standing.ranked]
    silent = _silent(phase.challenge, stood, reported, running=running)
    ranks = {team: rank for rank, team in enumerate((team for team in stood if team not in silent), start=1)}
    return before[-1].title if ranks else None, ranks


def _histories(session: Session, phase: Phase, scorer: str, *, final: bool) -> dict[int, tuple[HistoryPoint, ...]]:
    """The score that counted for each team from each moment on, as shown or if the phase had closed then.

    While the board is provisional these are rounded scores that it has shown, so they reveal nothing more.
    """
    resolution = resolution_of(phase)
    query = (
        select(Submission.team_id, Submission.received_at, Submission.chosen_at, Result.score, Result.public_score)
        .join(Result, Result.submission_id == Submission.id)
        .where(
            Submission.phase_id == phase.id,
            Submission.deleted_at.is_(None),
            Result.scorer_sha256 == scorer,
            Result.gold_sha256 == phase.gold_sha256,
            in_time(phase),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    points: dict[int, list[HistoryPoint]] = defaultdict(list)
    best: dict[int, float] = {}
    chosen: dict[int, HistoryPoint] = {}
    for team, received, chosen_at, score, public in session.execute(query):
        known = score if public is None else public
        known = round(known if final else resolution.rounded(known), 12)
        shown = score if final else known
        if phase.counts == "last" or team not in best or known > best[team]:
            best[team] = known
            points[team].append(HistoryPoint(at=received, score=shown))
        if chosen_at is not None and (team not in chosen or chosen_at > chosen[team].at):
            chosen[team] = HistoryPoint(at=chosen_at, score=shown)
    for team, choice in chosen.items():
        points[team] = [point for point in points[team] if point.at < choice.at] + [choice]
    return {team: tuple(history) for team, history in points.items()}


def _silent(challenge: Challenge, teams: Sequence[int], reported: set[int] | None, *, running: bool) -> set[int]:
    """The teams that are not ranked because they have not described their systems."""
    return set() if running or challenge.report != "ranked" else set(teams) - (reported or set())


def _report_notes(challenge: Challenge, silent: int) -> list[str]:
    if challenge.report != "ranked":
        return []
    waiting = f"; {silent} {'has' if silent == 1 else 'have'} not done so yet" if silent else ""
    return [f"only teams that have described their system are ranked when the phase closes{waiting}"]


def _rounded_clusters(phase: Phase, ranked: list[TeamStanding]) -> dict[str, dict[str, int | None]]:
    """Clusters and first differing rows, computed from the rounded scores so that they reveal nothing more."""
    known = resolution_of(phase)
    scores = [rounded_score(phase, standing.result) for standing in ranked if standing.result is not None]
    differs = np.array([[known.differ(first, second) for second in scores] for first in scores], dtype=bool)
    clusters = significance_clusters(differs.reshape(len(scores), len(scores)))
    rows = {}
    for row, standing in enumerate(ranked):
        below = np.flatnonzero(differs[row, row + 1 :])
        first = row + 2 + int(below[0]) if len(below) else None
        rows[standing.submission.public_id] = {"cluster": clusters[row], "first_different": first}
    return rows


def _part_notes(phase: Phase, *, running: bool) -> list[str]:
    part = phase.public
    split = part is not None and part["sha256"] is not None
    where = f" on a public part of the gold ({part['items']:,} of {phase.items:,} items)" if part and split else ""
    if running:
        rest = "; the rest decides the final ranking" if split else ""
        step, where = f"{resolution_of(phase).step:g}", f"{where}," if where else ""
        then = "exact and per-class scores are shown when the phase closes"
        return [f"scores are{where} rounded to {step}{rest}; {then}"]
    if part and split:
        return [f"scores are on the {phase.items - part['items']:,} items that were private while the phase was open"]
    return []


def _label_notes(phase: Phase, now: datetime) -> list[str]:
    if phase.labels_at is None or not labels_out(phase, now):
        return []
    when = phase.labels_at.astimezone(ZoneInfo(phase.time_zone)).isoformat(" ", timespec="minutes")
    return [f"the labels came out at {when}; submissions since then are scored but not ranked"]


def _team(actor: Actor, phase: Phase, standing: TeamStanding, values: dict[str, Any], *, running: bool) -> Entry:
    result = standing.result
    figures = {} if result is None else {"score": result.score, **result.figures}
    if result is not None and running:
        figures = rounded_figures(phase, result).model_dump(include={"score", "low", "high"})
    own = actor.plays(standing.team.id)
    submission = standing.submission
    return Entry(
        kind="team",
        name=standing.team.name,
        **{"score": None, **figures, **values},
        received=submission.received_at,
        submissions=standing.submissions,
        stale=standing.stale,
        state=cast(SubmissionState, submission.state),
        mine=own,
        submission=submission.public_id if own or actor.organises(phase.challenge_id) else None,
    )


def _published(task: str) -> list[Entry]:
    try:
        results = published_results(task)
    except EmoscopeError:  # a custom task has none
        return []
    return [
        Entry(
            kind="published",
            name=entry.name,
            score=entry.score,
            per_class={label: figures._asdict() for label, figures in entry.per_class.items()},
            note="baseline" if entry.baseline else results.source.table,
        )
        for entry in results.scored
    ]


def _notes(teams: list[TeamStanding], beside: list[Entry]) -> list[str]:
    notes = []
    if stale := sum(standing.stale for standing in teams):
        notes.append(
            f"{stale} score{'s are' if stale > 1 else ' is'} stale because the scorer or the gold labels have changed, "
            "and not ranked until rescored"
        )
    if any(entry.kind == "published" for entry in beside):
        notes.append("published systems are shown with the scores from the task's paper and are not ranked")
    return notes
