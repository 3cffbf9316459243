"""Judgements as CSV: `task,worker,label`, and `other` (`joy;surprise`) if workers named further possible labels."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.core.files import atomic_write, text_lines
from emoscope.corpus.annotation.annotations import Annotations, FileEntry, judgement_at


def write(path: Path, annotations: Annotations) -> None:
    """Write the judgements in order, without the tasks' data."""
    judgements = annotations.judgements
    with_others = any(judgement.others for judgement in judgements)
    rows = [[one.task, one.worker, one.label, ";".join(one.others)] for one in judgements]
    width = 4 if with_others else 3
    write_rows(path, ["task", "worker", "label", "other"][:width], (row[:width] for row in rows))


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table."""
    with atomic_write(path) as handle:
        table = csv.writer(handle, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def read(path: Path) -> Iterator[FileEntry]:
    """Stream the judgements; other columns are ignored."""
    for row, cells in read_rows(path, ("task", "label")):
        others = [part.strip() for part in cells.get("other", "").split(";") if part.strip()]
        judgement = judgement_at(path, row, cells["task"], cells.get("worker", path.stem), cells["label"], others)
        yield FileEntry(row, judgement.task, judgement)


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Stream the rows of a table by column name; an error if there are none, or if cells are missing."""
    lines = csv.reader((line for _, line in text_lines(path)), strict=True)
    header: list[str] = []
    rows = 0
    try:
        for cells in lines:
            if not header:
                header = [cell.strip() for cell in cells]
                if any(header.count(name) != 1 for name in needed) or len(set(header)) != len(header):
                    shown = ",".join(header)[:60]
                    raise InputError(path, f"expected columns {','.join(needed)}, each once, found {shown!r}", row=1)
            elif len(cells) != len(header):
                problem = f"expected {len(header)} comma-separated columns, found {len(cells)}"
                raise InputError(path, problem, row=lines.line_num)
            else:
                rows += 1
                yield lines.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(path, f"is not valid CSV: {error}", row=lines.line_num) from None
    if not rows:
        raise InputError(path, "has a header but no rows")
