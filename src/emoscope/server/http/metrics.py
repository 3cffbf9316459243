"""The server's Prometheus metrics."""

import os
import platform
import re
import time
from collections.abc import Iterable, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Receive, Scope, Send

from emoscope import __version__

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one app, in its own registry, so that two apps in a process do not share them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        seconds = partial(Histogram, registry=self._registry, buckets=_SECONDS)
        self.requests = counter("emoscope_http_requests", "Requests answered", ["method", "route", "status"])
        self.seconds = seconds("emoscope_http_seconds", "From a request's arrival to its answer's end", ["route"])
        self.queue_seconds = seconds("emoscope_queue_seconds", "How long work waited for the model", ["lane"])
        self.inference_seconds = seconds("emoscope_inference_seconds", "How long the model took", ["lane"])
        self.batch_dialogues = Histogram(
            "emoscope_batch_dialogues", "Dialogues given to the model at once", buckets=_SIZES, registry=self._registry
        )
        self.labels = counter("emoscope_labels", "Answers given", ["labels", "label"])
        self.accepted = counter("emoscope_accepted", "Requests let into the queue", ["lane"])
        self.refused = counter("emoscope_refused", "Work not done, by reason", ["lane", "reason"])
        self.waiting = Gauge(
            "emoscope_waiting", "Work waiting now", ["lane"], registry=self._registry, multiprocess_mode="livesum"
        )
        self._build = Gauge(
            "emoscope_build_info",
            "The version that runs",
            ["version", "python", "model"],
            registry=self._registry,
            multiprocess_mode="livemax",
        )

    def running(self, model: str) -> None:
        """Publish the version and the model."""
        self._build.labels(__version__, platform.python_version(), model).set(1)

    def text(self, *more: Metric) -> bytes:
        """All metrics, and the additional ones given, in Prometheus' text format."""
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        registry = CollectorRegistry()
        if folder:  # several workers answer as one server
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        else:
            registry.register(_Given(self._registry.collect()))
        registry.register(_Given([*_processes(folder), *more]))
        return generate_latest(registry)


class _Given(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _processes(folder: str | None) -> list[Metric]:
    """Memory, CPU time and open files of all processes of this server together, and the start of the oldest."""
    pids = {os.getpid()}
    for path in Path(folder).glob("*.db") if folder else ():
        if (found := re.search(r"_(\d+)\.db$", path.name)) and Path("/proc", found[1]).exists():
            pids.add(int(found[1]))
    sums: dict[str, Metric] = {}
    for pid in pids:
        for metric in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
            if metric.name not in sums:
                sums[metric.name] = metric
                continue
            (one,), (other,) = sums[metric.name].samples, metric.samples
            merge = min if metric.name in ("process_start_time_seconds", "process_max_fds") else float.__add__
            sums[metric.name].samples = [one._replace(value=merge(float(one.value), float(other.value)))]
    return list(sums.values())


class RequestMetrics:
    """Counts requests by route; paths would be unbounded."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = 500

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", None) or "none"
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(method, route, status).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - begun)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
