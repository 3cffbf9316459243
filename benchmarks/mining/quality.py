"""What mining saves: the trade of judgements against what is found, each class, pruning, and Test1."""

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mining.chart import chart
from benchmarks.mining.draws import EMOTIONS, Draw, Found, Remembered, mined, natural_draw
from emoscope.core import plots
from emoscope.core.dialogue import Example
from emoscope.corpus.mining.embedder import NGRAMS, Embedder, open_embedder
from emoscope.corpus.mining.mine import CANDIDATES, OTHERS, RECALLS
from emoscope.corpus.mining.pruning import Pruner
from emoscope.tables import read_records
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

DEFAULT = 0.5
DRAWS = (1, 2, 3, 4, 5)
ENCODERS = {NGRAMS: "n-grams", "encoder": "sentence encoder"}


@dataclass(frozen=True)
class Way:
    """One way of mining."""

    name: str
    counterexamples: bool
    learn: bool

    @classmethod
    def all_of(cls, encoder: str) -> "list[Way]":
        """With seeds of others or without, with what is learnt from the seeds or without."""
        made = []
        for counterexamples, more in ((False, ""), (True, " and counterexamples")):
            made.append(cls(f"{ENCODERS[encoder]}, nearest seeds{more}", counterexamples, learn=False))
            made.append(cls(f"{ENCODERS[encoder]}, linear model{more}", counterexamples, learn=True))
        return made


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
        print(f"\n### {name} ({embedder.name})")
        for way in Way.all_of(name):
            print(f"\n#### {way.name}\n")
            draws = [natural_draw(train, seed, counterexamples=way.counterexamples) for seed in DRAWS]
            with tempfile.TemporaryDirectory() as made:
                folders = [Path(made) / str(seed) for seed in DRAWS]
                for folder in folders:
                    folder.mkdir()
                found = trade_off(draws, embedder, folders, learn=way.learn)
                drawn_rows += [
                    {"way": way.name, "asked": recall, "recall": one.recall, "saving": one.saving, "found": one}
                    for recall, each in found.items()
                    for one in each
                    if way.counterexamples or not way.learn  # the plot has room for a few lines
                ]
                by_class(found[DEFAULT])
                if not way.counterexamples and not way.learn:
                    pruning(draws, embedder, folders, found[DEFAULT])
            natural(train, dev, embedder, way)
    if options.plot:
        plots.save(chart(drawn_rows), options.plot)


def trade_off(
    draws: Sequence[Draw], embedder: Embedder, folders: Sequence[Path], *, learn: bool
) -> dict[float, list[Found]]:
    print("| `--recall` | candidates | precision | judgements per hit | savings factor | recall |")
    print("|---:" * 6 + "|")
    at_random = statistics.mean(draw.share for draw in draws)
    print(f"| at random | | {at_random:.2f} | {1 / at_random:.1f} | 1 | |")
    candidates = [mined(draw, embedder, folder, learn=learn) for draw, folder in zip(draws, folders, strict=True)]
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
    print("| class | candidates | precision | recall | savings factor |\n|---|---:|---:|---:|---:|")
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
        candidates = mined(draw, embedder, folder, prune=False, learn=False)
        whole.append(candidates.at(DEFAULT))
        pruner = Pruner.of(draw.seeds)
        records = read_records(str(folder / "mined" / CANDIDATES))
        for record, (name, score, label) in zip(records, candidates.rows, strict=True):
            reason = pruner.reason(name, record.dialogue)
            if reason is not None and score >= candidates.thresholds[name][str(DEFAULT)]:
                dropped[reason.value] += 1
                wrongly[reason.value] += label == name
    kept = statistics.mean(each.saving for each in pruned)
    print(f"\nSavings factor without pruning: {spread((each.saving for each in whole), 2)}, with it {kept:.2f}\n")
    print("| reason | dropped per draw | wrongly |\n|---|---:|---:|")
    for name, count in dropped.most_common():
        print(f"| {name} | {count / len(draws):.0f} | {wrongly[name] / count:.2f} |")


def natural(train: Sequence[Example], dev: Sequence[Example], embedder: Embedder, way: Way) -> None:
    found = []
    for seed in DRAWS:
        draw = Draw(natural_draw(train, seed, counterexamples=way.counterexamples).seeds, dev)
        with tempfile.TemporaryDirectory() as folder:
            found.append(mined(draw, embedder, Path(folder), learn=way.learn).at(DEFAULT))
    print(
        f"\nTest1 as the pool: {1 - found[0].pool[OTHERS] / len(dev):.3f} emotional, "
        f"{spread(each.emotional for each in found)} of candidates, {spread((each.saving for each in found), 1)} times "
        f"fewer, {spread(each.recall for each in found)} found; precision "
        + ", ".join(f"{label} {spread(each.precision(label) for each in found)}" for label in EMOTIONS),
        flush=True,
    )
