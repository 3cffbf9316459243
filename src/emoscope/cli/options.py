"""Options that several commands share."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from emoscope.cli.completion import complete_labels, complete_model, complete_system, complete_task
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import check_installed
from emoscope.parallel import Engine, Executor
from emoscope.tables.turns import EXPECTED, NO_TURN_COLUMN

TaskOption = Annotated[
    str,
    typer.Option(
        "--task",
        "-t",
        help="Task name (`emoscope tasks` lists them), or the folder of a corpus.",
        autocompletion=complete_task,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", envvar="EMOSCOPE_DATA", help="Folder with the tasks' data, by default the download cache."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="`default`, `open`, `nano`, a run's folder, or hf:owner/name.",
        autocompletion=complete_model,
    ),
]
SystemArgument = Annotated[
    str, typer.Argument(help="System name; `emoscope systems` lists them.", autocompletion=complete_system)
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Label set, if the model has several: general, emocontext, ...",
        autocompletion=complete_labels,
    ),
]
SettingsOption = Annotated[list[str] | None, typer.Option("--set", help="Change a setting, as in train.")]
PriorOption = Annotated[
    str | None, typer.Option("--prior", help="The mix of labels you expect: neutral=0.8,joy=0.1,...")
]
DeviceOption = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Also write a self-contained HTML report here.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random; the same seed gives the same result.")
]
EngineOption = Annotated[str, typer.Option("--engine", help="local: all cores of this machine; ray: a Ray cluster.")]
RayAddressOption = Annotated[
    str | None,
    typer.Option("--ray-address", help="Address of a Ray cluster; without it, Ray is started on this machine."),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes to run at once; by default one per core.")
]


def chosen_settings(given: Sequence[str] | None) -> dict[str, Any]:
    """The values of `--set name=value` options.

    >>> chosen_settings(["epochs=5"])
    {'epochs': 5}
    """
    from emoscope.systems.base import parse_setting

    return dict(parse_setting(text) for text in given or ())


def chosen_engine(engine: str, ray_address: str | None) -> Engine:
    """The engine that `--engine` names, checked against `--ray-address`.

    >>> chosen_engine("local", None)
    'local'
    """
    if engine not in ("local", "ray"):
        raise EmoscopeError(f"--engine: expected local or ray, found {engine!r}")
    if ray_address is not None and engine != "ray":
        raise EmoscopeError("--ray-address goes with --engine ray")
    return "ray" if engine == "ray" else "local"


def chosen_executor(engine: str, workers: int | None, ray_address: str | None) -> Executor:
    """The executor that the options describe; results do not depend on it."""
    chosen = chosen_engine(engine, ray_address)
    if chosen == "ray":
        check_installed("ray", extra="ray")
    return Executor(chosen, workers, ray_address)


def check_port(host: str, port: int) -> None:
    """Raise an error if no server can listen at this address."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # the last server's connections may still be closing
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise EmoscopeError(
                f"cannot listen on {host}, port {port}: {reason}; choose others: --host, --port"
            ) from None


@contextmanager
def naming_column() -> Iterator[None]:
    """Name the option --column in the error about a file none of whose columns is known to hold turns."""
    try:
        yield
    except InputError as error:
        if not error.problem.startswith((EXPECTED, NO_TURN_COLUMN)):
            raise
        raise InputError(error.path, f"{error.problem}; name the text's with --column", row=error.row) from None
