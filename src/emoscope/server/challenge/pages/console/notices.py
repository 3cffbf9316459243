"""Announcements to everybody, and messages to teams that can be withdrawn."""

from typing import Any

from fastapi import BackgroundTasks
from starlette.responses import Response

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
    """Tell everybody; mails to everybody cannot be taken back, so the challenge's name is typed first."""
    filled = {"title": title, "text": text, "mail": mail}
    if mail and title.strip() and text.strip():
        challenge = visitor.ask(challenges.get_challenge, slug)
        question = visitor.must_confirm(
            confirm,
            slug,
            challenge=challenge,
            title=f"Mail “{title.strip()[:80]}” to all teams?",
            text="Every member with an address gets it. Mails cannot be taken back.",
            action=f"/challenges/{slug}/organise/announcements",
            back=f"/challenges/{slug}/organise/announcements",
            hidden=filled,
            buttons=[("Post and mail it", "", "", "danger")],
        )
        if question is not None:
            return question
    try:
        notice = posted(visitor, visitor.post, later, slug, title, text, mail=bool(mail))
    except ServerError as error:
        return _show(visitor, slug, error=error, filled=filled)
    mailing = f" It is being mailed to {notice.unsent} members." if notice.unsent else ""
    undo = f"/challenges/{slug}/organise/announcements/{notice.id}/withdraw"
    return _show(visitor, slug, done=f"Everybody sees it on the challenge's page.{mailing}", undo=undo)


@router.post("/{notice_id}/withdraw")
def _withdraw(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Response:
    error = refused(visitor, notices.withdraw_notice, slug, notice_id)
    undo = f"/challenges/{slug}/organise/announcements/{notice_id}/restore"
    return _show(visitor, slug, error=error) if error else _show(visitor, slug, done="It is withdrawn.", undo=undo)


@router.post("/{notice_id}/restore")
def _restore(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Response:
    error = refused(visitor, notices.restore_notice, slug, notice_id)
    undo = f"/challenges/{slug}/organise/announcements/{notice_id}/withdraw"
    return _show(visitor, slug, error=error) if error else _show(visitor, slug, done="It is shown again.", undo=undo)


@router.post("/{notice_id}/mail")
def _mail(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Response:
    """Mail it to those whose mail could not be sent before."""
    try:
        notice = visitor.ask(notices.send_notice, slug, notice_id, visitor.post)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    rest = f"; {notice.unsent} could not be sent" if notice.unsent else ""
    return _show(visitor, slug, done=f"{notice.mailed} mails are sent{rest}.")
