"""Judgements as CSV: `task,worker,label`, and `other` (`joy;surprise`) if workers named further possible labels."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from emoscope.core.files import atomic_write, csv_rows
from emoscope.corpus.annotation.annotations import Annotations, Answered, FileEntry


def write(path: Path, annotations: Annotations) -> None:
    """Write the judgements in order, without the tasks' data."""
    judgements = annotations.judgements
    width = 4 if any(judgement.others for judgement in judgements) else 3
    rows = ([one.task, one.worker, one.label, ";".join(one.others)][:width] for one in judgements)
    write_rows(path, ["task", "worker", "label", "other"][:width], rows)


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table."""
    with atomic_write(path) as handle:
        table = csv.writer(handle, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def read(path: Path) -> Iterator[FileEntry]:
    """Stream the judgements; other columns are ignored."""
    for row, cells in csv_rows(path, ("task", "label"), ("worker", "other")):
        others = [part for part in cells.get("other", "").split(";") if part.strip()]
        answer = Answered(row, cells.get("worker", path.stem), cells["label"], others)
        yield FileEntry(row, [cells["task"]], {}, [answer])
