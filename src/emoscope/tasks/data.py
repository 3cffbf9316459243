"""Find a task's local files and compare them with the published checksums. Never uses the network."""

import hashlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.tasks.base import Task
from emoscope.tasks.metadata import DataFile, DataRevision, TaskMetadata

# A file beside the data, in the format of `sha256sum`: the first download of files without a published checksum.
SUMS = "SHA256SUMS"

State = Literal["ok", "differs", "absent", "no checksum published"]


@dataclass(frozen=True, slots=True)
class Located:
    """A split's file on this machine, and the revision of the data it belongs to."""

    path: Path
    file: DataFile
    revision: DataRevision


@dataclass(frozen=True, slots=True)
class Checked:
    """The state of a local file.

    `against` is the checksum it was compared with: the metadata's ("published") or that of the "first download".
    """

    path: Path
    state: State
    against: Literal["published", "first download"] | None = None

    @property
    def usable(self) -> bool:
        """Whether the file exists and does not differ from a known checksum."""
        return self.state in {"ok", "no checksum published"}


def data_root(root: Path | None = None) -> Path:
    """The folder of all tasks' data: the argument, else `$EMOSCOPE_DATA`, else the download cache.

    >>> data_root(Path("corpora")).name
    'corpora'
    """
    if root is not None:
        return root.expanduser()
    if chosen := os.environ.get("EMOSCOPE_DATA"):
        return Path(chosen).expanduser()
    if cache := os.environ.get("EMOSCOPE_CACHE"):
        return Path(cache).expanduser() / "data"
    import platformdirs

    return Path(platformdirs.user_cache_dir("emoscope")) / "data"


def data_folder(task: Task, root: Path | None = None) -> Path:
    """The folder of one task's files.

    >>> from emoscope.tasks import get_task
    >>> data_folder(get_task("emotionx-push"), Path("corpora")).name
    'emotionx'
    """
    return data_root(root) / task.metadata.folder


def find_split(task: Task, split: str, root: Path | None = None) -> Located:
    """The file of a split, from the first revision of the data whose file exists.

    >>> from emoscope.tasks import get_task
    >>> find_split(get_task("iest"), "tests")
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: iest has no split 'tests'; it has: train, dev, test
    """
    if split not in task.metadata.splits:
        raise EmoscopeError(f"{task.name} has no split {split!r}; it has: {', '.join(task.metadata.splits)}")
    folder = data_folder(task, root)
    missing = []
    for revision in task.metadata.revisions:
        if (file := revision.splits.get(split)) is None:
            continue
        if (folder / file.name).is_file():
            return Located(folder / file.name, file, revision)
        missing.append(file.name)
    names = " or ".join(dict.fromkeys(missing))
    elsewhere = "" if data_root(root) == data_root() else f" --data {shlex.quote(str(root))}"
    raise EmoscopeError(
        f"{task.name}: the {split} split is not here, no {names} in {folder}; "
        f"run: emoscope data get {task.name}{elsewhere}"
    )


def read_split(task: Task, split: str, root: Path | None = None) -> list[Example]:
    """The examples of a split.

    >>> from emoscope.tasks import get_task
    >>> read_split(get_task("emocontext"), "dev")  # doctest: +SKIP
    [Example(...), ...]
    """
    return list(task.read(find_split(task, split, root).path))


def check_files(task: Task, root: Path | None = None) -> list[Checked]:
    """Compare all files of a task with their checksums, in the metadata's order.

    >>> from emoscope.tasks import get_task
    >>> {checked.state for checked in check_files(get_task("iest"), Path("no-such-folder"))}
    {'absent'}
    """
    folder = data_folder(task, root)
    first = first_sums(folder)
    return [check_file(folder / name, sha256, first) for name, sha256 in published_sums(task.metadata).items()]


def check_file(path: Path, published: str | None, first: Mapping[str, str]) -> Checked:
    """Compare a file with its published checksum, or else with that of its first download."""
    if not path.is_file():
        return Checked(path, "absent")
    expected = published or first.get(path.name)
    if expected is None:
        return Checked(path, "no checksum published")
    state: State = "ok" if sha256_of(path) == expected else "differs"
    return Checked(path, state, "published" if published else "first download")


def published_sums(metadata: TaskMetadata) -> dict[str, str | None]:
    """All files a task may have in its folder, with the published sha256 if there is one.

    >>> from emoscope.tasks import get_task
    >>> list(published_sums(get_task("emocontext").metadata))
    ['train.txt', 'dev.txt', 'testwithoutlabels.txt', 'test.txt']
    """
    sums: dict[str, str | None] = {}
    for revision in metadata.revisions:
        for file in revision.splits.values():
            sums[file.name] = sums.get(file.name) or file.sha256
        for download in revision.downloads:
            for name in download.saves:
                sums.setdefault(name, None)
    return sums


def first_sums(folder: Path) -> dict[str, str]:
    """The checksums of first downloads that are recorded in a folder."""
    path = folder / SUMS
    if not path.is_file() or path.stat().st_size == 0:
        return {}
    sums = {}
    for row, line in text_lines(path):
        sha256, _, name = line.partition("  ")
        if len(sha256) != 64 or not name:
            raise InputError(path, "expected a sha256, two spaces and a file name", row=row)
        sums[name] = sha256
    return sums


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None
