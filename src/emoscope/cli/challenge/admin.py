"""The operator's part of `emoscope challenge`: teams, tokens, the audit log, the worker, backup and migrations."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge.options import DatabaseOption, DataDirOption, SlugArgument, opened
from emoscope.cli.output import JsonOption, console, print_json, table

TeamArgument = Annotated[int, typer.Argument(metavar="TEAM", help="The team's number; `challenge teams` lists them.")]


def register(group: typer.Typer) -> None:
    """Add the commands of this part."""
    group.command("teams")(teams_cli)
    group.command("delete-team")(delete_team_cli)
    group.command("restore-team")(restore_team_cli)
    group.command("delete-submission")(delete_submission_cli)
    group.command("restore-submission")(restore_submission_cli)
    group.command("organiser")(organiser_cli)
    group.command("token")(token_cli)
    group.command("tokens")(tokens_cli)
    group.command("revoke")(revoke_cli)
    group.command("audit")(audit_cli)
    group.command("worker")(worker_cli)
    group.command("backup")(backup_cli)
    group.command("upgrade")(upgrade_cli)


def teams_cli(
    slug: SlugArgument, data_dir: DataDirOption = None, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """List the teams of a challenge and their members."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.teams import list_teams

        found = list_teams(store, OPERATOR, slug)
    if as_json:
        print_json([team.as_dict() for team in found])
        return
    rows = [
        [
            str(team.id),
            escape(team.name),
            "deleted" if team.deleted else "",
            escape(", ".join(f"{member.name} ({member.id})" for member in team.members)),
        ]
        for team in found
    ]
    console().print(table(None, ["team", "name", "state", "members (number)"], rows, left=4))


def delete_team_cli(
    slug: SlugArgument, team: TeamArgument, data_dir: DataDirOption = None, database: DatabaseOption = None
) -> None:
    """Take a team off the board and its tokens out of use; `restore-team` brings it back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.teams import delete_team

        delete_team(store, OPERATOR, slug, team)
    typer.echo(f"team {team}: deleted")


def restore_team_cli(
    slug: SlugArgument, team: TeamArgument, data_dir: DataDirOption = None, database: DatabaseOption = None
) -> None:
    """Bring a deleted team back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.teams import restore_team

        restore_team(store, OPERATOR, slug, team)
    typer.echo(f"team {team}: restored")


def delete_submission_cli(
    submission: Annotated[str, typer.Argument(metavar="ID")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Take a submission off the board; `restore-submission` brings it back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.submissions import delete_submission

        delete_submission(store, OPERATOR, submission)
    typer.echo(f"submission {submission}: deleted")


def restore_submission_cli(
    submission: Annotated[str, typer.Argument(metavar="ID")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Bring a deleted submission back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.submissions import restore_submission

        restore_submission(store, OPERATOR, submission)
    typer.echo(f"submission {submission}: restored")


def organiser_cli(
    name: Annotated[str, typer.Argument(help="Whose token it is, for the audit log.")],
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only for this challenge.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make an organiser's token. It is shown this once."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.tokens import issue_organiser_token

        typer.echo(issue_organiser_token(store, OPERATOR, name=name, slug=challenge).token)


def token_cli(
    slug: SlugArgument,
    member: Annotated[int, typer.Argument(metavar="MEMBER", help="The member's number; `challenge teams` lists them.")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make a new token for a member who lost theirs. It is shown this once."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.tokens import issue_member_token

        typer.echo(issue_member_token(store, OPERATOR, slug, member).token)


def tokens_cli(
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only of this challenge.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tokens by number, never their secrets."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.tokens import list_tokens

        found = list_tokens(store, OPERATOR, challenge)
    if as_json:
        print_json([token.as_dict() for token in found])
        return
    rows = [
        [
            str(token.id),
            token.role,
            escape(token.name),
            escape(token.team or ""),
            token.used and token.used.isoformat(timespec="minutes"),
            "revoked" if token.revoked else "valid",
        ]
        for token in found
    ]
    console().print(table(None, ["token", "role", "name", "team", "last used", "state"], rows, left=6))


def revoke_cli(
    token: Annotated[int, typer.Argument(metavar="TOKEN", help="The token's number; `challenge tokens` lists them.")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make a token worthless."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.tokens import revoke_token

        revoke_token(store, OPERATOR, token)
    typer.echo(f"token {token}: revoked")


def audit_cli(
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only of this challenge.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many lines, the newest first.")] = 50,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was done, by whom, newest first."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.audit import read_audit

        found = read_audit(store, OPERATOR, challenge, limit=limit)
    if as_json:
        print_json([line.as_dict() for line in found])
        return
    rows = [
        [line.at.isoformat(timespec="seconds"), escape(line.actor), line.action, escape(line.object)] for line in found
    ]
    console().print(table(None, ["at", "actor", "action", "object"], rows, left=4))


def worker_cli(
    once: Annotated[bool, typer.Option("--once", help="Do the jobs there are, then stop.")] = False,
    score_seconds: Annotated[int, typer.Option("--time-limit", min=1, help="Seconds one scoring may take.")] = 120,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Score what is queued, until interrupted. `emoscope serve` has a worker of its own; more can run beside it."""
    import signal
    import threading

    with opened(data_dir, database) as store:
        from emoscope.server.challenge.scoring.worker import ScoringWorker

        worker = ScoringWorker(store, score_seconds=score_seconds)
        if once:
            typer.echo(f"{worker.drain(seconds=86_400):,} jobs done")
            return
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        worker.run(stop)


def backup_cli(
    target: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Copy database and files while the server runs. The copy holds gold, and can be served with --data-dir."""
    with opened(data_dir, database) as store:
        from emoscope.server.store.backup import backup

        backup(store, target)
        sqlite = store.database.is_sqlite
    typer.echo(f"{target}: done" if sqlite else f"{target}: files copied; the database is copied by pg_dump")


def upgrade_cli(data_dir: DataDirOption = None, database: DatabaseOption = None) -> None:
    """Bring the database to this version's schema; SQLite does that by itself."""
    from emoscope.core.extras import check_installed

    check_installed("sqlalchemy", "alembic", extra="server")
    from emoscope.server.store.database import Database
    from emoscope.server.store.migrate import newest, upgrade

    if database is None:
        with opened(data_dir, None):
            pass
    else:
        found = Database(database)
        upgrade(found)
        found.close()
    typer.echo(f"the database is at revision {newest()}")
