"""Run `emoscope corpus ...`: in this process, or in one that is killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.core.errors import EmoscopeError


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output, and the message of a user's mistake, for which `emoscope` exits with 2."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, EmoscopeError):
        return 2, done.stdout, str(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def stdout_of(*arguments: str | Path, stdin: str | None = None) -> str:
    """Standard output of a command that succeeds; a user's mistake is raised."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def kill_once_writing(folder: Path, pattern: str, *arguments: str | Path, stdin: str = "") -> None:
    """Start a command, and kill it as soon as it has made a file in `folder` that matches a pattern."""
    command = [sys.executable, "-c", "from emoscope.cli.main import run; run()", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(stdin.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not list(folder.glob(pattern)) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        assert list(folder.glob(pattern)), "it never began to write"
        process.kill()
        process.wait()
