"""Handles annotators' requests; every change is committed before it is answered.

The event log in the database is the state of the study. The state in memory is replayed from it, and is brought up to
date under the database's write lock before every decision. So no two threads or processes assign the same place, and a
killed process loses nothing that it has answered.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.core.colours import colours_of
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.assignment import Assignment, Event, LabelChoice, NotPossibleError, WorkerStanding
from emoscope.corpus.annotation.items import Item
from emoscope.server.annotate.links import claimed_annotator, link_token, manager_token, same_token
from emoscope.server.annotate.notes import (
    Briefing,
    NoteKind,
    add_note,
    add_remark,
    briefing_of,
    has_read,
    manager_link,
)
from emoscope.server.annotate.rules import KEYS, StudyRules
from emoscope.server.annotate.studies import item_row, load_assignment, load_events, load_item, the_study
from emoscope.server.errors import Invalid, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import AnnotationEvent, Annotator, Study, StudyNote

# Takes the state, a worker and the time; returns the event to log, if any.
Decision = Callable[[Assignment, str, float], Event | None]
_PAGE = 20  # earlier items sent at once


@dataclass(slots=True)
class _Opened:
    study: Study
    rules: StudyRules
    assignment: Assignment
    seen: int = 0  # the last event applied


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a study, for its managers."""

    study: Study
    rules: StudyRules
    seen: int  # the last event
    judgements: tuple[Event, ...]  # that count, gold questions included
    judges: dict[str, tuple[int, int]]
    standings: dict[str, WorkerStanding]


class Desk:
    """Handles the requests of a study's annotators. The study may be created after the desk."""

    def __init__(self, store: Store, key: bytes) -> None:
        self.store = store
        self.key = key
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def annotator(self, token: str) -> int:
        """The annotator with this token; every invalid token gets the same message."""
        number = claimed_annotator(token)
        with self.store.database.read() as session:
            row = None if number is None else session.get(Annotator, number)
            valid = row is not None and same_token(token, link_token(self.key, row.id, row.link))
            if row is None or not valid or row.revoked_at is not None:
                raise Unauthenticated("this link is not valid; ask for a new one")
        return row.id

    def is_manager(self, token: str) -> int | None:
        """The number of the managers' current link if this is its token, else None."""
        number = self.manager_link()
        return number if same_token(token, manager_token(self.key, number)) else None

    def manager_link(self) -> int:
        """The number of the managers' current link."""
        with self.store.database.read() as session:
            return manager_link(session)

    def briefing(self) -> Briefing:
        """What annotators read before they begin; empty if there is no study yet."""
        with self.store.database.read() as session:
            study = session.scalar(select(Study))
            return Briefing() if study is None else briefing_of(session, study)

    def snapshot(self) -> Snapshot:
        """The study as it is now."""
        with self._lock, self.store.database.write() as session:
            opened = self._catch_up(session)
            names = session.scalars(select(Annotator.name).where(Annotator.study_id == opened.study.id))
            desk = opened.assignment
            return Snapshot(
                opened.study,
                opened.rules,
                opened.seen,
                tuple(desk.judgements()),
                desk.judges(),
                {name: desk.standing(name) for name in names},
            )

    def begin(self, annotator: int, version: str) -> dict[str, Any]:
        """Record that an annotator has read and accepted the briefing."""
        notice = None
        with self.store.database.write() as session:
            current = briefing_of(session, the_study(session)).version
            if version != current:
                notice = "the guidelines have just changed; please read them again"
            else:
                add_note(session, "briefed", {"version": version}, self.store.clock(), annotator=annotator)
        return self.act(annotator) | {"notice": notice}

    def earlier(self, annotator: int, before: int | None = None) -> dict[str, Any]:
        """What the annotator has done before a place, the latest first."""
        with self._lock, self.store.database.write() as session:
            opened = self._catch_up(session)
            worker = session.get_one(Annotator, annotator).name
            done = opened.assignment.earlier(worker)
            end = len(done) if before is None else max(0, min(before, len(done)))
            start = max(0, end - _PAGE)
            entries = []
            for place in range(end - 1, start - 1, -1):
                event, stands = done[place]
                item = load_item(item_row(session, opened.study, event.item))
                entries.append(
                    {
                        "place": place,
                        "skipped": event.kind == "skipped",
                        "turns": _turns(item),
                        "answers": [asdict(answer) for answer in event.answers],
                        "suggested": _suggested(opened.rules, item),
                        "stands": stands,
                    }
                )
        return {"entries": entries, "more": start > 0, "version": opened.assignment.worker(worker).events}

    def remark(self, annotator: int, kind: NoteKind, text: str, place: int | None) -> dict[str, Any]:
        """Flag or comment on the current item, or on an earlier one."""
        with self._lock, self.store.database.write() as session:
            opened = self._catch_up(session)
            worker, now = session.get_one(Annotator, annotator).name, self.store.clock()
            if place is None:
                name = opened.assignment.at_hand(worker, now.timestamp())
            else:
                done = opened.assignment.earlier(worker)
                name = done[place][0].item if place < len(done) else None
            if name is None:
                raise Invalid("there is no item to comment on", field="text")
            row = item_row(session, opened.study, name)
            add_remark(session, kind, text, now, annotator=annotator, item=row.id)
        return self.act(annotator)

    def act(
        self, annotator: int, decide: Decision | None = None, version: int = 0, answers: Sequence[LabelChoice] = ()
    ) -> dict[str, Any]:
        """Carry out what the annotator decided at this version of their state, and return what they see next."""
        with self._lock:
            notice = None if decide is None else self._commit(annotator, decide, version, answers)
            unread = self._unread_briefing(annotator)
            self._commit(annotator, Assignment.next if unread is None else lambda *_: None)
            return self._view(annotator, notice, unread)

    def _unread_briefing(self, annotator: int) -> str | None:
        """The version of the briefing, if the annotator has not accepted it yet."""
        with self.store.database.read() as session:
            version = briefing_of(session, the_study(session)).version
            return version if version and not has_read(session, annotator, version) else None

    def _commit(
        self, annotator: int, decide: Decision, version: int | None = None, answers: Sequence[LabelChoice] = ()
    ) -> str | None:
        """Save the event; returns a notice for the annotator if nothing was done."""
        with self.store.database.write() as session:
            opened = self._catch_up(session)
            _check_answers(opened.rules, answers)
            now, worker = self.store.clock(), session.get_one(Annotator, annotator).name
            # A request sent twice, or from another window, carries an old version and changes nothing.
            if version is not None and version != opened.assignment.worker(worker).events:
                return "this window was out of date; it now shows your current item"
            try:
                event = decide(opened.assignment, worker, now.timestamp())
            except NotPossibleError as error:
                return str(error)
            except EmoscopeError as error:
                raise Invalid(str(error), field="answers") from None
            if event is None:
                return None
            item = item_row(session, opened.study, event.item)
            shown = _suggested(opened.rules, load_item(item)) if event.kind in ("judged", "revised") else []
            row = AnnotationEvent(
                study_id=opened.study.id,
                annotator_id=annotator,
                item_id=item.id,
                kind=event.kind,
                answers=[[answer.label, *answer.others] for answer in event.answers],
                suggested=shown or None,
                at=now,
            )
            session.add(row)
        # Only committed events count; if the process dies here, the next one reads the event from the log.
        opened.assignment.apply(event)
        opened.seen = row.id
        return None

    def _catch_up(self, session: Session) -> _Opened:
        """The state, with all logged events applied."""
        opened = self._opened
        if opened is None:
            study = the_study(session)
            opened = _Opened(study, StudyRules.checked(**study.rules), load_assignment(session, study))
        # Makes writers queue on PostgreSQL, as SQLite's write lock does.
        session.execute(select(Study.id).where(Study.id == opened.study.id).with_for_update())
        for number, event in load_events(session, opened.study, opened.seen):
            opened.assignment.apply(event)
            opened.seen = number
        self._opened = opened
        return opened

    def _view(self, annotator: int, notice: str | None, unread: str | None = None) -> dict[str, Any]:
        """What an annotator sees: their own work and one item, without its name, which might give the label away."""
        opened = self._opened
        assert opened is not None  # `_commit` has run
        desk, now = opened.assignment, self.store.clock().timestamp()
        with self.store.database.read() as session:
            worker = session.get_one(Annotator, annotator).name
            name = desk.at_hand(worker, now) if unread is None else None
            row = None if name is None else item_row(session, opened.study, name)
            item = None if row is None else load_item(row)
            notes = [] if row is None else _own_notes(session, annotator, row.id)
            checks = [asdict(check) | {"right": check.right} for check in desk.last_checks(worker)]
            if checks and (last := desk.last_item(worker)) is not None and desk.round_of(last) is not None:
                explained = load_item(item_row(session, opened.study, last)).why
                checks = [check | {"why": explained[check["place"]] if explained else None} for check in checks]
        labels, standing = opened.rules.labels, desk.standing(worker)
        draft = () if item is None else desk.worker(worker).draft
        rounds = {"training": standing.training, "qualification": standing.qualification}
        state = "refused" if standing.refused else "briefing" if unread else "empty" if item is None else "item"
        return {
            "annotator": worker,
            "version": desk.worker(worker).events,
            "state": state,
            "briefing": unread,
            "round": None if name is None else desk.round_of(name),
            "rounds": {
                name: asdict(score) | {"passed": score.passed} for name, score in rounds.items() if score is not None
            },
            "labels": [
                {"name": label, "key": key, "colour": colour}
                for (label, colour), key in zip(colours_of(labels).items(), KEYS, strict=False)
            ],
            "other_labels": opened.rules.other_labels,
            "turns": [] if item is None else _turns(item),
            "suggested": [] if item is None else _suggested(opened.rules, item),
            "notes": notes,
            "draft": [asdict(answer) for answer in draft],
            "judged": standing.judged,
            "skipped": standing.skipped,
            "left": standing.left,
            "can_undo": desk.can_undo(worker, now),
            "checks": checks,  # of the last answer, if it was to a gold question
            "gold": {"right": standing.gold_right, "answers": standing.gold_answers, "least": opened.rules.min_gold},
            "notice": notice,  # why the request was not carried out
        }


def _turns(item: Item) -> list[dict[str, Any]]:
    return [
        {"speaker": turn.speaker, "text": turn.text, "asked": position in item.targets}
        for position, turn in enumerate(item.turns)
    ]


def _suggested(rules: StudyRules, item: Item) -> list[str | None]:
    return list(item.suggested) if rules.suggestions is not None else []


def _own_notes(session: Session, annotator: int, item: int) -> list[dict[str, str]]:
    query = select(StudyNote).where(StudyNote.annotator_id == annotator, StudyNote.item_id == item)
    return [{"kind": row.kind, "text": row.detail["text"]} for row in session.scalars(query.order_by(StudyNote.id))]


def _check_answers(rules: StudyRules, answers: Sequence[LabelChoice]) -> None:
    for answer in answers:
        named = (answer.label, *answer.others)
        if unknown := [label for label in named if label not in rules.labels]:
            raise Invalid(f"{unknown[0]!r} is not one of the labels", field="answers")
        if len(set(named)) != len(named):
            raise Invalid("a label was given twice", field="answers")
        if answer.others and not rules.other_labels:
            raise Invalid("this study takes one label per answer", field="answers")
