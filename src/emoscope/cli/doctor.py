"""`emoscope doctor`: checks a deployment and says what to fix."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from emoscope.cli.output import JsonOption, console, print_json
from emoscope.core.extras import check_installed

_MARKS = {"ok": "[green]ok[/green]     ", "warning": "[yellow]warning[/yellow]", "error": "[red]error[/red]  "}


def doctor_cli(
    data_dir: Annotated[
        Path | None, typer.Option(envvar="EMOSCOPE_SERVER_DATA", help="The server's data folder.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="The address people use; EMOSCOPE_PUBLIC_URL if none is given.")
    ] = None,
    mail_to: Annotated[str | None, typer.Option(help="Send a test mail to this address.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a deployment: model, folder, database, keys, clock, mail, open files, proxy. Exit code 1 on an error.

    It reads the same EMOSCOPE_... variables as the server; run it as the server's user.
    """
    check_installed("sqlalchemy", "alembic", "httpx", extra="server")
    from emoscope.server.doctor import examine
    from emoscope.server.settings import Settings

    settings = Settings.from_environment(given={"data_dir": data_dir})
    checks = []
    for one in examine(settings, url=url, mail_to=mail_to):
        checks.append(one)
        if not as_json:
            console().print(f"{_MARKS[one.state]} {one.check:<9} {escape(one.detail)}", highlight=False, soft_wrap=True)
            if one.mend:
                console().print(f"{'':18}-> {escape(one.mend)}", highlight=False, soft_wrap=True)
    if as_json:
        print_json([asdict(one) for one in checks])
    if any(one.state == "error" for one in checks):
        raise typer.Exit(1)
