"""A run: a fitted system in a folder of its own, with all that is needed to repeat it."""

import json
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from emoscope import __version__
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.core.frozen import FrozenModel
from emoscope.core.learnt import LearntItems
from emoscope.detector.model import FittedModel
from emoscope.systems.base import System
from emoscope.tasks import get_task

FILE = "run.json"
_RECORDED_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "lightgbm", "xgboost")


class RunRecord(FrozenModel):
    """What `run.json` says: which system learnt what from which files, and where."""

    system: str
    task: str
    seed: int
    examples: int
    data: dict[str, str]  # file name to sha256
    data_revision: str
    seconds: float
    limit: int | None = None
    devices: int = 1  # that trained each network together: with another number the weights differ in the last digits
    settings: dict[str, Any] = Field(default_factory=dict)
    finished: str
    emoscope: str
    python: str
    machine: str
    packages: dict[str, str]
    dev: dict[str, Any] | None = None  # the official score on the development set, where the task has one
    held_out: dict[str, Any] | None = None  # the same on folds that its parts had not seen, where the system keeps them


def environment() -> dict[str, Any]:
    """What a run records of the machine it ran on."""
    packages = {}
    for package in _RECORDED_PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "emoscope": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }


@contextmanager
def new_run_folder(target: Path, *, force: bool = False, mark: str = FILE) -> Iterator[Path]:
    """A folder to write a run into, which takes its name only when everything is in it.

    Only a folder that has the file `mark` is ever replaced.
    """
    if target.exists() and not target.is_dir():
        raise EmoscopeError(f"{target}: is a file, expected a folder to write into")
    if target.exists() and any(target.iterdir()) and not force:
        raise EmoscopeError(f"{target}: exists already; choose another folder or add --force to replace it")
    if target.exists() and any(target.iterdir()) and not (target / mark).is_file():
        raise EmoscopeError(f"{target}: has no {mark}, so --force will not replace it")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    try:
        yield part
        part.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def kept_checkpoints(target: Path, what: Mapping[str, Any]) -> Iterator[Path]:
    """A folder for finished epochs that outlives a kill, and is there for the same work only.

    It is emptied when `what` (system, seed, settings, data) differs from what it was made for, and removed at the end.
    """
    folder = target.parent / f".{target.name}.checkpoints"
    mark = folder / "work.json"
    if folder.exists() and (not mark.is_file() or json.loads(mark.read_text(encoding="utf-8")) != dict(what)):
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(mark, json.dumps(dict(what)))
    try:
        yield folder
    except BaseException:
        if not any(path.is_dir() or path.suffix == ".safetensors" for path in folder.iterdir()):
            shutil.rmtree(folder)  # nothing was finished: leave no trace
        raise
    shutil.rmtree(folder)


def save_run(folder: Path, system: System, record: RunRecord, learnt: LearntItems | None = None) -> None:
    """Write the system's files, what it learnt and `run.json`."""
    system.save(folder)
    if learnt is not None:
        learnt.save(folder)
    write_file(folder / FILE, record.model_dump_json(indent=2) + "\n")


def read_record(folder: Path) -> RunRecord:
    """What a run folder says of itself."""
    path = folder / FILE
    if not path.is_file():
        raise EmoscopeError(f"{folder}: is not a run ({FILE} is missing)")
    try:
        return RunRecord.model_validate(json.loads(whole_text(path)))
    except (json.JSONDecodeError, ValidationError) as error:
        raise InputError(path, f"is not a run's record ({str(error).splitlines()[0]})") from None


def load_run(folder: Path, task_name: str) -> FittedModel:
    """The model of a run, for the task it was trained on."""
    record, task = read_record(folder), get_task(task_name)
    if record.task != task.reference:
        raise EmoscopeError(
            f"{folder.name} was trained for {record.task}, not {task_name}; "
            f"train one with: emoscope train {record.system} --task {task_name} -o RUN"
        )
    return FittedModel.load(folder)
