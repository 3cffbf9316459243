"""The challenge platform without HTTP. Modules are imported on first use, as a command needs only a few."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emoscope.server.challenge.services import (
        audit,
        challenges,
        definition,
        handouts,
        notices,
        operation,
        registration,
        submissions,
        teams,
        tokens,
    )

__all__ = [
    "audit",
    "challenges",
    "definition",
    "handouts",
    "notices",
    "operation",
    "registration",
    "submissions",
    "teams",
    "tokens",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
