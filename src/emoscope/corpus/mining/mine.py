"""Candidates for human judges out of a pool of dialogues, as EmoContext's organisers found theirs.

The pool is read three times and never held: its vectors go to disk, its similarities are a few numbers a dialogue.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write
from emoscope.corpus.mining.choice import NONE, ClassCounts, Nearness, drawn
from emoscope.corpus.mining.embedder import Embedder
from emoscope.corpus.mining.learnt import LearntSeeds, Scorer, background
from emoscope.corpus.mining.pruning import Pruner, Reason
from emoscope.corpus.mining.similarity import NEIGHBOURS, SeedVectors
from emoscope.corpus.mining.vectors import VectorFolder, as_bytes
from emoscope.parallel import SERIAL, Executor
from emoscope.tables import PIPE, Record, open_writer, read_records

CANDIDATES, COUNTS, VECTORS = "candidates.jsonl", "counts.json", "vectors"
OTHERS = "others"
RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # whose thresholds are told, for the next run
Watch = Callable[[str, Iterator[Record]], Iterator[Record]]
Seeds = Mapping[str, Sequence[Dialogue]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to mine.

    `recall` is the share of an emotion to look for, which sets each class's threshold by its seeds. `threshold` is one
    for all classes instead: a cosine or, if some seeds are `others`, by how much nearer to the class than to those;
    what is learnt from the seeds is left out then, as without `learn`.
    `per_class` is the largest number of candidates of a class, and `others` the number of dialogues drawn at random, by
    default as many as there are candidates. Without `prune`, rules about the text are left out.
    """

    threshold: float | None = None
    recall: float = 0.5
    neighbours: int = NEIGHBOURS
    learn: bool = True
    per_class: int | None = None
    others: int | None = None
    prune: bool = True
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read, what became of each class's neighbours, and how many others were drawn."""

    read: int
    seeds_in_pool: int
    classes: Mapping[str, ClassCounts]
    others: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "read": self.read,
            "seeds_in_pool": self.seeds_in_pool,
            "classes": {name: counts.as_dict() for name, counts in self.classes.items()},
            "others": self.others,
        }


def read_seeds(path: str | Path) -> dict[str, list[Dialogue]]:
    """The dialogues of each label in a table with a column `label`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "seeds.csv"
    >>> _ = file.write_text("turn1,label\\nso sad,sad\\n")
    >>> read_seeds(file)["sad"][0].texts
    ('so sad',)
    """
    found: dict[str, list[Dialogue]] = {}
    for record in read_records(str(path)):
        label = record.columns.get("label")
        if not isinstance(label, str) or not label.strip():
            raise InputError(path, "expected a seed's class in the column 'label'", row=record.row)
        found.setdefault(label.strip(), []).append(record.dialogue)
    if not set(found) - {OTHERS}:
        raise InputError(path, f"holds no seeds of a class other than {OTHERS!r}")
    return found


def mine(
    pool: str,
    seeds: Seeds,
    folder: str | Path,
    embedder: Embedder,
    settings: Settings | None = None,
    *,
    format: str | None = None,
    watch: Watch | None = None,
    spread: Executor = SERIAL,
) -> Counts:
    """Write `candidates.jsonl` and `counts.json` into a folder, beside the vectors of the pool.

    A candidate is a row of the pool with `mined_as`, a class or `others`, and `mined_score`. A second run takes
    the vectors that are there, so it goes on after a kill, and another threshold costs no embedding. `spread` says who
    embeds and compares; an embedder that goes to other processes is pickled.
    """
    if pool == PIPE:
        raise EmoscopeError("the pool is read three times, which a pipe does not allow; give a file")
    settings = settings or Settings()
    target = _prepared(Path(folder))

    def records(title: str) -> Iterator[Record]:
        found = read_records(pool, format)
        return found if watch is None else watch(title, found)

    embedded = {name: as_bytes(embedder.vectors(list(seeds[name]))) for name in sorted(seeds)}
    others = embedded.pop(OTHERS, None)
    near = SeedVectors(embedded, others, settings.neighbours)
    vectors = VectorFolder(target / VECTORS, embedder)
    total = vectors.fill((record.dialogue for record in records("embedding")), spread=spread)
    known: Scorer = near
    if settings.learn and settings.threshold is None and total:
        known = LearntSeeds.of(near, background(vectors.shards(), total, seed=settings.seed))
    counts = {
        name: ClassCounts(
            len(seeds[name]),
            known.threshold(name, settings.recall) if settings.threshold is None else settings.threshold,
            {recall: known.threshold(name, recall) for recall in RECALLS},
        )
        for name in embedded
    }
    nearness = Nearness.of(
        np.concatenate(list(spread.map(known.scores, vectors.shards()))),
        [each.threshold for each in counts.values()],
    )
    texts = {dialogue.texts for found in seeds.values() for dialogue in found}
    passed, free = _pruned(records("pruning"), nearness, counts, texts, Pruner.of(seeds) if settings.prune else None)
    chosen: dict[int, str] = {}
    for (name, each), rows in zip(counts.items(), passed, strict=True):
        best = nearness.best(rows, settings.per_class)
        each.candidates = len(best)
        each.dropped[Reason.SURPLUS] = len(rows) - len(best)
        chosen |= dict.fromkeys(best.tolist(), name)
    free[list(chosen)] = False
    wanted = len(chosen) if settings.others is None else settings.others
    at_random = drawn(np.flatnonzero(free), wanted, seed=settings.seed)
    seeds_in_pool = len(free) - int(free.sum()) - len(chosen)
    chosen |= dict.fromkeys(at_random.tolist(), OTHERS)
    _write(records("writing"), target / CANDIDATES, chosen, nearness)
    made = Counts(len(free), seeds_in_pool, counts, len(at_random))
    with atomic_write(target / COUNTS) as handle:
        handle.write(json.dumps({**made.as_dict(), "encoder": embedder.name, **asdict(settings)}, indent=2) + "\n")
    return made


def _prepared(target: Path) -> Path:
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not (target / VECTORS).is_dir())):
        raise EmoscopeError(f"{target}: exists already; expected a new or an empty folder, or one of an earlier run")
    if not target.absolute().parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write {target.name} into")
    target.mkdir(exist_ok=True)
    # Written last: where it is, the candidates are those it counts.
    (target / COUNTS).unlink(missing_ok=True)
    return target


def _pruned(
    records: Iterator[Record],
    nearness: Nearness,
    counts: Mapping[str, ClassCounts],
    seeds: set[tuple[str, ...]],
    pruner: Pruner | None,
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """The rows of each class that nothing speaks against, and which rows of the pool are no seeds."""
    names = list(counts)
    passed: list[list[int]] = [[] for _ in names]
    free = np.ones(len(nearness.classes), np.bool_)
    read = 0
    for row, (record, number) in enumerate(zip(records, nearness.classes.tolist(), strict=False)):
        read += 1
        is_seed = record.dialogue.texts in seeds
        free[row] = not is_seed
        if number == NONE:
            continue
        each = counts[names[number]]
        each.near += 1
        reason = Reason.SEED if is_seed else None
        if reason is None and pruner is not None:
            reason = pruner.reason(names[number], record.dialogue)
        if reason is None:
            passed[number].append(row)
        else:
            each.dropped[reason] += 1
    if read != len(free):
        raise EmoscopeError("the pool has become shorter while it was read")
    return [np.array(rows, np.int64) for rows in passed], free


def _write(records: Iterator[Record], path: Path, chosen: Mapping[int, str], nearness: Nearness) -> None:
    with open_writer(str(path)) as writer:
        for row, record in enumerate(records):
            if row in chosen:
                mined = {"mined_as": chosen[row], "mined_score": round(float(nearness.score[row]), 4)}
                writer.write({"id": str(record.row), **record.columns, **mined})
