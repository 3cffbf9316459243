"""What the managers of a study see: progress, agreement, annotators, items and the adjudication queue."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from statistics import median
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.agreement_report import Agreement, WorkerPair, measure_agreement
from emoscope.corpus.annotation.annotations import votes_of
from emoscope.corpus.annotation.assignment import HOLD_SECONDS, Event, WorkerStanding
from emoscope.server.annotate.desk import Desk, Snapshot
from emoscope.server.annotate.notes import ItemNotes, briefed_at, briefing_of, notes_by_item
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.store.models import AnnotationEvent, Annotator, Study, StudyItem

MATRIX = 20  # the most annotators in the agreement matrix
_SAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """An annotator; `seconds` is their median time per item, `followed` the share of suggestions they accepted."""

    id: int
    name: str
    standing: WorkerStanding
    revoked: bool
    profile: Mapping[str, Any]
    briefed: datetime | None
    seconds: float | None
    followed: float | None
    suggested: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item with the votes on each of its tasks, and its notes."""

    id: int
    name: str
    kind: str  # asked, gold, training or qualification
    judges: int
    wanted: int
    votes: tuple[Mapping[str, int], ...]
    notes: ItemNotes

    @property
    def complete(self) -> bool:
        """Whether all judges have judged it."""
        return self.judges >= self.wanted

    @property
    def split(self) -> bool:
        """Whether a task of the item has no absolute majority."""
        return any(2 * max(votes.values()) <= sum(votes.values()) for votes in self.votes if votes)

    @property
    def waits(self) -> bool:
        """Whether the item is in the adjudication queue: flagged, or complete without a majority."""
        if self.kind in ("training", "qualification"):
            return self.notes.flags > 0
        undecided = self.notes.adjudicated is None and self.kind == "asked"
        return self.notes.flags > 0 or (undecided and self.complete and self.split)

    @property
    def agreement(self) -> float:
        """The share of the votes for the most frequent label; the lowest one if there are several tasks."""
        return min((max(votes.values()) / sum(votes.values()) for votes in self.votes if votes), default=1.0)


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a study."""

    rules: StudyRules
    annotators: tuple[AnnotatorRow, ...]
    items: tuple[ItemRow, ...]
    judgements: tuple[Judgement, ...]  # without gold questions and rounds
    agreement: Agreement | None  # None until an item has two votes
    confusion: Mapping[tuple[str, str], int]  # counts of pairs of votes on the same task, by their sorted labels
    briefing: str

    @property
    def asked(self) -> tuple[ItemRow, ...]:
        """The items to annotate: neither gold questions nor part of a round."""
        return tuple(item for item in self.items if item.kind == "asked")

    @property
    def finished(self) -> int:
        """The number of items with all their judges."""
        return sum(item.complete for item in self.asked)

    @property
    def wanted(self) -> int:
        """The number of judgements the study needs."""
        return sum(item.wanted for item in self.asked)

    @property
    def judged(self) -> int:
        """The number of those judgements made so far."""
        return sum(min(item.judges, item.wanted) for item in self.asked)

    @property
    def queue(self) -> list[ItemRow]:
        """The adjudication queue: flagged items first, then those with the least agreement."""
        waiting = [item for item in self.items if item.waits]
        return sorted(waiting, key=lambda item: (-min(item.notes.flags, 1), item.agreement, item.id))

    @property
    def matrix_of(self) -> list[str]:
        """The annotators in the agreement matrix, those with the most judgements."""
        judged = Counter(judgement.worker for judgement in self.judgements)
        most = [name for name, _ in judged.most_common(MATRIX)]
        return sorted(most, key=str.casefold)

    def pair(self, first: str, second: str) -> WorkerPair | None:
        """The agreement of two annotators, if they have items in common."""
        pairs = () if self.agreement is None else self.agreement.pairwise.pairs
        return next((pair for pair in pairs if set(pair.workers) == {first, second}), None)


class Overviews:
    """Computes the overview of a desk's study, and caches it until something changes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._kept: tuple[object, Overview] | None = None

    def now(self) -> Overview:
        """The current overview."""
        snapshot = self._desk.snapshot()
        with self._desk.store.database.read() as session:
            study = snapshot.study
            people = list(session.scalars(select(Annotator).where(Annotator.study_id == study.id)))
            notes = notes_by_item(session, study)
            briefing = briefing_of(session, study).version
            read = briefed_at(session, study, briefing) if briefing else {}
            key = (snapshot.seen, notes, briefing, read, [(row.id, row.revoked_at, row.profile) for row in people])
            if self._kept is not None and self._kept[0] == key:
                return self._kept[1]
            rows = session.execute(
                select(StudyItem.id, StudyItem.name, StudyItem.gold, StudyItem.round)
                .where(StudyItem.study_id == study.id)
                .order_by(StudyItem.id)
            ).all()
            effort = _effort(session, study)
        items = _items(snapshot, rows, notes)
        judgements = _judgements(snapshot, {item.name for item in items if item.kind == "asked"})
        overview = Overview(
            rules=snapshot.rules,
            annotators=tuple(
                AnnotatorRow(
                    row.id,
                    row.name,
                    snapshot.standings[row.name],
                    row.revoked_at is not None,
                    row.profile or {},
                    read.get(row.id),
                    *effort.get(row.id, (None, None, 0, None)),
                )
                for row in people
                if row.name in snapshot.standings
            ),
            items=items,
            judgements=judgements,
            agreement=_agreement(judgements),
            confusion=_confusion(judgements),
            briefing=briefing,
        )
        self._kept = (key, overview)
        return overview


def _judgements(snapshot: Snapshot, asked: set[str]) -> tuple[Judgement, ...]:
    return tuple(
        Judgement(f"{event.item}:{place}" if snapshot.rules.whole_dialogues else event.item, event.worker, answer.label)
        for event in snapshot.judgements
        if event.item in asked
        for place, answer in enumerate(event.answers)
    )


def _items(snapshot: Snapshot, rows: Iterable[Any], notes: Mapping[int, ItemNotes]) -> tuple[ItemRow, ...]:
    by_item: defaultdict[str, list[Event]] = defaultdict(list)
    for event in snapshot.judgements:
        by_item[event.item].append(event)
    items: list[ItemRow] = []
    for item_id, name, gold, part in rows:
        votes = tuple(Counter(event.answers[place].label for event in by_item[name]) for place in range(len(gold)))
        kind = part or ("gold" if any(label is not None for label in gold) else "asked")
        judges, wanted = snapshot.judges.get(name, (len(by_item[name]), 0))
        items.append(ItemRow(item_id, name, kind, judges, wanted, votes, notes.get(item_id, ItemNotes())))
    return tuple(items)


def _agreement(judgements: Sequence[Judgement]) -> Agreement | None:
    try:
        return measure_agreement(votes_of(judgements).values(), judgements, samples=_SAMPLES)
    except EmoscopeError:
        return None


def _confusion(judgements: Iterable[Judgement]) -> Counter[tuple[str, str]]:
    by_task: defaultdict[str, list[str]] = defaultdict(list)
    for judgement in judgements:
        by_task[judgement.task].append(judgement.label)
    pairs: Counter[tuple[str, str]] = Counter()
    for labels in by_task.values():
        pairs.update(combinations(sorted(labels), 2))
    return pairs


def _effort(session: Session, study: Study) -> dict[int, tuple[float | None, float | None, int, datetime | None]]:
    """By annotator: median seconds per item, share of suggestions accepted, number of suggestions, time last seen."""
    query = (
        select(
            AnnotationEvent.annotator_id,
            AnnotationEvent.item_id,
            AnnotationEvent.kind,
            AnnotationEvent.answers,
            AnnotationEvent.suggested,
            AnnotationEvent.at,
        )
        .where(AnnotationEvent.study_id == study.id)
        .order_by(AnnotationEvent.id)
    )
    given: dict[tuple[int, int], datetime] = {}
    took: defaultdict[int, list[float]] = defaultdict(list)
    followed: defaultdict[int, list[bool]] = defaultdict(list)
    last: dict[int, datetime] = {}
    for annotator, item, kind, answers, suggested, at in session.execute(query):
        if kind in ("given", "undone"):
            given[annotator, item] = at
        elif kind == "judged" and (start := given.get((annotator, item))) is not None:
            seconds = (at - start).total_seconds()
            if seconds < HOLD_SECONDS:  # else they were away
                took[annotator].append(seconds)
        if suggested:
            pairs = zip(answers, suggested, strict=False)
            followed[annotator] += [answer[0] == label for answer, label in pairs if label is not None]
        if kind != "imported":
            last[annotator] = at
    return {
        annotator: (
            median(took[annotator]) if took[annotator] else None,
            sum(followed[annotator]) / len(followed[annotator]) if followed[annotator] else None,
            len(followed[annotator]),
            last.get(annotator),
        )
        for annotator in {*took, *followed, *last}
    }
