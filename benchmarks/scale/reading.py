"""What reading costs `emoscope score`: bytes of the input, text against Parquet, and a million parts.

    python -m benchmarks.scale.reading --data DATA [--rows 200000] [--parts 1000000] [--write]

*Bytes* counts what is read of the input by runs of one process. *Text* asks whether text should be copied into Parquet
by pyarrow first: what that takes, beside our own look through the text, reading it in parts, and scoring it with `nano`
on all cores. *Parts* simulates a run of that many tiny parts: everything the starting process does, without the parts'
own work. `--write` puts the tables into docs/results/scale.md.
"""

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from unittest import mock

from benchmarks.common.emocontext import emocontext_turns
from benchmarks.common.machine import machine, taken_by_others
from benchmarks.common.memory import MIB, peak_memory
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.common.timing import seconds
from emoscope.core.extras import require
from emoscope.detector import load
from emoscope.evaluation.card import markdown_table
from emoscope.parallel import Executor
from emoscope.scoring import score
from emoscope.scoring.manifest import PartCounts, write_manifest
from emoscope.scoring.output import PLAN, OutputFolder, scores_file
from emoscope.scoring.plan import PlannedFile, ScoringPlan, make_plan
from emoscope.scoring.reading import read_part
from emoscope.tables import files
from emoscope.tables.inputs import InputFile, find_inputs
from emoscope.tables.writing import open_writer

pa = require("pyarrow", extra="scale")
pq = require("pyarrow.parquet", extra="scale")
pa_csv = require("pyarrow.csv", extra="scale")
pa_json = require("pyarrow.json", extra="scale")

HANDED_OUT = 50_000
LABELS = {"others": 1, "happy": 0, "sad": 0, "angry": 0}


# Bytes


class CountedFile:
    """A file that adds up what is read of it."""

    def __init__(self, file: IO[bytes], read: list[int]) -> None:
        self._file, self._read = file, read

    def __enter__(self) -> "CountedFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._read[0] += len(data)
        return data

    def readline(self, size: int = -1) -> bytes:
        data = self._file.readline(size)
        self._read[0] += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._read[0] += count
        return count


@contextmanager
def counted(path: Path) -> Iterator[list[int]]:
    """Count the bytes that this process reads of a file within the block."""
    read, real = [0], files._open_raw

    def opened(name: str, **settings: Any) -> Any:
        file = real(name, **settings)
        return CountedFile(file, read) if name == str(path) else file

    with mock.patch.object(files, "_open_raw", opened):
        yield read


def bytes_table(folder: Path, rows: Sequence[dict[str, Any]]) -> str:
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, folder / "one.parquet", row_group_size=len(rows))
    pq.write_table(table, folder / "small.parquet", row_group_size=1000)
    for name in ("a.jsonl.gz", "a.jsonl"):
        with open_writer(str(folder / name)) as writer:
            for row in rows:
                writer.write(row)
    lines = []
    for name, what in (
        ("one.parquet", "Parquet, one row group"),
        ("small.parquet", "Parquet, row groups of 1,000"),
        ("a.jsonl.gz", "JSONL, gzip"),
        ("a.jsonl", "JSONL"),
    ):
        size = (folder / name).stat().st_size
        with counted(folder / name) as read:
            done = score([str(folder / name)], folder / f"out-{name}", model="nano", workers=1)
        lines.append([what, f"{size / 1e6:.1f}", str(len(done.parts)), f"{read[0] / size:.2f}"])
    return markdown_table(["input", "MB", "parts", "bytes read / file size"], lines)


# Text


def text_table(folder: Path, rows: Sequence[dict[str, Any]]) -> str:
    flat = [{"id": row["id"], **{f"turn{n}": turn for n, turn in enumerate(row["turns"], 1)}} for row in rows]
    names = ["id", "turn1", "turn2", "turn3"]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)
    with (folder / "b.jsonl").open("w", encoding="utf-8") as handle:
        handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    readers: dict[str, Callable[[], Any]] = {
        "a.csv": lambda: pa_csv.open_csv(
            folder / "a.csv",
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        ),
        "b.jsonl": lambda: pa_json.open_json(folder / "b.jsonl"),
    }
    lines = []
    for name, reader in readers.items():
        copy = folder / f"{name}.parquet"

        def stage(reader: Callable[[], Any] = reader, copy: Path = copy) -> None:
            with reader() as batches, pq.ParquetWriter(copy, batches.schema, compression="zstd") as made:
                for batch in batches:
                    made.write_table(pa.table(batch), row_group_size=4096)

        def read(path: Path) -> None:
            plan = make_plan(find_inputs([str(path)]).files, {})
            for part in range(plan.parts):
                for _ in read_part(plan, part):
                    pass

        looked = seconds(lambda name=name: make_plan(find_inputs([str(folder / name)]).files, {}))  # type: ignore[misc]
        both = seconds(lambda name=name: read(folder / name))  # type: ignore[misc]
        staged = seconds(stage)
        parquet = seconds(lambda copy=copy: read(copy))  # type: ignore[misc]
        whole = [
            seconds(lambda path=path: score([str(path)], folder / f"run-{path.name}", model="nano"))  # type: ignore[misc]
            for path in (folder / name, copy)
        ]
        cells = (
            looked,
            both - looked,
            staged,
            parquet,
            whole[0],
            staged + whole[1],
            (staged + whole[1]) / whole[0] - 1,
        )
        lines.append([name.split(".")[-1].upper(), *(f"{cell:.2f}" for cell in cells[:-1]), f"{cells[-1]:+.0%}"])
    heads = [
        "input",
        "planning, s",
        "reading parts, s",
        "copy to Parquet, s",
        "reading parts of the copy, s",
        "run on text, s",
        "copy and run, s",
        "difference",
    ]
    return markdown_table(heads, lines)


BAD = {
    "a.csv": {
        "unclosed quotation mark": 'id,text\n1,fine\n2,"open\n3,fine\n',
        "extra cell": "id,text\n1,fine\n2,a,b\n3,fine\n",
        "invalid UTF-8": "id,text\n1,fine\n2,\udcff\n3,fine\n",
    },
    "a.jsonl": {
        "invalid line": '{"text": "fine"}\n{"text":\n{"text": "fine"}\n',
        "a number, then a string": '{"text": "fine", "id": 1}\n{"text": "fine", "id": "b"}\n',
        "lone surrogate": '{"text": "fine"}\n{"text": "\\ud800"}\n',
    },
}


def bad_rows_table(folder: Path) -> str:
    """What happens to the rows around a bad one."""
    lines = []
    for name, cases in BAD.items():
        for number, (what, text) in enumerate(cases.items()):
            path = folder / f"{number}{name}"
            path.write_bytes(text.encode(errors="surrogateescape"))
            done = score([str(path)], folder / f"bad-{path.name}", model="nano", workers=1)
            try:
                found = f"{(pa_csv.read_csv if name == 'a.csv' else pa_json.read_json)(path).num_rows} rows"
            except pa.ArrowInvalid as error:
                found = f"no rows: {str(error).splitlines()[0][:60]}"
            lines.append(
                [f"{path.suffix[1:].upper()}, {what}", f"{done.scored} scored, {done.rejected} rejected", found]
            )
    return markdown_table(["", "emoscope", "pyarrow"], lines)


# Parts


class ListedFolder(OutputFolder):
    """A folder that says that it holds every part."""

    parts = 0

    def sizes(self, folder: str) -> dict[str, int]:  # noqa: ARG002
        return {scores_file(part): 2000 for part in range(self.parts)}


def nothing(part: int) -> tuple[int, dict[str, Any]]:
    """What a worker says of a part of one row."""
    return part, {"scored": 1, "rejected": 0, "labels": LABELS, "sums": dict.fromkeys(LABELS, 0.25)}


def parts_table(folder: Path, parts: int) -> str:
    source = InputFile("logs/a.parquet", "parquet", 1 << 30, "1")
    detector = load("nano")
    plan = ScoringPlan({}, [PlannedFile(source, parts, ())], [], 1, pa.schema([("turns", pa.list_(pa.string()))]))
    output = ListedFolder(str(folder / "parts"))
    output.parts = parts
    (folder / "parts").mkdir()
    counts = PartCounts(parts, tuple(LABELS))

    def write_plan() -> None:
        assert plan.parts == parts
        output.write_json(PLAN, plan.as_dict())

    lines = [("planning", seconds(write_plan))]

    def hand_out() -> None:
        for part, footer in Executor(workers=2).map(nothing, range(min(parts, HANDED_OUT)), window=1000):
            counts.add(part, footer)

    spent = seconds(hand_out) * max(1, parts / HANDED_OUT)
    lines.append((f"scheduling on two workers (extrapolated from {min(parts, HANDED_OUT):,})", spent))

    def gather() -> None:
        for part in range(parts):
            counts.add(*nothing(part))

    lines.append(("gathering counts", seconds(gather)))
    with mock.patch("emoscope.scoring.manifest._estimated_prior", lambda *_: detector.prior):
        lines.append(("manifest", seconds(lambda: write_manifest(plan, output, detector, counts))))
    size = (folder / "parts" / "manifest.json").stat().st_size
    held = peak_memory() / MIB
    rows = [[name, f"{spent:.1f}", f"{spent / parts * 1e6:.0f}"] for name, spent in lines]
    table = markdown_table([f"{parts:,} parts", "s", "µs/part"], rows)
    return f"{table}\n\nThe manifest has {size / 1e6:,.0f} MB; peak memory {held:,.0f} MB."


def main() -> None:
    parser = command_line(__doc__, "data", "write")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--parts", type=int, default=1_000_000)
    options = parser.parse_args()
    others = taken_by_others()
    turns = emocontext_turns(options.data, "train")
    rows = [
        {"id": n, "turns": [*turns[n % len(turns)][:-1], f"{turns[n % len(turns)][-1]} {n}"]}
        for n in range(options.rows)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = [parts_table(folder, options.parts), bytes_table(folder, rows)]
        tables += [text_table(folder, rows), bad_rows_table(folder)]
    tables = [*tables[1:], tables[0]]
    text = f"{options.rows:,} rows of EmoContext. Machine: {machine()}; others took {others:.0%} of it.\n\n"
    text += "\n\n".join(tables)
    with printed_section("scale", "reading", write=options.write):
        print(text)


if __name__ == "__main__":
    main()
