"""`emoscope challenge`: create a shared task, open and close its phases, rescore, show boards and export them."""

from emoscope.cli.challenge import challenges, operation, organising
from emoscope.cli.challenge.command import group

__all__ = ["challenges", "group", "operation", "organising"]
