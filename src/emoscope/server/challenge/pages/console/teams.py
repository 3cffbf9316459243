"""Teams: who takes part, what they sent, and letting them in, telling them something or taking them out."""

from typing import Annotated, Any, Literal

from fastapi import BackgroundTasks, Form, Query
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, Slug, posted
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Service, ShortField, Visitor
from emoscope.server.challenge.services import notices, registration, submissions, teams, tokens
from emoscope.server.challenge.views import TeamView
from emoscope.server.errors import ServerError
from emoscope.server.store.names import name_key

router = console_router()
TextField = Annotated[str, Form(max_length=12_000)]
STATES = ("all", "waiting", "taking part", "disqualified", "deleted")
SHOWN = 20  # submissions of a team


def state_of(team: TeamView) -> str:
    """What has become of a team, in one word or two."""
    if team.deleted:
        return "deleted"
    return "disqualified" if team.disqualified_for else "taking part" if team.approved else "waiting"


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
    found = [
        team
        for team in everyone
        if state in ("all", state_of(team))
        and any(name_key(name) in name_key(text) for text in (team.name, *(one.name for one in team.members)))
    ]
    counts = {one: sum(one in ("all", state_of(team)) for team in everyone) for one in STATES}
    options = {"teams": found, "counts": counts, "state": state, "name": name, "state_of": state_of}
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
        state_of=state_of,
        submissions=visitor.ask(submissions.list_submissions, slug, team_id=team_id, deleted=True, limit=SHOWN),
        tokens=[token for token in visitor.ask(tokens.list_tokens, slug) if token.member_id in members],
        messages=[one for one in visitor.ask(notices.list_notices, slug) if one.team_id == team_id],
        **values,
    )


@router.post("/teams")
def _register(
    visitor: FormVisitor, slug: Slug, team: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Register a team for somebody, whatever the challenge's registration is."""
    filled = {"team": team, "member": member, "email": email}
    try:
        made = visitor.ask(teams.register_team, slug, team=team, member=member, email=email)
    except ServerError as error:
        return _show(visitor, slug, error=error, filled=filled)
    done = f"Team {made.team.name} is registered. This token of {made.member.name} is shown only now:"
    return _show_team(visitor, slug, made.team.id, done=done, secret=made.token)


@router.post("/invitation")
def _invite(visitor: FormVisitor, slug: Slug, email: ShortField = "") -> Response:
    try:
        invitation = visitor.ask(registration.invite_team, slug, visitor.post, email)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    return _show(visitor, slug, invitation=invitation, invited=email.strip())


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
        notice = posted(visitor, visitor.post, later, slug, title, text, team_id=team_id, mail=bool(mail))
    except ServerError as error:
        return _show_team(visitor, slug, team_id, error=error, filled={"title": title, "text": text, "mail": mail})
    mailing = f" It is being mailed to {notice.unsent} members." if notice.unsent else ""
    return _show_team(
        visitor,
        slug,
        team_id,
        done=f"The team sees your message on its pages.{mailing}",
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
        done="The team is disqualified: it is off the boards, sees why, and cannot submit.",
        undo=f"/challenges/{slug}/organise/teams/{team_id}/reinstate",
    )


@router.post("/teams/{team_id}/members/{member_id}/token")
def _new_token(visitor: FormVisitor, slug: Slug, team_id: Number, member_id: Number) -> Response:
    """A token for a member who lost theirs."""
    try:
        issued = visitor.ask(tokens.issue_member_token, slug, member_id)
    except ServerError as error:
        return _show_team(visitor, slug, team_id, error=error)
    done = "This new token is shown only now. Give it to the member by a way you trust:"
    return _show_team(visitor, slug, team_id, done=done, secret=issued.token)


@router.post("/teams/{team_id}/{action}")
def _change_team(
    visitor: FormVisitor,
    slug: Slug,
    team_id: Number,
    action: Literal["approve", "reinstate", "delete", "restore"],
    back: ShortField = "",
) -> Response:
    """Let a team in, or do or undo what took it out; `back=team` shows its own page afterwards."""
    services: dict[str, Service] = {
        "approve": teams.approve_team,
        "reinstate": teams.reinstate_team,
        "delete": teams.delete_team,
        "restore": teams.restore_team,
    }
    error = refused(visitor, services[action], slug, team_id)
    name = visitor.ask(teams.get_team, slug, team_id).name
    done, opposite = {
        "approve": (f"Team {name} is let in.", None),
        "reinstate": (f"Team {name} is back on the boards.", None),
        "delete": (f"Team {name} is off the board and its tokens do not work.", "restore"),
        "restore": (f"Team {name} is back.", "delete"),
    }[action]
    values: dict[str, Any] = {"error": error}
    if error is None:
        undo = f"/challenges/{slug}/organise/teams/{team_id}/{opposite}"
        values |= {"done": done, "undo": undo if opposite else None}
    return _show_team(visitor, slug, team_id, **values) if back == "team" else _show(visitor, slug, **values)
