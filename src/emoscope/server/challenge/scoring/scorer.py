"""The scoring process, apart from the server so that it can be killed.

It reads one JSON request from standard input and writes one JSON answer to standard output. An error is reported by its
type and place in our code, never by its message, which could quote the gold file.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
import threading
import time
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import MetricName, standard_metric
from emoscope.tasks import Task, get_task

# What decides a score. A change in any of these files makes earlier results stale.
_SCORING_MODULES = (
    "emoscope.core.metrics",
    "emoscope.core.significance",
    "emoscope.evaluation.score",
    "emoscope.core.files",
    "emoscope.tasks.base",
    "emoscope.tables.json_stream",
    "emoscope.server.challenge.scoring.scorer",
)
LEVEL = 0.99  # of significance, as in the IEST paper
_OTHER_METRICS: tuple[MetricName, ...] = ("accuracy", "macro-f1")


def measured(task_name: str, metric: str | None = None) -> Task:
    """A task scored by a metric; without one by its official metric.

    >>> measured("emocontext").metadata.metric.name, measured("emocontext", "accuracy").metadata.metric.name
    ('micro-f1', 'accuracy')
    >>> measured("emocontext", "luck")
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: unknown metric 'luck', expected one of: micro-f1 (official), accuracy, macro-f1
    """
    task = get_task(task_name)
    official = task.metric.name
    if metric is None or metric == official:
        return task
    for name in _OTHER_METRICS:
        if name == metric:
            return task.with_metric(standard_metric(name))
    known = [f"{official} (official)", *(name for name in _OTHER_METRICS if name != official)]
    raise EmoscopeError(f"unknown metric {metric!r}, expected one of: {', '.join(known)}")


def scorer_sha256(task_name: str, metric: str | None = None) -> str:
    """The hash of all code that decides a score of a task by a metric, or by its own.

    >>> scorer_sha256("iest") == scorer_sha256("emocontext")
    False
    >>> scorer_sha256("iest") == scorer_sha256("iest", "accuracy")
    False
    """
    task = measured(task_name, metric)
    own = {kind.__module__ for kind in type(task).__mro__} - {"builtins", "abc"}
    # The code on the disk, which is what the next scorer runs; read again only if it has changed.
    states = []
    for name in sorted({*_SCORING_MODULES, *own}):
        spec = importlib.util.find_spec(name)
        file = Path(str(spec and spec.origin))
        status = file.stat()
        states.append((name, file, status.st_mtime_ns, status.st_size))
    return _sha256_of_code(f"{task.name} {task.labels} {task.metric.name} {task.metric.labels}", tuple(states))


@lru_cache(maxsize=64)
def _sha256_of_code(measure: str, states: tuple[tuple[str, Path, int, int], ...]) -> str:
    digest = hashlib.sha256(measure.encode())
    for name, file, _, _ in states:
        digest.update(b"\0" + name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class ChangedCodeError(Exception):
    """The code is not the code the request is for."""


class DamagedFileError(Exception):
    """A stored file's content no longer matches its name, which is its hash."""


def _check(path: str) -> None:
    with Path(path).open("rb") as handle:
        if hashlib.file_digest(handle, "sha256").hexdigest() != Path(path).name:
            raise DamagedFileError


def score(request: dict[str, Any]) -> dict[str, Any]:
    """The figures of one submission."""
    from emoscope.evaluation.score import evaluate_labels, read_gold, read_predictions

    if scorer_sha256(request["task"], request.get("metric")) != request["scorer_sha256"]:
        raise ChangedCodeError
    _check(request["gold"])
    _check(request["submission"])
    task = measured(request["task"], request.get("metric"))
    gold = read_gold(task, request["gold"])
    answers = read_predictions(task, gold, request["submission"])

    def evaluated(items: list[int], **options: Any) -> Any:
        return evaluate_labels(
            task, [gold.labels[item] for item in items], [answers[item] for item in items], **options
        )

    public, deciding = _parts(request, len(answers))
    evaluation = evaluated(deciding)
    return {
        "score": evaluation.score,
        "public_score": evaluated(public, samples=1).score if public else None,
        "low": evaluation.interval.low,
        "high": evaluation.interval.high,
        # Without the support, which would reveal how often each label is in the gold file.
        "per_class": {
            label: {"precision": result.precision, "recall": result.recall, "f1": result.f1}
            for label, result in evaluation.per_class.items()
        },
        "further": {
            name: getattr(evaluation.scores, name.replace("-", "_"))
            for name in task.metadata.further_metrics
            if name != task.metric.name
        },
    }


def _parts(request: dict[str, Any], items: int) -> tuple[list[int], list[int]]:
    """The public items, if some are, and those that decide: the rest, or all."""
    if request.get("public") is None:
        return [], list(range(items))
    _check(request["public"])
    public = json.loads(Path(request["public"]).read_bytes())
    return public, sorted(set(range(items)) - set(public))


def compare(request: dict[str, Any]) -> dict[str, Any]:
    """Clusters and column B of several submissions, by the name each was given."""
    from emoscope.evaluation.compare import compare as compare_files

    _check(request["gold"])
    deciding = _parts(request, request["items"])[1]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, source in request["submissions"]:
            # Two teams may have sent the same file, which has one place in the store.
            paths.append(Path(folder) / name)
            paths[-1].symlink_to(source)
        comparison = compare_files(
            measured(request["task"], request.get("metric")),
            request["gold"],
            paths,
            items=deciding,
            level=LEVEL,
            samples=request["samples"],
        )
    return {
        "rows": [
            {"name": Path(row.path).name, "cluster": row.cluster, "first_different": row.first_different}
            for row in comparison.rows
        ]
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The result, or the type of error and its place in our code."""
    try:
        return {"ok": True, **{"score": score, "compare": compare}[request["kind"]](request)}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        name = "the input was refused" if isinstance(error, EmoscopeError) else type(error).__name__
        return {"ok": False, "reason": f"{name} in {Path(place.filename).name}, line {place.lineno}"}


def _die_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Answer one request."""
    threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
    # Whatever a library prints must not get into the answer.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"] + 5, request["seconds"] + 5))
    json.dump(answer(request), out, allow_nan=False)
    out.flush()


if __name__ == "__main__":
    main()
