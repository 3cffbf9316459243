"""What the commands of `emoscope challenge` share: the store they work on, its options, and how lists are shown."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.table import Table

from emoscope.cli.output import table
from emoscope.cli.result import CommandGroup, CommandResult, option, with_json, with_parameters

if TYPE_CHECKING:
    from emoscope.server.challenge.services.registration import Post
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
TeamArgument = Annotated[int, typer.Argument(metavar="TEAM", help="The team's number; `challenge teams` lists them.")]

group = CommandGroup(no_args_is_help=True, help="Run a shared task.")


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


def command(name: str) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Add a command to the group. It gets the options that name a store, and the open store as its first argument."""

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
    """How mail goes out, by the server's variables."""
    from emoscope.server.challenge.services.registration import Post
    from emoscope.server.mail import Mailer
    from emoscope.server.settings import Settings

    settings = Settings.from_environment()
    base = (settings.public_url or "http://127.0.0.1:8000").rstrip("/")
    return Post(Mailer.of(settings.mail_url, settings.mail_from), base)


def view_table(
    views: "Sequence[ViewType]",
    columns: dict[str, "Callable[[ViewType], object]"],
    *,
    title: str | None = None,
    left: int | None = None,
) -> Table:
    """Views as a table; the first `left` columns are text, without it all."""
    rows = [[value(view) for value in columns.values()] for view in views]
    return table(title, list(columns), rows, left=len(columns) if left is None else left)


def listed(
    views: "Sequence[ViewType]", columns: dict[str, "Callable[[ViewType], object]"], *, left: int | None = None
) -> CommandResult:
    """Views as a table, or as JSON."""
    return CommandResult([view.as_dict() for view in views], [view_table(views, columns, left=left)])
