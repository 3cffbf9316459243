"""The `emoscope` command; a user's mistake becomes one line."""

import io
import os
import sys
from collections.abc import Sequence

from emoscope.core.errors import EmoscopeError


def _detected(name: str, turns: Sequence[str]) -> bool:
    """Answer `emoscope detect TURN ...` without options at once: parsing those takes as long as the answer."""
    if name != "detect" or not turns or any(turn.startswith("-") for turn in turns):
        return False
    from emoscope.cli.turns import file_arguments, show_detections

    if file_arguments(turns):
        return False
    from emoscope.detector import load

    show_detections(turns[-1:], [load().detect(turns)])
    return True


def run() -> None:
    """The entry point: exit code 0 for success, 1 for a negative answer, 2 for a mistake in the input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters the terminal cannot show become ?
            stream.reconfigure(errors="replace")
    # The shell asks for completions with an environment variable.
    name, *arguments = sys.argv[1:] if len(sys.argv) > 1 and "_EMOSCOPE_COMPLETE" not in os.environ else [""]
    try:
        if not _detected(name, arguments):
            from emoscope.cli.commands import COMMANDS, GROUPS, root_command

            root_command(name if name in COMMANDS or name in GROUPS else None)(prog_name="emoscope")
    except EmoscopeError as error:
        print(f"emoscope: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The other end of the pipe is closed (`| head`): not an error, but Python would complain on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("emoscope: interrupted", file=sys.stderr)
        sys.exit(130)
