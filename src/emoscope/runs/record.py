"""A run: a fitted system in a folder, with everything needed to repeat it."""

import json
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from emoscope import __version__
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.core.frozen import FrozenModel

FILE = "run.json"
_RECORDED_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "transformers", "lightgbm", "xgboost")


class RunRecord(FrozenModel):
    """The content of `run.json`: which system learnt from which files, on which machine."""

    system: str
    task: str
    seed: int
    examples: int
    data: dict[str, str]  # file name to sha256
    data_revision: str
    seconds: float
    limit: int | None = None
    devices: int = 1  # devices per network; the last digits of the weights depend on it
    settings: dict[str, Any] = Field(default_factory=dict)
    finished: str
    emoscope: str
    python: str
    machine: str
    packages: dict[str, str]
    dev: dict[str, Any] | None = None  # the official score on the development set, if there is one
    held_out: dict[str, Any] | None = None  # the score on held-out folds, if the system keeps their predictions


def environment() -> dict[str, Any]:
    """The time, versions and machine that a run records."""
    packages = {}
    for package in _RECORDED_PACKAGES:
        with suppress(PackageNotFoundError):
            packages[package] = version(package)
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "emoscope": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": packages,
    }


@contextmanager
def new_run_folder(target: Path, *, force: bool = False, mark: str = FILE) -> Iterator[Path]:
    """A temporary folder to write a run into, renamed to `target` when complete.

    With `force` an existing folder is replaced, but only if it contains the file `mark`.
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
    """A checkpoint folder, from which the same run resumes after an interruption.

    It is emptied if it belongs to another run (`what`: system, seed, settings, data), and removed on success.
    """
    folder = target.parent / f".{target.name}.checkpoints"
    mark, content = folder / "work.json", json.dumps(dict(what))
    if folder.exists() and (not mark.is_file() or mark.read_text(encoding="utf-8") != content):
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(mark, content)
    try:
        yield folder
    except BaseException:
        if not any(path.is_dir() or path.suffix == ".safetensors" for path in folder.iterdir()):
            shutil.rmtree(folder)  # no checkpoint yet: leave no trace
        raise
    shutil.rmtree(folder)


def read_record(folder: Path) -> RunRecord:
    """Read a run's `run.json`."""
    path = folder / FILE
    if not path.is_file():
        raise EmoscopeError(f"{folder}: is not a run ({FILE} is missing)")
    try:
        return RunRecord.model_validate(json.loads(whole_text(path)))
    except (json.JSONDecodeError, ValidationError) as error:
        raise InputError(path, f"is not a run's record ({str(error).splitlines()[0]})") from None
