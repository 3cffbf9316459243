"""Turns as arguments, detections on the terminal: all that `detect` without options needs, so that it starts fast."""

import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from emoscope.core.colours import COLOURS
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.core.dialogue import Detection

_SHOWN = 400  # characters of a turn on the screen
_GAP = " ... "
# Control characters, which steer a terminal, and those that turn the direction of the text.
CONTROLS = dict.fromkeys([*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " ")
_PATH = re.compile(r"(?:\.{1,2}|~)/\S*\w\S*|/\w\S*/\S*|\w[\w.-]+(?:/[\w.-]+)*/")
_DOCUMENTS = (".doc", ".docx", ".html", ".ods", ".pdf", ".xls", ".xlsx", ".xml", ".zip")


def file_arguments(arguments: Sequence[str]) -> list[str]:
    """The files that the arguments name, folders expanded; empty if the arguments are turns."""
    from emoscope.tables import PIPE

    named = [argument for argument in arguments if argument == PIPE or _names_file(argument)]
    existing = [argument for argument in arguments if argument == PIPE or _exists(argument)]
    if not named and len(existing) < len(arguments):
        if not any(map(str.strip, arguments)):
            raise EmoscopeError("nothing to label: the turns have no text")
        for argument in filter(_resembles_file, arguments):
            print(f"note: there is no file {argument!r}; it was read as what somebody said", file=sys.stderr)
        for argument in filter(_is_json, arguments):
            said = f"note: {elided(argument, 60).translate(CONTROLS)} was read as what somebody said"
            print(f"{said}; JSON goes into a file, or a pipe: echo '...' | emoscope detect -", file=sys.stderr)
        return []  # a turn may happen to be the name of a file
    if missing := [argument for argument in arguments if argument not in existing]:
        if len(named) == len(arguments):
            raise EmoscopeError(f"{missing[0]}: no such file")
        raise EmoscopeError(f"{named[0]} is a file, {missing[0]!r} is not; give files, or the turns of one dialogue")
    return [file for argument in arguments for file in _files_in(argument)]


def _names_file(argument: str) -> bool:
    from emoscope.tables.formats import suffix_format

    plain = not any(character.isspace() for character in argument)
    return (plain and suffix_format(argument) is not None) or (argument.endswith(("/", os.sep)) and _exists(argument))


def _resembles_file(argument: str) -> bool:
    """Whether a word looks like a path, or ends like a document's name, or almost like a table's."""
    from emoscope.tables.formats import SUFFIXES

    suffix = "" if any(map(str.isspace, argument)) else Path(argument).suffix.lower()
    return (
        bool(_PATH.fullmatch(argument))
        or suffix in _DOCUMENTS
        or bool(get_close_matches(suffix, SUFFIXES, n=1, cutoff=0.8))
    )


def _is_json(argument: str) -> bool:
    """Whether a turn is a JSON object or list."""
    if argument.strip()[:1] not in ("{", "["):
        return False
    import json

    try:
        json.loads(argument)
    except (ValueError, RecursionError):
        return False
    return True


def _exists(argument: str) -> bool:
    return 0 < len(argument) < 4096 and "\x00" not in argument and Path(argument).exists()


def _files_in(named: str) -> list[str]:
    """The file itself, or the tables in a folder, except those whose names begin with a dot or underscore."""
    from emoscope.tables.formats import suffix_format

    folder = Path(named)
    if not folder.is_dir():
        return [named]
    inner = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    chosen = [path for path in inner if suffix_format(path.name) and not any(part[0] in "._" for part in path.parts)]
    if not chosen:
        raise EmoscopeError(
            f"{named}: is a folder without tables; to label the word itself: echo {named} | emoscope detect -"
        )
    return [str(folder / path) for path in chosen]


def show_detections(turns: Sequence[str], detections: "list[Detection]") -> None:
    """Print one line per turn: the label in its colour, its probability, and the text."""
    screen, block = console(), "█" if encodable("█") else "#"
    for text, detection in zip(turns, detections, strict=True):
        sure = detection.score if detection.label is None else detection.scores[detection.label]
        padding = " " * (9 - len(detection.label or "unsure"))
        answer = f"{coloured(detection.label)}{padding}{sure:6.1%} {block * round(sure * 10):<10}"
        screen.print(f"{answer}  {escape(elided(text, _SHOWN).translate(CONTROLS))}")
        if detection.note:
            screen.print(f"[dim]{' ' * 27}note: {escape(detection.note)}[/]")
    if any(detection.truncated for detection in detections):
        screen.print("[dim]Input was cut: the model reads a few turns, and of a long one only its start and end.[/]")
    if len(detections) == 1:
        rest = sorted(detections[0].scores.items(), key=lambda pair: -pair[1])
        screen.print("[dim]" + "  ".join(f"{label} {score:.1%}" for label, score in rest) + "[/]")


class _Console(Console):
    """A console that leaves a closed pipe (`| head`) to `emoscope.cli.main`; rich would exit with code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that is wide enough for tables when output goes to a file or pipe."""
    stream = sys.stderr if stderr else sys.stdout
    # Without COLUMNS and without a terminal, rich would wrap at 80.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 140
    return _Console(file=stream, width=width, highlight=False)


def encodable(text: str) -> bool:
    """Whether standard output can encode these characters.

    >>> encodable("plain")
    True
    """
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def elided(text: str, length: int) -> str:
    """A text of at most this length: of a longer one, the start and the end.

    >>> elided("abcdefghijklmnop", 11)
    'abc ... nop'
    """
    half = (length - len(_GAP)) // 2
    return text if len(text) <= length else f"{text[:half]}{_GAP}{text[-half:]}"


def coloured(label: str | None) -> str:
    """A label in its colour, as rich markup."""
    colour = COLOURS.get(label or "", "white")
    return f"[bold {colour}]{label or 'unsure'}[/]"
