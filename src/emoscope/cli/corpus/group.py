"""`emoscope corpus`: from raw logs to a labelled corpus. Each command is a module of its own."""

from collections.abc import Callable

import typer

from emoscope.cli.corpus.aggregate import aggregate
from emoscope.cli.corpus.agreement import agreement
from emoscope.cli.corpus.annotate import annotate, annotate_export
from emoscope.cli.corpus.augment import augment_cli
from emoscope.cli.corpus.build import build_cli
from emoscope.cli.corpus.collect import collect_cli
from emoscope.cli.corpus.dedupe import dedupe_cli
from emoscope.cli.corpus.distant import distant_cli
from emoscope.cli.corpus.encoder import encoder_cli
from emoscope.cli.corpus.filter import filter_cli
from emoscope.cli.corpus.human_study import human_study
from emoscope.cli.corpus.mine import mine_cli
from emoscope.cli.corpus.windows import windows_cli

COMMANDS: dict[str, Callable[..., None]] = {
    "build": build_cli,
    "collect": collect_cli,
    "windows": windows_cli,
    "dedupe": dedupe_cli,
    "distant": distant_cli,
    "filter": filter_cli,
    "encoder": encoder_cli,
    "mine": mine_cli,
    "agreement": agreement,
    "aggregate": aggregate,
    "augment": augment_cli,
    "annotate": annotate,
    "annotate-export": annotate_export,
    "human-study": human_study,
}
app = typer.Typer(help="Make a labelled corpus from raw logs.", no_args_is_help=True)
for name, command in COMMANDS.items():
    app.command(name)(command)
