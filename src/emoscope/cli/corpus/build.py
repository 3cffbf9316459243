"""`emoscope corpus build`: a plan's steps, from logs to a corpus."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_spread
from emoscope.cli.output import JsonOption, console, counted, print_json, table

if TYPE_CHECKING:
    from emoscope.corpus.filters.offensive import OffensiveScorer
    from emoscope.corpus.pipeline.run import StepResult
    from emoscope.corpus.pipeline.step import Tools
    from emoscope.parallel import Executor


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("build")(build_cli)


def build_cli(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan: a TOML file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to build in; the corpus will be in FOLDER/corpus.")
    ],
    until: Annotated[str | None, typer.Option("--until", help="Stop after this step.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a corpus from logs, step by step; run it again to go on after a kill, or once judgements are there.

    Steps whose input and settings are as they were are not run again. The exit code is 1 while the tasks wait to be
    labelled.
    """
    from emoscope.corpus.pipeline.plan import load_plan
    from emoscope.corpus.pipeline.run import build
    from emoscope.corpus.pipeline.step import WaitingError

    done: list[StepResult] = []
    waiting: str | None = None
    try:
        build(
            load_plan(plan),
            output,
            tools=models_and_progress(chosen_spread(engine, workers, ray_address)),
            until=until,
            report=done.append,
        )
    except WaitingError as error:
        waiting = str(error)
    if as_json:
        print_json({"output": str(output), "waiting": waiting, "steps": [_as_dict(step) for step in done]})
    else:
        _print(done, waiting)
    if waiting is not None:
        raise typer.Exit(1)


def models_and_progress(spread: "Executor | None" = None) -> "Tools":
    """What the chain is handed: models, loaded when a step asks for them, progress on standard error, and who works."""
    from emoscope.cli.corpus.mine import open_embedder
    from emoscope.corpus.pipeline.step import Tools
    from emoscope.parallel import SERIAL

    def offensive() -> "tuple[OffensiveScorer, float]":
        from emoscope.models.linear.offensive import OffensiveModel

        model = OffensiveModel.load()
        return model, model.threshold

    return Tools(watch=_watched, embedder=open_embedder, offensive=offensive, spread=spread or SERIAL)


def _as_dict(step: "StepResult") -> dict[str, Any]:
    return {
        "name": step.name,
        "folder": str(step.folder),
        "skipped": step.skipped,
        "seconds": round(step.seconds, 3),
        "counts": dict(step.counts),
    }


def _print(done: "list[StepResult]", waiting: str | None) -> None:
    rows = [
        [
            step.name,
            step.counts["in"],
            step.counts["out"],
            "done before" if step.skipped else f"{step.seconds:,.1f} s",
            "; ".join(f"{escape(reason)} {count:,}" for reason, count in step.counts["dropped"].items() if count),
        ]
        for step in done
    ]
    out = console()
    made = table(None, ["step", "in", "out", "time", "dropped"], rows)
    made.columns[-1].justify = "left"
    out.print(made)
    if waiting is not None:
        out.print(f"\nwaiting: {waiting}", markup=False, soft_wrap=True)
    elif done and done[-1].counts["step"] == "datasheet":
        folder = done[-1].folder
        out.print(
            f"\n{folder}: load it with --task {folder}, read {folder / 'datasheet.html'}", markup=False, soft_wrap=True
        )


def _watched(title: str, items: Iterable[Any]) -> Iterator[Any]:
    with counted(title, items) as passing:
        yield from passing
