"""What goes in and out of a study as files: judgements made elsewhere, final labels, the log, comments."""

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
    """How many judgements of items were taken over, and what was left out."""

    judged: int
    annotators: int  # that are new
    there_already: int
    foreign: int  # of items that are not in the study, or in one of its rounds
    incomplete: int  # of dialogues of which not every turn was labelled


def import_judgements(store: Store, annotations: Annotations) -> Imported:
    """Take over judgements that were made elsewhere, all or none; those that are there already stay as they are."""
    by_worker: dict[str, dict[str, Judgement]] = {}
    names: dict[str, str] = {}  # as annotators are compared
    for judgement in annotations.judgements:
        clean = clean_name(judgement.worker, "annotator")
        own = by_worker.setdefault(names.setdefault(name_key(clean), clean), {})
        if judgement.task in own:
            raise EmoscopeError(f"task {judgement.task!r}: {clean} has judged it twice")
        own[judgement.task] = judgement
    with store.database.read() as session:
        study = the_study(session)
        rules = StudyRules.checked(**study.rules)
        known = select(Annotator.key).where(Annotator.study_id == study.id)
        new = names.keys() - set(session.scalars(known))
    for judgement in annotations.judgements:
        if wrong := [label for label in (judgement.label, *judgement.others) if label not in rules.labels]:
            raise EmoscopeError(
                f"task {judgement.task!r}: {judgement.worker} said {wrong[0]!r}, which is none of the study's labels "
                f"({', '.join(rules.labels)})"
            )
    add_annotators(store, by_worker)
    with store.database.write() as session:
        study = the_study(session)
        state = load_assignment(session, study).replay(event for _, event in load_events(session, study))
        rows = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.round.is_(None)).order_by(StudyItem.id)
        items = [(row.id, load_item(row)) for row in session.scalars(rows)]
        tasks = {task for _, item in items for task in item.tasks}
        people = {one.key: one for one in session.scalars(select(Annotator).where(Annotator.study_id == study.id))}
        count: Counter[str] = Counter()
        now = store.clock()
        for name, own in by_worker.items():
            annotator = people[name_key(name)]
            done = {item for item, event in state.worker(annotator.name).done.items() if event.kind == "judged"}
            count["foreign"] += sum(task not in tasks for task in own)
            for number, item in items:
                said = [own.get(task) for task in item.tasks]
                if not any(said):
                    continue
                if item.name in done:
                    count["there already"] += 1
                elif None in said:
                    count["incomplete"] += 1
                else:
                    count["judged"] += 1
                    answers = [[one.label, *one.others] for one in said if one is not None]
                    session.add(
                        AnnotationEvent(
                            study_id=study.id,
                            annotator_id=annotator.id,
                            item_id=number,
                            kind="imported",
                            answers=answers,
                            at=now,
                        )
                    )
    return Imported(count["judged"], len(new), count["there already"], count["foreign"], count["incomplete"])


@dataclass(frozen=True, slots=True)
class FinalLabel:
    """The label of a task: adjudicated, or that of most judges; None where they are tied."""

    task: str
    label: str | None
    decided: str  # adjudicated, unanimous, majority or tied
    votes: Mapping[str, int]


def final_labels(overview: Overview) -> list[FinalLabel]:
    """A label for every task that was judged or adjudicated."""
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
    """Write `task,label,decided,votes` as CSV; tied tasks, which have no label yet, are left out and counted.

    The file is a judgement file, too: one that has the last word, as `aggregate` and `filter --judgements` read it.
    """
    settled = [label for label in labels if label.label is not None]
    rows = (
        [one.task, one.label, one.decided, ";".join(f"{label}:{count}" for label, count in one.votes.items())]
        for one in settled
    )
    write_rows(path, ["task", "label", "decided", "votes"], rows)
    return len(labels) - len(settled)


def write_log(path: Path, store: Store) -> None:
    """Write everything annotators did, in order, with what a model suggested to them."""
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
    """Write flags, comments and how they were dealt with."""
    with store.database.read() as session:
        study = the_study(session)
        query = select(StudyItem.id, StudyItem.name).where(StudyItem.study_id == study.id)
        names = dict(session.execute(query).all())
        rows = [
            [one.at.isoformat(timespec="seconds"), names[item], one.who or "manager", one.kind, cell(one.text)]
            for item, notes in notes_by_item(session, study).items()
            for one in notes.remarks
        ]
    write_rows(path, ["at", "item", "by", "kind", "text"], sorted(rows))
