"""The `emoscope` command; a user's mistake becomes one line."""

import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from emoscope.core.errors import EmoscopeError


def __getattr__(name: str) -> Any:
    if name == "app":
        from emoscope.cli.commands import made_app

        globals()["app"] = made_app()
        return globals()["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _answered(name: str, turns: Sequence[str]) -> bool:
    """Answer `emoscope detect TURN ...`, without options: to prepare for those takes as long as the answer."""
    if name != "detect" or not turns or any(turn.startswith("-") for turn in turns):
        return False
    from emoscope.cli.turns import file_arguments, show_detections

    if file_arguments(turns):
        return False
    from emoscope.detector import load

    show_detections(turns[-1:], [load().detect(turns)])
    return True


def run() -> None:
    """The entry point: exit code 0 if all went well, 1 for a negative answer, 2 for a mistake in the input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a screen without a character shows ? in its place
            stream.reconfigure(errors="replace")
    # The shell asks for completions by a variable.
    name, *arguments = sys.argv[1:] if len(sys.argv) > 1 and "_EMOSCOPE_COMPLETE" not in os.environ else [""]
    try:
        if not _answered(name, arguments):
            from emoscope.cli.commands import COMMANDS, GROUPS, whole_command

            whole_command(name if name in COMMANDS or name in GROUPS else None)(prog_name="emoscope")
    except EmoscopeError as error:
        print(f"emoscope: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our pipe has gone (`| head`): not an error, but Python would complain on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("emoscope: interrupted", file=sys.stderr)
        sys.exit(130)
