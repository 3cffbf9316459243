"""Judgements as CSV: `task,worker,label` and, if workers named further possible labels, `other` (`joy;surprise`)."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.core.files import atomic_write, text_lines
from emoscope.corpus.annotation.annotations import Judgement, Read, judgement_at

_COLUMNS = ("task", "worker", "label")


def write(path: Path, judgements: Sequence[Judgement]) -> None:
    """Write the judgements in their order."""
    with_others = any(judgement.others for judgement in judgements)
    with atomic_write(path) as handle:
        table = csv.writer(handle, lineterminator="\n")
        table.writerow([*_COLUMNS, "other"] if with_others else _COLUMNS)
        for said in judgements:
            row = [said.task, said.worker, said.label]
            table.writerow([*row, ";".join(said.others)] if with_others else row)


def read(path: Path) -> Iterator[Read]:
    """Stream the judgements; columns other than ours are left alone."""
    for row, cells in read_rows(path, ("task", "label")):
        others = [part.strip() for part in cells.get("other", "").split(";") if part.strip()]
        said = judgement_at(path, row, cells["task"], cells.get("worker", path.stem), cells["label"], others)
        yield Read(row, said.task, said)


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Stream a table's rows by column name; at least one, each with every cell."""
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
