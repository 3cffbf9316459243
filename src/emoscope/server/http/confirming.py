"""Asks the user to type a name before something that cannot be undone."""

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from emoscope.server.errors import Invalid
from emoscope.server.store.names import name_key


def unconfirmed(page: Callable[..., Response], typed: str, expected: str, **values: Any) -> Response | None:
    """The page that asks for the expected name; None if it was typed."""
    if name_key(typed.strip()) == name_key(expected):
        return None
    error = Invalid(f"what was typed is not {expected!r}") if typed.strip() else None
    return page(**({"hidden": {}, "expected": expected, "error": error} | values))
