"""Teams: list, register, invite, message, approve, disqualify and delete them."""

from typing import Annotated, Any, Literal

from fastapi import BackgroundTasks, Form, Query
from starlette.responses import Response

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Number, Slug, posted
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Service, ShortField, Visitor
from emoscope.server.challenge.services import notices, registration, submissions, teams, tokens
from emoscope.server.errors import ServerError
from emoscope.server.http.rendering import local
from emoscope.server.store.names import name_key

router = console_router()
TextField = Annotated[str, Form(max_length=12_000)]
STATES = ("all", "waiting", "active", "disqualified", "deleted")
SHOWN = 20  # submissions of a team


@router.get("/teams")
def _list_page(
    visitor: CurrentVisitor,
    slug: Slug,
    state: Annotated[str, Query(max_length=20)] = "all",
    name: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    return _show(visitor, slug, state=state, name=name)


def _show(visitor: Visitor, slug: str, *, state: str = "all", name: str = "", **values: Any) -> Response:
    everyone = visitor.ask(teams.list_teams, slug)
    matching = [
        team
        for team in everyone
        if state in ("all", team.state)
        and any(name_key(name) in name_key(text) for text in (team.name, *(member.name for member in team.members)))
    ]
    counts = {name: sum(name in ("all", team.state) for team in everyone) for name in STATES}
    options = {"teams": matching, "counts": counts, "state": state, "name": name}
    return console(visitor, slug, "teams", **options, **values)


@router.get("/teams/{team_id}")
def _team_page(visitor: CurrentVisitor, slug: Slug, team_id: Number) -> Response:
    return _show_team(visitor, slug, team_id)


def _show_team(visitor: Visitor, slug: str, team_id: int, **values: Any) -> Response:
    team = visitor.ask(teams.get_team, slug, team_id)
    members = {member.id for member in team.members}
    return console(
        visitor,
        slug,
        "teams",
        template="team",
        team=team,
        submissions=visitor.ask(submissions.list_submissions, slug, team_id=team_id, deleted=True, limit=SHOWN),
        tokens=[token for token in visitor.ask(tokens.list_tokens, slug) if token.member_id in members],
        messages=[notice for notice in visitor.ask(notices.list_notices, slug) if notice.team_id == team_id],
        **values,
    )


@router.post("/teams")
def _register(
    visitor: FormVisitor, slug: Slug, team: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Register a team, whatever the challenge's registration mode."""
    filled = {"team": team, "member": member, "email": email}
    try:
        new = visitor.ask(teams.register_team, slug, team=team, member=member, email=email)
    except ServerError as error:
        return _show(visitor, slug, error=error, filled=filled)
    done = f"Team {new.team.name} is registered. Copy {new.member.name}'s token now: it is shown only once."
    return _show_team(visitor, slug, new.team.id, done=done, secret=new.token)


@router.post("/invitation")
def _invite(visitor: FormVisitor, slug: Slug, email: ShortField = "") -> Response:
    try:
        invitation = visitor.ask(registration.invite_team, slug, visitor.gate, email)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    until = f", until {local(invitation.expires, 'UTC')}" if invitation.expires else ""
    mailed = f" It was e-mailed to {email.strip()}." if email.strip() else ""
    done = f"This invitation lets one team register{until}.{mailed} It is shown only once:"
    return _show(visitor, slug, done=done, secret=invitation.token)


@router.post("/teams/{team_id}/message")
def _message(
    visitor: FormVisitor,
    slug: Slug,
    team_id: Number,
    later: BackgroundTasks,
    title: ShortField = "",
    text: TextField = "",
    mail: ShortField = "",
) -> Response:
    try:
        notice = posted(visitor, visitor.gate, later, slug, title, text, team_id=team_id, mail=bool(mail))
    except ServerError as error:
        return _show_team(visitor, slug, team_id, error=error, filled={"title": title, "text": text, "mail": mail})
    mailing = f" It is being e-mailed to {counted(notice.unsent, 'member')}." if notice.unsent else ""
    return _show_team(
        visitor,
        slug,
        team_id,
        done=f"The team sees the message on its pages.{mailing}",
        undo=f"/challenges/{slug}/organise/announcements/{notice.id}/withdraw",
    )


@router.post("/teams/{team_id}/disqualify")
def _disqualify(visitor: FormVisitor, slug: Slug, team_id: Number, reason: TextField = "") -> Response:
    if error := refused(visitor, teams.disqualify_team, slug, team_id, reason):
        return _show_team(visitor, slug, team_id, error=error, filled={"reason": reason})
    return _show_team(
        visitor,
        slug,
        team_id,
        done="The team is disqualified. Its members see the reason.",
        undo=f"/challenges/{slug}/organise/teams/{team_id}/reinstate",
    )


@router.post("/teams/{team_id}/members/{member_id}/token")
def _new_token(visitor: FormVisitor, slug: Slug, team_id: Number, member_id: Number) -> Response:
    """Create a token for a member who has lost theirs."""
    try:
        issued = visitor.ask(tokens.issue_member_token, slug, member_id)
    except ServerError as error:
        return _show_team(visitor, slug, team_id, error=error)
    done = "Copy the new token now: it is shown only once. Send it to the member through a secure channel."
    return _show_team(visitor, slug, team_id, done=done, secret=issued.token)


@router.post("/teams/{team_id}/{action}")
def _change_team(
    visitor: FormVisitor,
    slug: Slug,
    team_id: Number,
    action: Literal["approve", "reinstate", "delete", "restore"],
    back: ShortField = "",
) -> Response:
    """Approve, reinstate, delete or restore a team; `back=team` shows its own page afterwards."""
    actions: dict[str, tuple[Service, str, str | None]] = {
        "approve": (teams.approve_team, "approved", None),
        "reinstate": (teams.reinstate_team, "reinstated", None),
        "delete": (teams.delete_team, "deleted", "restore"),
        "restore": (teams.restore_team, "restored", "delete"),
    }
    service, done, opposite = actions[action]
    values: dict[str, Any] = {"error": refused(visitor, service, slug, team_id)}
    if values["error"] is None:
        values["done"] = f"{visitor.ask(teams.get_team, slug, team_id).name} is {done}."
        values["undo"] = opposite and f"/challenges/{slug}/organise/teams/{team_id}/{opposite}"
    return _show_team(visitor, slug, team_id, **values) if back == "team" else _show(visitor, slug, **values)
