"""The leaderboard of a phase, for those who may see it."""

from typing import cast

from sqlalchemy import select

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.scoring.scorer import LEVEL, measured, scorer_sha256
from emoscope.server.challenge.scoring.standing import TeamStanding, fingerprint, standings
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.lookup import board_visible, find_challenge, find_phase, phase_state
from emoscope.server.challenge.views import BoardView, Entry, SubmissionState
from emoscope.server.errors import NotAllowed
from emoscope.server.store import Store
from emoscope.server.store.models import BoardComparison, Job, Phase
from emoscope.tasks.published import published as published_results


def leaderboard(store: Store, actor: Actor, slug: str, phase_name: str, *, published: bool = True) -> BoardView:
    """The board: teams by score, the earliest first among equals; those without a current score come last, unranked.

    `published=False` leaves out the systems of the task's paper.
    """
    with store.database.read() as session:
        challenge = find_challenge(session, actor, slug)
        phase = find_phase(challenge, phase_name)
        now = store.clock()
        if not board_visible(actor, phase, now):
            when = "opens" if phase_state(phase, now) == "planned" else "is closed"
            raise NotAllowed(f"the board of phase {phase_name} is shown when the phase {when}")
        task = measured(challenge.task, challenge.metric)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        teams = standings(session, phase, scorer)
        ranked = [standing for standing in teams if standing.ranked]
        comparison = session.get(BoardComparison, phase.id)
        failed = session.scalar(select(Job.id).where(Job.key == f"compare:{phase.id}", Job.state == "failed"))
    current = fingerprint([standing.submission for standing in ranked], phase, scorer)
    ready = comparison is not None and comparison.fingerprint == current
    compared = comparison.rows if ready and comparison is not None else {}
    entries = [
        _team(actor, phase, standing, rank, compared.get(standing.submission.public_id, {}))
        for rank, standing in enumerate(ranked, start=1)
    ]
    beside = _published(task.name) if published and phase.published else []
    if people := phase.humans:
        note = f"{people['items']:,} judgements"
        beside.append(Entry(kind="human", name=people["name"], score=people["score"], note=note))
    for other in beside:
        # After the teams that are as good.
        place = next((at for at, entry in enumerate(entries) if (entry.score or 0) < (other.score or 0)), len(entries))
        entries.insert(place, other)
    unranked = [_team(actor, phase, standing, None, {}) for standing in teams if not standing.ranked]
    return BoardView.of(
        phase,
        challenge=challenge.slug,
        phase=phase.name,
        title=f"{challenge.title}: {phase.title}",
        task=task.name,
        metric=task.metadata.metric.name,
        metric_description=task.metadata.metric.description,
        state=phase_state(phase, now),
        computed=now,
        entries=(*entries, *unranked),
        clusters_ready=ready or not ranked,
        comparison_failed=failed is not None and not ready,
        level=LEVEL,
        notes=tuple(_notes(teams, beside)),
    )


def _team(
    actor: Actor, phase: Phase, standing: TeamStanding, rank: int | None, compared: dict[str, int | None]
) -> Entry:
    result = standing.result
    own = actor.plays(standing.team.id)
    submission = standing.submission
    return Entry(
        kind="team",
        name=standing.team.name,
        score=None if result is None else result.score,
        rank=rank,
        row=rank,
        **({} if result is None else result.figures),
        cluster=compared.get("cluster"),
        first_different=compared.get("first_different"),
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
    except EmoscopeError:  # somebody's own task has none
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
            f"{stale} score{'s are' if stale > 1 else ' is'} stale, as scorer or gold have changed, "
            "and not ranked until scored anew"
        )
    if any(entry.kind == "published" for entry in beside):
        notes.append("systems marked as published stand at the scores of the task's paper and are not ranked")
    return notes
