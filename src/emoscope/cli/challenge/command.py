"""What the commands of `emoscope challenge` share: the store they work on, its options, and how lists are printed."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from emoscope.cli.output import console, print_json, table

if TYPE_CHECKING:
    from emoscope.server.challenge.views import View
    from emoscope.server.store import Store

    ViewType = TypeVar("ViewType", bound=View)

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", envvar="EMOSCOPE_SERVER_DATA", help="The server's data folder; ./emoscope-data if none."
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", envvar="EMOSCOPE_DATABASE_URL", help="PostgreSQL's address, instead of SQLite."),
]
SlugArgument = Annotated[str, typer.Argument(metavar="CHALLENGE", help="The challenge's short name.")]
_STORE_OPTIONS = {"data_dir": DataDirOption, "database": DatabaseOption}

group = typer.Typer(no_args_is_help=True, help="Run a shared task.")


@contextmanager
def opened(data_dir: Path | None, database: str | None) -> Iterator["Store"]:
    """The store of the options, closed at the end."""
    from emoscope.core.extras import check_installed

    check_installed("sqlalchemy", "alembic", extra="server")
    from emoscope.server.store import Store

    store = Store.open(data_dir, database)
    try:
        yield store
    finally:
        store.close()


def command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the group. It gets the options that name a store, and the open store as its first argument."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*, data_dir: Path | None, database: str | None, **arguments: Any) -> None:
            with opened(data_dir, database) as store:
                function(store, **arguments)

        signature = inspect.signature(function)
        own = list(signature.parameters.values())[1:]
        options = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for option, annotation in _STORE_OPTIONS.items()
        ]
        run.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *options)}
        group.command(name)(run)
        return run

    return decorate


def print_views(
    views: "Sequence[ViewType]",
    columns: dict[str, "Callable[[ViewType], object]"],
    *,
    as_json: bool = False,
    title: str | None = None,
    left: int | None = None,
) -> None:
    """Print views as a table, or as JSON; the first `left` columns are text, without it all."""
    if as_json:
        print_json([view.as_dict() for view in views])
        return
    rows = [[value(view) for value in columns.values()] for view in views]
    console().print(table(title, list(columns), rows, left=len(columns) if left is None else left))
