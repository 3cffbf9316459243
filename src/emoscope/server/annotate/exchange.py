"""Importing judgements into a study, and exporting final labels, the log and comments."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.aggregate import aggregate_votes
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.formats import write_rows
from emoscope.server.annotate.notes import notes_by_item
from emoscope.server.annotate.overview import ItemRow, Overview
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.annotate.studies import add_annotators, load_assignment, load_events, load_item, the_study
from emoscope.server.store import Store
from emoscope.server.store.models import AnnotationEvent, Annotator, StudyItem
from emoscope.server.store.names import cell, clean_name, name_key


@dataclass(frozen=True, slots=True)
class Imported:
    """How many judgements were imported, and how many were left out."""

    judged: int
    annotators: int  # new ones
    there_already: int
    foreign: int  # tasks that the study does not ask about
    incomplete: int  # dialogues with unlabelled turns


def import_judgements(store: Store, annotations: Annotations) -> Imported:
    """Import judgements, all or none; items that an annotator has judged in the study are left as they are."""
    by_worker: dict[str, dict[str, Judgement]] = {}
    names: dict[str, str] = {}  # by `name_key`
    for judgement in annotations.judgements:
        clean = clean_name(judgement.worker, "annotator")
        judged = by_worker.setdefault(names.setdefault(name_key(clean), clean), {})
        if judgement.task in judged:
            raise EmoscopeError(f"task {judgement.task!r}: {clean} has judged it twice")
        judged[judgement.task] = judgement
    with store.database.read() as session:
        study = the_study(session)
        rules = StudyRules.checked(**study.rules)
        rows = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.round.is_(None)).order_by(StudyItem.id)
        items = [(row.id, load_item(row)) for row in session.scalars(rows)]
        known = set(session.scalars(select(Annotator.key).where(Annotator.study_id == study.id)))
    for judgement in annotations.judgements:
        if wrong := [label for label in (judgement.label, *judgement.others) if label not in rules.labels]:
            raise EmoscopeError(
                f"task {judgement.task!r}: {judgement.worker}'s label {wrong[0]!r} is not one of the study's labels "
                f"({', '.join(rules.labels)})"
            )
    tasks = {task for _, item in items for task in item.tasks}
    count: Counter[str] = Counter()
    count["foreign"] = sum(task not in tasks for judged in by_worker.values() for task in judged)
    by_worker = {name: judged for name, judged in by_worker.items() if judged.keys() & tasks}
    new = set(map(name_key, by_worker)) - known
    add_annotators(store, by_worker)
    with store.database.write() as session:
        study = the_study(session)
        state = load_assignment(session, study).replay(event for _, event in load_events(session, study))
        people = {row.key: row for row in session.scalars(select(Annotator).where(Annotator.study_id == study.id))}
        now = store.clock()
        for name, judged in by_worker.items():
            annotator = people[name_key(name)]
            done = {item for item, event in state.worker(annotator.name).done.items() if event.kind == "judged"}
            for item_id, item in items:
                given = [judged[task] for task in item.tasks if task in judged]
                if not given:
                    continue
                if item.name in done:
                    count["there already"] += 1
                elif len(given) < len(item.tasks):
                    count["incomplete"] += 1
                else:
                    count["judged"] += 1
                    answers = [[judgement.label, *judgement.others] for judgement in given]
                    session.add(
                        AnnotationEvent(
                            study_id=study.id,
                            annotator_id=annotator.id,
                            item_id=item_id,
                            kind="imported",
                            answers=answers,
                            at=now,
                        )
                    )
    return Imported(count["judged"], len(new), count["there already"], count["foreign"], count["incomplete"])


@dataclass(frozen=True, slots=True)
class FinalLabel:
    """The label of a task, adjudicated or by majority; None for a tie."""

    task: str
    label: str | None
    decided: str  # adjudicated, unanimous, majority or tied
    votes: Mapping[str, int]


def final_labels(overview: Overview) -> list[FinalLabel]:
    """The labels of all tasks that were judged or adjudicated."""
    return [
        label
        for item in overview.asked
        for place in range(len(item.votes))
        if (label := _final(overview, item, place)) is not None
    ]


def _final(overview: Overview, item: ItemRow, place: int) -> FinalLabel | None:
    task = f"{item.name}:{place}" if overview.rules.whole_dialogues else item.name
    votes = dict(sorted(item.votes[place].items()))
    if item.notes.adjudicated is not None:
        return FinalLabel(task, item.notes.adjudicated[place], "adjudicated", votes)
    if not votes:
        return None
    (result,) = aggregate_votes({task: votes})
    if result.tied:
        return FinalLabel(task, None, "tied", votes)
    return FinalLabel(task, result.label, "unanimous" if len(votes) == 1 else "majority", votes)


def write_final_labels(path: Path, labels: Sequence[FinalLabel]) -> int:
    """Write `task,label,decided,votes` as CSV; tied tasks are left out, and their number is returned.

    `aggregate` and `filter --judgements` read the file as judgements.
    """
    settled = [label for label in labels if label.label is not None]
    rows = (
        [final.task, final.label, final.decided, ";".join(f"{label}:{count}" for label, count in final.votes.items())]
        for final in settled
    )
    write_rows(path, ["task", "label", "decided", "votes"], rows)
    return len(labels) - len(settled)


def write_log(path: Path, store: Store) -> None:
    """Write everything annotators did, in order, with the model's suggestions."""
    with store.database.read() as session:
        study = the_study(session)
        query = (
            select(AnnotationEvent, Annotator.name, StudyItem.name)
            .join(Annotator, AnnotationEvent.annotator_id == Annotator.id)
            .join(StudyItem, AnnotationEvent.item_id == StudyItem.id)
            .where(AnnotationEvent.study_id == study.id)
            .order_by(AnnotationEvent.id)
        )
        rows = [
            [
                row.at.isoformat(timespec="seconds"),
                worker,
                item,
                row.kind,
                " ".join(answer[0] for answer in row.answers),
                ";".join(other for answer in row.answers for other in answer[1:]),
                " ".join(label or "-" for label in row.suggested or ()),
            ]
            for row, worker, item in session.execute(query)
        ]
    write_rows(path, ["at", "worker", "item", "did", "label", "other", "suggested"], rows)


def write_comments(path: Path, store: Store) -> None:
    """Write flags, comments and how they were resolved."""
    with store.database.read() as session:
        study = the_study(session)
        query = select(StudyItem.id, StudyItem.name).where(StudyItem.study_id == study.id)
        names = dict(session.execute(query).all())
        rows = [
            [note.at.isoformat(timespec="seconds"), names[item], note.who or "manager", note.kind, cell(note.text)]
            for item, notes in notes_by_item(session, study).items()
            for note in notes.remarks
        ]
    write_rows(path, ["at", "item", "by", "kind", "text"], sorted(rows))
