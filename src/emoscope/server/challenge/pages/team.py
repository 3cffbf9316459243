"""A team's page: its members, invitations, merges and tokens."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import challenges, merges, teams, tokens
from emoscope.server.http.forms import FormPage, Values, template

router = APIRouter(prefix="/challenges/{slug}/team", include_in_schema=False)
team_page = FormPage(router, "", template("team.html.j2"))


@team_page.page
def _team(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {
        "challenge": visitor.ask(challenges.get_challenge, slug),
        "team": visitor.ask(teams.get_team, slug),
        "tokens": visitor.ask(tokens.list_tokens, slug),
    }


@team_page.form("/invite")
def invite(visitor: FormVisitor, slug: Slug) -> Values:
    """Create an invitation and show its link once."""
    return {"invitation": visitor.ask(teams.invite, slug)}


@team_page.form("/token")
def new_token(visitor: FormVisitor, slug: Slug) -> Values:
    """Create another token and show it once."""
    return {"token": visitor.ask(tokens.issue_member_token, slug)}


@team_page.form("/token/{token_id}/revoke")
def revoke(
    visitor: FormVisitor, slug: Slug, token_id: Number, confirm: ShortField = "", renew: ShortField = ""
) -> Response:
    """Revoke a token, once the member's name was typed; this ends the sessions started with it."""
    valid = [token for token in visitor.ask(tokens.list_tokens, slug) if token.revoked is None]
    only = len(valid) == 1 and valid[0].id == token_id
    warning = "The token stops working everywhere, including in programs, and cannot be made valid again."
    if only:
        warning = "This is your only token: without another one you can neither sign in again nor submit."
    visitor.must_confirm(
        confirm,
        visitor.actor.name,
        challenge=visitor.ask(challenges.get_challenge, slug),
        title="Revoke your only token?" if only else "Revoke this token?",
        text=warning,
        back=f"/challenges/{slug}/team",
        buttons=[
            *([("Revoke it and get a new one", "renew", "yes", "primary")] if only else []),
            ("Revoke and sign out" if only else "Revoke", "", "", "danger"),
        ],
    )
    if renew:
        issued = visitor.ask(tokens.issue_member_token, slug)
        visitor.ask(tokens.revoke_token, token_id)
        return team_page.show(visitor.signed_in_with(issued.token), {"slug": slug}, token=issued)
    visitor.ask(tokens.revoke_token, token_id)
    if token_id == visitor.actor.token_id:
        return visitor.signed_out().go(f"/challenges/{slug}")
    return visitor.go(f"/challenges/{slug}/team")


@team_page.form("/merge")
def _offer_merge(visitor: FormVisitor, slug: Slug, team: ShortField = "") -> Response:
    visitor.ask(merges.offer_merge, slug, team)
    return visitor.go(f"/challenges/{slug}/team")


@team_page.form("/merge/{merge_id}")
def _answer_merge(
    visitor: FormVisitor,
    slug: Slug,
    merge_id: Number,
    accept: Annotated[bool, Form()] = False,
    confirm: ShortField = "",
) -> Response:
    """Decline an offer, or accept it once the other team's name was typed: a merge cannot be undone."""
    offers = {offer.id: offer for offer in visitor.ask(teams.get_team, slug).merge_offers}
    if accept and merge_id in offers:
        visitor.must_confirm(
            confirm,
            offers[merge_id].offered_by,
            challenge=visitor.ask(challenges.get_challenge, slug),
            title=f"Merge with {offers[merge_id].offered_by}?",
            text="Their members and submissions become yours, under your team's name. A merge cannot be undone.",
            hidden={"accept": "true"},
            back=f"/challenges/{slug}/team",
            button="Merge",
        )
    visitor.ask(merges.answer_merge, slug, merge_id, accept=accept)
    return visitor.go(f"/challenges/{slug}/team")
