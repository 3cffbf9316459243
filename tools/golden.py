"""Records what emoscope answers, and compares a later version with the recording.

    python tools/golden.py record FOLDER              one JSON file for each section
    python tools/golden.py check FOLDER               runs again; exit code 1 if anything differs
    python tools/golden.py check FOLDER --only score  chosen sections only; may be repeated

It uses what users use and nothing else: the command line, `emoscope.load`, file formats and the HTTP API. So it stays
valid when modules and classes move. Sections that need the benchmarks are skipped unless EMOSCOPE_DATA names their
folder; the others run on made-up data. Recordings are results on licensed data: keep them out of the repository.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden_bench import ROOT, Bench, GoldenError, benchmarks, digest, say
from golden_challenge import record_challenge
from golden_data import LABELS, dialogues, write_encoder

ENCODER = "ENCODER"  # stands for the folder of the tiny encoder in the settings below
_WORDS = {"vectors": "random", "embedding": 12, "hidden": 16, "epochs": 8, "batch": 8, "min_count": 1}
_WORDS |= {"rate": 0.02, "dropout": 0.1}
_ENCODED = {"encoder": ENCODER, "max_length": 32, "epochs": 5, "batch": 8, "rate": 0.01}


@dataclass(frozen=True)
class Trial:
    """How a system is trained: task, settings, and how it is exported (None: its runs are loaded as they are)."""

    task: str
    settings: dict[str, Any] = field(default_factory=dict)
    export: str | None = "--fp32"
    limit: int = 120


# The one place to change when a system or a setting gets another name.
TRIALS = {
    "nano": Trial("emocontext", export=None),
    "podlab": Trial("emotionx-friends", {"max_features": 200}),
    "nelec": Trial("emocontext", {"rounds": 5, "min_leaf": 3, "min_count": 1, "pretraining_text": 0}),
    "caire-hkust": Trial("emocontext", {**_WORDS, "seeds": 1, "rounds": 4}),
    "snu-ids": Trial("emocontext", {**_WORDS, "seeds": 2}),
    "thu-hcsi": Trial("emocontext", {**_WORDS, "seeds": 1, "filters": 4}),
    "cyut": Trial("emotionx-friends", _WORDS),
    "figure-eight": Trial(
        "emocontext",
        {
            **{"embedding": 12, "hidden": 16, "layers": 2, "dense": 8, "seeds": 1, "min_count": 1, "batch": 16},
            **{"pretraining_text": 0, "lm_epochs": 1, "tune_epochs": 1, "epochs": 8, "rate": 0.03, "dropout": 0.1},
        },
    ),
    "alexu": Trial("emotionx-friends", _ENCODED, export="--int8"),
    "ku": Trial("emotionx-push", {**_ENCODED, "hidden": 8, "folds": 2, "pretraining_text": 40, "lm_batch": 16}),
    "iiidyt": Trial("iest", {**_ENCODED, "hidden": 16, "dense": 16, "seeds": 2, "dropout": 0.1}),
    "large": Trial(
        "iest",
        {
            **{**_ENCODED, "folds": 2, "repeats": 1, "layouts": [{"context": 1}], "vectors": "random"},
            **{"adaptation": None, "pretraining_text": 0, "words": False},
        },
    ),
}
TOLERANCE = {"systems": 1e-4}  # networks trained anew; all else is held to the next line
EXACT = 1e-6
SPLITS = {"emocontext": "dev", "iest": "dev", "emotionx-friends": "train"}  # labelled, for scores
SHOWN = 40  # differences printed for each section


def probabilities(detector: Any, chats: Sequence[Sequence[str]]) -> list[list[float]]:
    """A detector's answers as plain numbers."""
    return [[round(value, 9) for value in row] for row in detector.predict_proba(chats).tolist()]


def record_detect(bench: Bench) -> Any:
    """The embedded models on made-up dialogues, in all ways to ask them."""
    import emoscope

    chats = dialogues(60)
    found: dict[str, Any] = {}
    for name in ("default", "nano"):
        for labels in emoscope.load(name).heads:
            detector = emoscope.load(name, labels=labels)
            metric = emoscope.load(name, labels=labels, for_metric=True, abstain_below=0.4)
            even = emoscope.load(
                name, labels=labels, prior={label: 1 / len(detector.labels) for label in detector.labels}
            )
            found[f"{name}-{labels}"] = {
                "labels": detector.labels,
                "priors": [detector.prior, detector.training_prior, detector.estimate_prior(chats)],
                "probabilities": probabilities(detector, chats),
                "even prior": probabilities(even, chats),
                "for the metric": [[one.label, one.truncated] for one in metric.detect_many(chats)],
                "timeline": [dict(one.scores) for one in detector.timeline(chats[0])],
            }
        asked = ["how was it", "tell me", "I passed!!! 😂 but I miss you"]
        found[name] = {way: bench.json("detect", *asked, "-m", name, way) for way in ("--explain", "--timeline")}
    rows = bench.work / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"id": n, "turns": chat}) + "\n" for n, chat in enumerate(chats) if any(chat)), "utf-8"
    )
    bench.text("detect", rows, "-o", bench.work / "rows.csv", "-m", "nano")
    found["file"] = digest((bench.work / "rows.csv").read_bytes())
    return found


def real_data() -> Path:
    """The folder of the benchmarks, for sections that are skipped without."""
    folder = benchmarks()
    assert folder is not None
    return folder


def record_dev(_: Bench) -> Any:
    """The embedded models on EmoContext's development set."""
    import emoscope

    rows = (real_data() / "emocontext" / "dev.txt").read_text(encoding="utf-8").splitlines()[1:]
    chats = [row.split("\t")[1:4] for row in rows]
    found = {name: probabilities(emoscope.load(name), chats) for name in ("default", "nano")}
    sample = chats[:: len(chats) // 300][:300]
    for labels in emoscope.load().heads:
        found[f"default-{labels}-sample"] = probabilities(emoscope.load(labels=labels), sample)
    return found


def record_dev_scores(bench: Bench) -> Any:
    """Scores and comparison of both models on EmoContext's development set."""
    return scored(bench, "emocontext", "dev", real_data())


def record_evaluate(bench: Bench) -> Any:
    """Scores, comparisons and checks on made-up data of all tasks; the listings."""
    found: dict[str, Any] = {task: scored(bench, task, split, bench.data) for task, split in SPLITS.items()}
    found["tasks"] = bench.clean(bench.json("tasks"))
    found["systems"] = bench.clean(bench.json("systems"))
    found["card"] = digest(bench.text("card", "default").replace(bench.version, "<version>"))
    return found


def scored(bench: Bench, task: str, split: str, data: Path) -> dict[str, Any]:
    """What predictions of the embedded models are worth, with the digest of the submission."""
    folder = bench.work / f"scored-{task}-{'made-up' if data == bench.data else 'real'}"
    folder.mkdir()
    of = ("--task", task, "--split", split)
    files: list[Path] = []
    found: dict[str, Any] = {}
    for name in ["default", *(["nano"] if task == "emocontext" else [])]:
        files.append(folder / f"{name}.out")
        bench.text("predict", name, *of, "-o", files[-1], data=data)
        found[f"{name} submission"] = digest(files[-1].read_bytes())
        found[f"{name} verify"] = bench.clean(bench.json("verify", files[-1], *of, data=data))
        found[f"{name} evaluate"] = bench.clean(bench.json("evaluate", files[-1], *of, data=data))
    labels = folder / "labels.txt"
    bench.text("predict", "default", *of, "-o", labels, "--format", "labels", data=data)
    lines = labels.read_text(encoding="utf-8").split()
    draw = random.Random(3)
    guessed = [line if draw.random() < 0.7 else draw.choice(LABELS[task]) for line in lines]
    (folder / "guessed.txt").write_text("\n".join(guessed) + "\n", encoding="utf-8")
    files.append(folder / "guessed.txt")
    found["compare"] = bench.clean(bench.json("compare", *files, *of, "--samples", 2000, data=data))
    found["errors"] = bench.clean(bench.json("errors", *files, *of, "--show", 0, "--by", "length", data=data))
    return found


def record_systems(bench: Bench) -> Any:
    """Systems over different kinds of block, trained for seconds: run, predictions, export."""
    encoder = write_encoder(bench.work / "encoder")
    chats = dialogues(40, seed=11)

    def one(name: str) -> dict[str, Any]:
        try:
            return trained(name)
        except Exception as error:  # the other systems are worth a look all the same
            bench.failures += 1
            say(f"  {name}: failed: {error}")
            return {"failed": type(error).__name__}

    def trained(name: str) -> dict[str, Any]:
        trial, begun = TRIALS[name], time.monotonic()
        run, model, answers = (bench.work / f"{kind}-{name}" for kind in ("run", "model", "answers"))
        chosen = {key: str(encoder) if value == ENCODER else value for key, value in trial.settings.items()}
        written = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in chosen.items()]
        options = [part for setting in written for part in ("--set", setting)]
        of = ("--task", trial.task)
        record = bench.json("train", name, *of, "-o", run, "--limit", trial.limit, "--device", "cpu", *options)
        split = "test" if trial.task.startswith("emotionx") else "dev"
        bench.text("predict", run, *of, "--split", split, "-o", answers, "--format", "labels")
        if trial.export is not None:
            bench.text("export", run, "-o", model, trial.export)
        import emoscope

        detector = emoscope.load(run if trial.export is None else model)
        found = {
            "run": bench.clean(record),
            "predictions": answers.read_text(encoding="utf-8").split(),
            "labels": list(detector.labels),
            "truncated": [detector.truncates(chat) for chat in chats],
            "probabilities": probabilities(detector, chats),
        }
        say(f"  {name}: {time.monotonic() - begun:.0f} s")
        return found

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(TRIALS, pool.map(one, TRIALS), strict=True))


def record_corpus(bench: Bench) -> Any:
    """The folder that the example plan builds, and a model trained on its corpus."""
    source, built = bench.work / "example", bench.work / "built"
    shutil.copytree(ROOT / "src" / "emoscope" / "corpus" / "example", source)
    found: dict[str, Any] = {"answer": bench.clean(bench.json("corpus", "build", source / "plan.toml", "-o", built))}
    for path in sorted(path for path in built.rglob("*") if path.is_file() and path.name != ".lock"):
        text = path.read_text(encoding="utf-8").replace(bench.version, "<version>")
        name = path.relative_to(built).as_posix()
        if path.name == "SHA256SUMS":
            found[name] = [line.split()[-1] for line in text.splitlines()]
        elif path.name == "timings.json":
            found[name] = list(json.loads(text))
        elif path.name == "step.json":  # digests of versions and of the other files
            found[name] = sorted(json.loads(text)["files"])
        elif path.suffix == ".json" and len(text) < 10_000:
            found[name] = bench.clean(json.loads(text))
        else:
            found[name] = digest(text)
    bench.text("train", "nano", "--task", built / "corpus", "-o", bench.work / "run-corpus")
    import emoscope

    found["nano"] = probabilities(emoscope.load(bench.work / "run-corpus"), dialogues(20))
    return found


def record_score(bench: Bench) -> Any:
    """Rows scored by workers of this machine and by Ray, with rows that cannot be."""
    logs = bench.work / "logs"
    logs.mkdir()
    rows = [json.dumps({"id": n, "turns": chat}, ensure_ascii=False) for n, chat in enumerate(dialogues(1500))]
    (logs / "a.jsonl").write_text("\n".join([*rows, "{broken", '{"id": 1}']) + "\n", encoding="utf-8")
    lines = ["name,turn1,turn2", *(f"n{n},{chat[0]},{chat[-1]}" for n, chat in enumerate(dialogues(200)[:-5]))]
    (logs / "b.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ways: dict[str, tuple[object, ...]] = {
        "local nano": ("-m", "nano", "--part-rows", 400),
        "local default": ("--labels", "ekman", "--part-rows", 700),
        "ray nano": ("-m", "nano", "--part-rows", 400, "--engine", "ray"),
    }
    found = {}
    for name, options in ways.items():
        out = bench.work / name.replace(" ", "-")
        manifest = bench.clean(bench.json("score", logs, "-o", out, *options, "--workers", 2))
        found[name] = {"manifest": manifest, "parts": parts_of(out), "rejects": bench.clean(rejects_of(out))}
    return found


def parts_of(out: Path) -> dict[str, Any]:
    """The rows of each part: how many, and a digest of their sorted content."""
    import pyarrow.parquet as pq

    found = {}
    for path in sorted(out.glob("scores/*.parquet")):
        table = pq.read_table(path)
        plain = [{k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()} for row in table.to_pylist()]
        lines = sorted(json.dumps(row, sort_keys=True) for row in plain)
        found[path.name] = {"rows": len(lines), "columns": table.column_names, "digest": digest("\n".join(lines))}
    return found


def rejects_of(out: Path) -> list[Any]:
    """The rows that could not be scored, with the reasons."""
    paths = sorted(out.glob("rejects/*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


SECTIONS: dict[str, Callable[[Bench], Any]] = {
    "detect": record_detect,
    "dev": record_dev,
    "dev-scores": record_dev_scores,
    "evaluate": record_evaluate,
    "corpus": record_corpus,
    "challenge": record_challenge,
    "score": record_score,
    "systems": record_systems,
}
NEED_DATA = ("dev", "dev-scores")


def differences(old: Any, new: Any, tolerance: float, path: str = "") -> Iterator[str]:
    """Each place where two values differ, numbers by more than the tolerance."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key not in old or key not in new:
                yield f"{path}/{key}: {'is new' if key not in old else 'is gone'}"
            else:
                yield from differences(old[key], new[key], tolerance, f"{path}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} items before, {len(new)} now"
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, tolerance, f"{path}[{number}]")
    elif isinstance(old, float) or isinstance(new, float):
        near = isinstance(old, int | float) and isinstance(new, int | float) and abs(old - new) <= tolerance
        if not near:
            yield f"{path}: {old!r} before, {new!r} now"
    elif old != new or type(old) is not type(new):
        yield f"{path}: {old!r} before, {new!r} now"


def compared(section: str, file: Path, made: Any) -> int:
    """Print how a section differs from its recording; the number of differences."""
    if not file.is_file():
        say(f"{section}: was not recorded")
        return 1
    old, tolerance = json.loads(file.read_text(encoding="utf-8")), TOLERANCE.get(section, EXACT)
    found = list(differences(old, json.loads(json.dumps(made)), tolerance))
    for line in found[:SHOWN]:
        say(f"{section}{line}")
    if len(found) > SHOWN:
        say(f"{section}: and {len(found) - SHOWN:,} more differences")
    return len(found)


def main() -> int:
    """Record or check; 1 if anything differs."""
    parser = argparse.ArgumentParser(description="Record what emoscope answers, and compare a later version with it.")
    parser.add_argument("command", choices=["record", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=list(SECTIONS), help="a section; may be repeated")
    given = parser.parse_args()
    # One thread each: sums of floating-point numbers depend on how they are shared out.
    os.environ |= {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0", "TOKENIZERS_PARALLELISM": "false"}
    given.folder.mkdir(parents=True, exist_ok=True)
    total = 0
    with tempfile.TemporaryDirectory(prefix="golden-") as work:
        bench = Bench(Path(work).resolve())
        say(f"emoscope {bench.version}")
        for section in given.only or SECTIONS:
            if section in NEED_DATA and benchmarks() is None:
                say(f"{section}: skipped, it needs EMOSCOPE_DATA")
                continue
            begun, file = time.monotonic(), given.folder / f"{section}.json"
            try:
                made = SECTIONS[section](bench)
            except Exception as error:  # the other sections are worth a look all the same
                bench.failures += 1
                say(f"{section}: failed: {error if isinstance(error, GoldenError) else repr(error)}")
                continue
            if given.command == "record":
                file.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            else:
                total += compared(section, file, made)
            say(f"{section}: {given.command}ed in {time.monotonic() - begun:.0f} s")
        failures = bench.failures
    if given.command == "check":
        say(f"{total:,} differences" if total else "no difference")
    if failures:
        say(f"{failures} failed")
    return 1 if total or failures else 0


if __name__ == "__main__":
    sys.exit(main())
