"""All commands in one application, for tests and tools that call them in this process."""

from emoscope.cli.commands import build_app

app = build_app()
