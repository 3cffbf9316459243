"""Filter a table of dialogues: what is kept, what was dropped and why, and a report."""

import json
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder, atomic_write
from emoscope.corpus.filters.apply import ApplyFilters, Verdict, read_verdicts
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.row_turns import whole_dialogue, with_turns
from emoscope.corpus.filters.shipped import error_rates
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import PartFolder, batches, packed
from emoscope.tables import Record, format_of, open_writer, read_records

DROPPED = "dropped.jsonl"
REPORT = "report.json"
PART = 512  # dialogues reviewed together: what each worker loses when a run is killed
_SUFFIX = {"text": "txt"}


@dataclass(slots=True)
class FilterReport:
    """One filter: what it dropped, by reason, what it masked in kept dialogues, by kind, and its known error rates."""

    settings: dict[str, Any]
    dropped: dict[str, int] = field(default_factory=dict)
    masked: dict[str, int] = field(default_factory=dict)
    error_rates: Any = None


@dataclass(slots=True)
class TableReport:
    """How many dialogues were read, kept, dropped and changed, the file they are in, and what each filter did."""

    read: int = 0
    kept: int = 0
    dropped: int = 0
    changed: int = 0
    file: str = ""
    filters: dict[str, FilterReport] = field(default_factory=dict)


def filter_table(
    source: str,
    folder: str | Path,
    filters: Sequence[DialogueFilter],
    *,
    column: str | None = None,
    format: str | None = None,
    progress: ShowProgress = no_progress,
    executor: Executor = SERIAL,
) -> TableReport:
    """Write the dialogues that no filter drops into a new folder, which is complete or absent.

    `kept.*` is in the format of the source, `dropped.jsonl` has a line with all reasons for each dropped row (none of
    its text), and `report.json` the counts. Every filter sees every dialogue, so its counts do not depend on
    the others. Verdicts are kept in a hidden folder next to the output until it is complete, so a killed run resumes.
    Filters that `executor` sends to other processes are pickled.

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
    report = TableReport(
        filters={
            each.name: FilterReport(dict(each.settings), error_rates=error_rates().get(each.name)) for each in filters
        }
    )
    records = progress("filtering", read_records(source, format, column=column))
    verdict_folder = _verdict_folder(Path(folder), report)
    with atomic_folder(folder) as part, ExitStack() as stack:
        first = next(records, None)
        report.file, kind = _target(source, format, first)
        kept = stack.enter_context(open_writer(str(part / report.file), kind))
        dropped = stack.enter_context(open_writer(str(part / DROPPED)))
        pending: deque[Sequence[Record]] = deque()  # rows whose verdicts are still to come

        def parts() -> Iterator[bytes]:
            for rows in batches(chain([] if first is None else [first], records), PART):
                pending.append(rows)
                yield packed(whole_dialogue(record, column) for record in rows)

        for path in verdict_folder.fill(parts(), ApplyFilters(tuple(filters)), executor):
            for record, verdict in zip(pending.popleft(), read_verdicts(path.read_bytes()), strict=True):
                report.read += 1
                _count(report, verdict)
                if verdict.reasons:
                    name = record.columns.get("id")
                    shown = {} if name is None else {"id": name}
                    dropped.write({"row": record.row, **shown, "reasons": verdict.reasons})
                elif verdict.changed is None:
                    kept.write(record.columns)
                else:
                    kept.write(with_turns(record, verdict.changed, column))
        stack.close()
        for each in report.filters.values():
            each.dropped, each.masked = dict(sorted(each.dropped.items())), dict(sorted(each.masked.items()))
        with atomic_write(part / REPORT) as handle:
            handle.write(json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n")
    shutil.rmtree(verdict_folder.folder, ignore_errors=True)
    return report


def _count(report: TableReport, verdict: Verdict) -> None:
    if verdict.reasons:
        report.dropped += 1
        for reason in verdict.reasons:
            dropped = report.filters[reason["filter"]].dropped
            dropped[reason["reason"]] = dropped.get(reason["reason"], 0) + 1
        return
    report.kept += 1
    report.changed += verdict.changed is not None
    for name, counts in verdict.masked.items():
        masked = report.filters[name].masked
        for kind, number in counts.items():
            masked[kind] = masked.get(kind, 0) + number


def _verdict_folder(folder: Path, report: TableReport) -> PartFolder:
    settings = {name: each.settings for name, each in report.filters.items()}
    depends = json.dumps({"emoscope": __version__, "filters": settings})
    return PartFolder(folder.absolute().parent / f".{folder.name}.said", depends, ".jsonl")


def _target(source: str, format: str | None, first: Record | None) -> tuple[str, str]:
    """The name and format of what is kept: those of the source, and JSONL for a pipe."""
    kind = format_of(source, format) or "jsonl"
    if kind == "text" and first is not None and set(first.columns) != {"turns"}:
        kind = "tsv"  # a table in a .txt
    return f"kept.{_SUFFIX.get(kind, kind)}", kind
