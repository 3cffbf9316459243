"""Annotations as Label Studio's JSON: a list of tasks, each with its `data` and its `annotations`.

A choice of the control `other` is a further possible label, that of any other control the worker's label. Workers are
e-mail addresses or Label Studio's numbers; skipped annotations are no judgements.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emoscope.core.errors import InputError
from emoscope.core.files import atomic_write
from emoscope.core.jsonable import read_json
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations, Answered, FileEntry

_OTHER = "other"


def write(path: Path, annotations: Annotations) -> None:
    """Write every task with its judgements; those without any are to be labelled."""
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
    chosen = {"label": [judgement.label], _OTHER: list(judgement.others)}
    return [
        {"from_name": control, "to_name": "text", "type": "choices", "value": {"choices": labels}}
        for control, labels in chosen.items()
        if labels
    ]


def read(path: Path) -> Iterator[FileEntry]:
    """Read each task with its judgements."""
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
        (others if part.get("from_name") == _OTHER else labels).extend(choices)
    return labels, others
