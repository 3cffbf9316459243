"""Find candidates for annotation in a pool of dialogues, as EmoContext's organisers did.

The pool is read three times and never held in memory: vectors go to disk, and scores are a few numbers per dialogue.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import write_json
from emoscope.corpus.mining.embedder import Embedder
from emoscope.corpus.mining.pruning import Pruner, PruneReason
from emoscope.corpus.mining.seed_classifier import SeedClassifier, sample_vectors
from emoscope.corpus.mining.similarity import NEIGHBOURS, Floats, SeedVectors
from emoscope.corpus.mining.vectors import VectorFolder, as_bytes
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.tables import PIPE, Record, open_writer, read_records

CANDIDATES, COUNTS, VECTORS = "candidates.jsonl", "counts.json", "vectors"
OTHERS = "others"
NONE = -1  # no class
RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # their thresholds are reported, to plan the next run
Seeds = Mapping[str, Sequence[Dialogue]]


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How to mine; the linear classifier of the seeds needs `learn` and no fixed threshold."""

    threshold: float | None = None  # for all classes: the least cosine to a class's nearest seed
    recall: float = 0.5  # the share of each emotion to find; sets each class's threshold from its seeds
    neighbours: int = NEIGHBOURS
    learn: bool = True
    per_class: int | None = None  # most candidates per class
    others: int | None = None  # dialogues drawn at random; by default as many as candidates
    prune: bool = True  # by emoticons, sentiment and length
    seed: int = 1


@dataclass(slots=True)
class ClassCounts:
    """One class: its seeds, threshold, dialogues near the seeds, those dropped, by reason, and candidates."""

    seeds: int
    threshold: float
    threshold_at_recall: dict[str, float]
    near: int = 0
    dropped: dict[PruneReason, int] = field(default_factory=lambda: dict.fromkeys(PruneReason, 0))
    candidates: int = 0


@dataclass(frozen=True, slots=True)
class MiningCounts:
    """How many dialogues were read, were seeds, and were drawn as others, and the counts of each class."""

    read: int
    seeds_in_pool: int
    classes: dict[str, ClassCounts]
    others: int


def nearest_classes(scores: Floats, thresholds: Sequence[float]) -> tuple[NDArray[np.int16], Floats]:
    """Each dialogue's highest-scoring class (`NONE` below its threshold), and that score.

    >>> classes, score = nearest_classes(np.array([[0.5, 0.75], [0.5, 0.25]], np.float32), [0.6, 0.6])
    >>> classes.tolist(), score.tolist()
    ([1, -1], [0.75, 0.5])
    """
    classes = scores.argmax(axis=1).astype(np.int16)
    best = scores.max(axis=1)
    classes[best < np.array(thresholds, np.float32)[classes]] = NONE
    return classes, best


def classes_within(scores: Floats, cosines: Floats, threshold: float) -> tuple[NDArray[np.int16], Floats]:
    """Each dialogue's highest-scoring class among those it is near enough to (`NONE` if there are none), and its score.

    >>> scores = np.array([[0.5, 0.25], [0.5, 0.25]], np.float32)
    >>> classes, score = classes_within(scores, np.array([[0.4, 0.6], [0.4, 0.3]], np.float32), 0.5)
    >>> classes.tolist(), score.tolist()
    ([1, -1], [0.25, 0.5])
    """
    near = cosines >= threshold
    # Dialogues near to no class keep their best score: some are drawn as others.
    considered = np.where(near | ~near.any(axis=1, keepdims=True), scores, -np.inf)
    classes = np.where(near.any(axis=1), considered.argmax(axis=1), NONE).astype(np.int16)
    return classes, considered.max(axis=1).astype(np.float32)


def best_rows(rows: NDArray[np.int64], score: Floats, count: int | None) -> NDArray[np.int64]:
    """The `count` rows with the highest scores, or all; equal scores in pool order."""
    return rows[np.lexsort((rows, -score[rows]))][:count]


def sample_rows(rows: NDArray[np.int64], count: int, *, seed: int) -> NDArray[np.int64]:
    """Up to `count` of the rows, drawn at random.

    >>> sample_rows(np.arange(3), 5, seed=1).tolist()
    [0, 1, 2]
    """
    chosen = np.random.default_rng(seed).choice(rows, size=min(count, len(rows)), replace=False)
    return np.sort(chosen)


def read_seeds(path: str | Path, *, any_class: bool = False) -> dict[str, list[Dialogue]]:
    """Read the dialogues of each label from a table with a column `label`; with `any_class`, all may be `others`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "seeds.csv"
    >>> _ = file.write_text("turn1,label\\nso sad,sad\\n")
    >>> read_seeds(file)["sad"][0].texts
    ('so sad',)
    """
    seeds: dict[str, list[Dialogue]] = {}
    for record in read_records(str(path)):
        label = record.columns.get("label")
        if not isinstance(label, str) or not label.strip():
            raise InputError(path, "expected a seed's class in the column 'label'", row=record.row)
        seeds.setdefault(label.strip(), []).append(record.dialogue)
    if not any_class and not set(seeds) - {OTHERS}:
        raise InputError(path, f"holds no seeds of a class other than {OTHERS!r}")
    return seeds


def mine(
    pool: str,
    seeds: Seeds,
    folder: str | Path,
    embedder: Embedder,
    settings: MiningSettings | None = None,
    *,
    format: str | None = None,
    progress: ShowProgress = no_progress,
    executor: Executor = SERIAL,
) -> MiningCounts:
    """Write `candidates.jsonl` and `counts.json` into a folder, next to the vectors of the pool.

    A second run reuses the vectors, so a killed run can resume, and a new threshold needs no embedding.
    """
    if pool == PIPE:
        raise EmoscopeError("the pool is read three times, which a pipe does not allow; give a file")
    settings = settings or MiningSettings()
    target = _prepared(Path(folder))

    def records(title: str) -> Iterator[Record]:
        return progress(title, read_records(pool, format))

    vectors = VectorFolder(target / VECTORS, embedder)
    embedded = {name: as_bytes(embedder.vectors(list(seeds[name]))) for name in sorted(seeds)}
    counterexamples = embedded.pop(OTHERS, None)
    near = SeedVectors(embedded, counterexamples, settings.neighbours)
    scorer: SeedVectors | SeedClassifier = near
    total = vectors.fill((record.dialogue for record in records("embedding")), executor=executor)
    if not total:
        raise InputError(pool, "has no dialogues")
    if settings.learn and settings.threshold is None:
        scorer = SeedClassifier.fit(near, sample_vectors(vectors.shards(), total, seed=settings.seed))
    names = sorted(set(seeds) - {OTHERS})
    threshold_of = scorer.threshold if settings.threshold is None else near.cosine_threshold
    thresholds = [
        threshold_of(name, settings.recall) if settings.threshold is None else settings.threshold for name in names
    ]
    counts = {
        name: ClassCounts(
            len(seeds[name]),
            round(threshold, 6),
            {str(recall): round(threshold_of(name, recall), 6) for recall in RECALLS},
        )
        for name, threshold in zip(names, thresholds, strict=True)
    }
    scores = np.concatenate(list(executor.map(scorer.scores, vectors.shards())))
    if settings.threshold is None:
        classes, score = nearest_classes(scores, thresholds)
    else:
        cosines = np.concatenate(list(executor.map(near.cosines, vectors.shards())))
        classes, score = classes_within(scores, cosines, settings.threshold)
    passed, eligible = _pruned(records("pruning"), classes, counts, seeds, prune=settings.prune)
    chosen: dict[int, str] = {}
    for (name, each), rows in zip(counts.items(), passed, strict=True):
        best = best_rows(rows, score, settings.per_class)
        each.candidates = len(best)
        each.dropped[PruneReason.SURPLUS] = len(rows) - len(best)
        chosen |= dict.fromkeys(best.tolist(), name)
    seeds_in_pool = len(eligible) - int(eligible.sum())
    eligible[list(chosen)] = False
    number = len(chosen) if settings.others is None else settings.others
    others = sample_rows(np.flatnonzero(eligible), number, seed=settings.seed)
    chosen |= dict.fromkeys(others.tolist(), OTHERS)
    with open_writer(str(target / CANDIDATES)) as writer:
        for row, record in enumerate(records("writing")):
            if row in chosen:
                mined = {"mined_as": chosen[row], "mined_score": round(float(score[row]), 4)}
                writer.write({"id": str(record.row), **record.columns, **mined})
    totals = MiningCounts(len(eligible), seeds_in_pool, counts, len(others))
    write_json(target / COUNTS, {**asdict(totals), "encoder": embedder.name, **asdict(settings)})
    return totals


def _prepared(target: Path) -> Path:
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / VECTORS).is_dir())):
        raise EmoscopeError(f"{target}: exists already; expected a new or an empty folder, or one of an earlier run")
    if not target.absolute().parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write {target.name} into")
    target.mkdir(exist_ok=True)
    # Written last: if it exists, it describes the candidates next to it.
    (target / COUNTS).unlink(missing_ok=True)
    return target


def _pruned(
    records: Iterator[Record],
    classes: NDArray[np.int16],
    counts: Mapping[str, ClassCounts],
    seeds: Seeds,
    *,
    prune: bool,
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """The rows of each class that pass all rules, and a mask of the pool's rows that are not seeds."""
    seed_texts = {dialogue.texts for dialogues in seeds.values() for dialogue in dialogues}
    pruner = Pruner.of(seeds) if prune else None
    names = list(counts)
    passed: list[list[int]] = [[] for _ in names]
    eligible = np.ones(len(classes), np.bool_)
    read = 0
    for row, (record, index) in enumerate(zip(records, classes.tolist(), strict=False)):
        read += 1
        is_seed = record.dialogue.texts in seed_texts
        eligible[row] = not is_seed
        if index == NONE:
            continue
        name = names[index]
        counts[name].near += 1
        reason = PruneReason.SEED if is_seed else pruner.reason(name, record.dialogue) if pruner else None
        if reason is None:
            passed[index].append(row)
        else:
            counts[name].dropped[reason] += 1
    if read != len(eligible):
        raise EmoscopeError("the pool has become shorter while it was read")
    return [np.array(rows, np.int64) for rows in passed], eligible
