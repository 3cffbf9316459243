"""The cores of a Ray cluster, or of this machine through Ray: each part is a task, each worker keeps the work open.

Plain tasks rather than Ray Data: a part reads and writes its own files, so nothing flows between tasks that Ray Data
could help with. Ray places the tasks, tries again those whose worker or node died, and adds nodes for those that wait.
"""

import os
import pickle
from collections.abc import Callable, Generator, Iterator
from hashlib import blake2b
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.parallel.events import Advanced, Event, Failed, Finished
from emoscope.parallel.work import Part, Steps, Take, Work

ATTEMPTS = 5
WAITING = 1000  # tasks that Ray may know of at once where no number of workers is given: what it adds nodes for
_opened: dict[str, Callable[[Any], Steps]] = {}  # the work of this worker, by its digest


def work_on_ray(work: Work, take: Take, workers: int | None, address: str | None) -> Generator[Event, None, None]:
    """Do parts as Ray tasks, on the cluster at `address` or on one that is started here for the purpose."""
    ray = _ray()
    started = not ray.is_initialized()
    if started:
        _connect(ray, workers, address)
    try:
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(_part)
        packed = pickle.dumps(work)
        digest, shared = blake2b(packed, digest_size=16).hexdigest(), ray.put(packed)
        running: dict[Any, int] = {}
        while True:
            while len(running) < (workers or WAITING) and (part := take()) is not None:
                running[task.remote(digest, shared, part)] = part.number
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                yield from _outcome(ray, reference, running.pop(reference))
    finally:
        if started:
            ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray 3 will do; the other way it warns
    return require("ray", extra="ray")


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is not None or "RAY_ADDRESS" in os.environ:
            ray.init(address=address, **quiet)
        else:
            ray.init(num_cpus=workers, include_dashboard=False, **quiet)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        where = f"no Ray cluster answers at {address}" if address else "Ray does not start"
        raise EmoscopeError(f"{where} ({(str(error).strip().splitlines() or ['?'])[0]})") from None


def _outcome(ray: Any, reference: Any, part: int) -> Iterator[Event]:
    try:
        rows, answer, problem = ray.get(reference)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        yield Failed(part, f"part {part}: its worker died {ATTEMPTS} times ({str(error).strip().splitlines()[0]})")
        return
    if problem is not None:
        yield Failed(part, problem)
    else:
        yield Advanced(part, rows)
        yield Finished(part, answer)


def _part(digest: str, work: bytes, part: Part) -> tuple[int, Any, str | None]:
    """In a worker: how many rows are done and the answer, or why they cannot be done."""
    try:
        if digest not in _opened:
            _opened.clear()
            _opened[digest] = pickle.loads(work).open()
        rows, steps = 0, _opened[digest](part.content)
        while True:
            try:
                rows += next(steps)
            except StopIteration as end:
                return rows, end.value, None
    except EmoscopeError as error:
        return 0, None, str(error)
