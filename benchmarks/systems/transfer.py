"""Train a cheap system on each corpus, evaluate it on all others, and write docs/results/transfer.md.

    python -m benchmarks.systems.transfer run --data DATA [--system nano] [--limit 4000]
    python -m benchmarks.systems.transfer render

`run` writes the result of `emoscope transfer` to benchmarks/results/transfer.json.
"""

import argparse
from typing import Any

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_json, write_json
from emoscope.core.jsonable import jsonable
from emoscope.core.plots import save
from emoscope.runs.transfer import Cell, TransferMatrix, transfer, transfer_chart
from emoscope.tasks import TASKS, get_task
from emoscope.tasks.data import find_split

TABLE, PAGE, PLOT = RESULTS / "transfer.json", PAGES / "transfer.md", PAGES / "transfer.png"


def run(options: argparse.Namespace) -> None:
    """Measure and write the matrix."""
    matrix = transfer(options.system, limit=options.limit, root=options.data, report=lambda m, _: print(m, flush=True))
    write_json(TABLE, jsonable(matrix))
    files = [find_split(get_task(name), "train", options.data).path for name in TASKS]
    keep(TABLE, made(0, {"system": options.system, "limit": options.limit}, files))


def matrix_of(content: dict[str, Any]) -> TransferMatrix:
    """The matrix in a file's content."""
    cells = tuple(Cell(**{**cell, "labels": tuple(cell["labels"])}) for cell in content["cells"])
    return TransferMatrix(**{**content, "corpora": tuple(content["corpora"]), "cells": cells})


def render() -> None:
    """Write the tables and the plot."""
    matrix = matrix_of(read_json(TABLE))
    names = matrix.corpora
    lines = [f"| trained on | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for trained_on in names:
        cells = [matrix.cell(trained_on, other) for other in names]
        lines.append(f"| {trained_on} | {' | '.join(_text(cell) for cell in cells)} |")
    write_section(PAGE, "matrix", "\n".join(lines))
    meanings = ["| corpus | learnt | scored | label = what it means to the others |", "|---|---:|---:|---|"]
    for name in names:
        mapped = ", ".join(f"{label} = {meaning}" for label, meaning in matrix.mapping[name].items())
        meanings.append(f"| {name} | {matrix.trained[name]:,} | {matrix.held_out[name]:,} | {mapped} |")
    write_section(PAGE, "mapping", "\n".join(meanings))
    save(transfer_chart(matrix), PLOT)


def _text(cell: Cell) -> str:
    if cell.score is None or cell.within is None:
        return "-"
    if cell.trained_on == cell.evaluated_on:
        return f"**{cell.score:.3f}**"
    return f"{cell.score:.3f} of {cell.within:.3f}"


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("what", choices=["run", "render"])
    parser.add_argument("--system", default="nano")
    parser.add_argument("--limit", type=int, default=4000)
    options = parser.parse_args()
    run(options) if options.what == "run" else render()


if __name__ == "__main__":
    main()
