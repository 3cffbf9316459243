"""Pools at the natural distribution, seeds for them, and what mining them finds; EmoContext's labels are the judge."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.corpus.mining.embedder import Embedder
from emoscope.corpus.mining.mine import CANDIDATES, COUNTS, OTHERS, MiningSettings, Seeds, mine
from emoscope.corpus.mining.vectors import VectorFolder
from emoscope.tables import open_writer, read_records

EMOTIONS = ("angry", "happy", "sad")
LABELS = (*EMOTIONS, OTHERS)
SEEDS_PER_CLASS = 300
NATURAL = 0.04  # each emotion's share of real traffic


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
    """Candidates as (mined as, score, what the judges say), and the thresholds of each `--recall`."""

    rows: Sequence[tuple[str, float, str]]
    thresholds: Mapping[str, Mapping[str, float]]
    pool: Counter[str]

    def at(self, recall: float) -> Found:
        """Those that a smaller `--recall` leaves: nothing but the thresholds depends on it."""
        labels: dict[str, Counter[str]] = {label: Counter() for label in EMOTIONS}
        for name, score, label in self.rows:
            labels[name][label] += score >= self.thresholds[name][str(recall)]
        return Found(labels, self.pool)


def mined(draw: Draw, embedder: Embedder, folder: Path, **settings: Any) -> Candidates:
    """Run the command's function on files, as a user would."""
    pool = folder / "pool.jsonl"
    if not pool.exists():
        with open_writer(str(pool)) as writer:
            for row, example in enumerate(draw.pool):
                writer.write({"id": row, "turns": list(example.dialogue.texts)})
    mine(str(pool), draw.seeds, folder / "mined", embedder, MiningSettings(others=0, recall=0.9, **settings))
    rows = []
    for record in read_records(str(folder / "mined" / CANDIDATES)):
        label = draw.pool[int(record.columns["id"])].label
        rows.append((str(record.columns["mined_as"]), float(record.columns["mined_score"]), str(label)))
    counts = json.loads((folder / "mined" / COUNTS).read_text())["classes"]
    thresholds = {label: counts[label]["threshold_at_recall"] for label in EMOTIONS}
    return Candidates(rows, thresholds, Counter(str(example.label) for example in draw.pool))
