"""`emoscope corpus`: from raw logs to a labelled corpus."""

from collections.abc import Callable
from typing import Any

from emoscope.cli.corpus.annotate import annotate, annotate_export, annotate_import, annotate_revoke
from emoscope.cli.corpus.augment import augment_cli
from emoscope.cli.corpus.build import build_cli, example_cli
from emoscope.cli.corpus.cleaning import dedupe_cli, filter_cli
from emoscope.cli.corpus.judgements import aggregate, agreement, human_sample, human_study
from emoscope.cli.corpus.mining import encoder_cli, mine_cli, seeds_cli
from emoscope.cli.corpus.sources import collect_cli, distant_cli, sample_cli, windows_cli
from emoscope.cli.result import CommandGroup

COMMANDS: dict[str, Callable[..., Any]] = {
    "build": build_cli,
    "example": example_cli,
    "collect": collect_cli,
    "sample": sample_cli,
    "windows": windows_cli,
    "dedupe": dedupe_cli,
    "distant": distant_cli,
    "filter": filter_cli,
    "encoder": encoder_cli,
    "seeds": seeds_cli,
    "mine": mine_cli,
    "agreement": agreement,
    "aggregate": aggregate,
    "augment": augment_cli,
    "annotate": annotate,
    "annotate-export": annotate_export,
    "annotate-import": annotate_import,
    "annotate-revoke": annotate_revoke,
    "human-study": human_study,
    "human-sample": human_sample,
}
app = CommandGroup(help="Make a labelled corpus from raw logs.", no_args_is_help=True)
for name, command in COMMANDS.items():
    app.command(name)(command)
