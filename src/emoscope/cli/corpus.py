"""`emoscope corpus`: from raw logs to a labelled corpus. Each command is a module of its own."""

import typer

from emoscope.cli import (
    corpus_aggregate,
    corpus_agreement,
    corpus_annotate,
    corpus_augment,
    corpus_build,
    corpus_collect,
    corpus_dedupe,
    corpus_distant,
    corpus_encoder,
    corpus_filter,
    corpus_human_study,
    corpus_mine,
    corpus_windows,
)


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
