"""Which parts to start a second time, because their worker is slow or stuck."""

import time
from collections import Counter, deque
from collections.abc import Collection
from statistics import median

from emoscope.parallel.executor import WorkItem

FACTOR = 5.0  # times the median duration of finished parts
LEAST_SECONDS = 10.0  # minimum, in which a new worker can load its model
LEAST_PARTS = 3  # finished parts needed for a median


class Stragglers:
    """Finds late parts: those still running long after a worker became idle with nothing left to start."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=1000)
        self._since: float | None = None

    def ended(self, seconds: float) -> None:
        """Record how long a part took."""
        self._seconds.append(seconds)

    def late(self, running: Collection[WorkItem], free: int) -> tuple[list[WorkItem], float | None]:
        """The parts for `free` workers to start again, and in how many seconds to ask again, if at all."""
        now = time.monotonic()
        self._since = None if free <= 0 else self._since or now
        tries = Counter(item.number for item in running)
        once = [item for item in running if tries[item.number] == 1]
        if self._since is None or not once or len(self._seconds) < LEAST_PARTS:
            return [], None
        left = self._since + max(LEAST_SECONDS, FACTOR * median(self._seconds)) - now
        return ([], left) if left > 0 else (once[:free], None)
