"""Rate limits per client and minute, shared by server processes that use the same file."""

import contextlib
import hashlib
import math
import mmap
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path

_SLOTS = 1 << 14  # clients in the same slot share a limit
_SLOT = struct.Struct("dd")  # the amount used, and when


class Buckets:
    """Leaky buckets: what was used is given back evenly over a minute.

    >>> buckets = Buckets()
    >>> buckets.take("ana", 60, per_minute=60, now=0.0), buckets.take("ana", 1, per_minute=60, now=0.0)
    (0, 1)
    >>> buckets.take("ana", 1, per_minute=60, now=2.0)
    0
    """

    def __init__(self, path: Path | None = None) -> None:
        self._descriptor = -1
        size = _SLOTS * _SLOT.size
        if path is not None:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(self._descriptor, size)
        self._table = mmap.mmap(self._descriptor, size)

    def take(self, client: str, cost: float, *, per_minute: float, now: float | None = None) -> int:
        """Take `cost` and return 0, or take nothing and return the seconds to wait.

        A cost above the limit is allowed if the bucket is empty.
        """
        # This clock is the same in all processes.
        moment = time.clock_gettime(time.CLOCK_MONOTONIC) if now is None else now
        digest = hashlib.blake2b(client.encode(errors="replace"), digest_size=8).digest()
        place = int.from_bytes(digest) % _SLOTS * _SLOT.size
        with self._locked(place):
            kept: tuple[float, float] = _SLOT.unpack_from(self._table, place)
            used, since = kept
            used = max(0.0, used - max(0.0, moment - since) * per_minute / 60)
            over = used + min(cost, per_minute) - per_minute
            if over > 1e-9:
                return max(1, math.ceil(over * 60 / per_minute))
            _SLOT.pack_into(self._table, place, used + cost, moment)
        return 0

    @contextlib.contextmanager
    def _locked(self, place: int) -> Iterator[None]:
        if self._descriptor < 0:
            yield
            return
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_EX, _SLOT.size, place)
        try:
            yield
        finally:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, _SLOT.size, place)
