"""The operator's commands: teams, tokens, the audit log, the worker, backup and migrations."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emoscope.cli.challenge.command import (
    DatabaseOption,
    DataDirOption,
    SlugArgument,
    TeamArgument,
    command,
    group,
    listed,
    mail_post,
    opened,
    view_table,
)
from emoscope.cli.result import CommandResult
from emoscope.core.counts import counted
from emoscope.core.extras import check_installed
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR

if TYPE_CHECKING:
    from emoscope.server.store import Store

SubmissionArgument = Annotated[str, typer.Argument(metavar="ID")]


@command("teams")
def teams_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the teams of a challenge and their members."""
    return listed(
        services.teams.list_teams(store, OPERATOR, slug),
        {
            **{"team": "id", "name": "name", "state": "state"},
            "submissions": lambda team: str(team.counts.sent),
            "rejected": lambda team: str(team.counts.rejected),
            "members (number)": lambda team: ", ".join(f"{member.name} ({member.id})" for member in team.members),
        },
    )


def _team_command(name: str, service: str, state: str, text: str) -> None:
    """Add a command that changes the state of a team."""

    def change_team(store: "Store", slug: SlugArgument, team: TeamArgument) -> CommandResult:
        getattr(services.teams, service)(store, OPERATOR, slug, team)
        return CommandResult({"team": team, "state": state}, f"team {team}: {state}")

    change_team.__doc__ = text
    command(name)(change_team)


_team_command("approve", "approve_team", "approved", "Approve a team that is waiting for approval.")
_team_command(
    "delete-team", "delete_team", "deleted", "Delete a team and disable its tokens; `restore-team` undoes this."
)
_team_command("restore-team", "restore_team", "restored", "Restore a deleted team.")
_team_command("reinstate", "reinstate_team", "reinstated", "Reinstate a disqualified team.")


@command("invite")
def invite_cli(
    store: "Store",
    slug: SlugArgument,
    email: Annotated[
        str | None, typer.Option("--email", help="E-mail it to this address, through EMOSCOPE_MAIL_URL.")
    ] = None,
) -> CommandResult:
    """Create an invitation for one team, where registration is by invitation. It is shown only once."""
    token = services.registration.invite_team(store, OPERATOR, slug, mail_post(), email).token
    return CommandResult({"invitation": token, "email": email}, token)


@command("delete-submission")
def delete_submission_cli(store: "Store", submission: SubmissionArgument) -> CommandResult:
    """Remove a submission from the leaderboard; `restore-submission` undoes this."""
    services.submissions.delete_submission(store, OPERATOR, submission)
    return CommandResult({"submission": submission, "state": "deleted"}, f"submission {submission}: deleted")


@command("restore-submission")
def restore_submission_cli(store: "Store", submission: SubmissionArgument) -> CommandResult:
    """Restore a deleted submission."""
    services.submissions.restore_submission(store, OPERATOR, submission)
    return CommandResult({"submission": submission, "state": "restored"}, f"submission {submission}: restored")


@command("organiser")
def organiser_cli(
    store: "Store",
    name: Annotated[str, typer.Argument(help="The organiser's name, for the audit log.")],
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only for this challenge.")] = None,
) -> CommandResult:
    """Create an organiser's token. It is shown only once."""
    token = services.tokens.issue_organiser_token(store, OPERATOR, name=name, slug=challenge).token
    return CommandResult({"name": name, "token": token}, token)


@command("token")
def token_cli(
    store: "Store",
    slug: SlugArgument,
    member: Annotated[int, typer.Argument(metavar="MEMBER", help="The member's number; `challenge teams` lists them.")],
) -> CommandResult:
    """Create a new token for a member who has lost theirs. It is shown only once."""
    token = services.tokens.issue_member_token(store, OPERATOR, slug, member).token
    return CommandResult({"member": member, "token": token}, token)


@command("tokens")
def tokens_cli(
    store: "Store",
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only this challenge.")] = None,
) -> CommandResult:
    """List tokens by number, without their secrets."""
    return listed(
        services.tokens.list_tokens(store, OPERATOR, challenge),
        {
            **{"token": "id", "role": "role", "name": "name", "team": lambda token: token.team or ""},
            **{"last used": "used", "state": lambda token: "revoked" if token.revoked else "valid"},
        },
    )


@command("revoke")
def revoke_cli(
    store: "Store",
    token: Annotated[int, typer.Argument(metavar="TOKEN", help="The token's number; `challenge tokens` lists them.")],
) -> CommandResult:
    """Revoke a token."""
    services.tokens.revoke_token(store, OPERATOR, token)
    return CommandResult({"id": token, "state": "revoked"}, f"token {token}: revoked")


@command("jobs")
def jobs_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the scoring jobs that are queued, running or failed, with the reason; `rescore` retries failed ones."""
    jobs = services.operation.jobs(store, OPERATOR, slug)
    shown = view_table(
        jobs.unfinished,
        {
            **{"job": "id", "kind": "kind", "phase": "phase", "submission": lambda job: job.submission or ""},
            **{"state": "state", "attempts": "attempts", "reason": lambda job: job.reason or ""},
        },
        title=", ".join(f"{number:,} {state}" for state, number in sorted(jobs.counts.items())) or "no jobs yet",
    )
    return CommandResult(jobs.as_dict(), [shown])


@command("audit")
def audit_cli(
    store: "Store",
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only this challenge.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Number of entries.")] = 50,
) -> CommandResult:
    """Show the audit log: who did what, newest first."""
    lines = services.audit.read_audit(store, OPERATOR, challenge, limit=limit)
    columns = {"actor": "actor", "action": "action", "object": "object"}
    return listed(lines, {"at": lambda line: line.at.isoformat(timespec="seconds"), **columns})


@command("worker")
def worker_cli(
    store: "Store",
    once: Annotated[bool, typer.Option("--once", help="Do the queued jobs, then stop.")] = False,
    score_seconds: Annotated[int, typer.Option("--time-limit", min=1, help="Seconds one scoring may take.")] = 120,
) -> CommandResult:
    """Score queued submissions until interrupted. `emoscope serve` has its own worker; more can run beside it."""
    from emoscope.server.challenge.scoring.worker import ScoringWorker

    worker = ScoringWorker(store, score_seconds=score_seconds)
    if once:
        done = worker.drain(seconds=86_400)
        return CommandResult({"done": done}, f"{counted(done, 'job')} done")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    worker.run(stop)
    return CommandResult({"state": "stopped"}, "stopped")


@command("backup")
def backup_cli(
    store: "Store", target: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]
) -> CommandResult:
    """Back up database and files while the server runs. The copy contains gold labels; serve it with --data-dir."""
    from emoscope.server.store.backup import backup

    backup(store, target)
    sqlite = store.database.is_sqlite
    text = f"{target}: done" if sqlite else f"{target}: files copied; the database is copied by pg_dump"
    return CommandResult({"output": target, "database": sqlite}, text)


@group.command("upgrade")
def upgrade_cli(data_dir: DataDirOption = None, database: DatabaseOption = None) -> CommandResult:
    """Upgrade the database to this version's schema; SQLite is upgraded automatically."""
    check_installed("sqlalchemy", "alembic", extra="server")
    from emoscope.server.store.database import Database
    from emoscope.server.store.migrate import newest, upgrade

    if database is None:
        with opened(data_dir, None):
            pass
    else:
        opened_database = Database(database)
        upgrade(opened_database)
        opened_database.close()
    return CommandResult({"revision": newest()}, f"the database is at revision {newest()}")
