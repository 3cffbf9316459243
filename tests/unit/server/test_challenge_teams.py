"""Teams, invitations, merging and tokens: who may do what."""

from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC, Actor
from emoscope.server.challenge.services.challenges import (
    close_phase,
    create_challenge,
    delete_challenge,
    get_challenge,
    list_challenges,
    open_phase,
    replace_gold,
    rescore,
    restore_challenge,
)
from emoscope.server.challenge.services.merges import answer_merge, offer_merge
from emoscope.server.challenge.services.submissions import list_submissions, quota, submit
from emoscope.server.challenge.services.teams import (
    delete_team,
    get_team,
    invite,
    join_team,
    list_teams,
    register_team,
    restore_team,
)
from emoscope.server.challenge.services.tokens import (
    actor_of,
    authenticate,
    issue_member_token,
    issue_organiser_token,
    list_tokens,
    revoke_token,
)
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import Invitation, Token
from emoscope.server.store.names import clean_name
from kits.challenge_kit import Clock, answer, assert_refused, made_challenge, opened_store, phase, team


def test_a_token_is_shown_once_and_kept_as_a_hash(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug)
    assert ana.team_id == made.team.id
    assert made.token.startswith("emo_")
    with store.database.read() as session:
        kept = session.scalars(select(Token)).all()
    assert len(kept) == 1
    assert made.token not in str(vars(kept[0]))
    assert actor_of(store, kept[0].id) == ana
    revoke_token(store, ana, kept[0].id)
    for call in (lambda: authenticate(store, made.token), lambda: actor_of(store, kept[0].id)):
        with pytest.raises(Unauthenticated, match=r"^the token is not valid$"):
            call()
    with pytest.raises(Unauthenticated, match=r"^the token is not valid$"):
        authenticate(store, "emo_unknown")
    assert authenticate(store, "") == PUBLIC


def test_names_are_taken_once_however_they_are_spelt(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    team(store, slug, "Team Joy")
    for spelling in ("team joy", "  TEAM   JOY ", "Ｔeam Joy"):
        with pytest.raises(Conflict, match="is taken"):
            register_team(store, PUBLIC, slug, team=spelling, member="Ben")


def test_a_name_that_looks_like_another_is_refused(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    for name in ("Smith & Jones", "Aurora", "PIXEL", "Modern 1", "Łódź"):
        team(store, slug, name)
    # Cyrillic letters, digits for letters, "rn" for "m", and capitals whose small letters look different.
    for other in ("\u0410urora", "Aur0ra", "Pi\u0445el", "Modern l", "Modem 1", "Sm\u0456th & Jones"):
        with pytest.raises(Conflict, match="looks too similar to another team's"):
            register_team(store, PUBLIC, slug, team=other, member="Ben")
    for different in ("Lodz", "Aurore", "Modern 2", "Нина", "नमस्ते", "Nguyễn Thị", "בַּיִת"):
        team(store, slug, different)


@pytest.mark.parametrize("name", ["Z" + "\u0301\u0302\u0303\u0304", "e\u0301\u0301", "a\u20dd"])
def test_stacked_combining_marks_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="may not stack accents"):
        clean_name(name, "team")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\u202eb", "=1+1", "", "a" * 61, "../x", "a\x00b", "😀"]
)
def test_a_name_that_could_do_harm_is_refused(name: str, tmp_path: Path) -> None:
    with opened_store("sqlite", tmp_path, Clock()) as store:
        slug = made_challenge(store, tmp_path)
        with pytest.raises(Invalid, match=r"^the team name") as refused:
            register_team(store, PUBLIC, slug, team=name, member="Ben")
        assert refused.value.field == "team"
        with pytest.raises(Invalid, match="not a valid e-mail address"):
            register_team(store, PUBLIC, slug, team="Fine", member="Ben", email="no address\r\nBcc: all@example.org")


def test_members_join_by_an_invitation_that_works_once(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug)
    invitation = invite(store, ana, slug)
    joined = join_team(store, PUBLIC, invitation.token, member="Ben", email="ben@example.org")
    assert [member.name for member in joined.team.members] == ["Ana", "Ben"]
    ben = authenticate(store, joined.token)
    assert ben.team_id == ana.team_id
    late = invite(store, ben, slug)
    clock.forward(days=8)
    for token in (invitation.token, late.token, "inv_unknown"):
        with pytest.raises(NotFound, match="unknown, already used or expired"):
            join_team(store, PUBLIC, token, member="Cat")
    with store.database.read() as session:
        assert invitation.token not in "".join(session.scalars(select(Invitation.hash)))
    with pytest.raises(Unauthenticated):
        invite(store, PUBLIC, slug)
    assert get_team(store, OPERATOR, slug, made.team.id).members[1].email == "ben@example.org"


def test_registration_can_be_closed_and_capped(store: Store, tmp_path: Path) -> None:
    made_challenge(store, tmp_path, head='registration = "closed"')
    with pytest.raises(NotAllowed, match="registration is closed"):
        team(store, "mine")
    assert register_team(store, OPERATOR, "mine", team="Invited", member="Ana").team.name == "Invited"
    made_challenge(store, tmp_path, slug="small", head="max_teams = 1")
    team(store, "small", "One")
    with pytest.raises(Conflict, match="is limited to 1 team"):
        team(store, "small", "Two")


def test_teams_merge_if_one_team_could_have_submitted_as_much(store: Store, clock: Clock, tmp_path: Path) -> None:
    phases = phase("practice", per_day=2, opens=datetime(2030, 5, 1))
    slug = made_challenge(store, tmp_path, phases=phases)
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    for actor, count in ((ana, 2), (ben, 1)):
        for _ in range(count):
            submit(store, actor, slug, "practice", answer(), file_name="a.txt")
    # On the first day one team could have made 2 submissions; together they have made 3.
    with pytest.raises(Conflict, match="have made 3 submissions in phase practice, one team could have made 2 by now"):
        offer_merge(store, ana, slug, "two")
    clock.forward(days=1)
    offer = offer_merge(store, ana, slug, "two")
    assert (offer.offered_by, offer.offered_to, offer.state) == ("One", "Two", "offered")
    with pytest.raises(Conflict, match="the other team has to accept"):
        answer_merge(store, ana, slug, offer.id, accept=True)
    cat, _ = team(store, slug, "Three")
    with pytest.raises(NotFound):
        answer_merge(store, cat, slug, offer.id, accept=True)
    assert get_team(store, ben, slug).merge_offers == (offer,)
    assert answer_merge(store, ben, slug, offer.id, accept=True).state == "accepted"
    merged = get_team(store, ben, slug)
    assert sorted(member.name for member in merged.members) == ["Ana", "Ben"]
    assert quota(store, ben, slug, "practice").used_total == 3
    with pytest.raises(Conflict, match="your team has changed in the meantime"):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")  # an actor from before the merger
    with pytest.raises(Conflict, match="was already accepted"):
        answer_merge(store, ben, slug, offer.id, accept=False)
    assert len(list_teams(store, OPERATOR, slug)) == 2


def test_teams_that_made_just_as_many_submissions_as_one_team_could_may_merge(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=2, opens=datetime(2030, 5, 1)))
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    for actor in (ana, ben):
        submit(store, actor, slug, "practice", answer(), file_name="a.txt")
    assert answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=True).state == "accepted"


def test_a_merged_team_has_no_more_submissions_in_all_than_any_other(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=9, total=1))
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    for actor in (ana, ben):
        submit(store, actor, slug, "practice", answer(), file_name="a.txt")
    with pytest.raises(Conflict, match="have made 2 submissions in phase practice, one team could have made 1 by now"):
        offer_merge(store, ana, slug, "Two")


def test_a_merged_team_has_no_more_members_than_any_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug, "One")
    join_team(store, PUBLIC, invite(store, ana, slug).token, member="Cat")
    ben, _ = team(store, slug, "Two", "Ben")
    monkeypatch.setattr("emoscope.server.challenge.services.merges.MAX_MEMBERS", 2)
    with pytest.raises(Conflict, match="together the teams have 3 members, at most 2 are allowed"):
        offer_merge(store, ana, slug, "Two")
    for module in ("merges", "teams"):
        monkeypatch.setattr(f"emoscope.server.challenge.services.{module}.MAX_MEMBERS", 3)
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=True)
    assert len(get_team(store, ben, slug).members) == 3
    with pytest.raises(Conflict, match="a team can have at most 3 members"):
        join_team(store, PUBLIC, invite(store, ben, slug).token, member="Dan")


def test_a_merged_member_keeps_the_token_and_plays_for_the_new_team(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    invitation = invite(store, ana, slug)
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Two").id, accept=True)
    ana = authenticate(store, made.token)
    assert ana.team_id == ben.team_id
    assert [one.id for one in list_submissions(store, ben, slug)] == [sent.id]
    assert join_team(store, PUBLIC, invitation.token, member="Cat").team.name == "Two"


def test_a_deleted_team_is_off_the_board_until_restored(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug)
    submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    delete_team(store, OPERATOR, slug, made.team.id)
    assert leaderboard(store, PUBLIC, slug, "practice").entries == ()
    with pytest.raises(Unauthenticated):
        authenticate(store, made.token)
    with pytest.raises(Conflict, match="your team has changed"):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    restore_team(store, OPERATOR, slug, made.team.id)
    assert authenticate(store, made.token) == ana
    assert [entry.name for entry in leaderboard(store, PUBLIC, slug, "practice").entries] == ["Team Joy"]


def test_a_deleted_challenge_is_there_for_its_organisers_only(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    _, made = team(store, slug)
    delete_challenge(store, OPERATOR, slug)
    assert list_challenges(store, PUBLIC) == []
    assert [one.deleted for one in list_challenges(store, OPERATOR)] == [True]
    with pytest.raises(NotFound):
        get_challenge(store, PUBLIC, slug)
    with pytest.raises(Unauthenticated):
        authenticate(store, made.token)
    restore_challenge(store, OPERATOR, slug)
    assert get_challenge(store, PUBLIC, slug).teams == 1


def test_organiser_of_one_challenge_cannot_change_another(store: Store, tmp_path: Path) -> None:
    for slug in ("mine", "other"):
        made_challenge(store, tmp_path, slug=slug)
    eve = authenticate(store, issue_organiser_token(store, OPERATOR, name="Eve", slug="other").token)
    ana, made = team(store, "mine")
    sent = submit(store, ana, "mine", "practice", answer(), file_name="a.txt")
    actions = [
        lambda who: close_phase(store, who, "mine", "practice"),
        lambda who: open_phase(store, who, "mine", "practice"),
        lambda who: rescore(store, who, "mine"),
        lambda who: replace_gold(store, who, "mine", "practice", tmp_path / "source" / "gold.txt"),
        lambda who: delete_challenge(store, who, "mine"),
        lambda who: restore_challenge(store, who, "mine"),
        lambda who: list_teams(store, who, "mine"),
        lambda who: delete_team(store, who, "mine", made.team.id),
        lambda who: create_challenge(store, who, tmp_path / "source" / "mine.toml"),
        lambda who: issue_organiser_token(store, who, name="Eve", slug="mine"),
        lambda who: issue_organiser_token(store, who, name="Eve"),
        lambda who: list_tokens(store, who) if who.role != "participant" else list_teams(store, who, "mine"),
    ]
    assert_refused(actions, eve, ana)
    with pytest.raises(NotFound):
        get_team(store, eve, "mine", made.team.id)
    with pytest.raises(NotFound):
        revoke_token(store, eve, ana.token_id or 0)
    with pytest.raises(NotFound):
        issue_member_token(store, eve, "mine", ana.member_id)
    with pytest.raises(NotFound):
        list_submissions(store, Actor("participant", ana.challenge_id, 999, 999), "mine", team_id=ana.team_id)
    assert sent.state == "queued"
    assert issue_organiser_token(store, eve, name="Friend", slug="other").token.startswith("emo_")


def test_a_lost_token_is_replaced_by_an_organiser(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    fresh = issue_member_token(store, OPERATOR, slug, ana.member_id)
    assert authenticate(store, fresh.token).member_id == ana.member_id
    own = issue_member_token(store, ana, slug)
    assert [token.id for token in list_tokens(store, ana)] == [ana.token_id, fresh.id, own.id]
    assert [token.team for token in list_tokens(store, OPERATOR, slug)] == ["Team Joy"] * 3
