"""Errors of requests, each with its HTTP status."""

# ruff: noqa: N818 - they are named after the response

from collections.abc import Mapping, Sequence
from typing import Any

from emoscope.core.errors import EmoscopeError


class ServerError(EmoscopeError):
    """A refused request; the message is one sentence for the client."""

    status = 400
    headers: Mapping[str, str] = {}
    extra: Mapping[str, Any] = {}  # further members of the problem document

    def __init__(self, message: str, *, field: str | None = None) -> None:
        self.field = field  # the input at fault, if there is one
        super().__init__(message)


class Invalid(ServerError):
    """An invalid input."""

    status = 422


class Unauthenticated(ServerError):
    """A missing or invalid token; unknown, revoked and expired tokens get the same message."""

    status = 401
    headers: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


class NotAllowed(ServerError):
    """The actor may not do this."""

    status = 403


class NotFound(ServerError):
    """There is no such object, or the actor may not see it."""

    status = 404


class Conflict(ServerError):
    """The object's state does not allow this: a phase is closed, a name is taken."""

    status = 409


class TooLarge(ServerError):
    """An upload over the size limit."""

    status = 413


class Rejected(ServerError):
    """A submission that failed verification; `rows` are the verifier's findings, one line each.

    >>> Rejected(["a.txt, row 2: label is missing"], submission="ab12").status
    422
    """

    status = 422

    def __init__(self, rows: Sequence[str], submission: str | None = None) -> None:
        self.rows = list(rows)
        self.submission = submission  # the id under which the refusal is recorded
        self.extra = {"rows": self.rows, "submission": submission}
        super().__init__(self.rows[0] if self.rows else "the submission was refused", field="file")


class QuotaExceeded(ServerError):
    """A cap is reached; `retry_after` is the number of seconds until it resets, or None if it never does."""

    status = 429

    def __init__(self, message: str, retry_after: int | None) -> None:
        self.retry_after = retry_after
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(message)


class StoreUnavailable(ServerError):
    """The database or disk is unavailable or full; nothing was accepted, and the request can be repeated."""

    status = 503
    headers: Mapping[str, str] = {"Retry-After": "5"}
