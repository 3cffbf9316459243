"""The formats of annotation files.

CSV has the columns `task,worker,label`, and `other` (`joy;surprise`) if workers named other possible labels.

doccano's JSONL has one object per line, with `text` and `label`, a list of at most one label. doccano exports one file
per annotator, named after them. Our files also name the `worker` and the `task` in each row, which doccano keeps as
metadata. Older exports, with `annotations` and numbered users, can be read too.

Label Studio's JSON is a list of tasks, each with its `data` and its `annotations`. A choice of the control `other` is
another possible label; a choice of any other control is the worker's label. Workers are e-mail addresses or Label
Studio's user numbers. Skipped annotations are ignored.

Prodigy's JSONL is recognised by its rows; see `prodigy`.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, csv_rows, parse_json, read_json, text_lines
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations, Answered, FileEntry
from emoscope.corpus.annotation.prodigy import is_prodigy, prodigy_entry, write_prodigy

_OURS = ("id", "task", "worker", "label", "other", "annotations")  # keys of doccano's rows


def write_csv(path: Path, annotations: Annotations) -> None:
    """Write the judgements in order, without task data."""
    judgements = annotations.judgements
    width = 4 if any(judgement.others for judgement in judgements) else 3
    rows = ([one.task, one.worker, one.label, ";".join(one.others)][:width] for one in judgements)
    write_rows(path, ["task", "worker", "label", "other"][:width], rows)


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table."""
    with atomic_write(path) as handle:
        table = csv.writer(handle, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def read_csv(path: Path) -> Iterator[FileEntry]:
    """Stream the judgements; other columns are ignored."""
    for row, cells in csv_rows(path, ("task", "label"), ("worker", "other")):
        others = [part for part in cells.get("other", "").split(";") if part.strip()]
        answer = Answered(row, cells.get("worker", path.stem), cells["label"], others)
        yield FileEntry(row, [cells["task"]], {}, [answer])


def write_doccano(path: Path, annotations: Annotations) -> None:
    """Write a line for each judgement, and one for each task without judgements."""
    for task, data in annotations.data.items():
        if taken := [name for name in _OURS if name in data]:
            raise EmoscopeError(f"task {task!r}: data named {taken[0]!r} cannot be written as doccano JSONL")
    with atomic_write(path) as handle:
        for number, (task, judgements) in enumerate(annotations.by_task.items(), start=1):
            row = {"id": number, **annotations.data.get(task, {}), "task": task}
            lines = [
                {**row, "worker": one.worker, "label": [one.label], **({"other": one.others} if one.others else {})}
                for one in judgements
            ]
            for line in lines or [{**row, "label": []}]:
                handle.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_doccano(path: Path) -> Iterator[FileEntry]:
    """Stream the rows of doccano's or Prodigy's JSONL."""
    for row, line in text_lines(path):
        if not line.strip():
            continue
        entry = parse_json(path, line, row)
        if not isinstance(entry, dict):
            raise InputError(path, f"expected an object, found {type(entry).__name__}", row=row)
        if is_prodigy(entry):
            yield prodigy_entry(path, row, entry)
            continue
        data = {key: value for key, value in entry.items() if key not in _OURS and key != "Comments"}
        answers = [Answered(row, *answer, entry.get("other")) for answer in _doccano_labels(path, row, entry)]
        yield FileEntry(row, [entry.get("task"), entry.get("id")], data, answers)


def _doccano_labels(path: Path, row: int, entry: dict[str, Any]) -> list[tuple[object, object]]:
    if "annotations" in entry:
        listed = entry["annotations"]
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise InputError(path, "'annotations' must be a list of objects with 'user' and 'label'", row=row)
        return [(one.get("user"), one.get("label")) for one in listed]
    labels = entry.get("label")
    if labels is None:
        raise InputError(path, "'label' is missing: expected a list of one label", row=row)
    labels = labels if isinstance(labels, list) else [labels]
    if len(labels) > 1:
        raise InputError(path, f"expected one label, found {len(labels)}", row=row)
    return [(entry.get("worker", path.stem), label) for label in labels]


def write_label_studio(path: Path, annotations: Annotations) -> None:
    """Write every task with its judgements, if any."""
    tasks = [
        {
            "id": number,
            "data": {**annotations.data.get(task, {}), "task": task},
            "annotations": [
                {"completed_by": {"email": one.worker}, "was_cancelled": False, "result": _result(one)}
                for one in judgements
            ],
        }
        for number, (task, judgements) in enumerate(annotations.by_task.items(), start=1)
    ]
    with atomic_write(path) as handle:
        json.dump(tasks, handle, indent=1, ensure_ascii=False)
        handle.write("\n")


def _result(judgement: Judgement) -> list[dict[str, Any]]:
    chosen = {"label": [judgement.label], "other": list(judgement.others)}
    return [
        {"from_name": control, "to_name": "text", "type": "choices", "value": {"choices": labels}}
        for control, labels in chosen.items()
        if labels
    ]


def read_label_studio(path: Path) -> Iterator[FileEntry]:
    """Read the tasks of Label Studio's JSON."""
    tasks = read_json(path)
    if not isinstance(tasks, list) or not tasks:
        raise InputError(path, "expected a list of tasks, as in Label Studio's JSON export")
    for number, task in enumerate(tasks, start=1):
        where = f"task {number:,}"
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise InputError(path, "expected an object with 'data', as in Label Studio's JSON export", row=where)
        annotations = task.get("annotations", [])
        if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
            raise InputError(path, "'annotations' must be a list of objects", row=where)
        answers = [
            _answer(path, f"{where}, annotation {place:,}", annotation)
            for place, annotation in enumerate(annotations, start=1)
            if not annotation.get("was_cancelled")
        ]
        data = dict(task["data"])
        yield FileEntry(where, [data.pop("task", None), task.get("id")], data, answers)


def _answer(path: Path, row: str, annotation: dict[str, Any]) -> Answered:
    labels, others = _choices(path, row, annotation.get("result"))
    if len(labels) != 1:
        raise InputError(path, f"expected one choice, found {len(labels)}", row=row)
    worker = annotation.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("email") or worker.get("id")
    if worker is None:
        raise InputError(path, "'completed_by' is missing: who has judged?", row=row)
    return Answered(row, worker, labels[0], others)


def _choices(path: Path, row: str, result: object) -> tuple[list[object], list[object]]:
    labels: list[object] = []
    others: list[object] = []
    for part in result if isinstance(result, list) else ():
        if not isinstance(part, dict) or part.get("type") != "choices":
            continue
        value = part.get("value")
        choices = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(choices, list):
            raise InputError(path, "a choice must be {'value': {'choices': [label]}}", row=row)
        (others if part.get("from_name") == "other" else labels).extend(choices)
    return labels, others


FORMATS: Mapping[str, tuple[Callable[[Path], Iterator[FileEntry]], Callable[[Path, Annotations], None]]] = {
    ".csv": (read_csv, write_csv),
    ".json": (read_label_studio, write_label_studio),
    ".jsonl": (read_doccano, write_doccano),
}

# Formats that share a suffix with another are chosen by name.
WRITERS: Mapping[str, Callable[[Path, Annotations], None]] = {
    "csv": write_csv,
    "label-studio": write_label_studio,
    "doccano": write_doccano,
    "prodigy": write_prodigy,
}
