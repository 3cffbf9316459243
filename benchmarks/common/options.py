"""The command lines of the benchmarks: the module's docstring as help, and the options that several share."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from emoscope.tasks.data import data_root

_SHARED: dict[str, dict[str, Any]] = {
    "data": {
        "type": Path,
        "default": data_root(),
        "help": "folder with the tasks' data; by default $EMOSCOPE_DATA, else the download cache",
    },
    "model": {"default": "default", "help": "an embedded model, or the folder of one"},
    "seed": {"type": int, "default": 1},
    "busy": {"action": "store_true", "help": "measure even if other work takes part of the machine"},
    "write": {"action": "store_true", "help": "write the tables into their page in docs/results"},
}


def command_line(description: str | None, *shared: str) -> ArgumentParser:
    """A parser with shared options, such as `data` for `--data`."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    add_options(parser, *shared)
    return parser


def add_options(parser: ArgumentParser, *shared: str) -> None:
    """Add shared options to a parser, for those with subcommands."""
    for name in shared:
        parser.add_argument(f"--{name}", **_SHARED[name])
