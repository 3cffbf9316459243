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
    """Check a deployment: model, folder, database, keys, clock, mail, sign-in, files, proxy. Exit code 1 on an error.

    It reads the same EMOSCOPE_... variables as the server; run it as the server's user.
    """
    check_installed("sqlalchemy", "alembic", "httpx", extra="server")
    from emoscope.server.doctor import examine
    from emoscope.server.settings import Settings

    settings = Settings.from_environment(given={"data_dir": data_dir})
    checks = []
    for check in examine(settings, url=url, mail_to=mail_to):
        checks.append(check)
        if not as_json:
            console().print(f"{_MARKS[check.state]} {check.check:<9} {escape(check.detail)}", soft_wrap=True)
            if check.mend:
                console().print(f"{'':18}-> {escape(check.mend)}", soft_wrap=True)
    if as_json:
        print_json([asdict(check) for check in checks])
    if any(check.state == "error" for check in checks):
        raise typer.Exit(1)
