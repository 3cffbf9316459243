"""Annotations as doccano's JSONL: an object a line, with `text` and `label`, a list of one label or none.

doccano exports a file for each annotator, named after them. Our files also name the `worker` and the `task` in each
row, which doccano keeps as metadata. Older exports, with `annotations` and users by number, are read too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, text_lines
from emoscope.core.jsonable import parse_json
from emoscope.corpus.annotation.annotations import Annotations, Answered, FileEntry

_OURS = ("id", "task", "worker", "label", "other", "annotations")


def write(path: Path, annotations: Annotations) -> None:
    """Write a line for each judgement, and one for each task that has none."""
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


def read(path: Path) -> Iterator[FileEntry]:
    """Stream the rows."""
    for row, line in text_lines(path):
        if not line.strip():
            continue
        entry = parse_json(path, line, row)
        if not isinstance(entry, dict):
            raise InputError(path, f"expected an object, found {type(entry).__name__}", row=row)
        data = {key: value for key, value in entry.items() if key not in _OURS and key != "Comments"}
        answers = [Answered(row, *answer, entry.get("other")) for answer in _labels(path, row, entry)]
        yield FileEntry(row, [entry.get("task"), entry.get("id")], data, answers)


def _labels(path: Path, row: int, entry: dict[str, Any]) -> list[tuple[object, object]]:
    """The workers and their labels."""
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
