"""The organisers' commands: teams in and out of a challenge, what they are told, and the space that is used."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from emoscope.cli.challenge.command import SlugArgument, TeamArgument, command, listed, mail_post
from emoscope.cli.result import CommandResult
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
    """Register a team, whatever the challenge's registration. The member's token is shown this once."""
    token = services.teams.register_team(store, OPERATOR, slug, team=team, member=member, email=email).token
    return CommandResult({"team": team, "member": member, "token": token}, token)


@command("disqualify")
def disqualify_cli(
    store: "Store",
    slug: SlugArgument,
    team: TeamArgument,
    reason: Annotated[str, typer.Argument(help="Why; its members see it.")],
) -> CommandResult:
    """Take a team off the boards for a reason; its members can sign in, but not submit. `reinstate` takes it back."""
    services.teams.disqualify_team(store, OPERATOR, slug, team, reason)
    text = f"team {team}: disqualified; to take it back: emoscope challenge reinstate {slug} {team}"
    return CommandResult({"team": team, "state": "disqualified"}, text)


@command("reinstate")
def reinstate_cli(store: "Store", slug: SlugArgument, team: TeamArgument) -> CommandResult:
    """Bring a disqualified team back."""
    services.teams.reinstate_team(store, OPERATOR, slug, team)
    return CommandResult({"team": team, "state": "reinstated"}, f"team {team}: reinstated")


@command("announce")
def announce_cli(
    store: "Store",
    slug: SlugArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE")],
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    team: Annotated[int | None, typer.Option("--team", help="Tell this team only, by its number.")] = None,
    mail: Annotated[
        bool, typer.Option("--mail", help="Also mail it to all members with an address; EMOSCOPE_MAIL_URL says how.")
    ] = False,
) -> CommandResult:
    """Tell everybody something on the challenge's page, or one team."""
    notices, post = services.notices, mail_post()
    if mail and post.mailer is None:
        raise EmoscopeError("there is no mail server; set EMOSCOPE_MAIL_URL, or leave out --mail")
    notice = notices.post_notice(store, OPERATOR, slug, title=title, text=text, team_id=team, mail=mail)
    if mail:
        notice = notices.send_notice(store, OPERATOR, slug, notice.id, post)
    sent = f", {notice.mailed:,} mails sent" if mail else ""
    rest = f", {notice.unsent:,} not; to try again: emoscope challenge mail {slug} {notice.id}" if notice.unsent else ""
    return CommandResult(notice.as_dict(), f"announcement {notice.id}: posted{sent}{rest}")


@command("mail")
def mail_cli(
    store: "Store", slug: SlugArgument, number: Annotated[int, typer.Argument(metavar="ANNOUNCEMENT")]
) -> CommandResult:
    """Mail an announcement to those whose mail could not be sent before."""
    notice = services.notices.send_notice(store, OPERATOR, slug, number, mail_post())
    text = f"announcement {notice.id}: {notice.mailed:,} mails sent, {notice.unsent:,} not"
    return CommandResult(notice.as_dict(), text)


@command("announcements")
def announcements_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List announcements and messages to teams, newest first."""
    return listed(
        services.notices.list_notices(store, OPERATOR, slug),
        {
            "number": lambda one: str(one.id),
            "posted": lambda one: one.posted.isoformat(timespec="minutes"),
            "to": lambda one: escape(one.team or "everybody"),
            "title": lambda one: escape(one.title),
            "state": lambda one: "withdrawn" if one.withdrawn else "",
            "mails": lambda one: f"{one.mailed:,} sent" + (f", {one.unsent:,} not" if one.unsent else ""),
        },
    )


@command("withdraw")
def withdraw_cli(
    store: "Store",
    slug: SlugArgument,
    number: Annotated[int, typer.Argument(metavar="ANNOUNCEMENT")],
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
) -> CommandResult:
    """Hide an announcement or message; mails cannot be taken back."""
    (services.notices.restore_notice if undo else services.notices.withdraw_notice)(store, OPERATOR, slug, number)
    state = "shown again" if undo else "withdrawn"
    return CommandResult({"id": number, "state": state}, f"announcement {number}: {state}")


@command("storage")
def storage_cli(
    store: "Store",
    slug: Annotated[str | None, typer.Argument(metavar="[CHALLENGE]", help="Only its files; else all.")] = None,
) -> CommandResult:
    """Show how much space submissions, data and the database use, and how much is free."""
    used = services.storage.storage(store, OPERATOR, slug)
    lines = [
        f"{used.submissions:,} submitted files: {decimal(used.submission_bytes)}",
        f"data and gold: {decimal(used.data_bytes)}",
        f"database: {decimal(used.database_bytes or 0)}",
        f"free on the disk: {decimal(used.free_bytes or 0)}",
    ]
    return CommandResult(used.as_dict(), "\n".join(lines))
