"""API keys and rate limits of the clients that ask for detections."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import Scope

from emoscope.server.detect.buckets import Buckets
from emoscope.server.detect.keys import PREFIX, KeyFile
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem
from emoscope.server.settings import Settings

HEADER = "X-API-Key"
_HEADER, _AUTHORIZATION, _BEARER = HEADER.lower().encode(), b"authorization", b"bearer "


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
