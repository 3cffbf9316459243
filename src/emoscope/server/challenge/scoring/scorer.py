"""The process that scores: apart from the server, so that it can be killed, and mute, so that it tells no gold.

It reads one request as JSON from standard input and answers with one on standard output. What goes wrong is told by
kind and place in our code, never by message: a message about the gold file could quote it.
"""

import contextlib
import hashlib
import importlib.util
import json
import math
import os
import resource
import sys
import tempfile
import threading
import time
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.scoring.measure import measured

# What decides a score. A change in any of these files makes earlier results stale.
_SCORING_MODULES = (
    "emoscope.core.metrics",
    "emoscope.core.significance",
    "emoscope.evaluation.score",
    "emoscope.core.files",
    "emoscope.tasks.base",
    "emoscope.tables.json_stream",
    "emoscope.server.challenge.scoring.measure",
    "emoscope.server.challenge.scoring.scorer",
)
LEVEL = 0.99  # of significance, as in the IEST paper


def scorer_sha256(task_name: str, metric: str | None = None) -> str:
    """The hash of all code that decides a score of a task by a metric, or by its own.

    >>> scorer_sha256("iest") == scorer_sha256("emocontext")
    False
    >>> scorer_sha256("iest") == scorer_sha256("iest", "accuracy")
    False
    """
    task = measured(task_name, metric)
    own = {kind.__module__ for kind in type(task).__mro__} - {"builtins", "abc"}
    # As the code lies on the disk, for that is what the next scorer runs; read again only where it has changed.
    states = []
    for name in sorted({*_SCORING_MODULES, *own}):
        spec = importlib.util.find_spec(name)
        file = Path(str(spec and spec.origin))
        found = file.stat()
        states.append((name, file, found.st_mtime_ns, found.st_size))
    return _sha256_of_code(f"{task.name} {task.metadata.metric.name}", tuple(states))


@lru_cache(maxsize=64)
def _sha256_of_code(measure: str, states: tuple[tuple[str, Path, int, int], ...]) -> str:
    digest = hashlib.sha256(measure.encode())
    for name, file, _, _ in states:
        digest.update(b"\0" + name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class ChangedCodeError(Exception):
    """The code is not that for which the score was asked; the next attempt is for the present one."""


class DamagedFileError(Exception):
    """A stored file is no longer what its name says; a score from it would be nobody's."""


def _check(path: str) -> None:
    """Files in the store are named by the hash of what they hold."""
    with Path(path).open("rb") as handle:
        if hashlib.file_digest(handle, "sha256").hexdigest() != Path(path).name:
            raise DamagedFileError


def score(request: dict[str, Any]) -> dict[str, Any]:
    """The figures of one submission."""
    from emoscope.evaluation.score import evaluate

    if scorer_sha256(request["task"], request.get("metric")) != request["scorer_sha256"]:
        raise ChangedCodeError
    _check(request["gold"])
    _check(request["submission"])
    found = evaluate(measured(request["task"], request.get("metric")), request["gold"], request["submission"])
    figures = [found.score, found.interval.low, found.interval.high]
    if not all(math.isfinite(value) for value in figures):
        raise ArithmeticError("not a finite score")
    return {
        "score": found.score,
        "low": found.interval.low,
        "high": found.interval.high,
        # Without the support, which would tell how often each label is in the gold file.
        "per_class": {
            label: {"precision": result.precision, "recall": result.recall, "f1": result.f1}
            for label, result in found.per_class.items()
        },
    }


def compare(request: dict[str, Any]) -> dict[str, Any]:
    """Clusters and column B of several submissions, by the name each was given."""
    from emoscope.evaluation.compare import compare as compare_files

    _check(request["gold"])
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, source in request["submissions"]:
            # Two teams may have sent the same file, which has one place in the store.
            paths.append(Path(folder) / name)
            paths[-1].symlink_to(source)
        found = compare_files(
            measured(request["task"], request.get("metric")),
            request["gold"],
            paths,
            level=LEVEL,
            samples=request["samples"],
        )
    return {
        "rows": [
            {"name": Path(row.path).name, "cluster": row.cluster, "first_different": row.first_different}
            for row in found.rows
        ]
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, or the kind of error and where in our code it arose."""
    try:
        return {"ok": True, **{"score": score, "compare": compare}[request["kind"]](request)}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        name = "the input was refused" if isinstance(error, EmoscopeError) else type(error).__name__
        return {"ok": False, "reason": f"{name} in {Path(place.filename).name}, line {place.lineno}"}


def _die_with_parent(parent: int) -> None:
    """A scorer whose worker is gone has nobody to answer."""
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
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"] + 5, request["seconds"] + 5))
    json.dump(answer(request), out, allow_nan=False)
    out.flush()


if __name__ == "__main__":
    main()
