"""What can go wrong between a participant and the platform; `status` is the HTTP answer it becomes."""

# ruff: noqa: N818 - these are answers as much as errors, and read better without the suffix

from collections.abc import Sequence

from emoscope.core.errors import EmoscopeError


class ChallengeError(EmoscopeError):
    """A request that cannot be granted; the message is one clear sentence for whoever asked."""

    status = 400

    def __init__(self, message: str, *, field: str | None = None) -> None:
        self.field = field  # the input at fault, where it is one
        super().__init__(message)


class Invalid(ChallengeError):
    """An input that is not acceptable; `field` names it."""

    status = 422


class Unauthenticated(ChallengeError):
    """No token, or one that is not valid: unknown, revoked and expired ones are told apart for nobody."""

    status = 401


class NotAllowed(ChallengeError):
    """The actor is known but may not do this."""

    status = 403


class NotFound(ChallengeError):
    """There is no such thing, or none that this actor may know of."""

    status = 404


class Conflict(ChallengeError):
    """The thing is not in a state that allows this: a phase is closed, a name is taken."""

    status = 409


class TooLarge(ChallengeError):
    """An upload over the size limit."""

    status = 413


class Rejected(ChallengeError):
    """A submission the task's verifier refuses; `rows` are its findings, one line each.

    >>> Rejected(["a.txt, row 2: label is missing"], submission="ab12").status
    422
    """

    status = 422

    def __init__(self, rows: Sequence[str], submission: str | None = None) -> None:
        self.rows = list(rows)
        self.submission = submission  # the id under which the refusal is recorded
        super().__init__(self.rows[0] if self.rows else "the submission was refused", field="file")


class QuotaExceeded(ChallengeError):
    """A cap is reached; `retry_after` is the number of seconds until it may be lower, or None if it never will."""

    status = 429

    def __init__(self, message: str, retry_after: int | None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class StoreUnavailable(ChallengeError):
    """The database or the disk is gone or full. Nothing was accepted; the same request may be sent again."""

    status = 503
