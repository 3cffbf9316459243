"""The `emoscope` command; a user's mistake becomes one line."""

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from emoscope.core.errors import EmoscopeError, Interrupted


def _detected(words: Sequence[str]) -> bool:
    """Answer `emoscope detect TURN ...` without options at once: parsing those takes as long as the answer."""
    turns = words[1:]
    if words[:1] != ["detect"] or not turns or any(turn.startswith("-") for turn in turns):
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
    words = [] if "_EMOSCOPE_COMPLETE" in os.environ else sys.argv[1:]
    try:
        if not _detected(words):
            from emoscope.cli.commands import root_command

            root_command(words)(prog_name="emoscope")
        sys.stdout.flush()
    except EmoscopeError as error:
        _fail(str(error))
    except BrokenPipeError:  # the other end of the pipe is closed (`| head`): not an error
        _drop_output()
        sys.exit(0)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")
    except (KeyboardInterrupt, Interrupted) as error:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the process at once, without a traceback
        print(f"emoscope: interrupted{error}", file=sys.stderr)
        sys.exit(130)


def _fail(message: str) -> NoReturn:
    print(f"emoscope: {message}", file=sys.stderr)
    _drop_output()
    sys.exit(2)


def _drop_output() -> None:
    """Drop output that cannot be written (closed pipe, full disk), about which Python would complain on exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
