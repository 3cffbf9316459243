"""Detection for many clients at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from emoscope.core.dialogue import Detection, Dialogue
from emoscope.detector import Detector
from emoscope.detector.explain import Explanation
from emoscope.server.detect.batcher import Answer, Batcher
from emoscope.server.detect.heads import Heads
from emoscope.server.http.metrics import Metrics
from emoscope.server.settings import Settings


@dataclass(frozen=True, slots=True)
class Question:
    """A dialogue to explain, and the label, if it is not to be the answer's."""

    dialogue: Dialogue
    label: str | None


class DetectService:
    """The model behind its queues: one for detections, one for explanations, which take a thousand times as long."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.heads = Heads.load(settings.model)
        self._metrics = metrics
        self._detections: Batcher[Detector, Dialogue, Detection] = Batcher(
            _detect,
            lane="detect",
            size=settings.batch_dialogues,
            capacity=settings.queue_dialogues,
            deadline=settings.deadline_seconds,
            metrics=metrics,
        )
        self._explanations: Batcher[Detector, Question, Explanation] = Batcher(
            _explain,
            lane="explain",
            size=1,
            capacity=settings.explain_queue,
            deadline=settings.explain_deadline_seconds,
            metrics=metrics,
        )

    async def detect(self, detector: Detector, dialogues: Sequence[Dialogue]) -> Answer[Detection]:
        """A detection for each dialogue."""
        answer = await self._detections.submit(detector, dialogues)
        for detection in answer.results:
            self._metrics.labels.labels(detector.head, detection.label or "none").inc()
        return answer

    async def explain(self, detector: Detector, question: Question) -> Answer[Explanation]:
        """What carried the answer."""
        return await self._explanations.submit(detector, [question])

    def close(self) -> None:
        """Finish what was accepted."""
        self._detections.close()
        self._explanations.close()


def _detect(detector: Detector, dialogues: list[Dialogue]) -> list[Detection]:
    return list(detector.detect_many(dialogues))


def _explain(detector: Detector, questions: list[Question]) -> list[Explanation]:
    return [detector.explain(question.dialogue, label=question.label) for question in questions]
