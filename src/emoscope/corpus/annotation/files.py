"""Annotation files, by suffix.

| suffix | file |
|---|---|
| `.csv` | columns `task,worker,label`; without `worker`, the file's name is the worker's |
| `.json` | Label Studio's JSON export |
| `.jsonl` | doccano's JSONL; the file's name is the worker's, unless a row names one |

All three keep further labels that a worker found possible. Errors name the file and row; a worker who judges a task
twice, even in two files, is one.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.annotation import csv_files, doccano, label_studio
from emoscope.corpus.annotation.annotations import Annotations, FileEntry, Judgement

SUFFIXES = (".csv", ".json", ".jsonl")


def read_annotations(paths: Iterable[str | Path]) -> Annotations:
    """Read files of any kind, and the files of folders, as one set of annotations.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ann.csv").write_text("task,label\\n1,joy\\n2,sad\\n")
    >>> _ = (folder / "ben.csv").write_text("task,label\\n1,joy\\n")
    >>> read_annotations([folder]).judgements[2]
    Judgement(task='1', worker='ben', label='joy', others=())
    """
    judgements: list[Judgement] = []
    data: dict[str, Mapping[str, Any]] = {}
    places: dict[tuple[str, str], tuple[Path, int | str]] = {}
    for path in files_in(paths):
        for entry in _entries(path):
            if entry.data:
                data.setdefault(entry.task, entry.data)
            if entry.judgement is None:
                continue
            key = (entry.judgement.task, entry.judgement.worker)
            if key in places:
                earlier = InputError(places[key][0], "judged already", row=places[key][1])
                problem = f"worker {key[1]!r} has judged task {key[0]!r} already ({str(earlier).rpartition(':')[0]})"
                raise InputError(path, problem, row=entry.where)
            places[key] = (path, entry.where)
            judgements.append(entry.judgement)
    return Annotations(tuple(judgements), MappingProxyType(data))


def files_in(paths: Iterable[str | Path]) -> list[Path]:
    """The paths, with each folder replaced by the annotation files in it, sorted."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and not file.name.startswith("."))
        if not inside:
            raise InputError(path, f"is a folder without annotation files ({', '.join(SUFFIXES)})")
        files.extend(inside)
    return files


def write_annotations(path: str | Path, annotations: Annotations) -> None:
    """Write one file in the format of its suffix; CSV holds only the judgements, the others also the tasks' data."""
    target = Path(path)
    match _kind(target):
        case ".csv":
            csv_files.write(target, annotations.judgements)
        case ".json":
            label_studio.write(target, annotations)
        case _:
            doccano.write(target, annotations)


def write_per_worker(folder: str | Path, annotations: Annotations, suffix: str = ".csv") -> list[Path]:
    """Write a file for each annotator into a folder, and tasks without judgements, if the format has them, to `tasks`.

    >>> import tempfile
    >>> annotations = Annotations((Judgement("1", "ben", "joy"), Judgement("1", "ann", "sad")))
    >>> [path.name for path in write_per_worker(tempfile.mkdtemp(), annotations)]
    ['ann.csv', 'ben.csv']
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot be made a folder ({error.strerror})") from None
    parts: dict[str, list[Judgement]] = {worker: [] for worker in annotations.workers}
    for judgement in annotations.judgements:
        parts[judgement.worker].append(judgement)
    waiting = [task for task, judgements in annotations.by_task.items() if not judgements]
    if waiting and suffix != ".csv":
        parts.setdefault("tasks", [])
    written: list[Path] = []
    for worker, own in parts.items():
        tasks = [*(judgement.task for judgement in own), *(waiting if worker == "tasks" else ())]
        data = {task: annotations.data[task] for task in tasks if task in annotations.data}
        written.append(target / f"{_file_name(worker)}{suffix}")
        write_annotations(written[-1], Annotations(tuple(own), data))
    return written


def _file_name(worker: str) -> str:
    """A safe file name, unique to the worker and not hidden; the file itself names the worker."""
    name = quote(worker, safe=" @+")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _entries(path: Path) -> Iterator[FileEntry]:
    readers = {".csv": csv_files.read, ".json": label_studio.read, ".jsonl": doccano.read}
    return readers[_kind(path)](path)


def _kind(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise InputError(path, f"is of no kind of annotation file: expected a name in {', '.join(SUFFIXES)}")
    return path.suffix
