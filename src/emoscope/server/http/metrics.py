"""The server's Prometheus metrics."""

import os
import time
from collections.abc import MutableMapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Receive, Scope, Send

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one app, with a registry of its own, so that two apps in one process do not mix."""

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

    def text(self) -> bytes:
        """Everything in Prometheus' format."""
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # several workers answer as one server
            shared = CollectorRegistry()
            MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
            return generate_latest(shared)
        return generate_latest(self._registry)


class RequestMetrics:
    """Counts requests by route, never by path, which clients choose freely."""

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
