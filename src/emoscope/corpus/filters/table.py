"""A table of dialogues without those that filters drop: what is kept, what went and why, and a report."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from emoscope.corpus.filters.cells import whole_dialogue, with_turns
from emoscope.corpus.filters.error_rates import error_rates
from emoscope.corpus.filters.review import DialogueFilter, Review
from emoscope.errors import EmoscopeError
from emoscope.files import atomic_folder, atomic_write
from emoscope.tables import Record, RowWriter, format_of, open_writer, read_records

DROPPED = "dropped.jsonl"
REPORT = "report.json"
_BATCH = 512
_SUFFIX = {"text": "txt"}

Watch = Callable[[Iterator[Record]], Iterator[Record]]


@dataclass(slots=True)
class FilterCounts:
    """What one filter dropped, by reason, others or not, and what it masked in dialogues that are kept, by kind."""

    dropped: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Report:
    """How many dialogues were read, kept and changed, and what each filter did."""

    filters: dict[str, FilterCounts]
    settings: dict[str, dict[str, Any]]
    file: str = ""
    read: int = 0
    kept: int = 0
    changed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the error rates that were measured for each filter."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": self.read - self.kept,
            "changed": self.changed,
            "file": self.file,
            "filters": {
                name: {
                    "settings": self.settings[name],
                    "dropped": dict(sorted(counts.dropped.items())),
                    "masked": dict(sorted(counts.masked.items())),
                    "error_rates": error_rates(name),
                }
                for name, counts in self.filters.items()
            },
        }


def filter_table(
    source: str,
    folder: str | Path,
    filters: Sequence[DialogueFilter],
    *,
    column: str | None = None,
    format: str | None = None,
    watch: Watch = lambda records: records,
) -> Report:
    """Write the dialogues that no filter drops into a new folder, which is complete or absent.

    `kept.*` is in the format of the source, `dropped.jsonl` has a line with all reasons for each row that went (none of
    its text), and `report.json` the counts. Every filter sees every dialogue, so its counts do not depend on others.

    >>> import tempfile, pathlib
    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> here = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (here / "a.csv").write_text("id,text\\n1,hello\\n2,you idiot\\n")
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> filter_table(str(here / "a.csv"), here / "out", [rude]).kept
    1
    >>> (here / "out" / "dropped.jsonl").read_text()
    '{"row": 3, "id": "2", "reasons": [{"filter": "offensive", "reason": "offensive", "turn": 1, "score": 1.0}]}\\n'
    """
    if not filters:
        raise EmoscopeError("no filter is on; choose at least one of offensive, personal and language")
    report = Report({one.name: FilterCounts() for one in filters}, {one.name: dict(one.settings) for one in filters})
    records = watch(read_records(source, format, column=column))
    with atomic_folder(folder) as part, ExitStack() as stack:
        first = next(records, None)
        report.file, kind = _target(source, format, first)
        kept = stack.enter_context(open_writer(str(part / report.file), kind))
        dropped = stack.enter_context(open_writer(str(part / DROPPED)))
        everything = chain([] if first is None else [first], records)
        while rows := list(islice(everything, _BATCH)):
            _pass_on(rows, filters, column, kept, dropped, report)
        stack.close()
        with atomic_write(part / REPORT) as handle:
            handle.write(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n")
    return report


def _target(source: str, format: str | None, first: Record | None) -> tuple[str, str]:
    """The name and format of what is kept: those of the source, and JSONL for a pipe."""
    kind = format_of(source, format) or "jsonl"
    if kind == "text" and first is not None and set(first.columns) != {"turns"}:
        kind = "tsv"  # a table in a .txt
    return f"kept.{_SUFFIX.get(kind, kind)}", kind


def _pass_on(
    rows: Sequence[Record],
    filters: Sequence[DialogueFilter],
    column: str | None,
    kept: RowWriter,
    dropped: RowWriter,
    report: Report,
) -> None:
    given = [whole_dialogue(record, column) for record in rows]
    dialogues = given
    reviews: list[list[Review]] = []
    for one in filters:
        reviews.append(one.review(dialogues))
        dialogues = [review.dialogue for review in reviews[-1]]
    for record, before, after, *said in zip(rows, given, dialogues, *reviews, strict=True):
        report.read += 1
        reasons = list(_reasons(filters, said, report))
        if reasons:
            name = record.columns.get("id")
            dropped.write({"row": record.row, **({} if name is None else {"id": name}), "reasons": reasons})
            continue
        for one, review in zip(filters, said, strict=True):
            report.filters[one.name].masked.update(review.masked)
        report.kept += 1
        changed = after != before
        report.changed += changed
        kept.write(with_turns(record, after, column) if changed else record.columns)


def _reasons(filters: Sequence[DialogueFilter], said: Iterable[Review], report: Report) -> Iterator[dict[str, Any]]:
    for one, review in zip(filters, said, strict=True):
        if review.reason is not None:
            report.filters[one.name].dropped[review.reason] += 1
            yield {"filter": one.name, "reason": review.reason, **review.details}
