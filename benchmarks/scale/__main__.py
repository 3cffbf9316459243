"""Measure `emoscope score` at scale, and write docs/results/scale.md.

    python -m benchmarks.scale measure --data DATA [--rows 10000 100000] [--models nano default] [--busy]
    python -m benchmarks.scale peers --data DATA [--rows 2000]
    python -m benchmarks.scale limits --data DATA [--model default]
    python -m benchmarks.scale document

`measure` runs every combination of rows, models, engines (local, ray) and workers (1, 2); `peers` what users would
write instead, pandas or Ray Data with a transformers pipeline of distilroberta's size and random weights; `limits`
where the time goes, what repeats, and what the machine could do. Each adds to its table in benchmarks/results,
in place of what it measured before. `document` writes docs/results/scale.md and its plot from there.

On a busy machine figures are wrong, and refused; `--busy` writes them with the share that others took.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.emocontext import emocontext_turns
from benchmarks.common.machine import machine, require_quiet
from benchmarks.common.options import add_options, command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.processes import Spent, module_command, run_watched
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_json, read_rows, replace_row, write_json
from benchmarks.scale.jobs import write_rows
from benchmarks.scale.page import write_page

RUNS, PEERS, LIMITS = (RESULTS / name for name in ("scale.csv", "scale_peers.csv", "scale_limits.json"))
SIZES = (10_000, 100_000)
ENGINES, WORKERS = ("local", "ray"), (1, 2)


def add(table: Path, entry: dict[str, Any], *keys: str) -> None:
    """Add a result to a table, in place of one that was measured for the same."""
    replace_row(table, entry, keys)
    keep(table, made(note="each row has its settings and machine; nothing is random"))
    print(json.dumps(entry), flush=True)


def result(spent: Spent, rows: int, others: float) -> dict[str, Any]:
    return {
        "rows": rows,
        "seconds": round(spent.seconds, 2),
        "rate": round(rows / spent.seconds, 1),
        "peak": round(spent.peak),
        "others": round(others, 3),
        "machine": machine(),
    }


def measure(options: argparse.Namespace) -> None:
    from emoscope.detector.bundle import resolve

    turns = emocontext_turns(options.data, "train")
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rows.parquet"
            write_rows(source, turns, rows)
            jobs = [(m, e, w) for m in options.models for e in options.engines for w in options.workers]
            for number, (model, engine, workers) in enumerate(jobs):
                name = model if model in ("nano", "default") else "default"
                if name == "default" and resolve(model).name == "nano":
                    raise SystemExit("there is no embedded `default`; give a bundle's folder instead")
                others = require_quiet(busy_allowed=options.busy)
                where = ("-o", f"{folder}/out{number}", "-m", model, "--engine", engine, "--workers", workers)
                spent = run_watched(module_command("emoscope", "score", source, *where))
                entry = {"model": name, "engine": engine, "workers": workers, **result(spent, rows, others)}
                add(RUNS, entry, "model", "engine", "workers", "rows")


def peers(options: argparse.Namespace) -> None:
    from benchmarks.speed.worker import write_models
    from emoscope.detector.bundle import resolve
    from emoscope.detector.model import BLOCK

    turns = emocontext_turns(options.data, "train")
    tokenizer = resolve(options.model) / BLOCK / "tokenizer.json"
    if not tokenizer.is_file():
        raise SystemExit("there is no embedded `default`, whose tokenizer the peers use; give --model FOLDER")
    with tempfile.TemporaryDirectory() as folder:
        model = write_models(Path(folder), tokenizer)["peer"]
        for rows in options.rows:
            source = Path(folder) / f"{rows}.parquet"
            write_rows(source, turns, rows)
            for kind, workers in (("pandas", 0), ("ray-data", 1), ("ray-data", 2)):
                others = require_quiet(busy_allowed=options.busy)
                output = f"{folder}/{kind}{workers}{rows}"
                where = (source, output, "--model", model, "--workers", workers)
                spent = run_watched(module_command("benchmarks.scale.jobs", kind, *where))
                entry = {"kind": kind, "workers": workers, **result(spent, rows, others)}
                add(PEERS, entry, "kind", "workers", "rows")


def limits(options: argparse.Namespace) -> None:
    from benchmarks.scale.limits import (
        cache_gain,
        int8_rate,
        operations,
        repeats,
        serial,
        side_by_side,
        stages,
        windows,
    )
    from emoscope.core.dialogue import Dialogue
    from emoscope.detector import load
    from emoscope.detector.bundle import resolve
    from emoscope.tasks import get_task
    from emoscope.tasks.data import find_split, read_split

    others = require_quiet(busy_allowed=options.busy)
    turns = emocontext_turns(options.data, "train")
    dialogues = [Dialogue.of(said) for said in turns]
    pushed: dict[Dialogue, None] = {}
    for example in read_split(get_task("emotionx-push"), "train", options.data):
        pushed.setdefault(example.dialogue)
    talks = [dialogue.texts for dialogue in pushed]
    found: dict[str, Any] = {"machine": machine(), "others": round(others, 3)}
    found["repeats"] = {
        "EmoContext, three turns": repeats([tuple(said) for said in turns]),
        "EmoContext, last turn": repeats([said[-1] for said in turns]),
        "EmotionPush, three turns": repeats(windows(talks, 3)),
        "EmotionPush, two turns": repeats(windows(talks, 2)),
        "EmotionPush, one turn": repeats(windows(talks, 1)),
    }
    found["serial"] = serial(turns[:20_000])
    found["cache"] = {"nano": cache_gain(load("nano"), dialogues)}
    found["side by side"] = {"nano": side_by_side("nano", dialogues[:8192])}
    model = resolve(options.model)
    if model.name != "nano":
        found["cache"]["default"] = cache_gain(load(model), dialogues[:512])
        found["side by side"]["default"] = side_by_side(str(model), dialogues[:1024])
        found["stages"] = stages(str(model), dialogues[:512])
        found["operations"] = operations(found["stages"]["pieces"])
        found["int8"] = int8_rate()
    write_json(LIMITS, found)
    files = [find_split(get_task(name), "train", options.data).path for name in ("emocontext", "emotionx-push")]
    keep(LIMITS, made(data=files))
    print(json.dumps(found, indent=1))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_line(__doc__)
    commands = parser.add_subparsers(required=True)
    for name, action, sizes in (("measure", measure, SIZES), ("peers", peers, (2000,)), ("limits", limits, ())):
        command = commands.add_parser(name)
        add_options(command, "data", "busy")
        command.set_defaults(action=action)
        if sizes:
            command.add_argument("--rows", type=int, nargs="+", default=sizes)
        if name == "measure":
            command.add_argument("--models", nargs="+", default=["nano", "default"], help="a folder counts as default")
            command.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
            command.add_argument("--workers", type=int, nargs="+", default=WORKERS)
        else:
            command.add_argument("--model", default="default", help="a bundle to use as `default`")
    commands.add_parser("document").set_defaults(
        action=lambda _: write_page(read_rows(RUNS), read_rows(PEERS), read_json(LIMITS))
    )
    options = parser.parse_args(arguments)
    options.action(options)


if __name__ == "__main__":
    main()
