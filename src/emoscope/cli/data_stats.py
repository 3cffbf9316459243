"""`emoscope data stats`: what a task's data look like, as tables, JSON and figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emoscope.cli.options import DataOption
from emoscope.cli.output import JsonOption, coloured, console, print_json, table
from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from emoscope.corpus.describe.statistics import CorpusStatistics
    from emoscope.corpus.describe.words import Term
    from emoscope.tasks import Task
    from emoscope.tasks.data import Located

_USUAL = ("train", "dev", "test")
_WORDS_SHOWN = 8
_SPEAKERS_SHOWN = 6


class Format(StrEnum):
    """What figures are written as."""

    png = "png"
    svg = "svg"
    html = "html"


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """A split's file and what is in it."""

    located: "Located"
    statistics: "CorpusStatistics"

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.located.file.name,
            "revision": self.located.revision.name,
            "note": self.located.revision.note,
            **asdict(self.statistics),
        }


def stats(
    task: Annotated[str, typer.Argument(help="Task name (`emoscope tasks` lists them), or the folder of a corpus.")],
    data: DataOption = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", "-s", help="Split to count; may be repeated. All of train, dev, test without it."),
    ] = None,
    plots: Annotated[Path | None, typer.Option("--plots", help="Also draw the figures, into this folder.")] = None,
    format: Annotated[Format, typer.Option("--format", help="What figures are written as.")] = Format.png,
    json: JsonOption = False,
) -> None:
    """Count labels, words, emoticons, turns, speakers and votes; measure the annotators' agreement."""
    from emoscope.tasks import get_task

    if plots is not None:
        from emoscope.core.plots import altair

        altair()  # say now, and not after the counting, that the extra is missing
        _make_folder(plots)
    chosen = get_task(task)
    statistics = task_statistics(chosen, split, data)
    drawn = [] if plots is None else _draw(chosen.name, statistics, plots, format.value)
    if json:
        print_json(
            {
                "task": chosen.name,
                "splits": statistics,
                "figures": drawn,
            }
        )
        return
    out = console()
    for part in tables(chosen, statistics):
        out.print(part)
        out.print()
    for path in drawn:
        out.print(f"drew {path}", markup=False)


def task_statistics(task: "Task", splits: Sequence[str] | None, root: Path | None) -> dict[str, SplitStatistics]:
    """Count the named splits, or those of train, dev and test that are here."""
    from emoscope.corpus.describe.statistics import describe

    statistics: dict[str, SplitStatistics] = {}
    for name, located in _locate(task, splits, root).items():
        examples = _with_progress(task.read(located.path), f"{task.name} {name}", located.file.examples)
        counted = describe(examples, task.labels, neutral=task.metadata.neutral_label)
        statistics[name] = SplitStatistics(located, counted)
    return statistics


def _locate(task: "Task", splits: Sequence[str] | None, root: Path | None) -> dict[str, "Located"]:
    from emoscope.tasks.data import find_split

    if splits:
        return {name: find_split(task, name, root) for name in splits}
    present: dict[str, Located] = {}
    absent: list[EmoscopeError] = []
    for name in _USUAL:
        if name not in task.metadata.splits:
            continue
        try:
            present[name] = find_split(task, name, root)
        except EmoscopeError as error:
            absent.append(error)
    if not present and absent:
        raise absent[0]
    return present


def _with_progress(examples: Iterable[Example], what: str, total: int | None) -> Iterator[Example]:
    from rich.progress import track

    shown = console(stderr=True)
    return iter(track(examples, what, total=total, console=shown, transient=True, disable=not shown.is_terminal))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmoscopeError(f"{folder}: cannot be made a folder for figures ({error.strerror})") from None


def _draw(task: str, splits: Mapping[str, SplitStatistics], folder: Path, kind: str) -> list[Path]:
    from emoscope.core.plots import save
    from emoscope.corpus.describe.figures import figures

    charts = figures({name: part.statistics for name, part in splits.items()}, task)
    return [save(chart, folder / f"{task}-{name}.{kind}") for name, chart in charts.items()]


# Tables


def tables(task: "Task", splits: Mapping[str, SplitStatistics]) -> "Iterator[RenderableType]":
    """What a person is shown: a table for each kind of thing that was counted."""
    parts = {name: part.statistics for name, part in splits.items()}
    yield from _files(task, splits)
    if any(part.labelled for part in parts.values()):
        yield _labels(parts)
    yield _dialogues(parts)
    yield _wording(parts)
    if any(part.overall.emoticons for part in parts.values()):
        yield _emoticons(parts)
    yield from _unigrams(parts)
    yield from _votes(parts)


def _files(task: "Task", splits: Mapping[str, SplitStatistics]) -> "Iterator[RenderableType]":
    rows = [
        [name, part.located.file.name, part.located.revision.name, part.statistics.examples]
        for name, part in splits.items()
    ]
    yield table(task.metadata.title, ["split", "file", "revision", "examples"], rows, left=3)
    notes = {part.located.revision.name: part.located.revision.note for part in splits.values()}
    yield _plain("\n".join(f"Revision {name}: {note}." for name, note in notes.items()))


def _labels(parts: Mapping[str, "CorpusStatistics"]) -> "RenderableType":
    labelled = {name: part for name, part in parts.items() if part.labelled}
    names = list(dict.fromkeys(label for part in labelled.values() for label in part.labels))
    rows: list[list[object]] = [
        [coloured(label), *(cell for part in labelled.values() for cell in _count(part, label))] for label in names
    ]
    rows.append(["all", *(cell for part in labelled.values() for cell in (part.labelled, ""))])
    columns = [column for name in labelled for column in (name, "share")]
    return table("Labels", ["label", *columns], rows)


def _count(part: "CorpusStatistics", label: str) -> tuple[int, str]:
    return part.labels.get(label, 0), f"{part.share(label):.1%}"


def _dialogues(parts: Mapping[str, "CorpusStatistics"]) -> "RenderableType":
    rows = []
    for name, part in parts.items():
        talk = part.conversations
        who = ", ".join(f"{speaker} {turns:,}" for speaker, turns in list(talk.speakers.items())[:_SPEAKERS_SHOWN])
        more = len(talk.speakers) - _SPEAKERS_SHOWN
        rows.append(
            [
                name,
                talk.dialogues,
                _range(talk.turns.min, talk.turns.max),
                f"{talk.turns.mean:.1f}",
                f"{talk.emoticon_share:.1%}",
                _range(talk.cast.min, talk.cast.max) if talk.cast.total else None,
                (_plain(who) + (f" and {more:,} more" if more > 0 else "")) or None,
            ]
        )
    columns = ["split", "dialogues", "turns", "mean", "with emoticons", "speakers in each", "turns of each speaker"]
    dialogues = table("Dialogues", columns, rows)
    dialogues.columns[-1].justify = "left"
    return dialogues


def _range(smallest: int, largest: int) -> str:
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def _wording(parts: Mapping[str, "CorpusStatistics"]) -> "RenderableType":
    rows = [
        [
            split,
            coloured(label) if label else "all",
            wording.utterances,
            f"{wording.words.mean:.1f}",
            wording.words.median,
            wording.words.max,
            f"{wording.words.counts.get(0, 0) / max(wording.utterances, 1):.1%}",
            f"{wording.emoticon_share:.1%}",
            f"{wording.only_emoticons / max(wording.utterances, 1):.1%}",
        ]
        for split, part in parts.items()
        for label, wording in [*part.wording.items(), ("", part.overall)]
    ]
    columns = ["split", "label", "utterances", "mean", "median", "longest", "no words", "emoticons", "only emoticons"]
    return table("Words per utterance, emoticons removed", columns, rows, left=2)


def _emoticons(parts: Mapping[str, "CorpusStatistics"]) -> "RenderableType":
    rows = [
        [split, coloured(label) if label else "all", _terms(wording.emoticons, lambda term: term.utterances)]
        for split, part in parts.items()
        for label, wording in [*part.wording.items(), ("", part.overall)]
        if wording.emoticons
    ]
    return table("Top emoticons, by the utterances that hold them", ["split", "label", "emoticons"], rows, left=3)


def _unigrams(parts: Mapping[str, "CorpusStatistics"]) -> "Iterator[RenderableType]":
    by_rule: dict[str, list[list[object]]] = {}
    for split, part in parts.items():
        for label, wording in part.wording.items():
            if wording.unigrams:
                shown = _terms(wording.unigrams[:_WORDS_SHOWN], lambda term: term.count)
                by_rule.setdefault(part.common_words, []).append([split, coloured(label), shown])
    for rule, rows in by_rule.items():
        yield table(f"Top words outside {rule}", ["split", "label", "words"], rows, left=3)


def _terms(terms: Sequence["Term"], count: Callable[["Term"], int]) -> str:
    return _plain("   ".join(f"{term.text} {count(term):,}" for term in terms))


def _plain(text: str) -> str:
    """Text out of the data, in which `[...]` is no markup."""
    from rich.markup import escape

    return escape(text)


def _votes(parts: Mapping[str, "CorpusStatistics"]) -> "Iterator[RenderableType]":
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
