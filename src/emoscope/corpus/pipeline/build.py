"""Build a corpus: each step of a plan fills its own folder, which appears only when complete.

    FOLDER/steps/01-collect/   dialogues.jsonl, counts.json, step.json
    FOLDER/steps/02-windows/   ...
    FOLDER/corpus/             the last step's output; the only part to publish
    FOLDER/timings.json        how long each step took when it last ran

A step is skipped if everything its result depends on is unchanged since it ran: its settings, its version and
emoscope's, the external files it reads, and the output of earlier steps. So a killed build resumes when it is started
again, and gives the same bytes, except for timings.json.
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

from emoscope import __version__
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.file_lock import try_lock
from emoscope.core.files import read_json, write_json
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import COUNTS, RECORD, digests
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.tasks.data import sha256_of

STEPS_FOLDER, CORPUS_FOLDER = "steps", "corpus"
TIMINGS = "timings.json"
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A finished step; `skipped` if it was already done."""

    name: str
    folder: Path
    skipped: bool
    seconds: float
    counts: Mapping[str, Any]


def build(
    plan: CorpusPlan,
    folder: str | Path,
    *,
    until: str | None = None,
    report: Callable[[StepResult], None] = lambda _: None,
    progress: ShowProgress = no_progress,
    executor: Executor = SERIAL,
) -> list[StepResult]:
    """Run the unfinished steps of a plan, up to the step `until` if given; `report` gets each result.

    >>> from emoscope.corpus.pipeline.plan import load_plan
    >>> build(load_plan("plan.toml"), "build")[-1].folder  # doctest: +SKIP
    PosixPath('build/corpus')
    """
    root = Path(folder)
    names = [step.name for step in plan.steps]
    if until is not None and until not in names:
        raise EmoscopeError(f"{plan.path}: has no step {until!r}; it has: {', '.join(names)}")
    last = len(names) if until is None else len(names) - names[::-1].index(until)
    results: list[StepResult] = []
    with _locked(root):
        _tidy(root, plan)
        earlier: dict[str, Path] = {}
        for name, step in list(zip(plan.step_names, plan.steps, strict=True))[:last]:
            target = root / CORPUS_FOLDER if step.gives is Stage.CORPUS else root / STEPS_FOLDER / name
            context = StepContext(plan, _hidden(target, "part"), _hidden(target, "cache"), earlier, progress, executor)
            result = _run_step(step, name, target, context)
            if not result.skipped:
                _note_time(root / TIMINGS, name, result.seconds)
            earlier = {**earlier, name: target}
            results.append(result)
            report(result)
    return results


def _run_step(step: PipelineStep, name: str, target: Path, context: StepContext) -> StepResult:
    key = _key(step, context)
    start = time.perf_counter()
    skipped = _is_done(target, key)
    if not skipped:
        context.folder.mkdir()
        context.cache.mkdir(exist_ok=True)
        try:
            step.run(context)
            counts = context.counts
            rows = {"in": counts.read, "out": counts.written, "dropped": dict(sorted(counts.dropped.items()))}
            write_json(context.folder / COUNTS, {"step": step.name, **rows, **counts.more})
            write_json(context.folder / RECORD, {"step": step.name, "key": key, "files": digests(context.folder)})
            _replace(context.folder, target)
        except Exception:
            if not any(context.cache.iterdir()):
                context.cache.rmdir()
            raise
        finally:
            shutil.rmtree(context.folder, ignore_errors=True)
    seconds = time.perf_counter() - start
    shutil.rmtree(context.cache, ignore_errors=True)
    return StepResult(name, target, skipped, seconds, read_json(target / COUNTS))


def _key(step: PipelineStep, context: StepContext) -> str:
    """A digest of everything the step's result depends on."""
    plan = context.plan
    inputs = list(context.earlier.values())
    parts = {
        "emoscope": __version__,
        "step": step.name,
        "version": step.version,
        "settings": step.model_dump(mode="json"),
        "about": plan.info.model_dump(mode="json", exclude=None if step.reads_all else _WORDS),
        "plan": plan.text if step.reads_all else None,
        "depends": step.depends_on(plan),
        "outside": {plan.shown(path): sha256_of(path) for path in step.external_files(plan)},
        "before": [digests(folder) for folder in (inputs if step.reads_all else inputs[-1:])],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


_WORDS = {"name", "title", "description", "terms", "contact", "citation"}  # used only by the datasheet


def _is_done(target: Path, key: str) -> bool:
    try:
        record = read_json(target / RECORD)
    except InputError:
        return False
    return isinstance(record, dict) and record.get("key") == key and record.get("files") == digests(target)


def _hidden(target: Path, kind: str) -> Path:
    return target.parent / f".{target.name}.{kind}"


def _replace(part: Path, target: Path) -> None:
    """Replace a folder with the new, complete one; a kill at any point leaves no folder that wrongly looks done."""
    old = _hidden(target, "old")
    if target.exists():
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _tidy(root: Path, plan: CorpusPlan) -> None:
    """Remove leftovers of a killed build, and folders of steps no longer in the plan."""
    names = [name for step in plan.step_names for name in (step, f".{step}.cache")]
    kept = {f"{STEPS_FOLDER}/{name}" for name in names}
    for path in (*root.glob(".*.part"), *root.glob(".*.old"), *(root / STEPS_FOLDER).iterdir()):
        if path.is_dir() and path.relative_to(root).as_posix() not in kept:
            shutil.rmtree(path)
    for leftover in root.glob(f".{TIMINGS}.*.part"):
        leftover.unlink(missing_ok=True)


def _note_time(path: Path, name: str, seconds: float) -> None:
    try:
        timings = read_json(path)
    except InputError:
        timings = {}
    write_json(path, {**timings, name: round(seconds, 3)})


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Create the folder if needed, and lock it against other builds."""
    if root.exists() and not root.is_dir():
        raise EmoscopeError(f"{root}: is a file, expected a folder to build in")
    if root.is_dir() and any(root.iterdir()) and not (root / _LOCK).is_file():
        raise EmoscopeError(f"{root}: holds other files; expected a new folder, or one that this command has made")
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = (root / _LOCK).open("w", encoding="utf-8")  # created first: it marks the folder as a build
        (root / STEPS_FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        raise EmoscopeError(f"{root}: cannot build here ({error.strerror})") from None
    with handle:
        if not try_lock(handle):
            raise EmoscopeError(f"{root}: another run is at work here")
        yield
