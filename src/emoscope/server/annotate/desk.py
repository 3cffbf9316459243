"""Handles annotators' requests: each is decided on the present state, and committed before it is answered.

The log in the database is the study. The state in memory is the fold of the log, and is brought up to date under the
database's write lock before every decision. So several threads or processes never assign one place twice, and a killed
process loses nothing it has answered.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.core.colours import colours_of
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.assignment import Answer, Assignment, Event, NotPossibleError
from emoscope.server.annotate.links import annotator_of, claimed_annotator
from emoscope.server.annotate.rules import KEYS, StudyRules
from emoscope.server.annotate.studies import item_row, load_assignment, load_events, load_item, the_study
from emoscope.server.errors import Invalid, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import AnnotationEvent, Annotator, Study

# From the state, a worker and a time to the event that should follow.
Decision = Callable[[Assignment, str, float], Event | None]


@dataclass(slots=True)
class _Opened:
    study: Study
    rules: StudyRules
    assignment: Assignment
    seen: int = 0  # the last event folded in


class Desk:
    """Takes the requests of a study's annotators. The study may be created after the desk."""

    def __init__(self, store: Store, key: bytes) -> None:
        self._store = store
        self._key = key
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def annotator(self, token: str) -> int:
        """The annotator of a token; every invalid token gets the same answer."""
        number = claimed_annotator(token)
        with self._store.database.read() as session:
            row = None if number is None else session.get(Annotator, number)
            if row is None or row.revoked_at is not None or annotator_of(self._key, token, row.link) is None:
                raise Unauthenticated("this link is not valid; ask for a new one")
        return row.id

    def look(self, annotator: int) -> dict[str, Any]:
        """The current item, or the next one."""
        return self._act(annotator)

    def judge(self, annotator: int, version: int, answers: Sequence[Answer]) -> dict[str, Any]:
        """Save a judgement of the current item, and give the next."""
        return self._act(annotator, lambda desk, worker, at: desk.judge(worker, answers, at), version, answers)

    def skip(self, annotator: int, version: int) -> dict[str, Any]:
        """Leave the current item to others, and give the next."""
        return self._act(annotator, Assignment.skip, version)

    def undo(self, annotator: int, version: int) -> dict[str, Any]:
        """Undo the last step."""
        return self._act(annotator, Assignment.undo, version)

    def _act(
        self, annotator: int, decide: Decision | None = None, version: int = 0, answers: Sequence[Answer] = ()
    ) -> dict[str, Any]:
        with self._lock:
            notice = None if decide is None else self._commit(annotator, decide, version, answers)
            self._commit(annotator, Assignment.next)
            return self._view(annotator, notice)

    def _commit(
        self, annotator: int, decide: Decision, version: int | None = None, answers: Sequence[Answer] = ()
    ) -> str | None:
        """Decide and save the event; returns why nothing was done, if the annotator should know."""
        with self._store.database.write() as session:
            opened = self._catch_up(session)
            _check_answers(opened.rules, answers)
            now, worker = self._store.clock(), session.get_one(Annotator, annotator).name
            # A request sent twice, or from another window, carries an old version and changes nothing.
            if version is not None and version != opened.assignment.worker(worker).events:
                return "this window was out of date; here is where you are"
            try:
                event = decide(opened.assignment, worker, now.timestamp())
            except NotPossibleError as error:
                return str(error)
            except EmoscopeError as error:
                raise Invalid(str(error), field="answers") from None
            if event is None:
                return None
            row = AnnotationEvent(
                study_id=opened.study.id,
                annotator_id=annotator,
                item_id=item_row(session, opened.study, event.item).id,
                kind=event.kind,
                answers=[[answer.label, *answer.others] for answer in event.answers],
                at=now,
            )
            session.add(row)
        # Only committed events count; if we were killed here, the next request would read it from the log.
        opened.assignment.apply(event)
        opened.seen = row.id
        return None

    def _catch_up(self, session: Session) -> _Opened:
        """The state as the log has it now."""
        opened = self._opened
        if opened is None:
            study = the_study(session)
            opened = _Opened(study, StudyRules.checked(**study.rules), load_assignment(session, study))
        # PostgreSQL lets writers in side by side; here they queue. SQLite's write lock does the same.
        session.execute(select(Study.id).where(Study.id == opened.study.id).with_for_update())
        for number, event in load_events(session, opened.study, opened.seen):
            opened.assignment.apply(event)
            opened.seen = number
        self._opened = opened
        return opened

    def _view(self, annotator: int, notice: str | None) -> dict[str, Any]:
        """What one annotator may see: their own work and one item, never other people's judgements.

        The item's name is left out: it might give its label away.
        """
        opened = self._opened
        assert opened is not None  # something was decided just before
        desk, now = opened.assignment, self._store.clock().timestamp()
        with self._store.database.read() as session:
            worker = session.get_one(Annotator, annotator).name
            name = desk.at_hand(worker, now)
            item = None if name is None else load_item(item_row(session, opened.study, name))
        labels, standing = opened.rules.labels, desk.standing(worker)
        turns, targets, draft = ((), (), ()) if item is None else (item.turns, item.targets, desk.worker(worker).draft)
        return {
            "annotator": worker,
            "version": desk.worker(worker).events,
            "state": "refused" if standing.refused else "empty" if item is None else "item",
            "labels": [
                {"name": label, "key": key, "colour": colour}
                for (label, colour), key in zip(colours_of(labels).items(), KEYS, strict=False)
            ],
            "other_labels": opened.rules.other_labels,
            "turns": [
                {"speaker": turn.speaker, "text": turn.text, "asked": position in targets}
                for position, turn in enumerate(turns)
            ],
            "draft": [asdict(answer) for answer in draft],
            "judged": standing.judged,
            "skipped": standing.skipped,
            "left": standing.left,
            "can_undo": desk.can_undo(worker, now),
            # Of the last answer, if it was to a gold question.
            "checks": [asdict(check) | {"right": check.right} for check in desk.last_checks(worker)],
            "gold": {"right": standing.gold_right, "answers": standing.gold_answers, "least": opened.rules.min_gold},
            "notice": notice,  # why the request was not carried out
        }


def _check_answers(rules: StudyRules, answers: Sequence[Answer]) -> None:
    for answer in answers:
        named = (answer.label, *answer.others)
        if unknown := [label for label in named if label not in rules.labels]:
            raise Invalid(f"{unknown[0]!r} is none of the labels", field="answers")
        if len(set(named)) != len(named):
            raise Invalid("a label is named twice", field="answers")
        if answer.others and not rules.other_labels:
            raise Invalid("this study asks for one label", field="answers")
