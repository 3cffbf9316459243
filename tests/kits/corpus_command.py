"""Run `emoscope corpus ...` in this process."""

from pathlib import Path

from typer.testing import CliRunner

from emoscope.cli.main import app
from emoscope.core.errors import EmoscopeError


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output, and the message of a user's mistake, for which `emoscope` exits with 2."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, EmoscopeError):
        return 2, done.stdout, str(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr
