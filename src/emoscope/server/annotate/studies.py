"""Annotation studies in the store: creating one, its annotators, its results."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from emoscope.core.counts import counted
from emoscope.core.dialogue import Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.assignment import Assignment, Event, LabelChoice
from emoscope.corpus.annotation.items import Item, annotations_of, gold_of
from emoscope.corpus.annotation.people import AnnotatorProfile
from emoscope.server.annotate.links import link_token
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.errors import Invalid
from emoscope.server.store import Store
from emoscope.server.store.models import AnnotationEvent, Annotator, Study, StudyItem
from emoscope.server.store.names import clean_name, looks_like_any, name_key

_ROWS = 5_000
_SHOWN = 5  # people in an error
_NONE: Mapping[str, str] = MappingProxyType({})


def create_study(
    store: Store, rules: StudyRules, items: Sequence[Item], gold: Mapping[str, str], rounds: Mapping[str, str] = _NONE
) -> bool:
    """Store a study; returns False if the same study exists already.

    `rounds` holds the correct answers of the training and qualification items.
    """
    if both := sorted(gold.keys() & rounds.keys()):
        raise EmoscopeError(f"gold question {both[0]!r} is also in the training or qualification")
    known = gold_of(items, {**gold, **rounds})
    _check_gold(rules, items, gold, rounds, known)
    fingerprint = _fingerprint(rules, items, known)
    with store.database.write() as session:
        there = session.scalar(select(Study))
        if there is not None:
            if there.fingerprint == fingerprint:
                return False
            differences = rules.differences(StudyRules(**there.rules))
            other = f"options ({'; '.join(differences)})" if differences else "tasks, gold answers or rounds"
            raise EmoscopeError(
                f"{store.data_dir}: holds a study with other {other}, which was not changed; "
                "choose a new folder, or give the same tasks and options to continue that study"
            )
        study = Study(rules=rules.model_dump(mode="json"), fingerprint=fingerprint, created_at=store.clock())
        session.add(study)
        session.flush()
        for start in range(0, len(items), _ROWS):
            rows = [
                {
                    "study_id": study.id,
                    "name": item.name,
                    "content": _content(item),
                    "gold": list(known[item.name]),
                    "round": item.round,
                }
                for item in items[start : start + _ROWS]
            ]
            session.execute(insert(StudyItem), rows)
    return True


def _check_gold(
    rules: StudyRules,
    items: Sequence[Item],
    gold: Mapping[str, str],
    rounds: Mapping[str, str],
    known: Mapping[str, tuple[str | None, ...]],
) -> None:
    for kind, answers in (("gold", gold), ("training or qualification", rounds)):
        for task, label in answers.items():
            if label not in rules.labels:
                raise EmoscopeError(f"{kind} question {task!r} has the answer {label!r}, not one of the labels")
    if gold and len(gold) < rules.gold.fewest:
        few = f"{counted(len(gold), 'gold question')} {'is' if len(gold) == 1 else 'are'} too few"
        raise EmoscopeError(f"{few}: annotators are only refused after {rules.gold.fewest} answers")
    if all(any(labels) for labels in known.values()):
        raise EmoscopeError(f"all {len(items):,} items are gold questions; there is nothing left to annotate")


def add_annotators(store: Store, people: Iterable[str | AnnotatorProfile]) -> None:
    """Add annotators, who must meet the study's requirements; for those already there, update the profile."""
    with store.database.write() as session:
        study = the_study(session)
        needed = StudyRules.checked(**study.rules).requirements
        there = dict(session.execute(select(Annotator.key, Annotator.name).where(Annotator.study_id == study.id)).all())
        unfit = []
        for person in (AnnotatorProfile(person) if isinstance(person, str) else person for person in people):
            clean = clean_name(person.name, "annotator")
            if name_key(clean) not in there:
                if looks_like_any(clean, there.values()):
                    raise EmoscopeError(f"the annotator name {clean!r} looks like another annotator's name")
                if (missing := needed.missing(person)) is not None:
                    unfit.append(f"{clean} does not meet this study's requirements: {missing}")
                    continue
                there[name_key(clean)] = clean
                row = Annotator(study_id=study.id, name=clean, key=name_key(clean), created_at=store.clock())
                row.profile = person.profile or None
                session.add(row)
            elif person.profile:
                own = select(Annotator).where(Annotator.study_id == study.id, Annotator.key == name_key(clean))
                session.scalars(own).one().profile = person.profile
        if unfit:  # everyone in one error, which rolls the additions back
            more = f"; {len(unfit) - _SHOWN:,} more" if len(unfit) > _SHOWN else ""
            raise Invalid("; ".join(unfit[:_SHOWN]) + more, field="annotator")


def links(store: Store, key: bytes) -> dict[str, str]:
    """The tokens of all links that are not revoked, by annotator."""
    with store.database.read() as session:
        study = the_study(session)
        people = session.scalars(select(Annotator).where(Annotator.study_id == study.id).order_by(Annotator.id))
        return {row.name: link_token(key, row.id, row.link) for row in people if row.revoked_at is None}


def _change_link(store: Store, name: str, *, revoked: bool) -> None:
    with store.database.write() as session:
        study = the_study(session)
        query = select(Annotator).where(Annotator.study_id == study.id, Annotator.key == name_key(name))
        annotator = session.scalar(query)
        if annotator is None:
            names = ", ".join(session.scalars(select(Annotator.name).where(Annotator.study_id == study.id)))
            raise EmoscopeError(f"there is no annotator {name!r}; there are: {names or 'none'}")
        annotator.link += not revoked
        annotator.revoked_at = store.clock() if revoked else None


# Judgements are kept when a link is revoked; a new link replaces the old one, revoked or not.
revoke_annotator = partial(_change_link, revoked=True)
renew_link = partial(_change_link, revoked=False)


def the_study(session: Session) -> Study:
    """The study of a store."""
    study: Study | None = session.scalar(select(Study))
    if study is None:
        raise EmoscopeError("there is no annotation study here; `emoscope corpus annotate` creates one")
    return study


def load_assignment(session: Session, study: Study) -> Assignment:
    """The assignment before any event."""
    rules = StudyRules.checked(**study.rules)
    query = select(StudyItem.name, StudyItem.gold).where(StudyItem.study_id == study.id).order_by(StudyItem.id)
    items = {name: tuple(gold) for name, gold in session.execute(query)}
    rounds = select(StudyItem.round, StudyItem.name).where(StudyItem.study_id == study.id, StudyItem.round.is_not(None))
    training: list[str] = []
    qualification: list[str] = []
    for kind, name in session.execute(rounds.order_by(StudyItem.id)):
        (training if kind == "training" else qualification).append(name)
    in_rounds = rules.rounds(tuple(training), tuple(qualification))
    return Assignment(items, rules.places, rules.gold, seed=rules.seed, rounds=in_rounds)


def load_events(session: Session, study: Study, after: int = 0) -> Iterator[tuple[int, Event]]:
    """The events after the event with the id `after`, in order."""
    query = (
        select(AnnotationEvent, Annotator.name, StudyItem.name)
        .join(Annotator, AnnotationEvent.annotator_id == Annotator.id)
        .join(StudyItem, AnnotationEvent.item_id == StudyItem.id)
        .where(AnnotationEvent.study_id == study.id, AnnotationEvent.id > after)
        .order_by(AnnotationEvent.id)
        .execution_options(yield_per=_ROWS)
    )
    for row, worker, item in session.execute(query):
        answers = tuple(LabelChoice(label, tuple(others)) for label, *others in row.answers)
        yield row.id, Event(row.kind, worker, item, row.at.timestamp(), answers)  # type: ignore[arg-type]


def item_row(session: Session, study: Study, name: str) -> StudyItem:
    """The row of an item."""
    query = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.name == name)
    return session.scalars(query).one()


def load_item(row: StudyItem) -> Item:
    """An item with its text."""
    turns = tuple(Turn(text, speaker) for text, speaker in row.content["turns"])
    why, suggested = (tuple(row.content.get(name, ())) for name in ("why", "suggested"))
    return Item(row.name, turns, row.content["whole"], row.content["data"], row.round, why, suggested)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StudyResults:
    """A study's rules, assignment, annotators and annotations."""

    rules: StudyRules
    assignment: Assignment
    annotators: tuple[str, ...]
    annotations: Annotations


def study_results(store: Store, *, refused: bool = False) -> StudyResults:
    """All judgements so far, gold questions included; those of refused annotators on request."""
    with store.database.read() as session:
        study = the_study(session)
        assignment = load_assignment(session, study).replay(event for _, event in load_events(session, study))
        rows = session.scalars(select(StudyItem).where(StudyItem.study_id == study.id).order_by(StudyItem.id))
        items = [load_item(row) for row in rows if row.round is None]
        names = session.scalars(select(Annotator.name).where(Annotator.study_id == study.id))
        judgements = [(event.worker, event.item, event.answers) for event in assignment.judgements(refused=refused)]
        rules = StudyRules.checked(**study.rules)
        annotations = replace(annotations_of(items, judgements), labels=rules.labels)
        return StudyResults(rules, assignment, tuple(sorted(names)), annotations)


def _content(item: Item) -> dict[str, Any]:
    turns = [[turn.text, turn.speaker] for turn in item.turns]
    added = {name: list(value) for name in ("why", "suggested") if (value := getattr(item, name))}
    return {"turns": turns, "whole": item.whole, "data": dict(item.data), **added}


def _fingerprint(rules: StudyRules, items: Sequence[Item], known: Mapping[str, tuple[str | None, ...]]) -> str:
    digest = hashlib.sha256(json.dumps(rules.described(), sort_keys=True).encode())
    for item in items:
        line = [item.name, _content(item), known[item.name], *([item.round] if item.round else [])]
        digest.update(json.dumps(line, sort_keys=True).encode())
    return digest.hexdigest()
