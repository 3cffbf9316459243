"""Teams: list, register, invite, message, approve, disqualify and delete them; and announcements to all of them."""

from typing import Annotated, Literal

from fastapi import BackgroundTasks, Form, Query
from starlette.responses import Response

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Number, Slug, posted
from emoscope.server.challenge.pages.console.shell import console_page, console_router
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Service, ShortField
from emoscope.server.challenge.services import challenges, notices, registration, submissions, teams, tokens
from emoscope.server.errors import ServerError
from emoscope.server.http.forms import Values
from emoscope.server.http.rendering import local
from emoscope.server.store.names import name_key

router = console_router()
all_teams = console_page(router, "/teams", "teams")
one_team = console_page(router, "/teams/{team_id}", "teams", "team")
announcements = console_page(router, "/announcements", "announcements")
TextField = Annotated[str, Form(max_length=12_000)]
STATES = ("all", "waiting", "active", "disqualified", "deleted")
SHOWN = 20  # submissions of a team


@all_teams.page
def _teams(
    visitor: CurrentVisitor,
    slug: Slug,
    state: Annotated[str, Query(max_length=20)] = "all",
    name: Annotated[str, Query(max_length=64)] = "",
) -> Values:
    everyone = visitor.ask(teams.list_teams, slug)
    matching = [
        team
        for team in everyone
        if state in ("all", team.state)
        and any(name_key(name) in name_key(text) for text in (team.name, *(member.name for member in team.members)))
    ]
    counts = {name: sum(name in ("all", team.state) for team in everyone) for name in STATES}
    return {"teams": matching, "counts": counts, "state": state, "name": name}


@one_team.page
def _team(visitor: CurrentVisitor, slug: Slug, team_id: Number) -> Values:
    team = visitor.ask(teams.get_team, slug, team_id)
    members = {member.id for member in team.members}
    return {
        "team": team,
        "submissions": visitor.ask(submissions.list_submissions, slug, team_id=team_id, deleted=True, limit=SHOWN),
        "tokens": [token for token in visitor.ask(tokens.list_tokens, slug) if token.member_id in members],
        "messages": [notice for notice in visitor.ask(notices.list_notices, slug) if notice.team_id == team_id],
    }


@all_teams.form("/teams")
def _register(
    visitor: FormVisitor, slug: Slug, team: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Register a team, whatever the challenge's registration mode."""
    new = visitor.ask(teams.register_team, slug, team=team, member=member, email=email)
    done = f"Team {new.team.name} is registered. Copy {new.member.name}'s token now: it is shown only once."
    return one_team.show(visitor, {"slug": slug, "team_id": new.team.id}, done=done, secret=new.token)


@all_teams.form("/invitation")
def _invite(visitor: FormVisitor, slug: Slug, email: ShortField = "") -> Values:
    invitation = visitor.ask(registration.invite_team, slug, visitor.gate, email)
    until = f", until {local(invitation.expires, 'UTC')}" if invitation.expires else ""
    mailed = f" It was e-mailed to {email.strip()}." if email.strip() else ""
    done = f"This invitation lets one team register{until}.{mailed} It is shown only once:"
    return {"done": done, "secret": invitation.token}


@one_team.form("/teams/{team_id}/message")
def _message(
    visitor: FormVisitor,
    slug: Slug,
    team_id: Number,
    later: BackgroundTasks,
    title: ShortField = "",
    text: TextField = "",
    mail: ShortField = "",
) -> Values:
    notice = posted(visitor, visitor.gate, later, slug, title, text, team_id=team_id, mail=bool(mail))
    mailing = f" It is being e-mailed to {counted(notice.unsent, 'member')}." if notice.unsent else ""
    undo = f"/challenges/{slug}/organise/announcements/{notice.id}/withdraw"
    return {"done": f"The team sees the message on its pages.{mailing}", "undo": undo}


@one_team.form("/teams/{team_id}/disqualify")
def _disqualify(visitor: FormVisitor, slug: Slug, team_id: Number, reason: TextField = "") -> Values:
    visitor.ask(teams.disqualify_team, slug, team_id, reason)
    undo = f"/challenges/{slug}/organise/teams/{team_id}/reinstate"
    return {"done": "The team is disqualified. Its members see the reason.", "undo": undo}


@one_team.form("/teams/{team_id}/members/{member_id}/token")
def _new_token(visitor: FormVisitor, slug: Slug, team_id: Number, member_id: Number) -> Values:  # noqa: ARG001
    """Create a token for a member who has lost theirs."""
    issued = visitor.ask(tokens.issue_member_token, slug, member_id)
    done = "Copy the new token now: it is shown only once. Send it to the member through a secure channel."
    return {"done": done, "secret": issued.token}


@all_teams.form("/teams/{team_id}/{action}")
def _change_team(
    visitor: FormVisitor,
    slug: Slug,
    team_id: Number,
    action: Literal["approve", "reinstate", "delete", "restore"],
    back: ShortField = "",
) -> Values | Response:
    """Approve, reinstate, delete or restore a team; `back=team` shows its own page afterwards."""
    actions: dict[str, tuple[Service, str, str | None]] = {
        "approve": (teams.approve_team, "approved", None),
        "reinstate": (teams.reinstate_team, "reinstated", None),
        "delete": (teams.delete_team, "deleted", "restore"),
        "restore": (teams.restore_team, "restored", "delete"),
    }
    service, done, opposite = actions[action]
    try:
        visitor.ask(service, slug, team_id)
    except ServerError as error:
        told: Values = {"error": error}
    else:
        undo = opposite and f"/challenges/{slug}/organise/teams/{team_id}/{opposite}"
        told = {"done": f"{visitor.ask(teams.get_team, slug, team_id).name} is {done}.", "undo": undo}
    return one_team.show(visitor, {"slug": slug, "team_id": team_id}, **told) if back == "team" else told


@announcements.page
def _announcements(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"notices": visitor.ask(notices.list_notices, slug)}


@announcements.form("/announcements")
def _announce(
    visitor: FormVisitor,
    slug: Slug,
    later: BackgroundTasks,
    title: ShortField = "",
    text: TextField = "",
    mail: ShortField = "",
    confirm: ShortField = "",
) -> Values:
    """Post an announcement; before it is e-mailed, which cannot be undone, the challenge's name must be typed."""
    if mail and title.strip() and text.strip():
        visitor.must_confirm(
            confirm,
            slug,
            challenge=visitor.ask(challenges.get_challenge, slug),
            title=f"E-mail “{title.strip()[:80]}” to all teams?",
            text="It goes to every member with an e-mail address. E-mails cannot be recalled.",
            back=visitor.path,
            hidden={"title": title, "text": text, "mail": mail},
            button="Post and e-mail",
        )
    notice = posted(visitor, visitor.gate, later, slug, title, text, mail=bool(mail))
    mailing = f" It is being e-mailed to {counted(notice.unsent, 'member')}." if notice.unsent else ""
    undo = f"/challenges/{slug}/organise/announcements/{notice.id}/withdraw"
    return {"done": f"Posted on the challenge page.{mailing}", "undo": undo}


@announcements.form("/announcements/{notice_id}/mail")
def _mail(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Values:
    """E-mail an announcement to the members who have not received it yet."""
    notice = visitor.ask(notices.send_notice, slug, notice_id, visitor.gate)
    rest = f"; {notice.unsent} could not be sent" if notice.unsent else ""
    return {"done": f"{counted(notice.mailed, 'e-mail')} sent{rest}."}


@announcements.form("/announcements/{notice_id}/{action}")
def _withdraw(visitor: FormVisitor, slug: Slug, notice_id: Number, action: Literal["withdraw", "restore"]) -> Values:
    withdrawing = action == "withdraw"
    visitor.ask(notices.withdraw_notice if withdrawing else notices.restore_notice, slug, notice_id)
    done, opposite = ("withdrawn", "restore") if withdrawing else ("shown again", "withdraw")
    undo = f"/challenges/{slug}/organise/announcements/{notice_id}/{opposite}"
    return {"done": f"The announcement is {done}.", "undo": undo}
