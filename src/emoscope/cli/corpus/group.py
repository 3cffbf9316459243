"""`emoscope corpus`: from raw logs to a labelled corpus. Each command is a module of its own."""

import typer

from emoscope.cli.corpus import aggregate as corpus_aggregate
from emoscope.cli.corpus import agreement as corpus_agreement
from emoscope.cli.corpus import annotate as corpus_annotate
from emoscope.cli.corpus import augment as corpus_augment
from emoscope.cli.corpus import build as corpus_build
from emoscope.cli.corpus import collect as corpus_collect
from emoscope.cli.corpus import dedupe as corpus_dedupe
from emoscope.cli.corpus import distant as corpus_distant
from emoscope.cli.corpus import encoder as corpus_encoder
from emoscope.cli.corpus import filter as corpus_filter
from emoscope.cli.corpus import human_study as corpus_human_study
from emoscope.cli.corpus import mine as corpus_mine
from emoscope.cli.corpus import windows as corpus_windows


def register(app: typer.Typer) -> None:
    """Add the group `corpus`."""
    group = typer.Typer(help="Make a labelled corpus from raw logs.", no_args_is_help=True)
    for command in (
        corpus_build,
        corpus_collect,
        corpus_windows,
        corpus_dedupe,
        corpus_distant,
        corpus_filter,
        corpus_encoder,
        corpus_mine,
        corpus_agreement,
        corpus_aggregate,
        corpus_augment,
        corpus_annotate,
        corpus_human_study,
    ):
        command.register(group)
    app.add_typer(group, name="corpus")
