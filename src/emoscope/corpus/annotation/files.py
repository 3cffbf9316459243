"""Annotation files, by suffix.

| suffix | file |
|---|---|
| `.csv` | columns `task,worker,label`; without `worker`, the file name is the worker |
| `.json` | Label Studio's JSON export |
| `.jsonl` | doccano's JSONL, where the file name is the worker unless a row names one; or Prodigy's |

All formats keep the other labels a worker considered possible. Errors name the file and row. It is an error if a
worker judges a task twice, even in different files.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import check_other_file
from emoscope.core.judgement import Judgement, as_name, judgement_at
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.formats import FORMATS, WRITERS


def read_annotations(paths: Iterable[str | Path]) -> Annotations:
    """Read files and folders of any supported format as one set of annotations.

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
        for entry in FORMATS[_suffix(path)][0](path):
            task = next((name for name in map(as_name, entry.names) if isinstance(name, str) and name), None)
            if task is None:
                raise InputError(path, "the task has no name: expected 'task' or 'id'", row=entry.where)
            if entry.data:
                data.setdefault(task, entry.data)
            for where, *answer in entry.answers:
                judgement = judgement_at(path, where, task, *answer)
                if (place := places.get((task, judgement.worker))) is not None:
                    earlier = str(InputError(place[0], "", row=place[1])).rpartition(":")[0]
                    problem = f"worker {judgement.worker!r} has judged task {task!r} already ({earlier})"
                    raise InputError(path, problem, row=where)
                places[task, judgement.worker] = (path, where)
                judgements.append(judgement)
    return Annotations(tuple(judgements), MappingProxyType(data))


def files_in(paths: Iterable[str | Path]) -> list[Path]:
    """The paths, with each folder replaced by the annotation files in it, sorted."""
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix in FORMATS and not file.name.startswith("."))
        if not inside:
            raise InputError(path, f"has no annotation files ({', '.join(FORMATS)})")
        files.extend(inside)
    return files


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Raise an error if the output is an input, or in an input folder, where the next run would read it."""
    for path in inputs:
        check_other_file(output, path)
        if path.is_dir() and output.resolve().parent == path.resolve():
            problem = f"is in the folder of judgements {str(path)!r}, where the next run would read it"
            raise EmoscopeError(f"{output}: {problem}; write to another folder")


def write_annotations(path: str | Path, annotations: Annotations, file_format: str | None = None) -> None:
    """Write one file in the format of its suffix, or in a named format of `formats.WRITERS`.

    CSV holds only the judgements; the other formats also hold the tasks' data.
    """
    if file_format is not None and file_format not in WRITERS:
        raise EmoscopeError(f"{file_format}: expected one of {', '.join(WRITERS)}")
    write = WRITERS[file_format] if file_format is not None else FORMATS[_suffix(Path(path))][1]
    write(Path(path), annotations)


def write_per_worker(folder: str | Path, annotations: Annotations, suffix: str = ".csv") -> list[Path]:
    """Write one file per annotator into a folder, and tasks without judgements to `tasks` if the format allows them.

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
    parts: dict[str, list[Judgement]] = {}
    for judgement in sorted(annotations.judgements, key=lambda judgement: judgement.worker):
        parts.setdefault(judgement.worker, []).append(judgement)
    waiting = [task for task, judgements in annotations.by_task.items() if not judgements]
    if waiting and suffix != ".csv":
        parts.setdefault("tasks", [])
    written: list[Path] = []
    for worker, own in parts.items():
        tasks = [*(judgement.task for judgement in own), *(waiting if worker == "tasks" else ())]
        data = {task: annotations.data[task] for task in tasks if task in annotations.data}
        # A safe, unique, visible file name; the worker's real name is in the file.
        name = quote(worker, safe=" @+")
        written.append(target / f"{f'%2E{name[1:]}' if name.startswith('.') else name}{suffix}")
        write_annotations(written[-1], replace(annotations, judgements=tuple(own), data=data))
    return written


def _suffix(path: Path) -> str:
    if path.suffix not in FORMATS:
        raise InputError(path, f"is not an annotation file: expected a name that ends in {', '.join(FORMATS)}")
    return path.suffix
