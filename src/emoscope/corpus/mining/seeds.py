"""Gather seeds: random dialogues are judged in batches until each class has enough.

The folder holds all state: `plan.json` with the settings, `batch-001.csv`, ... to judge, and `seeds.csv`, the input of
`mine`. Judgements may arrive in parts and in any order; a new batch is drawn once the earlier ones are judged.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import read_json, write_file
from emoscope.corpus.annotation.aggregate import Method, aggregate
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.mining.mine import OTHERS
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.corpus.sources.sampling import random_key
from emoscope.tables import PIPE, Record, open_writer, read_records

PLAN, SEEDS = "plan.json", "seeds.csv"
PER_CLASS, BATCH = 300, 1000
_AT_MOST = 5  # largest next batch, in multiples of the first


@dataclass(frozen=True, slots=True)
class SeedPlan:
    """The settings: seeds needed per class, size of the first batch, and the batches drawn so far."""

    pool: str
    labels: tuple[str, ...] = ("happy", "sad", "angry")
    neutral: str = OTHERS
    per_class: int = PER_CLASS
    batch: int = BATCH
    seed: int = 1
    batches: tuple[int, ...] = ()  # sizes of the batches drawn


@dataclass(slots=True)
class SeedProgress:
    """Progress: dialogues drawn and judged, the seeds of each class, and what to do next."""

    drawn: int
    judged: int
    found: dict[str, int]  # judged dialogues per class, the neutral class last
    seeds: dict[str, int] = field(default_factory=dict)  # written per class, at most `per_class`
    undecided: int = 0  # judged without an absolute majority
    missing: dict[str, int] = field(default_factory=dict)
    next_batch: str | None = None
    waiting: int = 0  # drawn dialogues that nobody has judged

    @property
    def done(self) -> bool:
        return not self.missing


def gather_seeds(
    pool: str,
    folder: str | Path,
    judgements: Sequence[Path] = (),
    *,
    format: str | None = None,
    progress: ShowProgress = no_progress,
    **asked: Any,
) -> SeedProgress:
    """Draw the first batch, or read judgements, write the seeds so far, and draw another batch if needed.

    `asked` are fields of `SeedPlan`; once the folder exists they may be omitted, but not changed.
    """
    if pool == PIPE:
        raise EmoscopeError("the pool is read for each batch, which a pipe does not allow; give a file")
    target = Path(folder)
    plan = _plan(target, pool, asked)
    first = not plan.batches
    if first:
        plan = _draw(plan, plan.batch, target, format, progress)
    items = _drawn(plan, target)
    labels = _labels(plan, judgements, items)
    found = Counter(labels.values())
    state = SeedProgress(len(items), len(labels), {name: found[name] for name in (*plan.labels, plan.neutral)})
    state.undecided = found[""]
    state.waiting = len(items) - len(labels)
    if judgements:  # without them, those of an earlier run stay
        state.seeds = _write(target / SEEDS, plan, items, labels)
    state.missing = {
        name: plan.per_class - state.found[name] for name in plan.labels if state.found[name] < plan.per_class
    }
    if state.missing and not state.waiting:
        before, plan = plan, _draw(plan, _needed(plan, state), target, format, progress)
        if plan == before:
            short = ", ".join(f"{state.found[name]:,} of {plan.per_class:,} {name}" for name in state.missing)
            problem = f"all {len(items):,} dialogues have been drawn, with only {short}"
            raise EmoscopeError(f"{plan.pool}: {problem}; {target / SEEDS} has what was found")
        state.next_batch = _batch(len(plan.batches))
        state.drawn, state.waiting = sum(plan.batches), plan.batches[-1]
    elif first:
        state.next_batch = _batch(1)
    return state


def _plan(target: Path, pool: str, asked: Mapping[str, Any]) -> SeedPlan:
    path = target / PLAN
    given = {name: value for name, value in asked.items() if value is not None}
    if not path.is_file():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise EmoscopeError(f"{target}: is not empty, and has no {PLAN} of an earlier run")
        new = SeedPlan(pool=pool, **given)
        if not set(new.labels) - {new.neutral} or len(set(new.labels)) < len(new.labels):
            named = f"labels {', '.join(new.labels)!r}"
            raise EmoscopeError(f"{named}: expected one or more, each once, besides the neutral {new.neutral!r}")
        return new
    try:
        kept = read_json(path)
        plan = SeedPlan(**{**kept, "labels": tuple(kept["labels"]), "batches": tuple(kept["batches"])})
    except (TypeError, KeyError):
        raise InputError(path, "is not a plan that `emoscope corpus seeds` wrote") from None
    if Path(plan.pool).name != Path(pool).name:
        raise EmoscopeError(f"{target}: was begun with the pool {plan.pool}; choose another folder for {pool}")
    for name, value in given.items():
        if getattr(plan, name) != value:
            before, now = (", ".join(one) if isinstance(one, tuple) else one for one in (getattr(plan, name), value))
            raise EmoscopeError(f"{target}: was begun with {name.replace('_', '-')} {before}, not {now}")
    return plan


def _batch(number: int) -> str:
    return f"batch-{number:03}.csv"


def _draw(plan: SeedPlan, size: int, target: Path, format: str | None, progress: ShowProgress) -> SeedPlan:
    """Write the next batch, if any are left: the dialogues after those drawn, in a random order fixed by the seed."""
    before = sum(plan.batches)
    keyed = (
        (random_key(plan.seed, f"row {record.row}"), record.row, record)
        for record in progress("drawing", read_records(plan.pool, format))
    )
    chosen: list[tuple[int, int, Record]] = nsmallest(before + size, keyed, key=lambda item: item[:2])[before:]
    if not chosen and not before:
        raise InputError(plan.pool, "has no dialogues")
    if not chosen:
        return plan
    names = [str(record.columns.get("id", row)) for _, row, record in chosen]
    _check_new(plan, target, names)
    target.mkdir(parents=True, exist_ok=True)
    with open_writer(str(target / _batch(len(plan.batches) + 1))) as writer:
        for name, (_, _, record) in zip(names, chosen, strict=True):
            turns = {f"turn{number}": text for number, text in enumerate(record.dialogue.texts, start=1)}
            writer.write({"id": name, **turns})
    plan = SeedPlan(**{**asdict(plan), "batches": (*plan.batches, len(chosen))})
    write_file(target / PLAN, json.dumps(asdict(plan), indent=1) + "\n")
    return plan


def _drawn(plan: SeedPlan, target: Path) -> dict[str, Record]:
    """The dialogues of all batches, by id, in the order they were drawn."""
    return {
        str(record.columns["id"]): record
        for number in range(1, len(plan.batches) + 1)
        for record in read_records(str(target / _batch(number)))
    }


def _check_new(plan: SeedPlan, target: Path, names: Sequence[str]) -> None:
    """Refuse an id that was drawn before: its judgements would count for two dialogues."""
    drawn = set(_drawn(plan, target))
    for name in names:
        if name in drawn:
            raise InputError(plan.pool, f"id {name!r} is drawn twice: two rows have it, or the pool has changed since")
        drawn.add(name)


def _labels(plan: SeedPlan, judgements: Sequence[Path], items: Mapping[str, Record]) -> dict[str, str]:
    """The class chosen by more than half of each dialogue's judges; empty if there is none."""
    if not judgements:
        return {}
    given = [one for one in read_annotations(judgements).judgements if one.task in items]
    if not given:
        raise EmoscopeError(f"none of the judgements is of a dialogue in {_batch(1)} or a later batch: see its ids")
    known = {*plan.labels, plan.neutral}
    for one in given:
        if one.label not in known:
            raise EmoscopeError(f"task {one.task}: label {one.label!r} is none of {', '.join(sorted(known))}")
    results = aggregate(given, Method.absolute)
    return {result.task: "" if result.fallback else result.label for result in results}


def _write(path: Path, plan: SeedPlan, items: Mapping[str, Record], labels: Mapping[str, str]) -> dict[str, int]:
    """Write the seeds in the order they were drawn, at most `per_class` of each class."""
    written: Counter[str] = Counter()
    with open_writer(str(path)) as writer:
        for name, record in items.items():
            label = labels.get(name)
            if label and written[label] < plan.per_class:
                written[label] += 1
                seed = OTHERS if label == plan.neutral else label
                writer.write({**record.columns, "label": seed})
    return dict(written)


def _needed(plan: SeedPlan, state: SeedProgress) -> int:
    """Estimate how many more dialogues to draw for the rarest class, within bounds."""
    most = plan.batch * _AT_MOST
    shares = {name: state.found[name] / state.judged for name in state.missing}
    needed = max(most if not shares[name] else round(missing / shares[name]) for name, missing in state.missing.items())
    return max(1, min(needed, most))
