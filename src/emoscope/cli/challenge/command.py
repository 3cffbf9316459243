"""What the commands of `emoscope challenge` share: the store they work on, its options, and how lists are printed."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from emoscope.cli.output import JsonOption, console, print_json, say, table

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
_STORE_OPTIONS = {"data_dir": DataDirOption, "database": DatabaseOption}


class Outcome(NamedTuple):
    """What a command has done: a line for people, and the same for programs."""

    text: str
    value: dict[str, object]


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


def command(name: str) -> Callable[[Callable[..., Outcome | None]], Callable[..., None]]:
    """Add a command to the group. It gets the options that name a store, and the open store as its first argument.

    One that returns an `Outcome` gets `--json`, too, and is printed for.
    """

    def decorate(function: Callable[..., Outcome | None]) -> Callable[..., None]:
        signature = inspect.signature(function)
        asks = signature.return_annotation is Outcome

        @functools.wraps(function)
        def run(*, data_dir: Path | None, database: str | None, **arguments: Any) -> None:
            as_json = arguments.pop("as_json") if asks else False
            with opened(data_dir, database) as store:
                outcome = function(store, **arguments)
            if outcome is not None:
                say(outcome.text, outcome.value, as_json=as_json)

        own = list(signature.parameters.values())[1:]
        options = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for option, annotation in _STORE_OPTIONS.items()
        ]
        if asks:
            json_option = inspect.Parameter(
                "as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption
            )
            options.insert(0, json_option)
        run.__signature__ = signature.replace(parameters=[*own, *options], return_annotation=None)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *options)}
        group.command(name)(run)
        return run

    return decorate


def mail_post() -> "Post":
    """How mail goes out, by the server's variables."""
    from emoscope.server.challenge.services.registration import Post
    from emoscope.server.mail import Mailer
    from emoscope.server.settings import Settings

    settings = Settings.from_environment()
    base = (settings.public_url or "http://127.0.0.1:8000").rstrip("/")
    return Post(Mailer.of(settings.mail_url, settings.mail_from), base)


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
