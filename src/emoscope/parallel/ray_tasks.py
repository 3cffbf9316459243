"""Parts as tasks of a Ray cluster, or of Ray on this machine; each worker unpickles the function once.

Plain tasks rather than Ray Data: a part reads and writes its own files, so nothing flows between tasks that Ray Data
could help with. Ray places the tasks, repeats those whose worker or node died, and adds nodes for those that wait.
"""

import os
import pickle
import socket
from collections.abc import Callable, Generator
from hashlib import blake2b
from typing import Any

from emoscope.core.errors import EmoscopeError, first_line
from emoscope.core.extras import require
from emoscope.parallel.executor import PartResult, TakeItem, WorkItem
from emoscope.parallel.progress import Report, reporting_to

ATTEMPTS = 5
CONNECT_SECONDS = 10.0
_HTTP2_SETTINGS = b"\x04"
_HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _HTTP2_SETTINGS + b"\0" * 5
MOST_TASKS = 1000  # that Ray knows of at once if the number of workers is not given: what it adds nodes for
_functions: dict[str, Callable[[Any], Any]] = {}  # of this worker, by digest; only the last one is kept


def run_on_ray(
    function: Callable[[Any], Any], take: TakeItem, workers: int | None, address: str | None, progress: Report
) -> Generator[PartResult, None, None]:
    """Do parts as Ray tasks, and yield each outcome as it comes."""
    # Ray reads these from the environment only, when it starts.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray 3 will do; the other way it warns
    ray = require("ray", extra="ray")
    started = not ray.is_initialized()
    if started:
        _connect(ray, workers, address)
    try:
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(run_part)
        pickled = pickle.dumps(function)
        digest, shared = blake2b(pickled, digest_size=16).hexdigest(), ray.put(pickled)
        running: dict[Any, WorkItem] = {}
        while True:
            while len(running) < (workers or MOST_TASKS) and (item := take()) is not None:
                running[task.remote(digest, shared, item)] = item
            if not running:
                return
            (reference,), _ = ray.wait(list(running), num_returns=1)
            item = running.pop(reference)
            try:
                outcome, advanced = ray.get(reference)
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.RayError as error:
                outcome, advanced = item.death(ATTEMPTS, first_line(error)), 0
            progress(advanced)
            yield outcome
    finally:
        if started:
            ray.shutdown()


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    """Join the cluster that is named, by the option or by `RAY_ADDRESS`; or start one, whatever else runs here."""
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        if address is not None:
            _check_answers(_host_and_port(ray, address))
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        where = f"no Ray cluster answers at {address}" if address else "Ray does not start"
        raise EmoscopeError(f"{where} ({getattr(error, 'strerror', None) or first_line(error)})") from None


def _host_and_port(ray: Any, address: str) -> str:
    if address != "auto":
        return address.removeprefix("ray://")
    return str(ray._private.services.canonicalize_bootstrap_address(address))


def _check_answers(address: str) -> None:
    """Ask at an address for what every gRPC server says first, because Ray itself waits for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError("expected HOST:PORT, ray://HOST:PORT or auto")
    with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as server:
        if os.environ.get("RAY_USE_TLS", "0") in ("0", ""):
            server.settimeout(CONNECT_SECONDS)
            server.sendall(_HTTP2_GREETING)
            if server.recv(9)[3:4] != _HTTP2_SETTINGS:
                raise ConnectionError("something else than Ray is there")


def run_part(digest: str, pickled: bytes, item: WorkItem) -> tuple[PartResult, int]:
    """In a worker: the outcome of a part, and how far it advanced."""
    advanced: list[int] = []
    try:
        if digest not in _functions:
            _functions.clear()
            _functions[digest] = pickle.loads(pickled)
        with reporting_to(advanced.append):
            return PartResult(item.number, _functions[digest](item.content)), sum(advanced)
    except EmoscopeError as error:
        return PartResult(item.number, problem=str(error)), 0
