"""Detections and explanations for many clients at once."""

import contextlib
import os
import threading
from collections.abc import Sequence
from functools import partial

from emoscope.core.dialogue import Detection, Dialogue
from emoscope.detector import Detector
from emoscope.detector.explain import Explanation
from emoscope.parallel.threads import one_core
from emoscope.server.detect.access import Access, Client
from emoscope.server.detect.batcher import Batcher, BatchResult
from emoscope.server.detect.heads import Heads
from emoscope.server.http.metrics import Metrics
from emoscope.server.settings import Settings

ExplainRequest = tuple[Dialogue, str | None]  # the label to explain; None: the detected one

_LARGE_BYTES = 1 << 14


class DetectService:
    """The model behind two queues: detections, and explanations, which take a thousand times as long."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.heads = Heads(settings.model)
        self.access = Access(settings, metrics)
        self._metrics = metrics
        self._detections: Batcher[Detector, Dialogue, Detection] = Batcher(
            lambda detector, dialogues: list(detector.detect_many(dialogues)),
            lane="detect",
            size=settings.batch_dialogues,
            capacity=settings.queue_dialogues,
            deadline=settings.deadline_seconds,
            metrics=metrics,
        )
        self._explanations: Batcher[Detector, ExplainRequest, Explanation] = Batcher(
            partial(_explain, settings.explain_evaluations),
            lane="explain",
            size=1,
            capacity=settings.explain_queue,
            deadline=settings.explain_deadline_seconds,
            metrics=metrics,
        )

    async def detect(self, detector: Detector, dialogues: Sequence[Dialogue], client: str) -> BatchResult[Detection]:
        """A detection for each dialogue; clients take turns."""
        answer = await self._detections.submit(detector, dialogues, client)
        for detection in answer.results:
            self._metrics.labels.labels(detector.head, detection.label or "none").inc()
        return answer

    def refuse_large(self, length: int) -> None:
        """Refuse a large body before it is read if the queue is nearly full."""
        if length > _LARGE_BYTES:
            self._detections.refuse_if_full()

    async def explain(self, detector: Detector, request: ExplainRequest, client: Client) -> BatchResult[Explanation]:
        """An explanation, within the client's limits."""
        with self.access.explaining(client):
            return await self._explanations.submit(detector, [request], client.name)

    def close(self) -> None:
        """Finish all accepted requests."""
        self._detections.close()
        self._explanations.close()


def _explain(evaluations: int, detector: Detector, requests: Sequence[ExplainRequest]) -> list[Explanation]:
    """Explain on one core with low priority, so that detections are not slowed down."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
    with one_core():
        return [detector.explain(dialogue, label=label, evaluations=evaluations) for dialogue, label in requests]
