"""The operator's commands: teams, tokens, the audit log, the worker, backup and migrations."""

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

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
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR

if TYPE_CHECKING:
    from emoscope.server.challenge.views import TeamView
    from emoscope.server.store import Store

SubmissionArgument = Annotated[str, typer.Argument(metavar="ID")]


@command("teams")
def teams_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the teams of a challenge and their members."""
    return listed(
        services.teams.list_teams(store, OPERATOR, slug),
        {
            "team": lambda team: str(team.id),
            "name": lambda team: escape(team.name),
            "state": _team_state,
            "sent": lambda team: str(team.counts.sent) if team.counts else "",
            "refused": lambda team: str(team.counts.rejected) if team.counts else "",
            "members (number)": lambda team: escape(", ".join(f"{one.name} ({one.id})" for one in team.members)),
        },
    )


def _team_state(team: "TeamView") -> str:
    if team.deleted:
        return "deleted"
    return "disqualified" if team.disqualified_for else "" if team.approved else "waits"


@command("approve")
def approve_cli(store: "Store", slug: SlugArgument, team: TeamArgument) -> CommandResult:
    """Let a team in that waits for approval."""
    services.teams.approve_team(store, OPERATOR, slug, team)
    return CommandResult({"team": team, "state": "approved"}, f"team {team}: let in")


@command("invite")
def invite_cli(
    store: "Store",
    slug: SlugArgument,
    email: Annotated[str | None, typer.Option("--email", help="Mail it there; EMOSCOPE_MAIL_URL says how.")] = None,
) -> CommandResult:
    """Make an invitation to register one team, where registration is by invitation. It is shown this once."""
    token = services.registration.invite_team(store, OPERATOR, slug, mail_post(), email).token
    return CommandResult({"invitation": token, "email": email}, token)


@command("delete-team")
def delete_team_cli(store: "Store", slug: SlugArgument, team: TeamArgument) -> CommandResult:
    """Take a team off the board and its tokens out of use; `restore-team` brings it back."""
    services.teams.delete_team(store, OPERATOR, slug, team)
    return CommandResult({"team": team, "state": "deleted"}, f"team {team}: deleted")


@command("restore-team")
def restore_team_cli(store: "Store", slug: SlugArgument, team: TeamArgument) -> CommandResult:
    """Bring a deleted team back."""
    services.teams.restore_team(store, OPERATOR, slug, team)
    return CommandResult({"team": team, "state": "restored"}, f"team {team}: restored")


@command("delete-submission")
def delete_submission_cli(store: "Store", submission: SubmissionArgument) -> CommandResult:
    """Take a submission off the board; `restore-submission` brings it back."""
    services.submissions.delete_submission(store, OPERATOR, submission)
    return CommandResult({"submission": submission, "state": "deleted"}, f"submission {submission}: deleted")


@command("restore-submission")
def restore_submission_cli(store: "Store", submission: SubmissionArgument) -> CommandResult:
    """Bring a deleted submission back."""
    services.submissions.restore_submission(store, OPERATOR, submission)
    return CommandResult({"submission": submission, "state": "restored"}, f"submission {submission}: restored")


@command("organiser")
def organiser_cli(
    store: "Store",
    name: Annotated[str, typer.Argument(help="Whose token it is, for the audit log.")],
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only for this challenge.")] = None,
) -> CommandResult:
    """Make an organiser's token. It is shown this once."""
    token = services.tokens.issue_organiser_token(store, OPERATOR, name=name, slug=challenge).token
    return CommandResult({"name": name, "token": token}, token)


@command("token")
def token_cli(
    store: "Store",
    slug: SlugArgument,
    member: Annotated[int, typer.Argument(metavar="MEMBER", help="The member's number; `challenge teams` lists them.")],
) -> CommandResult:
    """Make a new token for a member who lost theirs. It is shown this once."""
    token = services.tokens.issue_member_token(store, OPERATOR, slug, member).token
    return CommandResult({"member": member, "token": token}, token)


@command("tokens")
def tokens_cli(
    store: "Store",
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only of this challenge.")] = None,
) -> CommandResult:
    """List tokens by number, never their secrets."""
    return listed(
        services.tokens.list_tokens(store, OPERATOR, challenge),
        {
            "token": lambda token: str(token.id),
            "role": lambda token: token.role,
            "name": lambda token: escape(token.name),
            "team": lambda token: escape(token.team or ""),
            "last used": lambda token: token.used and token.used.isoformat(timespec="minutes"),
            "state": lambda token: "revoked" if token.revoked else "valid",
        },
    )


@command("revoke")
def revoke_cli(
    store: "Store",
    token: Annotated[int, typer.Argument(metavar="TOKEN", help="The token's number; `challenge tokens` lists them.")],
) -> CommandResult:
    """Make a token worthless."""
    services.tokens.revoke_token(store, OPERATOR, token)
    return CommandResult({"id": token, "state": "revoked"}, f"token {token}: revoked")


@command("jobs")
def jobs_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the scoring jobs that wait, run or have failed, with the reason; `rescore` tries failed ones again."""
    found = services.jobs.jobs(store, OPERATOR, slug)
    shown = view_table(
        found.unfinished,
        {
            "job": lambda job: str(job.id),
            "kind": lambda job: job.kind,
            "phase": lambda job: job.phase,
            "submission": lambda job: job.submission or "",
            "state": lambda job: job.state,
            "attempts": lambda job: str(job.attempts),
            "reason": lambda job: escape(job.reason or ""),
        },
        title=", ".join(f"{number:,} {state}" for state, number in sorted(found.counts.items())) or "no jobs yet",
    )
    return CommandResult(found.as_dict(), [shown])


@command("audit")
def audit_cli(
    store: "Store",
    challenge: Annotated[str | None, typer.Option("--challenge", help="Only of this challenge.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many lines, the newest first.")] = 50,
) -> CommandResult:
    """Show what was done, by whom, newest first."""
    return listed(
        services.audit.read_audit(store, OPERATOR, challenge, limit=limit),
        {
            "at": lambda line: line.at.isoformat(timespec="seconds"),
            "actor": lambda line: escape(line.actor),
            "action": lambda line: line.action,
            "object": lambda line: escape(line.object),
        },
    )


@command("worker")
def worker_cli(
    store: "Store",
    once: Annotated[bool, typer.Option("--once", help="Do the jobs there are, then stop.")] = False,
    score_seconds: Annotated[int, typer.Option("--time-limit", min=1, help="Seconds one scoring may take.")] = 120,
) -> CommandResult:
    """Score what is queued, until interrupted. `emoscope serve` has a worker of its own; more can run beside it."""
    from emoscope.server.challenge.scoring.worker import ScoringWorker

    worker = ScoringWorker(store, score_seconds=score_seconds)
    if once:
        done = worker.drain(seconds=86_400)
        return CommandResult({"done": done}, f"{done:,} jobs done")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    worker.run(stop)
    return CommandResult({"state": "stopped"}, "stopped")


@command("backup")
def backup_cli(
    store: "Store", target: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")]
) -> CommandResult:
    """Copy database and files while the server runs. The copy holds gold, and can be served with --data-dir."""
    from emoscope.server.store.backup import backup

    backup(store, target)
    sqlite = store.database.is_sqlite
    text = f"{target}: done" if sqlite else f"{target}: files copied; the database is copied by pg_dump"
    return CommandResult({"output": target, "database": sqlite}, text)


@group.command("upgrade")
def upgrade_cli(data_dir: DataDirOption = None, database: DatabaseOption = None) -> CommandResult:
    """Bring the database to this version's schema; SQLite does that by itself."""
    from emoscope.core.extras import check_installed

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
