"""`emoscope data stats`: what a task's data look like, as tables, JSON and figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from emoscope.cli.options import DataOption
from emoscope.cli.output import bars, coloured, console, table
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.describe.statistics import CorpusStatistics, describe
from emoscope.corpus.describe.words import Term, UtteranceStatistics
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import Located, find_split

if TYPE_CHECKING:
    from rich.console import RenderableType

    Parts = Mapping[str, CorpusStatistics]  # by split

_USUAL = ("train", "dev", "test")
_WORDS_SHOWN = 8
_SPEAKERS_SHOWN = 6


def stats(
    task: Annotated[str, typer.Argument(help="Task name (`emoscope tasks` lists them), or the folder of a corpus.")],
    data: DataOption = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", "-s", help="Split to count; repeatable. By default train, dev and test."),
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Also draw figures into this folder.")] = None,
    format: Annotated[Literal["png", "svg", "html"], typer.Option(help="Format of the figures.")] = "png",
) -> CommandResult:
    """Count labels, words, emoticons, turns, speakers and votes; measure the annotators' agreement."""
    if plots is not None:
        from emoscope.core.plots import altair, save
        from emoscope.corpus.describe.figures import figures

        altair()  # report a missing extra now, not after the counting
        try:
            plots.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EmoscopeError(f"{plots}: cannot create this folder ({error.strerror})") from None
    chosen = get_task(task)
    located = _locate(chosen, split, data)
    parts = {name: _describe(chosen, name, file) for name, file in located.items()}
    drawn = []
    if plots is not None:
        charts = figures(parts, chosen.name)
        drawn = [save(chart, plots / f"{chosen.name}-{name}.{format}") for name, chart in charts.items()]
    splits = {
        name: {
            "file": located[name].file.name,
            "revision": located[name].revision.name,
            "note": located[name].revision.note,
            **asdict(part),
        }
        for name, part in parts.items()
    }

    def show() -> None:
        out = console()
        for shown in _tables(chosen, located, parts):
            out.print(shown)
            out.print()
        for path in drawn:
            out.print(f"drew {path}", markup=False)

    return CommandResult({"task": chosen.name, "splits": splits, "figures": drawn}, show)


def _describe(task: Task, split: str, located: Located) -> CorpusStatistics:
    with bars() as bar:
        examples = bar.track(task.read(located.path), located.file.examples, description=f"{task.name} {split}")
        return describe(examples, task.labels, neutral=task.metadata.neutral_label)


def _locate(task: Task, splits: Sequence[str] | None, root: Path | None) -> dict[str, Located]:
    if splits:
        return {name: find_split(task, name, root) for name in splits}
    present: dict[str, Located] = {}
    first_error: EmoscopeError | None = None
    for name in (name for name in _USUAL if name in task.metadata.splits):
        try:
            present[name] = find_split(task, name, root)
        except EmoscopeError as error:
            first_error = first_error or error
    if not present and first_error:
        raise first_error
    return present


# Tables


def _tables(task: Task, located: Mapping[str, Located], parts: "Parts") -> "Iterator[RenderableType]":
    """One table per kind of statistics."""
    rows = [[name, file.file.name, file.revision.name, parts[name].examples] for name, file in located.items()]
    yield table(task.metadata.title, ["split", "file", "revision", "examples"], rows, left=3)
    notes = {file.revision.name: file.revision.note for file in located.values()}
    yield escape("\n".join(f"Revision {name}: {note}." for name, note in notes.items()))
    if any(part.labelled for part in parts.values()):
        yield _labels(parts)
    yield _dialogues(parts)
    yield _wording(parts)
    if any(part.overall.emoticons for part in parts.values()):
        yield _emoticons(parts)
    yield from _unigrams(parts)
    yield from _votes(parts)


def _labels(parts: "Parts") -> "RenderableType":
    labelled = {name: part for name, part in parts.items() if part.labelled}
    names = list(dict.fromkeys(label for part in labelled.values() for label in part.labels))
    rows: list[list[object]] = []
    for label in names:
        cells = [(part.labels.get(label, 0), f"{part.share(label):.1%}") for part in labelled.values()]
        rows.append([coloured(label), *chain.from_iterable(cells)])
    rows.append(["all", *(cell for part in labelled.values() for cell in (part.labelled, ""))])
    columns = [column for name in labelled for column in (name, "share")]
    return table("Labels", ["label", *columns], rows)


def _dialogues(parts: "Parts") -> "RenderableType":
    rows = []
    for name, part in parts.items():
        talk = part.conversations
        who = ", ".join(f"{speaker} {turns:,}" for speaker, turns in list(talk.speakers.items())[:_SPEAKERS_SHOWN])
        more = len(talk.speakers) - _SPEAKERS_SHOWN
        speakers = escape(who) + (f" and {more:,} more" if more > 0 else "")
        cast = _range(talk.cast.min, talk.cast.max) if talk.cast.total else None
        turns = (_range(talk.turns.min, talk.turns.max), f"{talk.turns.mean:.1f}")
        rows.append([name, talk.dialogues, *turns, f"{talk.emoticon_share:.1%}", cast, speakers or None])
    columns = ["split", "dialogues", "turns", "mean", "with emoticons", "speakers in each", "turns of each speaker"]
    dialogues = table("Dialogues", columns, rows)
    dialogues.columns[-1].justify = "left"
    return dialogues


def _range(smallest: int, largest: int) -> str:
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def _classes(parts: "Parts") -> Iterator[tuple[str, str, UtteranceStatistics]]:
    for split, part in parts.items():
        yield from ((split, coloured(label), wording) for label, wording in part.wording.items())
        yield split, "all", part.overall


def _wording(parts: "Parts") -> "RenderableType":
    rows: list[list[object]] = []
    for split, label, wording in _classes(parts):
        words, total = wording.words, max(wording.utterances, 1)
        numbers = (words.counts.get(0, 0) / total, wording.emoticon_share, wording.only_emoticons / total)
        lengths = (wording.utterances, f"{words.mean:.1f}", words.median, words.max)
        rows.append([split, label, *lengths, *(f"{share:.1%}" for share in numbers)])
    columns = ["split", "label", "utterances", "mean", "median", "longest", "no words", "emoticons", "only emoticons"]
    return table("Words per utterance, emoticons removed", columns, rows, left=2)


def _emoticons(parts: "Parts") -> "RenderableType":
    rows = [
        [split, label, _terms(wording.emoticons, lambda term: term.utterances)]
        for split, label, wording in _classes(parts)
        if wording.emoticons
    ]
    return table("Top emoticons, by the utterances that hold them", ["split", "label", "emoticons"], rows, left=3)


def _unigrams(parts: "Parts") -> "Iterator[RenderableType]":
    by_rule: dict[str, list[list[object]]] = {}
    for split, part in parts.items():
        for label, wording in part.wording.items():
            if wording.unigrams:
                shown = _terms(wording.unigrams[:_WORDS_SHOWN], lambda term: term.count)
                by_rule.setdefault(part.common_words, []).append([split, coloured(label), shown])
    for rule, rows in by_rule.items():
        yield table(f"Top words outside {rule}", ["split", "label", "words"], rows, left=3)


def _terms(terms: Sequence[Term], count: Callable[[Term], int]) -> str:
    return escape("   ".join(f"{term.text} {count(term):,}" for term in terms))


def _votes(parts: "Parts") -> "Iterator[RenderableType]":
    for split, part in parts.items():
        if (votes := part.votes) is None:
            continue
        total = max(sum(votes.counts.values()), 1)
        rows: list[list[object]] = [
            [coloured(label), count, f"{count / total:.1%}", _kappa(votes.kappa_per_label[label])]
            for label, count in votes.counts.items()
        ]
        rows.append(["all", total, "", _kappa(votes.kappa)])
        yield table(f"Votes of the annotators: {split}", ["label", "votes", "share", "Fleiss' kappa"], rows)
        largest = sorted(votes.largest.counts.items(), reverse=True)
        yield table(
            f"Votes for the most chosen label, of {_range(votes.raters.min, votes.raters.max)}: {split}",
            ["utterances", *(f"{number} votes" if number != 1 else "1 vote" for number, _ in largest)],
            [[votes.items, *(f"{count / votes.items:.1%}" for _, count in largest)]],
            left=0,
        )


def _kappa(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
