"""A panel of annotators: votes from files of any format, including EmotionX's vote strings, and their labels."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError, InputError, misspelt
from emoscope.core.files import atomic_write, csv_rows, existing_file, parse_json, text_lines
from emoscope.core.judgement import Judgement, as_name
from emoscope.corpus.annotation.aggregate import Aggregated, Method, aggregate, aggregate_votes
from emoscope.corpus.annotation.annotations import votes_of
from emoscope.corpus.annotation.files import files_in, read_annotations
from emoscope.corpus.annotation.formats import write_rows
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import SCREENING_RULES, WorkerReport, read_gold, screen, worker_reports
from emoscope.tasks import get_task
from emoscope.tasks.emotionx import is_emotionx, is_vote_string, vote_string, votes_at


@dataclass(frozen=True, slots=True)
class Panel:
    """The votes on each task and, unless they are anonymous, the judgements behind them."""

    votes: Mapping[str, Mapping[str, int]]
    judgements: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelReport:
    """Tasks per label, what was discarded, and a report on each annotator."""

    tasks: int
    labels: dict[str, int]
    tied: int
    fallback: int
    discarded_judgements: int
    unlabelled_tasks: list[str]  # judged only by refused workers
    unused_answers: dict[str, int]  # labels of judged gold questions that nobody gave to any task, perhaps misspelt
    workers: list[WorkerReport]


def read_panel(paths: Sequence[Path]) -> Panel:
    """Read all files as one panel: annotations, or votes without names.

    These are EmotionX files, whose tasks are `file:dialogue:turn`, and what `write_labels` writes with vote strings.
    """
    files = [existing_file(path) for path in files_in(paths)]
    anonymous = [is_emotionx(path) or _has_vote_strings(path) for path in files]
    if all(anonymous):
        return Panel(_votes(files))
    if any(anonymous):
        raise EmoscopeError(f"{files[anonymous.index(True)]}: votes without names cannot be mixed with other files")
    judgements = read_annotations(files).judgements
    if not judgements:
        raise EmoscopeError(f"{', '.join(map(str, paths))}: no judgements")
    return Panel(votes_of(judgements), judgements)


def without_gold(panel: Panel, gold: Path) -> Panel:
    """The panel without gold questions, as on the managers' desk."""
    answers = read_gold(gold)
    if not answers.keys() & panel.votes.keys():
        raise EmoscopeError(f"{gold}: nobody has judged any of its tasks")
    votes = {task: votes for task, votes in panel.votes.items() if task not in answers}
    return Panel(votes, tuple(judgement for judgement in panel.judgements if judgement.task not in answers))


def _votes(files: Sequence[Path]) -> dict[str, Mapping[str, int]]:
    votes: dict[str, Mapping[str, int]] = {}
    for path in files:
        for where, name, counts in _emotionx_votes(path) if is_emotionx(path) else _vote_strings(path):
            if name in votes:
                raise InputError(
                    path, f"the votes on {name!r} were read already, perhaps from a file of the same name", row=where
                )
            votes[name] = counts
    return votes


def _emotionx_votes(path: Path) -> Iterator[tuple[int | None, str, Mapping[str, int]]]:
    task = get_task("emotionx-friends")  # EmotionPush has the same format
    empty = True
    for example in task.read(path):
        if any(example.votes.values()):
            empty = False
            yield None, f"{path.stem}:{example.dialogue.id}:{example.turn}", example.votes
    if empty:
        raise InputError(path, "holds no votes: no utterance has an 'annotation'")


def _vote_strings(path: Path) -> Iterator[tuple[int | None, str, Mapping[str, int]]]:
    for row, entry in _rows(path):
        task = as_name(entry.get("task"))
        if not isinstance(task, str) or not task:
            raise InputError(path, "the task has no name: expected 'task'", row=row)
        yield row, task, votes_at(path, row, entry.get("annotation", ""))


def _has_vote_strings(path: Path) -> bool:
    """Whether the first row of a table has a vote string, and no worker."""
    if path.suffix not in (".csv", ".jsonl"):
        return False
    _, first = next(_rows(path), (0, {}))
    return is_vote_string(first.get("annotation")) and "worker" not in first


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    if path.suffix == ".csv":
        yield from csv_rows(path, ())
        return
    for row, line in text_lines(path):
        if line.strip():
            entry = parse_json(path, line, row)
            if not isinstance(entry, dict):
                raise InputError(path, f"expected an object, found {type(entry).__name__}", row=row)
            yield row, entry


def _labels(panel: Panel) -> set[str]:
    return {label for votes in panel.votes.values() for label in votes}


def _unused(answers: Mapping[str, str], panel: Panel) -> dict[str, int]:
    """The answers to judged gold questions that nobody gave to any task, and to how many questions."""
    expected = Counter(label for task, label in answers.items() if task in panel.votes)
    given = _labels(panel)
    return {label: count for label, count in sorted(expected.items()) if label not in given}


def aggregate_panel(
    panel: Panel,
    method: Method = Method.majority,
    *,
    fallback: str | None = None,
    gold: Path | None = None,
    rules: GoldRules = SCREENING_RULES,
) -> tuple[list[Aggregated], PanelReport]:
    """Aggregate the panel to one label per task, ignoring workers who fail the gold questions, with a report."""
    unused: dict[str, int] = {}
    if panel.judgements:
        answers = {} if gold is None else read_gold(gold)
        if answers and not answers.keys() & panel.votes.keys():
            raise EmoscopeError(f"{gold}: nobody has judged any of its tasks")
        unused = _unused(answers, panel)
        for label, count in unused.items():
            if meant := misspelt(label, _labels(panel)):
                asked = f"the label {label!r} of {counted(count, 'gold question')} was given by nobody"
                raise EmoscopeError(f"{gold}: {asked}; did you mean {meant!r}?")
        screening = screen(panel.judgements, answers, rules)
        labels = aggregate(screening.kept, method, fallback=fallback)
    elif gold is not None:
        raise EmoscopeError("gold questions need to know who answered; these files hold votes without names")
    else:
        screening = screen((), {})
        labels = aggregate_votes(panel.votes, method, fallback=fallback)
    return labels, PanelReport(
        tasks=len(labels),
        labels=dict(sorted(Counter(result.label for result in labels).items())),
        tied=sum(result.tied for result in labels),
        fallback=sum(result.fallback for result in labels),
        discarded_judgements=len(screening.discarded),
        unlabelled_tasks=sorted({one.task for one in screening.discarded} - {result.task for result in labels}),
        unused_answers=unused,
        workers=worker_reports(screening, labels),
    )


def write_labels(path: Path, results: Sequence[Aggregated], *, vote_strings: bool = False) -> None:
    """Write labels as JSONL, with an object of soft labels, or as CSV, with a column (`soft:joy`) per label.

    With `vote_strings`, `annotation` holds the votes in EmotionX's format, such as 2000030.
    """
    strings = [{"annotation": vote_string(result.votes)} if vote_strings else {} for result in results]
    if path.suffix == ".jsonl":
        with atomic_write(path) as handle:
            for result, string in zip(results, strings, strict=True):
                handle.write(json.dumps({**asdict(result), **string}, ensure_ascii=False) + "\n")
        return
    labels = sorted({label for result in results for label in result.soft})
    rows = (
        [one.task, one.label, sum(one.votes.values()), int(one.tied), int(one.fallback)]
        + [one.soft.get(label, 0.0) for label in labels]
        + list(string.values())
        for one, string in zip(results, strings, strict=True)
    )
    header = ["task", "label", "votes", "tied", "fallback", *(f"soft:{label}" for label in labels)]
    write_rows(path, [*header, *(["annotation"] if vote_strings else [])], rows)
