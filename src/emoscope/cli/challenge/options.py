"""Options of the commands that work on a server's data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from emoscope.server.store import Store

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


@contextmanager
def opened(data_dir: Path | None, database: str | None) -> Iterator["Store"]:
    """The store of the options, let go of at the end."""
    from emoscope.core.extras import check_installed

    check_installed("sqlalchemy", "alembic", extra="server")
    from emoscope.server.store import Store

    store = Store.open(data_dir, database)
    try:
        yield store
    finally:
        store.close()
