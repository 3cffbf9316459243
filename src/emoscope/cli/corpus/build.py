"""`emoscope corpus build`: from logs to a corpus, by a plan."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_executor
from emoscope.cli.output import JsonOption, console, print_json, progress, table

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.build import StepResult


def build_cli(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan: a TOML file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to build in; the corpus will be in FOLDER/corpus.")
    ],
    until: Annotated[str | None, typer.Option(help="Stop after this step.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a corpus from logs, step by step; run it again to go on after a kill, or once judgements are there.

    Steps whose input and settings are as they were are not run again. The exit code is 1 while the tasks wait to be
    labelled.
    """
    from emoscope.corpus.pipeline.build import build
    from emoscope.corpus.pipeline.plan import load_plan
    from emoscope.corpus.pipeline.step import WaitingError

    done: list[StepResult] = []
    waiting: str | None = None
    executor = chosen_executor(engine, workers, ray_address)
    try:
        build(load_plan(plan), output, until=until, report=done.append, progress=progress, executor=executor)
    except WaitingError as error:
        waiting = str(error)
    if as_json:
        steps = [{**asdict(step), "folder": str(step.folder), "seconds": round(step.seconds, 3)} for step in done]
        print_json({"output": str(output), "waiting": waiting, "steps": steps})
    else:
        _print(done, waiting)
    if waiting is not None:
        raise typer.Exit(1)


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
    steps = table(None, ["step", "in", "out", "time", "dropped"], rows)
    steps.columns[-1].justify = "left"
    out.print(steps)
    if waiting is not None:
        out.print(f"\nwaiting: {waiting}", markup=False, soft_wrap=True)
    elif done and done[-1].counts["step"] == "datasheet":
        folder = done[-1].folder
        advice = f"load it with --task {folder}, read {folder / 'datasheet.html'}"
        out.print(f"\n{folder}: {advice}", markup=False, soft_wrap=True)
