"""Measure each step of a corpus build, and how it scales: dialogues per second and peak memory.

    python -m benchmarks.corpus.chain --data DATA [--sizes 10000,200000] [--augment] [--seed 1] [--write]

The logs are synthetic: each dialogue has turns of three dialogues of EmoContext's training set, and one in twenty is an
edited copy. 300 dialogues of each class are set aside as seeds. One dialogue in twenty is sampled for evaluation, one
in a hundred mined for each class, and as many others; three simulated annotators label them, right in 17 of 20 cases
and guessing otherwise. Each step runs in its own process, so that its peak memory can be measured, and CPU seconds are
not affected by other load. Loading models is included.
"""

import argparse
import csv
import json
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.common.processes import module_output
from emoscope.core.dialogue import Example
from emoscope.corpus.pipeline.build import build
from emoscope.corpus.pipeline.plan import load_plan
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

LABELS = ("others", "happy", "sad", "angry")
SEEDS = 300
RIGHT = 0.85

PLAN = """
name = "synthetic"
title = "Synthetic"
description = "EmoContext's turns, recombined to measure the build."
labels = ["others", "happy", "sad", "angry"]
neutral = "others"
terms = "For the measurement only."
seed = {seed}

[[steps]]
use = "collect"
inputs = [{{ path = "log.jsonl" }}]

[[steps]]
use = "windows"
users = ["user"]

[[steps]]
use = "sample"
size = {sample}

[[steps]]
use = "dedupe"

[[steps]]
use = "filter"

[[steps]]
use = "mine"
seeds = "seeds.csv"
natural = {natural}
per_class = {per_class}

[[steps]]
use = "annotate"

[[steps]]
use = "aggregate"
judgements = ["judgements.csv"]
{augment}
[[steps]]
use = "split"
dev = 0.2
test = 0.5

[[steps]]
use = "datasheet"
"""
AUGMENT = """
[[steps]]
use = "augment"
engine = "apertium"
via = ["es"]
"""


def one_step(plan: str, folder: str, until: str) -> None:
    loaded = load_plan(plan)
    begun = time.process_time()
    found = build(loaded, folder, until=until)[-1]
    seconds = time.process_time() - begun
    counts = {name: found.counts[name] for name in ("in", "out")}
    print(json.dumps({"seconds": seconds, "wall": found.seconds, "peak": peak_memory() / MB, **counts}))


def recombined(examples: list[Example], number: int, chance: random.Random) -> Iterator[tuple[list[str], str]]:
    """Dialogues, each with the label of its last turn."""
    kept: list[tuple[list[str], str]] = []
    for _ in range(number):
        if kept and chance.random() < 0.05:
            turns, label = chance.choice(kept)
            yield [turns[0], turns[1] + chance.choice(["!", " ok", " :)"]), turns[2]], label
            continue
        last = chance.choice(examples)
        turns = [chance.choice(examples).dialogue.texts[place] for place in (0, 1)]
        made = ([*turns, last.text], str(last.label))
        if len(kept) < 1000:
            kept.append(made)
        yield made


def write_log(folder: Path, data: Path | None, size: int, seed: int) -> list[str]:
    """The log and the seeds; returns the true labels, line by line."""
    chance = random.Random(seed)
    examples = read_split(get_task("emocontext"), "train", data)
    chance.shuffle(examples)
    seeds: defaultdict[str, list[Example]] = defaultdict(list)
    rest: list[Example] = []
    for example in examples:
        mine = seeds[str(example.label)]
        (mine if len(mine) < SEEDS else rest).append(example)
    with (folder / "seeds.csv").open("w", newline="", encoding="utf-8") as handle:
        table = csv.writer(handle)
        table.writerow(["turn1", "turn2", "turn3", "label"])
        table.writerows([*one.dialogue.texts, one.label] for mine in seeds.values() for one in mine)
    # Labels as frequent as in real traffic, which the training set's are not.
    natural = get_task("emocontext").metadata.natural_prior
    assert natural is not None
    by_label = {label: [one for one in rest if one.label == label] for label in LABELS}
    mixed = [one for label in LABELS for one in chance.choices(by_label[label], k=round(natural[label] * len(rest)))]
    labels = []
    with (folder / "log.jsonl").open("w", encoding="utf-8") as handle:
        for turns, label in recombined(mixed, size, chance):
            said = [{"speaker": who, "text": text} for who, text in zip(("user", "agent", "user"), turns, strict=True)]
            handle.write(json.dumps({"turns": said}, ensure_ascii=False) + "\n")
            labels.append(label)
    return labels


def judge(tasks: Path, target: Path, labels: list[str], seed: int) -> None:
    """What three annotators say, who are right most of the time."""
    chance = random.Random(seed)
    with tasks.open(encoding="utf-8") as given, target.open("w", newline="", encoding="utf-8") as handle:
        table = csv.writer(handle)
        table.writerow(["task", "worker", "label"])
        for line in given:
            task = json.loads(line)["task"]
            true = labels[int(task.split(":")[1]) - 1]
            for worker in ("ann", "ben", "cem"):
                table.writerow([task, worker, true if chance.random() < RIGHT else chance.choice(LABELS)])


def chain(data: Path | None, size: int, augment: bool, seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = write_log(folder, data, size, seed)
        plan = folder / "plan.toml"
        plan.write_text(
            PLAN.format(
                seed=seed,
                sample=size * 9 // 10,
                natural=size // 20,
                per_class=size // 100,
                augment=AUGMENT if augment else "",
            )
        )
        for step_name, step in zip(load_plan(plan).step_names, load_plan(plan).steps, strict=True):
            if step.name == "aggregate":
                tasks = next((folder / "build" / "steps").glob("*-annotate")) / "tasks.jsonl"
                judge(tasks, folder / "judgements.csv", labels, seed)
            found = json.loads(module_output("benchmarks.corpus.chain", "--one", plan, folder / "build", step.name))
            print(
                f"| {size:,} | {step_name[3:]} | {found['in']:,} | {found['out']:,} | {found['wall']:.1f} | "
                f"{found['seconds']:.1f} | {found['in'] / found['seconds']:,.0f} | {found['peak']:,.0f} |",
                flush=True,
            )


def main() -> None:
    parser = command_line(__doc__, "data", "seed", "write")
    parser.add_argument("--sizes", default="10000,200000")
    parser.add_argument("--augment", action="store_true", help="also translate there and back with Apertium")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_step(*options.one)
        return
    with printed_section("corpus", "chain", write=options.write):
        print("| dialogues | step | in | out | wall, s | CPU, s | in per CPU second | peak MB |")
        print("|---:|---" + "|---:" * 6 + "|")
        for size in options.sizes.split(","):
            chain(options.data, int(size), options.augment, options.seed)


if __name__ == "__main__":
    main()
