"""Parts as tasks of a Ray cluster, or of Ray on this machine; each worker unpickles the function once.

Plain tasks rather than Ray Data: a part reads and writes its own files, so no data flow between tasks. Ray places the
tasks, repeats those whose worker or node died, and adds nodes for waiting ones.
"""

import os
import pickle
import socket
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from emoscope.core.errors import EmoscopeError, first_line
from emoscope.core.extras import require
from emoscope.parallel.executor import PartResult, TakeItem, WorkItem
from emoscope.parallel.progress import Report, reporting_to
from emoscope.parallel.stragglers import Stragglers

ATTEMPTS = 5
CONNECT_SECONDS = 10.0
_HTTP2_SETTINGS = b"\x04"
_HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _HTTP2_SETTINGS + b"\0" * 5
MOST_TASKS = 1000  # submitted at once if the number of workers is not given; Ray adds nodes for those that wait
_functions: dict[str, Callable[[Any], Any]] = {}  # this worker's functions by digest; only the last one is kept


def run_on_ray(
    function: Callable[[Any], Any],
    take: TakeItem,
    workers: int | None,
    address: str | None,
    progress: Report,
    *,
    repeat: bool,
) -> Generator[PartResult, None, None]:
    """Process parts as Ray tasks, and yield each outcome as it comes.

    With `repeat`, a late part is started a second time on another node, and the first result counts.
    """
    # Ray reads these only from the environment, at its start.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the default of Ray 3; otherwise it warns
    ray = require("ray", extra="ray")
    started = not ray.is_initialized()
    if started:
        _connect(ray, workers, address)
    tasks = _Tasks(ray, function)
    limit = workers or MOST_TASKS
    try:
        while True:
            while len(tasks.running) < limit and (item := take()) is not None:
                tasks.begin(item)
            if not tasks.running:
                return
            free = 0
            if repeat and len(tasks.running) < limit:  # nothing left to start, but some may still wait for a core
                free = (workers or int(ray.cluster_resources().get("CPU", 0))) - len(tasks.running)
            again, seconds = tasks.stragglers.late(tasks.running.values(), free)
            for item in again:
                tasks.begin(item, scheduling_strategy="SPREAD")  # its own node may be the slow one
            for reference in ray.wait(list(tasks.running), num_returns=1, timeout=seconds)[0]:
                outcome, advanced = tasks.end(reference)
                progress(advanced)
                yield outcome
    finally:
        tasks.cancel(list(tasks.running))
        if started:
            ray.shutdown()


class _Tasks:
    """The submitted tasks, each the first or second attempt at a part."""

    def __init__(self, ray: Any, function: Callable[[Any], Any]) -> None:
        self._ray = ray
        # Settings that must be the same on all machines; otherwise Ray's workers have the environment of their node.
        alike = {name: os.environ[name] for name in ("EMOSCOPE_NATIVE",) if name in os.environ}
        settings = {"runtime_env": {"env_vars": alike}} if alike else {}
        self._task = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1, **settings)(run_part)
        pickled = pickle.dumps(function)
        self._function = blake2b(pickled, digest_size=16).hexdigest(), ray.put(pickled)
        self.running: dict[Any, WorkItem] = {}  # by the task's reference
        self.stragglers = Stragglers()

    def begin(self, item: WorkItem, **options: str) -> None:
        self.running[self._task.options(**options).remote(*self._function, item)] = item

    def end(self, reference: Any) -> tuple[PartResult, int]:
        """The outcome of a task and its progress; another task of the same part is cancelled."""
        item = self.running.pop(reference)
        try:
            outcome, advanced, seconds = self._ray.get(reference)
            self.stragglers.ended(seconds)
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as error:
            outcome, advanced = item.death(ATTEMPTS, first_line(error)), 0
        self.cancel([other for other, same in self.running.items() if same.number == item.number])
        return outcome, advanced

    def cancel(self, references: Sequence[Any]) -> None:
        for reference in references:
            del self.running[reference]
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(reference, force=True)


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    """Join the cluster given by the option or `RAY_ADDRESS`, or start a new one on this machine."""
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        if address is not None:
            _check_answers(_host_and_port(ray, address))
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    except Exception as error:  # Ray raises a plain one if the machine is too busy
        where = f"no Ray cluster answers at {address}" if address else "Ray does not start"
        raise EmoscopeError(f"{where} ({getattr(error, 'strerror', None) or first_line(error)})") from None


def _host_and_port(ray: Any, address: str) -> str:
    if address != "auto":
        return address.removeprefix("ray://")
    return str(ray._private.services.canonicalize_bootstrap_address(address))


def _check_answers(address: str) -> None:
    """Check that a gRPC server answers at an address, because Ray itself waits for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError("expected HOST:PORT, ray://HOST:PORT or auto")
    with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as server:
        if os.environ.get("RAY_USE_TLS", "0") in ("0", ""):
            server.settimeout(CONNECT_SECONDS)
            server.sendall(_HTTP2_GREETING)
            if server.recv(9)[3:4] != _HTTP2_SETTINGS:
                raise ConnectionError("it is not a Ray server")


def run_part(digest: str, pickled: bytes, item: WorkItem) -> tuple[PartResult, int, float]:
    """Process a part in a worker; returns its outcome, its progress and the seconds it took."""
    advanced: list[int] = []
    start = time.monotonic()
    try:
        if digest not in _functions:
            _functions.clear()
            _functions[digest] = pickle.loads(pickled)
        with reporting_to(advanced.append):
            outcome = PartResult(item.number, _functions[digest](item.content))
    except EmoscopeError as error:
        outcome = PartResult(item.number, problem=str(error))
        advanced.clear()
    return outcome, sum(advanced), time.monotonic() - start
