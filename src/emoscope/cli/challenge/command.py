"""What the commands of `emoscope challenge` share: opening the store, its options, and tables of views."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from emoscope.cli.output import table
from emoscope.cli.result import CommandGroup, CommandResult, option, with_json, with_parameters
from emoscope.core.extras import check_installed

if TYPE_CHECKING:
    from emoscope.server.challenge.services.registration import Post
    from emoscope.server.challenge.views import View
    from emoscope.server.store import Store

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", envvar="EMOSCOPE_SERVER_DATA", help="The server's data folder; ./emoscope-data by default."
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database", envvar="EMOSCOPE_DATABASE_URL", help="URL of a PostgreSQL database to use instead of SQLite."
    ),
]
SlugArgument = Annotated[str, typer.Argument(metavar="CHALLENGE", help="The challenge's short name.")]
TeamArgument = Annotated[int, typer.Argument(metavar="TEAM", help="The team's number; `challenge teams` lists them.")]

group = CommandGroup(no_args_is_help=True, help="Run a shared task.")


@contextmanager
def opened(data_dir: Path | None, database: str | None) -> Iterator["Store"]:
    """Open the store that the options name, and close it at the end."""
    check_installed("sqlalchemy", "alembic", extra="server")
    from emoscope.server.store import Store

    store = Store.open(data_dir, database)
    try:
        yield store
    finally:
        store.close()


def command(name: str) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Add a command to the group, with the options that name a store; its first argument is the open store."""

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        printing = with_json(function)

        def run(*, data_dir: Path | None, database: str | None, **arguments: Any) -> None:
            with opened(data_dir, database) as store:
                printing(store, **arguments)

        own = list(inspect.signature(printing).parameters.values())[1:]
        store_options = [option("data_dir", DataDirOption), option("database", DatabaseOption)]
        return group.command(name)(with_parameters(function, run, [*own, *store_options]))

    return decorate


def mail_post() -> "Post":
    """The mail settings from the environment."""
    from emoscope.server.challenge.services.registration import Post
    from emoscope.server.mail import Mailer
    from emoscope.server.settings import Settings

    settings = Settings.from_environment()
    base = (settings.public_url or "http://127.0.0.1:8000").rstrip("/")
    return Post(Mailer.of(settings.mail_url, settings.mail_from), base)


Columns = Mapping[str, str | Callable[[Any], object]]


def view_table(
    views: "Sequence[View]", columns: Columns, *, title: str | None = None, left: int | None = None
) -> Table:
    """Views as a table with a field or a function of the view in each column; the first `left` are text, or all."""
    rows = [[_cell(view, column) for column in columns.values()] for view in views]
    return table(title, list(columns), rows, left=len(columns) if left is None else left)


def _cell(view: "View", column: str | Callable[[Any], object]) -> object:
    value = column(view) if callable(column) else getattr(view, column)
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str(value) if column == "id" else escape(value) if isinstance(value, str) else value


def listed(views: "Sequence[View]", columns: Columns, *, left: int | None = None) -> CommandResult:
    """Views as a table, or as JSON."""
    return CommandResult([view.as_dict() for view in views], [view_table(views, columns, left=left)])
