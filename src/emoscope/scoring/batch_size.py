"""How many dialogues the model had best answer together on this machine, found by trying at the start of a run."""

import time
from collections.abc import Sequence
from itertools import chain, islice

from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.parallel.threads import one_core
from emoscope.scoring.answering import answer_batch
from emoscope.scoring.part import BATCH
from emoscope.scoring.plan import Plan
from emoscope.scoring.reading import read_part

SIZES = (128, 512, 2048)
WORTH = 50_000  # rows from which on the second it takes is gained back
SECONDS = 0.3  # for each size


def best_batch(detector: Detector, plan: Plan) -> int:
    """The fastest batch size for the first rows of the run. It changes the time that a run takes, never a score."""
    if plan.rows < WORTH:
        return BATCH
    dialogues = list(islice(chain.from_iterable(chunk.dialogues for chunk in read_part(plan, 0)), max(SIZES)))
    if not dialogues:
        return BATCH
    with one_core():
        answer_batch(detector, dialogues[:32])  # the first answers of a process are slower
        return max(SIZES, key=lambda size: rate(detector, dialogues, size))


def rate(detector: Detector, dialogues: Sequence[Dialogue], size: int) -> float:
    """Dialogues a second, in batches of a size, over about as long as is fair to spend."""
    begun = time.perf_counter()
    count = 0
    while (spent := time.perf_counter() - begun) < SECONDS:
        first = count % len(dialogues)
        count += len(answer_batch(detector, dialogues[first : first + size])[0])
    return count / spent
