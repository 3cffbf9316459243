"""What mining saves: judgements for each emotional dialogue found, against a random sample; and what it costs.

    python benchmarks/mining.py quality --data DATA [--encoder FOLDER] [--plot docs/mining.svg] [--work FOLDER]
    python benchmarks/mining.py speed --data DATA [--encoder FOLDER] [--sizes 10000,100000]
    python benchmarks/mining.py scale [--vectors 2000000]

`quality` lets EmoContext's training labels be the judge. By each of five seeds it draws 300 dialogues of every emotion,
takes them out, and makes a pool of the natural distribution, 4 % of each emotion and 88 % others, by leaving emotional
dialogues out. `speed` runs every size in a process of its own; dialogues beyond EmoContext's are made by giving one the
last turn of another. `scale` compares with two million random vectors, and builds an index of some.
FOLDER is what `emoscope corpus encoder` wrote.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope import plots
from emoscope.cli.corpus_mine import NGRAMS, open_embedder
from emoscope.corpus.mining.embedder import Embedder
from emoscope.corpus.mining.mine import CANDIDATES, OTHERS, Seeds, Settings, mine
from emoscope.corpus.mining.pruning import Pruner
from emoscope.corpus.mining.similarity import SeedVectors, load_usearch
from emoscope.corpus.mining.vectors import SHARD, Bytes, VectorFolder, as_bytes
from emoscope.dialogue import Dialogue, Example
from emoscope.tables import open_writer, read_records
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

EMOTIONS = ("angry", "happy", "sad")
SEEDS_PER_CLASS = 300
NATURAL = 0.04  # each emotion's share of real traffic
RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEFAULT = 0.5
DRAWS = (1, 2, 3, 4, 5)
WAYS = {NGRAMS: "n-grams", "encoder": "sentence encoder"}


class Remembered:
    """An embedder that is asked once for every dialogue, however many pools it is in; on disk, so not twice either."""

    def __init__(self, embedder: Embedder, dialogues: Iterable[Dialogue], folder: Path) -> None:
        self.name = embedder.name
        unique = {dialogue.texts: dialogue for dialogue in dialogues}
        self._rows = {texts: row for row, texts in enumerate(unique)}
        kept = VectorFolder(folder / embedder.name, embedder)
        kept.fill(unique.values(), shard=1024)
        self._vectors = np.concatenate(list(kept.shards())).astype(np.float32)

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[Any]:
        """Those computed before."""
        return self._vectors[[self._rows[dialogue.texts] for dialogue in dialogues]]


@dataclass(frozen=True)
class Draw:
    """Seeds and a pool for them."""

    seeds: Seeds
    pool: Sequence[Example]

    @property
    def share(self) -> float:
        """How much of the pool is emotional: what a random sample would find."""
        return sum(example.label != OTHERS for example in self.pool) / len(self.pool)


def natural_draw(examples: Sequence[Example], seed: int, *, counterexamples: bool) -> Draw:
    rng = np.random.default_rng(seed)
    rows = {
        label: rng.permutation([row for row, each in enumerate(examples) if each.label == label]) for label in LABELS
    }
    others = rows[OTHERS][SEEDS_PER_CLASS:]  # taken out in any case, so that pools are the same
    size = round(len(others) * NATURAL / (1 - NATURAL * len(EMOTIONS)))
    kept = [*others, *(row for label in EMOTIONS for row in rows[label][SEEDS_PER_CLASS : SEEDS_PER_CLASS + size])]
    labels = LABELS if counterexamples else EMOTIONS
    seeds = {label: [examples[row].dialogue for row in rows[label][:SEEDS_PER_CLASS]] for label in labels}
    return Draw(seeds, [examples[row] for row in sorted(kept)])


LABELS = (*EMOTIONS, OTHERS)


@dataclass(frozen=True)
class Found:
    """What judges would say of the candidates of one run: labels by the class they were mined for."""

    labels: Mapping[str, Counter[str]]
    pool: Counter[str]

    @property
    def candidates(self) -> int:
        """How many there are."""
        return sum(each.total() for each in self.labels.values())

    @property
    def emotional(self) -> float:
        """The share of candidates that are emotional, of whichever class."""
        return 1 - sum(each[OTHERS] for each in self.labels.values()) / self.candidates

    @property
    def saving(self) -> float:
        """Judgements for an emotional dialogue in a random sample, over those among the candidates."""
        return self.emotional / (1 - self.pool[OTHERS] / self.pool.total())

    @property
    def recall(self) -> float:
        """The share of the pool's emotional dialogues that are among the candidates."""
        return self.emotional * self.candidates / (self.pool.total() - self.pool[OTHERS])

    def precision(self, label: str) -> float:
        """The share of a class's candidates that are of it."""
        return self.labels[label][label] / self.labels[label].total()

    def own_recall(self, label: str) -> float:
        """The share of a class that is among its candidates."""
        return self.labels[label][label] / self.pool[label]

    def own_saving(self, label: str) -> float:
        """Judgements for a dialogue of the class in a random sample, over those among its candidates."""
        return self.precision(label) / (self.pool[label] / self.pool.total())


@dataclass(frozen=True)
class Candidates:
    """Candidates as (mined as, score, what the judges say), and the thresholds of other settings of `--recall`."""

    rows: Sequence[tuple[str, float, str]]
    seeds: SeedVectors
    pool: Counter[str]

    def at(self, recall: float) -> Found:
        """Those that a smaller `--recall` leaves: nothing but the thresholds depends on it."""
        least = {label: self.seeds.threshold(label, recall) for label in EMOTIONS}
        labels: dict[str, Counter[str]] = {label: Counter() for label in EMOTIONS}
        for name, score, label in self.rows:
            labels[name][label] += score >= least[name]
        return Found(labels, self.pool)


def mined(draw: Draw, embedder: Embedder, folder: Path, **settings: Any) -> Candidates:
    """Run the command's function on files, as a user would."""
    pool = folder / "pool.jsonl"
    if not pool.exists():
        with open_writer(str(pool)) as writer:
            for row, example in enumerate(draw.pool):
                writer.write({"id": row, "turns": list(example.dialogue.texts)})
    mine(str(pool), draw.seeds, folder / "mined", embedder, Settings(others=0, recall=max(RECALLS), **settings))
    rows = []
    for record in read_records(str(folder / "mined" / CANDIDATES)):
        label = draw.pool[int(record.columns["id"])].label
        rows.append((str(record.columns["mined_as"]), float(record.columns["mined_score"]), str(label)))
    vectors = {label: as_bytes(embedder.vectors(seeds)) for label, seeds in draw.seeds.items()}
    others = vectors.pop(OTHERS, None)
    return Candidates(rows, SeedVectors(vectors, others), Counter(str(example.label) for example in draw.pool))


def spread(values: Iterable[float], digits: int = 2) -> str:
    found = list(values)
    return f"{statistics.mean(found):.{digits}f} ± {statistics.stdev(found):.{digits}f}"


def quality(options: argparse.Namespace) -> None:
    task = get_task("emocontext")
    train = list(read_split(task, "train", options.data))
    dev = list(read_split(task, "dev", options.data))
    names = {NGRAMS: NGRAMS, **({"encoder": options.encoder} if options.encoder else {})}
    drawn_rows: list[dict[str, Any]] = []
    for name, source in names.items():
        embedder = Remembered(open_embedder(source), [example.dialogue for example in [*dev, *train]], options.work)
        print(f"\n### {name} ({embedder.name})\n")
        for counterexamples in (False, True):
            draws = [natural_draw(train, seed, counterexamples=counterexamples) for seed in DRAWS]
            print(f"\n{'With' if counterexamples else 'Without'} 300 seeds of others\n")
            with tempfile.TemporaryDirectory() as made:
                folders = [Path(made) / str(seed) for seed in DRAWS]
                for folder in folders:
                    folder.mkdir()
                found = trade_off(draws, embedder, folders)
                way = f"{WAYS[name]}{' and counterexamples' if counterexamples else ''}"
                drawn_rows += [
                    {"way": way, "asked": recall, "recall": one.recall, "saving": one.saving, "found": one}
                    for recall, each in found.items()
                    for one in each
                ]
                by_class(found[DEFAULT])
                if not counterexamples:
                    pruning(draws, embedder, folders, found[DEFAULT])
            natural(train, dev, embedder, counterexamples=counterexamples)
    if options.plot:
        plots.save(chart(drawn_rows), options.plot)


def trade_off(draws: Sequence[Draw], embedder: Embedder, folders: Sequence[Path]) -> dict[float, list[Found]]:
    print("| `--recall` | candidates | emotional among them | judgements for one | times fewer | found |")
    print("|---:" * 6 + "|")
    at_random = statistics.mean(draw.share for draw in draws)
    print(f"| at random | | {at_random:.2f} | {1 / at_random:.1f} | 1 | |")
    candidates = [mined(draw, embedder, folder) for draw, folder in zip(draws, folders, strict=True)]
    made = {}
    for recall in RECALLS:
        made[recall] = found = [each.at(recall) for each in candidates]
        print(
            f"| {recall} | {spread((each.candidates for each in found), 0)} "
            f"| {spread(each.emotional for each in found)} | {spread(1 / each.emotional for each in found)} "
            f"| {spread((each.saving for each in found), 1)} "
            f"| {spread(each.recall for each in found)} |",
            flush=True,
        )
    return made


def by_class(found: Sequence[Found]) -> None:
    print(f"\nBy class, `--recall {DEFAULT}`\n")
    print("| class | candidates | precision | found | times fewer |\n|---|---:|---:|---:|---:|")
    for label in EMOTIONS:
        print(
            f"| {label} | {spread((each.labels[label].total() for each in found), 0)} "
            f"| {spread(each.precision(label) for each in found)} | {spread(each.own_recall(label) for each in found)} "
            f"| {spread((each.own_saving(label) for each in found), 1)} |"
        )


def pruning(draws: Sequence[Draw], embedder: Embedder, folders: Sequence[Path], pruned: Sequence[Found]) -> None:
    whole = []
    dropped: Counter[str] = Counter()
    wrongly: Counter[str] = Counter()
    for draw, folder in zip(draws, folders, strict=True):
        candidates = mined(draw, embedder, folder, prune=False)
        whole.append(candidates.at(DEFAULT))
        pruner = Pruner.of(draw.seeds)
        records = read_records(str(folder / "mined" / CANDIDATES))
        for record, (name, score, label) in zip(records, candidates.rows, strict=True):
            reason = pruner.reason(name, record.dialogue)
            if reason is not None and score >= candidates.seeds.threshold(name, DEFAULT):
                dropped[reason.value] += 1
                wrongly[reason.value] += label == name
    kept = statistics.mean(each.saving for each in pruned)
    print(f"\nTimes fewer without pruning: {spread((each.saving for each in whole), 2)}, with it {kept:.2f}\n")
    print("| reason | dropped, a draw | of the class after all |\n|---|---:|---:|")
    for name, count in dropped.most_common():
        print(f"| {name} | {count / len(draws):.0f} | {wrongly[name] / count:.2f} |")


def natural(train: Sequence[Example], dev: Sequence[Example], embedder: Embedder, *, counterexamples: bool) -> None:
    found = []
    for seed in DRAWS:
        draw = Draw(natural_draw(train, seed, counterexamples=counterexamples).seeds, dev)
        with tempfile.TemporaryDirectory() as folder:
            found.append(mined(draw, embedder, Path(folder)).at(DEFAULT))
    print(
        f"\nTest1 as the pool: {1 - found[0].pool[OTHERS] / len(dev):.3f} emotional, "
        f"{spread(each.emotional for each in found)} of candidates, {spread((each.saving for each in found), 1)} times "
        f"fewer, {spread(each.recall for each in found)} found; precision "
        + ", ".join(f"{label} {spread(each.precision(label) for each in found)}" for label in EMOTIONS),
        flush=True,
    )


def chart(rows: Sequence[Mapping[str, Any]]) -> plots.Chart:
    """Judgements saved against the share found, by the way of mining; and the precision of each class, of the last."""
    alt = plots.altair()
    ways = list(dict.fromkeys(str(row["way"]) for row in rows))
    saved = [{key: value for key, value in row.items() if key != "found"} for row in rows]
    precise = [
        {
            "class": label,
            "asked": row["asked"],
            "recall": row["found"].own_recall(label),
            "precision": row["found"].precision(label),
        }
        for row in rows
        if row["way"] == ways[-1]
        for label in EMOTIONS
    ]
    x = alt.X("recall:Q", title="share of the pool's emotional dialogues found", axis=alt.Axis(format="%"))
    y = alt.Y("saving:Q", title="times fewer judgements than at random", scale=alt.Scale(domainMin=0))
    legend = alt.Legend(orient="top", columns=2, labelLimit=300)
    # From pale to strong: red to green, as a range of kinds, would say that one of them is wrong.
    palette = alt.Scale(domain=ways, range=["#9ecae1", "#3182bd", "#bcbddc", "#6a51a3"][-len(ways) :])
    by_way = _lines(alt, saved, x, y, alt.Color("way:N", sort=ways, scale=palette, legend=legend), "way", "saving")
    goal = alt.Chart(plots.rows([{"saving": 5}])).mark_rule(strokeDash=[4, 4], color=plots.QUIET).encode(y="saving:Q")
    x = alt.X("recall:Q", title="share of the class found", axis=alt.Axis(format="%"))
    y = alt.Y("precision:Q", title="precision", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("class:N", scale=plots.label_colours(EMOTIONS), legend=alt.Legend(orient="top"))
    by_class = _lines(alt, precise, x, y, colour, "class", "precision")
    panels = [(goal + by_way).properties(width=420, height=300), by_class.properties(width=300, height=300)]
    return plots.titled(
        alt.hconcat(*panels, spacing=40).resolve_scale(color="independent"),
        "The more is to be found, the less is saved",
        "EmoContext's training dialogues at the natural distribution, 300 seeds of each class; five draws.",
        f"The dashed line is the paper's claim. Right: {ways[-1]}.",
    )


def _lines(alt: Any, rows: Sequence[Mapping[str, Any]], x: Any, y: Any, colour: Any, kind: str, value: str) -> Any:
    """A dot for each draw, and a line through their means."""
    base = alt.Chart(plots.rows(rows))
    dots = base.mark_circle(size=22, opacity=0.45).encode(x=x, y=y, color=colour)
    means = base.transform_aggregate(
        [
            alt.AggregatedFieldDef(op="mean", field="recall", **{"as": "recall"}),
            alt.AggregatedFieldDef(op="mean", field=value, **{"as": value}),
        ],
        groupby=[kind, "asked"],
    )
    return dots + means.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, order="asked:Q")


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
    print("| encoder | dialogues | CPU s | dialogues a CPU second | CPU s of a second run | peak MB | vectors, MB |")
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
                command = [sys.executable, __file__, "speed", "--encoder", name, "--one", str(pool), str(output)]
                first, again = (
                    json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                    for _ in range(2)
                )
                stored = sum(path.stat().st_size for path in (output / "vectors").iterdir()) / 1e6
                print(
                    f"| {NGRAMS if name == NGRAMS else 'encoder'} | {size:,} | {first['cpu']:.1f} "
                    f"| {size / first['cpu']:,.0f} | {again['cpu']:.1f} "
                    f"| {max(first['peak'], again['peak']):,.0f} | {stored:,.1f} |",
                    flush=True,
                )


def timed(options: argparse.Namespace) -> None:
    from emoscope.corpus.mining.mine import read_seeds

    pool, output = options.one
    mine(pool, read_seeds(Path(pool).parent / "seeds.jsonl"), output, open_embedder(options.encoder))
    print(json.dumps({"cpu": cpu_seconds(), "peak": peak_megabytes()}))


def cpu_seconds() -> float:
    """Of all threads since the process began: other than the clock's, they do not depend on who else is at work."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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
        begun, clock = cpu_seconds(), time.perf_counter()
        scores = [seeds.scores(np.load(file, mmap_mode="r")) for file in files]
        print(
            f"{sum(map(len, scores)):,} vectors of {options.width} bytes, {len(EMOTIONS)} x {SEEDS_PER_CLASS} seeds: "
            f"{cpu_seconds() - begun:.0f} CPU s ({time.perf_counter() - clock:.0f} s), peak {peak_megabytes():,.0f} MB",
            flush=True,
        )
        index = load_usearch().Index(ndim=options.width, metric="cos", dtype="i8")
        part = np.load(files[0])
        begun = cpu_seconds()
        index.add(np.arange(len(part)), part)
        print(f"usearch's graph of {len(part):,} of them: {len(part) / (cpu_seconds() - begun):,.0f} a CPU second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("quality", "speed", "scale"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--encoder", help="folder that `emoscope corpus encoder` wrote; else n-grams alone")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--work", type=Path, help="folder that keeps vectors from one run to the next")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--vectors", type=int, default=2_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.work = options.work or Path(folder)
        {"quality": quality, "speed": speed, "scale": scale}[options.part](options)


if __name__ == "__main__":
    main()
