"""`emoscope corpus build` and `corpus example`: from logs to a corpus, by a plan."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_executor
from emoscope.cli.output import progress, table
from emoscope.cli.result import CommandResult, plain
from emoscope.corpus.pipeline.build import StepResult, build
from emoscope.corpus.pipeline.example import write_example
from emoscope.corpus.pipeline.plan import load_plan
from emoscope.corpus.pipeline.step import WaitingError


def build_cli(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan: a TOML file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to build in; the corpus is written to FOLDER/corpus.")
    ],
    until: Annotated[str | None, typer.Option(help="Stop after this step.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
) -> CommandResult:
    """Build a corpus from logs, step by step; run it again to resume, or once people have labelled the tasks.

    Steps whose input and settings have not changed are skipped. The exit code is 1 while tasks wait for labels.
    """
    done: list[StepResult] = []
    waiting: str | None = None
    executor = chosen_executor(engine, workers, ray_address)
    try:
        build(load_plan(plan), output, until=until, report=done.append, progress=progress, executor=executor)
    except WaitingError as error:
        waiting = str(error)
    steps = [{**asdict(step), "seconds": round(step.seconds, 3)} for step in done]
    value = {"output": output, "waiting": waiting, "steps": steps}
    return CommandResult(value, _tables(done, waiting), failed=waiting is not None)


def example_cli(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
) -> CommandResult:
    """Write an example: a plan, chats of a made-up tea shop, seeds and judgements.

    Then build it: `emoscope corpus build DIR/plan.toml -o FOLDER`.
    """
    plan = write_example(folder)
    return CommandResult({"output": folder, "plan": plan}, f"emoscope corpus build {plan} -o mycorpus")


def _tables(done: list[StepResult], waiting: str | None) -> Iterator[RenderableType]:
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
    steps = table(None, ["step", "in", "out", "time", "dropped"], rows)
    steps.columns[-1].justify = "left"
    yield steps
    if waiting is not None:
        yield plain(f"waiting: {waiting}")
    elif done and done[-1].counts["step"] == "datasheet":
        folder = done[-1].folder
        yield plain(f"{folder}: load it with --task {folder}, read {folder / 'datasheet.html'}")
