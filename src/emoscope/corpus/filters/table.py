"""A table of dialogues without those that filters drop: what is kept, what went and why, and a report."""

import json
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder, atomic_write
from emoscope.corpus.filters.cells import whole_dialogue, with_turns
from emoscope.corpus.filters.error_rates import error_rates
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.verdicts import Reviewer, Verdict, verdicts
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import PartFolder, batches, packed
from emoscope.tables import Record, RowWriter, format_of, open_writer, read_records

DROPPED = "dropped.jsonl"
REPORT = "report.json"
PART = 512  # dialogues that are reviewed together: what is lost, for each worker, when a run is killed
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
    spread: Executor = SERIAL,
) -> Report:
    """Write the dialogues that no filter drops into a new folder, which is complete or absent.

    `kept.*` is in the format of the source, `dropped.jsonl` has a line with all reasons for each row that went (none of
    its text), and `report.json` the counts. Every filter sees every dialogue, so its counts do not depend on others.
    What the filters say is kept in a hidden folder beside the other until that is complete, so that a run that was
    killed goes on from there. `spread` says who works; filters that go to other processes are pickled.

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
        raise EmoscopeError("no filter is on; choose at least one of offensive, sensitive, personal and language")
    report = Report({one.name: FilterCounts() for one in filters}, {one.name: dict(one.settings) for one in filters})
    records = watch(read_records(source, format, column=column))
    said = _said_folder(Path(folder), report)
    with atomic_folder(folder) as part, ExitStack() as stack:
        first = next(records, None)
        report.file, kind = _target(source, format, first)
        kept = stack.enter_context(open_writer(str(part / report.file), kind))
        dropped = stack.enter_context(open_writer(str(part / DROPPED)))
        waiting: deque[Sequence[Record]] = deque()  # rows that the filters are looking at

        def parts() -> Iterator[bytes]:
            for rows in batches(chain([] if first is None else [first], records), PART):
                waiting.append(rows)
                yield packed(whole_dialogue(record, column) for record in rows)

        for path in said.fill(parts(), Reviewer(tuple(filters)), spread):
            for record, verdict in zip(waiting.popleft(), verdicts(path.read_bytes()), strict=True):
                _pass_on(record, verdict, column, kept, dropped, report)
        stack.close()
        with atomic_write(part / REPORT) as handle:
            handle.write(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n")
    shutil.rmtree(said.folder, ignore_errors=True)
    return report


def _said_folder(folder: Path, report: Report) -> PartFolder:
    # Looked up by name, for the package's front door leads to layers above this one.
    depends = {"emoscope": import_module("emoscope").__version__, "filters": report.settings}
    return PartFolder(folder.absolute().parent / f".{folder.name}.said", json.dumps(depends), ".jsonl")


def _target(source: str, format: str | None, first: Record | None) -> tuple[str, str]:
    """The name and format of what is kept: those of the source, and JSONL for a pipe."""
    kind = format_of(source, format) or "jsonl"
    if kind == "text" and first is not None and set(first.columns) != {"turns"}:
        kind = "tsv"  # a table in a .txt
    return f"kept.{_SUFFIX.get(kind, kind)}", kind


def _pass_on(
    record: Record, verdict: Verdict, column: str | None, kept: RowWriter, dropped: RowWriter, report: Report
) -> None:
    report.read += 1
    if verdict.reasons:
        for one in verdict.reasons:
            report.filters[one["filter"]].dropped[one["reason"]] += 1
        name = record.columns.get("id")
        dropped.write({"row": record.row, **({} if name is None else {"id": name}), "reasons": verdict.reasons})
        return
    for filter_name, counts in verdict.masked.items():
        report.filters[filter_name].masked.update(counts)
    report.kept += 1
    report.changed += verdict.changed is not None
    kept.write(record.columns if verdict.changed is None else with_turns(record, verdict.changed, column))
