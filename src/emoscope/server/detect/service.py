"""Detection for many clients at once."""

from collections.abc import Sequence

from emoscope.core.dialogue import Detection, Dialogue
from emoscope.detector import Detector
from emoscope.detector.explain import Explanation
from emoscope.server.detect.batcher import Batcher, BatchResult
from emoscope.server.detect.heads import Heads
from emoscope.server.http.metrics import Metrics
from emoscope.server.settings import Settings

ExplainRequest = tuple[Dialogue, str | None]  # and the label to explain, if it is not the detected one


class DetectService:
    """The model behind two queues: detections, and explanations, which take a thousand times as long."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.heads = Heads(settings.model)
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
            lambda detector, asked: [detector.explain(dialogue, label=label) for dialogue, label in asked],
            lane="explain",
            size=1,
            capacity=settings.explain_queue,
            deadline=settings.explain_deadline_seconds,
            metrics=metrics,
        )

    async def detect(self, detector: Detector, dialogues: Sequence[Dialogue]) -> BatchResult[Detection]:
        """A detection for each dialogue."""
        answer = await self._detections.submit(detector, dialogues)
        for detection in answer.results:
            self._metrics.labels.labels(detector.head, detection.label or "none").inc()
        return answer

    async def explain(self, detector: Detector, request: ExplainRequest) -> BatchResult[Explanation]:
        """Which turns and words carried the answer."""
        return await self._explanations.submit(detector, [request])

    def close(self) -> None:
        """Finish what was accepted."""
        self._detections.close()
        self._explanations.close()
