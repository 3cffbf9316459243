"""Announcements: post, e-mail, withdraw and restore; messages to teams can be withdrawn here too."""

from typing import Any, Literal

from fastapi import BackgroundTasks
from starlette.responses import Response

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Number, Slug, posted
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.console.teams import TextField
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, notices
from emoscope.server.errors import ServerError

router = console_router("/announcements")


@router.get("")
def _page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug)


def _show(visitor: Visitor, slug: str, **values: Any) -> Response:
    return console(visitor, slug, "announcements", notices=visitor.ask(notices.list_notices, slug), **values)


@router.post("")
def _announce(
    visitor: FormVisitor,
    slug: Slug,
    later: BackgroundTasks,
    title: ShortField = "",
    text: TextField = "",
    mail: ShortField = "",
    confirm: ShortField = "",
) -> Response:
    """Post an announcement; before it is e-mailed, which cannot be undone, the challenge's name must be typed."""
    filled = {"title": title, "text": text, "mail": mail}
    if mail and title.strip() and text.strip():
        question = visitor.must_confirm(
            confirm,
            slug,
            challenge=visitor.ask(challenges.get_challenge, slug),
            title=f"E-mail “{title.strip()[:80]}” to all teams?",
            text="It goes to every member with an e-mail address. E-mails cannot be recalled.",
            back=visitor.path,
            hidden=filled,
            button="Post and e-mail",
        )
        if question is not None:
            return question
    try:
        notice = posted(visitor, visitor.gate, later, slug, title, text, mail=bool(mail))
    except ServerError as error:
        return _show(visitor, slug, error=error, filled=filled)
    mailing = f" It is being e-mailed to {counted(notice.unsent, 'member')}." if notice.unsent else ""
    undo = f"/challenges/{slug}/organise/announcements/{notice.id}/withdraw"
    return _show(visitor, slug, done=f"Posted on the challenge page.{mailing}", undo=undo)


@router.post("/{notice_id}/mail")
def _mail(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Response:
    """E-mail an announcement to the members who have not received it yet."""
    try:
        notice = visitor.ask(notices.send_notice, slug, notice_id, visitor.gate)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    rest = f"; {notice.unsent} could not be sent" if notice.unsent else ""
    return _show(visitor, slug, done=f"{counted(notice.mailed, 'e-mail')} sent{rest}.")


@router.post("/{notice_id}/{action}")
def _withdraw(visitor: FormVisitor, slug: Slug, notice_id: Number, action: Literal["withdraw", "restore"]) -> Response:
    withdrawing = action == "withdraw"
    if error := refused(visitor, notices.withdraw_notice if withdrawing else notices.restore_notice, slug, notice_id):
        return _show(visitor, slug, error=error)
    done, opposite = ("withdrawn", "restore") if withdrawing else ("shown again", "withdraw")
    undo = f"/challenges/{slug}/organise/announcements/{notice_id}/{opposite}"
    return _show(visitor, slug, done=f"The announcement is {done}.", undo=undo)
