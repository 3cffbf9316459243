"""The batch size that is fastest on this machine, measured at the start of a run."""

import time
from collections.abc import Sequence
from itertools import chain, islice

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.parallel.threads import one_core
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.plan import ScoringPlan
from emoscope.scoring.predict import predict_batch
from emoscope.scoring.reading import read_part

DEFAULT = 512
CANDIDATES = (128, 512, 2048)
WORTH_MEASURING = 50_000  # rows of a run from which measuring pays off
SECONDS = 0.3  # for each candidate


def measure_batch_size(detector: Detector, plan: ScoringPlan, output: OutputFolder) -> int:
    """The batch size that is fastest on the first rows of the run; scores do not depend on it."""
    if plan.rows < WORTH_MEASURING:
        return DEFAULT
    dialogues = list(
        islice(chain.from_iterable(chunk.dialogues for chunk in read_part(plan, 0, output)), max(CANDIDATES))
    )
    if not dialogues:
        return DEFAULT
    with one_core():
        predict_batch(detector, dialogues[:32])  # warm up
        return max(CANDIDATES, key=lambda size: _dialogues_per_second(detector, dialogues, size))


def _dialogues_per_second(detector: Detector, dialogues: Sequence[Dialogue], size: int) -> float:
    start = time.perf_counter()
    count = 0
    while (seconds := time.perf_counter() - start) < SECONDS:
        first = count % len(dialogues)
        batch = dialogues[first : first + size]
        predict_batch(detector, batch)
        count += len(batch)
    return count / seconds
