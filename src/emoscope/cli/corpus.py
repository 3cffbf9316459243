"""`emoscope corpus`: from raw logs to a labelled corpus. Each command is a module of its own."""

import typer

from emoscope.cli import corpus_aggregate, corpus_agreement, corpus_dedupe, corpus_distant, corpus_windows


def register(app: typer.Typer) -> None:
    """Add the group `corpus`."""
    group = typer.Typer(help="Make a labelled corpus from raw logs.", no_args_is_help=True)
    for command in (corpus_windows, corpus_dedupe, corpus_distant, corpus_agreement, corpus_aggregate):
        command.register(group)
    app.add_typer(group, name="corpus")
