"""Every command that can be typed."""

from collections.abc import Iterator
from typing import Any

from emoscope.cli.commands import root_command


def leaf_commands(command: Any = None, path: str = "") -> dict[str, Any]:
    """What is typed after `emoscope`, and the command."""
    return dict(_leaves(command or root_command(), path))


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, each in inner.items():
        yield from _leaves(each, f"{path} {name}".strip())
