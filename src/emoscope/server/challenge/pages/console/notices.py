"""Announcements: post, e-mail, withdraw and restore; messages to teams can be withdrawn here too."""

from typing import Literal

from fastapi import BackgroundTasks

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Number, Slug, posted
from emoscope.server.challenge.pages.console.shell import console_page, console_router
from emoscope.server.challenge.pages.console.teams import TextField
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import challenges, notices
from emoscope.server.http.forms import Values

router = console_router("/announcements")
announcements = console_page(router, "", "announcements")


@announcements.page
def _announcements(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"notices": visitor.ask(notices.list_notices, slug)}


@announcements.form("")
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


@announcements.form("/{notice_id}/mail")
def _mail(visitor: FormVisitor, slug: Slug, notice_id: Number) -> Values:
    """E-mail an announcement to the members who have not received it yet."""
    notice = visitor.ask(notices.send_notice, slug, notice_id, visitor.gate)
    rest = f"; {notice.unsent} could not be sent" if notice.unsent else ""
    return {"done": f"{counted(notice.mailed, 'e-mail')} sent{rest}."}


@announcements.form("/{notice_id}/{action}")
def _withdraw(visitor: FormVisitor, slug: Slug, notice_id: Number, action: Literal["withdraw", "restore"]) -> Values:
    withdrawing = action == "withdraw"
    visitor.ask(notices.withdraw_notice if withdrawing else notices.restore_notice, slug, notice_id)
    done, opposite = ("withdrawn", "restore") if withdrawing else ("shown again", "withdraw")
    undo = f"/challenges/{slug}/organise/announcements/{notice_id}/{opposite}"
    return {"done": f"The announcement is {done}.", "undo": undo}
