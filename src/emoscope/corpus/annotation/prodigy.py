"""Prodigy's JSONL: one object per line, as `prodigy db-out` writes and `db-in` reads.

A `choice` task has `options`, and the chosen ones in `accept`; a binary task has a `label`, and `answer` says whether
it was accepted. Ignored and rejected tasks do not count as judgements. The annotator is in `_annotator_id` or
`_session_id`, which our files prefix with `emoscope-`, as Prodigy prefixes the dataset's name. Tasks with the same
`_input_hash` are the same task, unless `meta` or the row names them.
"""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emoscope.core.errors import InputError
from emoscope.core.files import atomic_write
from emoscope.corpus.annotation.annotations import Annotations, Answered, FileEntry

_DATASET = "emoscope"
_OURS = frozenset(
    ("id", "task", "text", "label", "options", "accept", "answer", "other", "meta", "config", "tokens", "spans")
)


def is_prodigy(row: Mapping[str, Any]) -> bool:
    """Whether a JSONL row is Prodigy's rather than doccano's.

    >>> is_prodigy({"text": "hi", "accept": ["joy"], "answer": "accept"}), is_prodigy({"text": "hi", "label": ["joy"]})
    (True, False)
    """
    return "_input_hash" in row or ("answer" in row and ("accept" in row or isinstance(row.get("label"), str)))


def prodigy_entry(path: Path, row: int, entry: Mapping[str, Any]) -> FileEntry:
    """Convert a row to a task with at most one answer."""
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    assert isinstance(meta, dict)
    names = [meta.get("task"), entry.get("task"), entry.get("id"), meta.get("id"), entry.get("_input_hash")]
    data = {"text": entry["text"]} if isinstance(entry.get("text"), str) else {}
    data |= {key: value for key, value in entry.items() if key not in _OURS and not key.startswith("_")}
    data |= {key: value for key, value in meta.items() if key not in ("task", "id", "other")}
    answers: list[Answered] = []
    if entry.get("answer", "accept") == "accept" and (label := _label(path, row, entry)) is not None:
        answers = [Answered(row, _worker(entry, path), label, meta.get("other"))]
    return FileEntry(row, names, data, answers)


def _label(path: Path, row: int, entry: Mapping[str, Any]) -> object:
    accepted = entry.get("accept")
    if accepted is None:
        return entry.get("label")
    if not isinstance(accepted, list) or len(accepted) > 1:
        found = f"{len(accepted)}" if isinstance(accepted, list) else type(accepted).__name__
        raise InputError(path, f"expected one label in 'accept', found {found}", row=row)
    return accepted[0] if accepted else None


def _worker(entry: Mapping[str, Any], path: Path) -> object:
    worker = entry.get("_annotator_id") or entry.get("_session_id") or path.stem
    return worker.removeprefix(f"{_DATASET}-") if isinstance(worker, str) else worker


def write_prodigy(path: Path, annotations: Annotations) -> None:
    """Write a line for each judgement, and one without an answer for each task without judgements."""
    chosen = sorted({judgement.label for judgement in annotations.judgements})
    options = [{"id": label, "text": label} for label in dict.fromkeys((*annotations.labels, *chosen))]
    with atomic_write(path) as handle:
        for task, judgements in annotations.by_task.items():
            data = dict(annotations.data.get(task, {}))
            text = str(data.pop("text", ""))
            row: dict[str, Any] = {"text": text, "options": options, "meta": {"task": task, **data}}
            row["_input_hash"] = _hash(task, text)
            for one in judgements:
                meta = {**row["meta"], **({"other": list(one.others)} if one.others else {})}
                said = {
                    **row,
                    "meta": meta,
                    "accept": [one.label],
                    "answer": "accept",
                    "_task_hash": _hash(task, text, "choice"),
                    "_view_id": "choice",
                    "_annotator_id": f"{_DATASET}-{one.worker}",
                    "_session_id": f"{_DATASET}-{one.worker}",
                }
                handle.write(json.dumps(said, ensure_ascii=False) + "\n")
            if not judgements:
                handle.write(json.dumps(row, ensure_ascii=False) + "\n")


def _hash(*parts: str) -> int:
    """A signed 32-bit hash, like Prodigy's; tasks with the same text get different hashes."""
    value = zlib.crc32("\x00".join(parts).encode("utf-8", "replace"))
    return value - (1 << 32) if value >= 1 << 31 else value
