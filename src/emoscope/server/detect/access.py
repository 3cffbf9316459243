"""API keys and rate limits of the clients that ask for detections."""

import hashlib
import math
import mmap
import os
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import Scope

from emoscope.server.detect.keys import PREFIX, KeyFile
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem
from emoscope.server.settings import Settings

HEADER = "X-API-Key"
_SLOTS = 1 << 14  # of rate limits; clients in the same slot share a limit
_SLOT = struct.Struct("dd")  # the amount used, and when
_HEADER, _AUTHORIZATION, _BEARER = HEADER.lower().encode(), b"authorization", b"bearer "


class Buckets:
    """Leaky buckets: what was used is given back evenly over a minute. Processes that use the same file share them.

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

    @contextmanager
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


@dataclass(frozen=True, slots=True)
class Client:
    """The owner of a key, or an address. Limits are per minute; 0 means unlimited."""

    name: str
    dialogues: int
    explanations: int


class Access:
    """Authenticates clients and enforces their limits."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._refused = metrics.refused
        self._keys = KeyFile(settings.data_dir)
        self._explaining: Counter[str] = Counter()
        shared = os.environ.get("PROMETHEUS_MULTIPROC_DIR")  # shared by all processes of this server
        self._buckets = Buckets(Path(shared) / "limits.bin" if shared else None)

    def client(self, scope: Scope) -> Client:
        """The client that sent a request; a Problem if its key is not valid, or missing and required."""
        settings = self._settings
        given = _key_of(scope)
        if given is None:
            if settings.api_keys == "required":
                raise _unauthorised(f"this server requires an API key; send it in the header {HEADER}")
            address = scope["client"][0] if scope.get("client") else "unknown"
            return Client(address, settings.dialogues_per_minute, settings.explanations_per_minute)
        key = self._keys.find(given)
        if key is None:
            raise _unauthorised("the API key is not valid")
        dialogues, explanations = key.dialogues_per_minute, key.explanations_per_minute
        return Client(
            f"key {key.name}",
            settings.dialogues_per_minute if dialogues is None else dialogues,
            settings.explanations_per_minute if explanations is None else explanations,
        )

    def count(self, client: Client, dialogues: int) -> None:
        """Count dialogues against the client's limit, or refuse them."""
        if client.dialogues:
            self._take("detect", client.name, dialogues, client.dialogues, "dialogues")

    @contextmanager
    def explaining(self, client: Client) -> Iterator[None]:
        """Count an explanation while it is computed, or refuse it."""
        most = self._settings.explain_per_client
        if self._explaining[client.name] >= most:
            detail = f"you already have {most} explanations in progress; wait for one of them to finish"
            raise self._refusal("explain", "client", detail, 1)
        if client.explanations:
            self._take("explain", client.name, 1, client.explanations, "explanations")
        self._explaining[client.name] += 1
        try:
            yield
        finally:
            self._explaining[client.name] -= 1
            if not self._explaining[client.name]:
                del self._explaining[client.name]

    def _take(self, lane: str, name: str, cost: int, per_minute: int, things: str) -> None:
        if wait := self._buckets.take(f"{lane} {name}", cost, per_minute=per_minute):
            raise self._refusal(lane, "client", f"your limit is {per_minute:,} {things} per minute", wait)

    def _refusal(self, lane: str, reason: str, detail: str, seconds: int) -> Problem:
        self._refused.labels(lane, reason).inc()
        return Problem(429, "too-many", detail, headers={"Retry-After": str(seconds)})


def _key_of(scope: Scope) -> str | None:
    """The API key of a request; other bearer tokens are ignored."""
    for name, value in scope["headers"]:
        if name == _HEADER:
            return str(value.decode("latin-1"))
        if name == _AUTHORIZATION and value[:7].lower() == _BEARER:
            token = value[7:].strip().decode("latin-1")
            if token.startswith(PREFIX):
                return str(token)
    return None


def _unauthorised(detail: str) -> Problem:
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": "Bearer"})
