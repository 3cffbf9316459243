"""A scoring run: plan, score the missing parts, write the manifest."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import emoscope
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import check_installed
from emoscope.detector import Detector, load
from emoscope.detector.bundle import resolve
from emoscope.parallel import Engine, Executor
from emoscope.parallel.parts import batches
from emoscope.parallel.threads import cores
from emoscope.scoring.batch_size import measure_batch_size
from emoscope.scoring.manifest import PartCounts, ScoringManifest, write_manifest
from emoscope.scoring.output import PLAN, SCORES, OutputFolder, scores_file
from emoscope.scoring.part_file import read_footer
from emoscope.scoring.part_scorer import PartScorer
from emoscope.scoring.plan import FORMAT, ScoringPlan, make_plan
from emoscope.scoring.staging import stage_inputs
from emoscope.tables.inputs import InputFile, check_unchanged, find_inputs

WINDOW = 1000  # parts in flight at once; each is only a number

_REQUESTS_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class ScoringProgress:
    """The progress of a run; `kept` rows were scored by an earlier run that was stopped."""

    done: int
    total: int
    kept: int


def score(
    inputs: str | Path | Sequence[str],
    output: str | Path,
    *,
    model: str | Path = "default",
    labels: str | None = None,
    prior: Mapping[str, float] | None = None,
    engine: Engine = "local",
    ray_address: str | None = None,
    workers: int | None = None,
    batch: int | None = None,
    part_rows: int | None = None,
    strict: bool = False,
    format: str | None = None,
    skip_unknown: bool = False,
    report: Callable[[ScoringProgress], None] = lambda _: None,
) -> ScoringManifest:
    """Score tables of dialogues into a folder; an unfinished run of the same inputs there is resumed.

    `inputs` are files, folders, globs or URLs of Parquet, JSON, JSONL, CSV, TSV or plain lines, text also as .gz or
    .zst; `format` is for names that do not tell. Other files in a folder are an error unless `skip_unknown`. The output
    does not depend on `engine`, `workers` and `batch`, which is measured if not given. `strict` stops at the first row
    that cannot be scored; otherwise such rows are listed in `rejects/`. In a script, call this under
    `if __name__ == "__main__":`, because workers are new processes.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "chats.jsonl").write_text('{"turns": ["how was it?", "I am so happy :)"]}\\n{"turns": 7}\\n')
    >>> done = score([str(folder / "chats.jsonl")], folder / "scored", model="nano", workers=1)
    >>> done.rows, done.scored, done.rejected, done.labels["happy"]
    (2, 1, 1, 1)
    """
    check_installed("pyarrow", "fsspec", extra="scale")
    if engine == "ray":
        check_installed("ray", extra="ray")
    inputs = [str(inputs)] if isinstance(inputs, str | Path) else inputs
    target = OutputFolder(str(output))
    detector = load(resolve(model), labels=labels, prior=prior)
    settings = {
        "emoscope": emoscope.__version__,
        "model": {"name": detector.name, "labels": detector.head, "sha256": detector.sha256},
        "prior": detector.prior,
        "kernel": detector.kernel,
    }
    listing = find_inputs(inputs, format=format, skip_unknown=skip_unknown, output=target.path)
    check_no_run(listing.files)
    with target.lock():
        plan = _plan(target, listing.files, settings, part_rows, strict, workers or cores())
        executor = Executor(engine, workers, ray_address)
        counts = _score_missing(plan, target, detector, executor, batch, strict, report)
        with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as threads:  # in a store each is a request
            list(threads.map(check_unchanged, listing.files))
        target.remove_staged()
        return write_manifest(plan, target, detector, counts, listing.skipped)


def check_no_run(files: Sequence[InputFile]) -> None:
    """Raise an InputError if what another run wrote is among the files: its rows would be scored once more."""
    scored = {str(folder.parent) for file in files if (folder := PurePosixPath(file.path).parent).name == SCORES}
    for file in files:
        path = PurePosixPath(file.path)
        if path.name == PLAN and str(path.parent) in scored:
            raise InputError(
                str(path.parent), f"holds a run of emoscope score; move it elsewhere, or name {path.parent}/{SCORES}"
            )


def _score_missing(
    plan: ScoringPlan,
    target: OutputFolder,
    detector: Detector,
    executor: Executor,
    batch: int | None,
    strict: bool,
    report: Callable[[ScoringProgress], None],
) -> PartCounts:
    counts = PartCounts(plan.parts, detector.labels)
    missing = _missing_parts(plan, target, counts, strict)
    done = kept = plan.rows - sum(map(plan.part_size, missing))
    report(ScoringProgress(done, plan.rows, kept))

    def progress(rows: int) -> None:
        nonlocal done
        done += rows
        report(ScoringProgress(done, plan.rows, kept))

    if missing:
        stage_inputs(plan, target, missing, executor)
        scorer = PartScorer(plan, target, detector, batch or measure_batch_size(detector, plan, target), strict)
        try:
            for part, footer in executor.map(scorer, missing, progress=progress, window=WINDOW):
                counts.add(part, footer)
        finally:
            target.tidy()
    return counts


def _missing_parts(plan: ScoringPlan, target: OutputFolder, counts: PartCounts, strict: bool) -> list[int]:
    """The parts to score; the counts of the others are read from their files."""
    present = target.sizes(SCORES)
    kept = [part for part in range(plan.parts) if scores_file(part) in present]
    done: set[int] = set()
    with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as threads:  # in a store each is a request
        for some in batches(kept, 1000):
            for part, footer in zip(
                some, threads.map(lambda part: read_footer(target, scores_file(part)), some), strict=True
            ):
                # With `strict`, a part with rejects is scored again, to name the row at fault.
                if footer is not None and footer.get("run") == plan.fingerprint and not (strict and footer["rejected"]):
                    counts.add(part, footer)
                    done.add(part)
    return [part for part in range(plan.parts) if part not in done]


def _plan(
    target: OutputFolder,
    files: Sequence[InputFile],
    settings: Mapping[str, object],
    part_rows: int | None,
    strict: bool,
    workers: int,
) -> ScoringPlan:
    """The plan of the unfinished run in the folder, or a new one."""
    if not target.has(PLAN):
        if not target.is_empty():
            raise EmoscopeError(f"{target.path}: holds something else; expected a new folder, or one with {PLAN}")
        plan = make_plan(files, settings, part_rows=part_rows, strict=strict, workers=workers)
        target.write_json(PLAN, plan.as_dict())
        target.prepare()
        return plan
    content = target.read_json(PLAN)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise EmoscopeError(f"{target.path}/{PLAN}: is not a plan of this version of emoscope ({FORMAT})")
    plan = ScoringPlan.from_dict(content)
    if plan.settings != settings:
        name = next(name for name in settings if plan.settings.get(name) != settings[name])
        _refuse(target, f"with another {name}" if name != "kernel" else f"that {plan.settings.get(name)} computed")
    if part_rows is not None and part_rows != plan.part_rows:
        _refuse(target, f"in parts of {plan.part_rows:,} rows")
    known = [file.source for file in plan.files] + [path for path, _ in plan.unreadable]
    readable = [file for file in files if file.path not in dict(plan.unreadable)]
    if readable != [file.source for file in plan.files] or len(known) != len(files):
        _refuse(target, "of other inputs, or they have changed since")
    if strict and plan.unreadable:
        path, reason = plan.unreadable[0]
        raise EmoscopeError(f"{path}: {reason}")
    target.prepare()
    target.tidy()
    return plan


def _refuse(target: OutputFolder, difference: str) -> None:
    raise EmoscopeError(f"{target.path}: holds a run {difference}; choose another folder, or remove it")
