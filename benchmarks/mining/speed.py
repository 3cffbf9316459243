"""What mining costs: seconds and memory of whole runs, and of comparing with two million vectors."""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.processes import module_output
from benchmarks.mining.draws import EMOTIONS, SEEDS_PER_CLASS, natural_draw
from emoscope.core.dialogue import Dialogue
from emoscope.corpus.mining.embedder import NGRAMS, open_embedder
from emoscope.corpus.mining.mine import mine, read_seeds
from emoscope.corpus.mining.similarity import SeedVectors, load_usearch
from emoscope.corpus.mining.vectors import SHARD, Bytes
from emoscope.tables import open_writer
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split


def synthetic(dialogues: Sequence[Dialogue], size: int) -> Iterable[list[str]]:
    chance = random.Random(1)
    for row in range(size):
        if row < len(dialogues):
            yield list(dialogues[row].texts)
        else:
            yield [*chance.choice(dialogues).texts[:2], chance.choice(dialogues).texts[2]]


def speed(options: argparse.Namespace) -> None:
    if options.one:
        timed(options)
        return
    train = list(read_split(get_task("emocontext"), "train", options.data))
    draw = natural_draw(train, 1, counterexamples=False)
    print(
        "| encoder | dialogues | CPU, s | dialogues per CPU second | CPU of a second run, s | peak MB | vectors, MB |"
    )
    print("|---|" + "---:|" * 6)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with open_writer(str(folder / "seeds.jsonl")) as writer:
            for label, seeds in draw.seeds.items():
                for seed in seeds:
                    writer.write({"turns": list(seed.texts), "label": label})
        for name in (options.encoder or NGRAMS,):
            for size in map(int, options.sizes.split(",")):
                pool = folder / f"{size}.jsonl"
                with open_writer(str(pool)) as writer:
                    for turns in synthetic([example.dialogue for example in draw.pool], size):
                        writer.write({"turns": turns})
                output = folder / f"{Path(name).name}-{size}"
                arguments = ("speed", "--encoder", name, "--one", pool, output)
                first, again = (json.loads(module_output("benchmarks.mining", *arguments)) for _ in range(2))
                stored = sum(path.stat().st_size for path in (output / "vectors").iterdir()) / 1e6
                print(
                    f"| {NGRAMS if name == NGRAMS else 'encoder'} | {size:,} | {first['cpu']:.1f} "
                    f"| {size / first['cpu']:,.0f} | {again['cpu']:.1f} "
                    f"| {max(first['peak'], again['peak']):,.0f} | {stored:,.1f} |",
                    flush=True,
                )


def timed(options: argparse.Namespace) -> None:
    pool, output = options.one
    mine(pool, read_seeds(Path(pool).parent / "seeds.jsonl"), output, open_embedder(options.encoder))
    print(json.dumps({"cpu": time.process_time(), "peak": peak_memory() / MB}))


def scale(options: argparse.Namespace) -> None:
    """Comparing with every vector, and building an index of them instead."""
    rng = np.random.default_rng(1)

    def vectors(count: int) -> Bytes:
        return rng.integers(-127, 128, (count, options.width), np.int8)

    seeds = SeedVectors({label: vectors(SEEDS_PER_CLASS) for label in EMOTIONS})
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number in range(-(-options.vectors // SHARD)):
            files.append(Path(folder) / f"{number}.npy")
            np.save(files[-1], vectors(min(SHARD, options.vectors - number * SHARD)))
        begun, clock = time.process_time(), time.perf_counter()
        scores = [seeds.scores(np.load(file, mmap_mode="r")) for file in files]
        print(
            f"{sum(map(len, scores)):,} vectors of {options.width} bytes, {len(EMOTIONS)} x {SEEDS_PER_CLASS} seeds: "
            f"{time.process_time() - begun:.0f} CPU s ({time.perf_counter() - clock:.0f} s), "
            f"peak {peak_memory() / MB:,.0f} MB",
            flush=True,
        )
        index = load_usearch().Index(ndim=options.width, metric="cos", dtype="i8")
        part = np.load(files[0])
        begun = time.process_time()
        index.add(np.arange(len(part)), part)
        print(
            f"usearch's graph of {len(part):,} of them: {len(part) / (time.process_time() - begun):,.0f} a CPU second"
        )
