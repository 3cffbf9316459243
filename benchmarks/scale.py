"""Measure `emoscope score` at scale, and regenerate the figures in docs/scale.md.

    python benchmarks/scale.py measure --data DATA [--rows 10000 100000] [--models nano default] [--busy]
    python benchmarks/scale.py peers --data DATA [--rows 2000]
    python benchmarks/scale.py limits --data DATA [--model default]
    python benchmarks/scale.py document

`measure` runs every combination of rows, models, engines (local, ray) and workers (1, 2); `peers` what users would
write instead, pandas or Ray Data with a transformers pipeline of distilroberta's size and random weights; `limits`
where the time goes, what repeats, and what the machine could do. Each adds to benchmarks/results/scale/, and replaces
what it measured before. `document` writes docs/scale.md and its plot from there.

On a busy machine figures are wrong, and refused; `--busy` writes them with the share that others took.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scale_document import write_document
from scale_jobs import Spent, run, write_rows
from speed import BUSY, machine, taken_by_others

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "scale"
SIZES = (10_000, 100_000)
ENGINES, WORKERS = ("local", "ray"), (1, 2)


def emocontext(data: Path | None) -> list[list[str]]:
    from emoscope.tasks import get_task
    from emoscope.tasks.data import read_split

    return [list(example.context.texts) for example in read_split(get_task("emocontext"), "train", data)]


def add(name: str, entry: dict[str, Any], *keys: str) -> None:
    """Add a result to a file, in place of one that was measured for the same."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    kept = [each for each in known if any(each[key] != entry[key] for key in keys)]
    made = sorted([*kept, entry], key=lambda each: [each[key] for key in keys])
    path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
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


def quiet(allowed: bool) -> float:
    """The share of the machine that others take; the end, if it is too much."""
    others = taken_by_others()
    if others > BUSY and not allowed:
        raise SystemExit(f"other work takes {others:.0%} of the machine; wait, or write wrong figures with --busy")
    return others


def measure(options: argparse.Namespace) -> None:
    from emoscope.detector.bundle import resolve

    turns = emocontext(options.data)
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rows.parquet"
            write_rows(source, turns, rows)
            jobs = [(m, e, w) for m in options.models for e in options.engines for w in options.workers]
            for number, (model, engine, workers) in enumerate(jobs):
                name = model if model in ("nano", "default") else "default"
                if name == "default" and resolve(model).name == "nano":
                    raise SystemExit("there is no embedded `default`; give a bundle's folder instead")
                others = quiet(options.busy)
                where = ["-o", f"{folder}/out{number}", "-m", model, "--engine", engine, "--workers", str(workers)]
                spent = run([sys.executable, "-m", "emoscope", "score", str(source), *where])
                entry = {"model": name, "engine": engine, "workers": workers, **result(spent, rows, others)}
                add("runs", entry, "model", "engine", "workers", "rows")


def peers(options: argparse.Namespace) -> None:
    from emoscope.detector.bundle import resolve
    from emoscope.detector.model import BLOCK
    from speed_worker import write_models

    turns = emocontext(options.data)
    tokenizer = resolve(options.model) / BLOCK / "tokenizer.json"
    if not tokenizer.is_file():
        raise SystemExit("there is no embedded `default`, whose tokenizer the peers use; give --model FOLDER")
    with tempfile.TemporaryDirectory() as folder:
        model = write_models(Path(folder), tokenizer)["peer"]
        for rows in options.rows:
            source = Path(folder) / f"{rows}.parquet"
            write_rows(source, turns, rows)
            for kind, workers in (("pandas", 0), ("ray-data", 1), ("ray-data", 2)):
                others = quiet(options.busy)
                script = [
                    sys.executable,
                    str(HERE / "scale_jobs.py"),
                    kind,
                    str(source),
                    f"{folder}/{kind}{workers}{rows}",
                ]
                spent = run([*script, "--model", str(model), "--workers", str(workers)])
                entry = {"kind": kind, "workers": workers, **result(spent, rows, others)}
                add("peers", entry, "kind", "workers", "rows")


def limits(options: argparse.Namespace) -> None:
    from emoscope.core.dialogue import Dialogue
    from emoscope.detector import load
    from emoscope.detector.bundle import resolve
    from emoscope.tasks import get_task
    from emoscope.tasks.data import read_split
    from scale_limits import cache_gain, int8_rate, operations, repeats, serial, side_by_side, stages, windows

    others = quiet(options.busy)
    turns = emocontext(options.data)
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
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "limits.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, action, sizes in (("measure", measure, SIZES), ("peers", peers, (2000,)), ("limits", limits, ())):
        command = commands.add_parser(name)
        command.add_argument("--data", type=Path, default=os.environ.get("EMOSCOPE_DATA"))
        command.add_argument("--busy", action="store_true", help="measure on a busy machine")
        command.set_defaults(action=action)
        if sizes:
            command.add_argument("--rows", type=int, nargs="+", default=sizes)
        if name == "measure":
            command.add_argument("--models", nargs="+", default=["nano", "default"], help="a folder counts as default")
            command.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
            command.add_argument("--workers", type=int, nargs="+", default=WORKERS)
        else:
            command.add_argument("--model", default="default", help="a bundle to use as `default`")
    commands.add_parser("document").set_defaults(action=lambda _: write_document(RESULTS))
    options = parser.parse_args(arguments)
    options.action(options)


if __name__ == "__main__":
    main()
