"""Merging teams: declined offers, what moves to the other team, and the audit log."""

from pathlib import Path

import pytest
from sqlalchemy import select

from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import delete_challenge
from emoscope.server.challenge.services.merges import answer_merge, offer_merge
from emoscope.server.challenge.services.notices import list_notices, post_notice
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.teams import (
    approve_team,
    delete_team,
    disqualify_team,
    get_team,
    list_teams,
    register_team,
    reinstate_team,
    restore_team,
)
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import Conflict, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Job, Merge
from kits.challenge_kit import Clock, answer, made_challenge, team


def test_an_offer_goes_once_to_another_team_of_the_challenge(store: Store, tmp_path: Path) -> None:
    slug, other = made_challenge(store, tmp_path), made_challenge(store, tmp_path, slug="other")
    ana, _ = team(store, slug, "One")
    team(store, slug, "Two", "Ben")
    _, gone = team(store, slug, "Gone", "Cat")
    team(store, other, "Elsewhere", "Dan")
    delete_team(store, OPERATOR, slug, gone.team.id)
    for name in ("Nobody", "Gone", "Elsewhere"):
        with pytest.raises(NotFound, match=r"^no such team in this challenge$") as unknown:
            offer_merge(store, ana, slug, name)
        assert unknown.value.field == "team"
    offer_merge(store, ana, slug, "Two")
    offer_merge(store, team(store, slug, "Three", "Eve")[0], slug, "Two")  # another team may offer the same
    for name, message in (("One", "a team cannot merge with itself"), ("Two", "this offer has already been made")):
        with pytest.raises(Conflict, match=f"^{message}$") as refused:
            offer_merge(store, ana, slug, name)
        assert refused.value.field == "team"


def test_declined_offer_keeps_both_teams_and_can_be_repeated(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    first = offer_merge(store, ana, slug, "Two")
    clock.forward(hours=1)
    assert answer_merge(store, ben, slug, first.id, accept=False).state == "declined"
    assert get_team(store, ben, slug).merge_offers == ()
    second = offer_merge(store, ana, slug, "Two")
    assert answer_merge(store, ana, slug, second.id, accept=False).state == "declined"  # the offering team withdraws
    assert sorted(each.name for each in list_teams(store, OPERATOR, slug)) == ["One", "Two"]
    with store.database.read() as session:
        assert [merge.decided_at for merge in session.scalars(select(Merge))] == [clock()] * 2
    with pytest.raises(NotFound, match=r"^no such offer to your team$"):
        answer_merge(store, ben, slug, 99, accept=True)


def test_an_offer_of_a_team_that_has_gone_since_is_not_accepted(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, one = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    offer = offer_merge(store, ana, slug, "Two").id
    with pytest.raises(Conflict, match=r"^the other team has to accept the offer$"):
        answer_merge(store, ana, slug, offer, accept=True)
    delete_team(store, OPERATOR, slug, one.team.id)
    with pytest.raises(Conflict, match=r"^team 'One' no longer exists$"):
        answer_merge(store, ben, slug, offer, accept=True)
    restore_team(store, OPERATOR, slug, one.team.id)
    disqualify_team(store, OPERATOR, slug, one.team.id, "two accounts")
    with pytest.raises(Conflict, match=r"^team 'One' is disqualified$"):
        answer_merge(store, ben, slug, offer, accept=True)
    reinstate_team(store, OPERATOR, slug, one.team.id)
    assert answer_merge(store, ben, slug, offer, accept=True).state == "accepted"


def test_a_team_that_waits_for_approval_does_not_merge(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head='registration = "approval"')
    one = register_team(store, PUBLIC, slug, team="One", member="Ana", email="ana@example.org")
    two = register_team(store, PUBLIC, slug, team="Two", member="Ben", email="ben@example.org")
    ana, ben = authenticate(store, one.token), authenticate(store, two.token)
    approve_team(store, OPERATOR, slug, one.team.id)
    for actor, name in ((ana, "Two"), (ben, "One")):
        with pytest.raises(Conflict, match=r"^team 'Two' is waiting for the organisers' approval$"):
            offer_merge(store, actor, slug, name)
    approve_team(store, OPERATOR, slug, two.team.id)
    offer_merge(store, ana, slug, "Two")


def test_teams_of_a_deleted_challenge_do_not_merge(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    offer = offer_merge(store, ana, slug, "Two").id
    delete_challenge(store, OPERATOR, slug)
    with pytest.raises(NotFound, match=f"^no challenge '{slug}'$"):
        offer_merge(store, ben, slug, "One")
    with pytest.raises(NotFound, match=f"^no challenge '{slug}'$"):
        answer_merge(store, ben, slug, offer, accept=True)


def test_a_merger_declines_the_other_offers_of_the_joining_team_only(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    slug = made_challenge(store, tmp_path)
    actors = {name: team(store, slug, name, f"{name}'s member")[0] for name in ("One", "Two", "Three", "Four")}
    declined = offer_merge(store, actors["One"], slug, "Four").id
    answer_merge(store, actors["Four"], slug, declined, accept=False)
    earlier = clock()
    from_joining = offer_merge(store, actors["One"], slug, "Three").id
    to_joining = offer_merge(store, actors["Four"], slug, "One").id
    between_others = offer_merge(store, actors["Three"], slug, "Four").id
    accepted = offer_merge(store, actors["One"], slug, "Two").id
    clock.forward(hours=1)
    answer_merge(store, actors["Two"], slug, accepted, accept=True)
    with store.database.read() as session:
        states = {merge.id: (merge.state, merge.decided_at) for merge in session.scalars(select(Merge))}
    assert states == {
        declined: ("declined", earlier),
        from_joining: ("declined", clock()),
        to_joining: ("declined", clock()),
        between_others: ("offered", None),
        accepted: ("accepted", clock()),
    }


def test_notices_go_with_the_team_and_boards_are_compared_again(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, one = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    cat, three = team(store, slug, "Three", "Cat")
    for title, to in (("for one", one.team.id), ("for three", three.team.id), ("for all", None)):
        post_notice(store, OPERATOR, slug, title=title, text="Read this.", team_id=to)
    submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=True)
    assert sorted(notice.title for notice in list_notices(store, ben, slug)) == ["for all", "for one"]
    assert sorted(notice.title for notice in list_notices(store, cat, slug)) == ["for all", "for three"]
    with store.database.read() as session:
        assert any("compar" in job.key for job in session.scalars(select(Job)))


def test_audit_log_names_who_offered_accepted_and_declined(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, one = team(store, slug, "One")
    ben, two = team(store, slug, "Two", "Ben")
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=False)
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=True)
    entries = [entry for entry in read_audit(store, OPERATOR, slug) if entry.action.startswith("merge.")]
    log = sorted((entry.action, entry.object, str(entry.detail)) for entry in entries)
    joining = str({"joining": one.team.id})
    offered = ("merge.offer", f"team {one.team.id}", str({"to": two.team.id}))
    answered = [(action, f"team {two.team.id}", joining) for action in ("merge.accept", "merge.decline")]
    assert log == [*answered, offered, offered]
