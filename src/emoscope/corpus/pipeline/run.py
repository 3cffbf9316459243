"""Run a plan: each step into a folder of its own, which appears when it is complete, and is not made twice.

    FOLDER/steps/01-collect/   dialogues.jsonl, counts.json, step.json
    FOLDER/steps/02-windows/   ...
    FOLDER/corpus/             what the last step makes; the only part that is meant to be given away
    FOLDER/timings.json        how long each step took when it was last run

A step is skipped if all that decides its result has the same digest as when it was run: its settings, its version and
emoscope's, the files it reads from outside, and what the steps before have left. So a killed run is picked up by
starting it again, and nothing but timings.json tells the two apart.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write
from emoscope.corpus.pipeline.artefacts import (
    COUNTS,
    RECORD,
    digests,
    emoscope_version,
    read_json,
    sha256_of,
    write_json,
)
from emoscope.corpus.pipeline.plan import Plan
from emoscope.corpus.pipeline.step import Stage, Step, Tools, Work

STEPS_FOLDER, CORPUS_FOLDER = "steps", "corpus"
TIMINGS = "timings.json"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that is done: its folder, its counts, and whether it had been done before."""

    name: str
    folder: Path
    counts: Mapping[str, Any]
    skipped: bool
    seconds: float


def build(
    plan: Plan,
    folder: str | Path,
    *,
    tools: Tools | None = None,
    until: str | None = None,
    report: Callable[[StepResult], None] = lambda _: None,
) -> list[StepResult]:
    """Run the steps of a plan that are not done yet, the last one being `until` (such as "windows") if given.

    >>> from emoscope.corpus.pipeline.plan import load_plan
    >>> build(load_plan("plan.toml"), "build")[-1].folder  # doctest: +SKIP
    PosixPath('build/corpus')
    """
    root = Path(folder)
    last = _last(plan, until)
    results: list[StepResult] = []
    with _own(root):
        _tidy(root, plan)
        done: dict[str, Path] = {}
        for name, step in list(zip(plan.step_names, plan.steps, strict=True))[: last + 1]:
            result = _run_step(plan, step, name, root, done, tools or Tools())
            done[name] = result.folder
            results.append(result)
            report(result)
    return results


def _last(plan: Plan, until: str | None) -> int:
    if until is None:
        return len(plan.steps) - 1
    named = [place for place, step in enumerate(plan.steps) if step.name == until]
    if not named:
        raise EmoscopeError(f"{plan.path}: has no step {until!r}; it has: {', '.join(s.name for s in plan.steps)}")
    return named[-1]


def _run_step(plan: Plan, step: Step, name: str, root: Path, done: Mapping[str, Path], tools: Tools) -> StepResult:
    final = step.gives is Stage.CORPUS
    target = root / CORPUS_FOLDER if final else root / STEPS_FOLDER / name
    key = _key(plan, step, done, tools)
    begun = time.perf_counter()
    skipped = _is_done(target, key)
    cache = _hidden(target, "cache")
    if not skipped:
        part = _hidden(target, "part")
        part.mkdir()
        cache.mkdir(exist_ok=True)
        try:
            counts = step.run(Work(plan, part, cache, done, tools))
            write_json(part / COUNTS, {"step": step.name, **counts.as_dict()})
            write_json(part / RECORD, {"step": step.name, "key": key, "files": digests(part)})
            _replace(part, target)
        except Exception:
            if not any(cache.iterdir()):
                cache.rmdir()
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    seconds = time.perf_counter() - begun
    shutil.rmtree(cache, ignore_errors=True)
    if not skipped:
        _note_time(root, name, seconds)
    counts_found = read_json(target / COUNTS)
    return StepResult(name, target, counts_found, skipped, seconds)


def _key(plan: Plan, step: Step, done: Mapping[str, Path], tools: Tools) -> str:
    """A digest of all that decides what the step makes."""
    read = list(done.values()) if step.reads_all else list(done.values())[-1:]
    what = {
        "emoscope": emoscope_version(),
        "step": step.name,
        "version": step.version,
        "settings": step.model_dump(mode="json"),
        "about": plan.about.model_dump(mode="json", exclude=None if step.reads_all else _WORDS),
        "plan": plan.text if step.reads_all else None,
        "depends": step.depends(plan, tools),
        "outside": {plan.shown(path): sha256_of(path) for path in step.outside(plan)},
        "before": [digests(folder) for folder in read],
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


_WORDS = {"name", "title", "description", "terms", "contact", "citation"}  # they change the datasheet alone


def _is_done(target: Path, key: str) -> bool:
    """Whether the folder holds what the step would make, unaltered."""
    try:
        record = read_json(target / RECORD)
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and record.get("key") == key and record.get("files") == digests(target)


def _hidden(target: Path, kind: str) -> Path:
    return target.parent / f".{target.name}.{kind}"


def _replace(part: Path, target: Path) -> None:
    """Put a complete folder in the place of an older one; killed between any two lines, neither is taken for done."""
    old = _hidden(target, "old")
    if target.exists():
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _tidy(root: Path, plan: Plan) -> None:
    """Remove what a killed run left half done, and the folders of steps that the plan no longer has."""
    names = [name for step in plan.step_names for name in (step, f".{step}.cache")]
    kept = {f"{STEPS_FOLDER}/{name}" for name in names}
    for path in (*root.glob(".*.part"), *root.glob(".*.old"), *(root / STEPS_FOLDER).iterdir()):
        if path.is_dir() and path.relative_to(root).as_posix() not in kept:
            shutil.rmtree(path)
    for leftover in root.glob(f".{TIMINGS}.*.part"):
        leftover.unlink(missing_ok=True)


def _note_time(root: Path, name: str, seconds: float) -> None:
    path = root / TIMINGS
    try:
        known = read_json(path)
    except (OSError, ValueError):
        known = {}
    with atomic_write(path) as handle:
        json.dump({**known, name: round(seconds, 3)}, handle, indent=2)
        handle.write("\n")


@contextmanager
def _own(root: Path) -> Iterator[None]:
    """Make the folder if need be, and see that no other run is in it."""
    if root.exists() and not root.is_dir():
        raise EmoscopeError(f"{root}: is a file, expected a folder to build in")
    if root.is_dir() and any(root.iterdir()) and not (root / _LOCK).is_file():
        raise EmoscopeError(f"{root}: holds other files; expected a new folder, or one that this command has made")
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = (root / _LOCK).open("w")  # before anything else: by this the folder is known to be ours
        (root / STEPS_FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        raise EmoscopeError(f"{root}: cannot build here ({error.strerror})") from None
    with handle:
        try:
            import fcntl
        except ImportError:  # Windows has no such locks
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EmoscopeError(f"{root}: another run is at work here") from None
        yield
