"""The organisers' commands: register and disqualify teams, post announcements, show storage."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from emoscope.cli.challenge.command import SlugArgument, TeamArgument, command, listed, mail_post
from emoscope.cli.result import CommandResult
from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR

if TYPE_CHECKING:
    from emoscope.server.store import Store


@command("register")
def register_cli(
    store: "Store",
    slug: SlugArgument,
    team: Annotated[str, typer.Argument(metavar="NAME", help="The team's name.")],
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The name of its first member.")],
    email: Annotated[str | None, typer.Option("--email", help="The member's address.")] = None,
) -> CommandResult:
    """Register a team, whatever the challenge's registration mode. The member's token is shown only once."""
    token = services.teams.register_team(store, OPERATOR, slug, team=team, member=member, email=email).token
    return CommandResult({"team": team, "member": member, "token": token}, token)


@command("disqualify")
def disqualify_cli(
    store: "Store",
    slug: SlugArgument,
    team: TeamArgument,
    reason: Annotated[str, typer.Argument(help="The reason, shown to its members.")],
) -> CommandResult:
    """Remove a team from the leaderboards; its members can sign in but not submit. `reinstate` undoes this."""
    services.teams.disqualify_team(store, OPERATOR, slug, team, reason)
    text = f"team {team}: disqualified; to undo: emoscope challenge reinstate {slug} {team}"
    return CommandResult({"team": team, "state": "disqualified"}, text)


@command("announce")
def announce_cli(
    store: "Store",
    slug: SlugArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE")],
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    team: Annotated[int | None, typer.Option("--team", help="Only to this team, by its number.")] = None,
    mail: Annotated[bool, typer.Option("--mail", help="Also e-mail it to members, through EMOSCOPE_MAIL_URL.")] = False,
) -> CommandResult:
    """Post an announcement on the challenge page, or a message to one team."""
    notices, post = services.notices, mail_post()
    if mail and post.mailer is None:
        raise EmoscopeError("no mail server is configured; set EMOSCOPE_MAIL_URL or leave out --mail")
    notice = notices.post_notice(store, OPERATOR, slug, title=title, text=text, team_id=team, mail=mail)
    if mail:
        notice = notices.send_notice(store, OPERATOR, slug, notice.id, post)
    sent = f", {counted(notice.mailed, 'e-mail')} sent" if mail else ""
    if notice.unsent:
        sent += f", {notice.unsent:,} pending; to try again: emoscope challenge mail {slug} {notice.id}"
    return CommandResult(notice.as_dict(), f"announcement {notice.id}: posted{sent}")


@command("mail")
def mail_cli(
    store: "Store", slug: SlugArgument, number: Annotated[int, typer.Argument(metavar="ANNOUNCEMENT")]
) -> CommandResult:
    """E-mail an announcement to the members who have not received it yet."""
    notice = services.notices.send_notice(store, OPERATOR, slug, number, mail_post())
    text = f"announcement {notice.id}: {counted(notice.mailed, 'e-mail')} sent, {notice.unsent:,} pending"
    return CommandResult(notice.as_dict(), text)


@command("announcements")
def announcements_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List announcements and messages to teams, newest first."""
    return listed(
        services.notices.list_notices(store, OPERATOR, slug),
        {
            **{"number": "id", "posted": "posted", "to": lambda notice: notice.team or "everyone", "title": "title"},
            "state": lambda notice: "withdrawn" if notice.withdrawn else "",
            "e-mails": lambda notice: f"{notice.mailed:,} sent, {notice.unsent:,} pending",
        },
    )


@command("withdraw")
def withdraw_cli(
    store: "Store",
    slug: SlugArgument,
    number: Annotated[int, typer.Argument(metavar="ANNOUNCEMENT")],
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
) -> CommandResult:
    """Hide an announcement or message; e-mails cannot be recalled."""
    (services.notices.restore_notice if undo else services.notices.withdraw_notice)(store, OPERATOR, slug, number)
    state = "shown again" if undo else "withdrawn"
    return CommandResult({"id": number, "state": state}, f"announcement {number}: {state}")


@command("storage")
def storage_cli(
    store: "Store",
    slug: Annotated[str | None, typer.Argument(metavar="CHALLENGE", help="Only this challenge's files.")] = None,
) -> CommandResult:
    """Show the storage used by submissions, data and the database, and the free disk space."""
    used = services.operation.storage(store, OPERATOR, slug)
    lines = [
        f"{counted(used.submissions, 'submitted file')}: {decimal(used.submission_bytes)}",
        f"data and gold: {decimal(used.data_bytes)}",
        f"database: {decimal(used.database_bytes or 0)}",
        f"free disk space: {decimal(used.free_bytes or 0)}",
    ]
    return CommandResult(used.as_dict(), "\n".join(lines))
