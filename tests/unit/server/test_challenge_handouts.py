"""Files for teams, labels of phases that are over, notes and the chosen submission."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import (
    close_phase,
    create_challenge,
    get_challenge,
    open_phase,
    reschedule,
    rewrite,
    unlabelled_file,
)
from emoscope.server.challenge.services.handouts import add_file, challenge_file, labels_file, list_files, remove_file
from emoscope.server.challenge.services.submissions import (
    annotate_submission,
    choose_submission,
    delete_submission,
    get_submission,
    submit,
)
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound, Unauthenticated
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, Clock, answer, finish_jobs, made_challenge, phase, rows_of, team, write_challenge

FILES = '[[files]]\nfile = "train.txt"\ntitle = "Training data"\nphase = "second"\n'


def made(store: Store, folder: Path, head: str = "", **first: object) -> str:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "train.txt").write_text("0\ta\tb\tc\thappy\n")
    (source / "later.txt").write_text(rows_of(None, 4))
    (source / "later-gold.txt").write_text(rows_of(GOLD, 4))
    second = phase("second", unlabelled="later.txt", gold="later-gold.txt", opens=datetime(2030, 6, 1))
    file = write_challenge(source, head=head, phases=FILES + phase("first", **first) + second)
    return create_challenge(store, OPERATOR, file).slug


def test_files_are_for_approved_teams(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, head='downloads = "registered"\nregistration = "approval"')
    waiting = register_team(store, PUBLIC, slug, team="Joy", member="Ana", email="ana@example.org")
    ana = authenticate(store, waiting.token)
    for service, name in ((unlabelled_file, "first"), (challenge_file, "train.txt")):
        with pytest.raises(Unauthenticated):
            service(store, PUBLIC, slug, name)
        with pytest.raises(NotAllowed, match="waiting"):
            service(store, ana, slug, name)
    ben = authenticate(store, register_team(store, OPERATOR, slug, team="Woe", member="Ben").token)
    assert unlabelled_file(store, ben, slug, "first")[1] == "given.txt"
    with pytest.raises(NotFound, match="when phase second opens"):
        challenge_file(store, ben, slug, "train.txt")
    assert [(file.name, file.title, file.given_out) for file in list_files(store, PUBLIC, slug)] == [
        ("train.txt", "Training data", False)
    ]
    clock.now = datetime(2030, 6, 2, tzinfo=clock.now.tzinfo)
    path, name = challenge_file(store, ben, slug, "train.txt")
    assert (name, path.read_text()) == ("train.txt", "0\ta\tb\tc\thappy\n")


def test_a_file_is_added_replaced_and_removed_but_never_gold(store: Store, tmp_path: Path) -> None:
    slug = made(store, tmp_path)
    more = tmp_path / "more.txt"
    more.write_text("one")
    add_file(store, OPERATOR, slug, more, title="More")
    more.write_text("two")
    assert add_file(store, OPERATOR, slug, more).size == 3
    files = list_files(store, OPERATOR, slug)
    assert [(file.name, file.size) for file in files] == [("train.txt", 14), ("more.txt", 3)]
    assert challenge_file(store, PUBLIC, slug, "more.txt")[0].read_text() == "two"
    remove_file(store, OPERATOR, slug, "more.txt")
    with pytest.raises(NotFound):
        challenge_file(store, PUBLIC, slug, "more.txt")
    more.write_text(rows_of(GOLD))  # under another name
    with pytest.raises(Conflict, match="is the gold file of phase first"):
        add_file(store, OPERATOR, slug, more)
    with pytest.raises(NotAllowed):
        add_file(store, team(store, slug)[0], slug, more)


def test_labels_are_given_to_teams_with_the_next_phase(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, labels="next")
    ana, _ = team(store, slug)

    def refused() -> None:
        with pytest.raises(NotFound, match="when the next phase opens"):
            labels_file(store, ana, slug, "first")

    refused()
    close_phase(store, OPERATOR, slug, "first")
    refused()
    assert not get_challenge(store, ana, slug).phases[0].labels_released
    open_phase(store, OPERATOR, slug, "second")
    assert get_challenge(store, ana, slug).phases[0].labels_released
    with pytest.raises(Unauthenticated):
        labels_file(store, PUBLIC, slug, "first")
    open_phase(store, OPERATOR, slug, "first")  # nobody has them yet
    close_phase(store, OPERATOR, slug, "first")
    for _ in range(2):
        path, name = labels_file(store, ana, slug, "first")
    assert (name, path.read_text()) == ("given-labels.txt", rows_of(GOLD))
    assert [line.object for line in read_audit(store, OPERATOR, slug) if line.action == "labels.give"] == ["mine/first"]
    for again in (
        lambda: open_phase(store, OPERATOR, slug, "first"),
        lambda: reschedule(store, OPERATOR, slug, "first", closes=datetime(2031, 1, 1)),
    ):
        with pytest.raises(Conflict, match="its labels have been downloaded"):
            again()
    with pytest.raises(NotFound, match="are not available"):
        labels_file(store, ana, slug, "second")


RELEASE = datetime(2030, 5, 2)  # while the first phase runs


def test_labels_are_given_at_their_time_while_the_phase_runs(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, labels=RELEASE)
    ana, _ = team(store, slug)
    with pytest.raises(NotFound, match=r"teams get them at 2030-05-02T00:00\+00:00"):
        labels_file(store, ana, slug, "first")
    gold = tmp_path / "source" / "gold.txt"
    with pytest.raises(Conflict, match="is the gold file"):
        add_file(store, OPERATOR, slug, gold)
    clock.forward(hours=12)
    first = get_challenge(store, ana, slug).phases[0]
    assert (first.state, first.labels_released, first.labels_at) == ("open", True, RELEASE.replace(tzinfo=UTC))
    with pytest.raises(Unauthenticated):
        labels_file(store, PUBLIC, slug, "first")
    assert labels_file(store, ana, slug, "first")[0].read_text() == rows_of(GOLD)
    assert add_file(store, OPERATOR, slug, gold, title="Labels of Test1").given_out
    for change in (
        lambda: reschedule(store, OPERATOR, slug, "first", labels=datetime(2030, 5, 9)),
        lambda: reschedule(store, OPERATOR, slug, "first", clear={"labels"}),
    ):
        with pytest.raises(
            Conflict, match="cannot release its labels at another time: its labels have been downloaded"
        ):
            change()


def test_submissions_since_the_labels_came_out_are_not_ranked(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, labels=RELEASE)
    ana, ben = team(store, slug)[0], team(store, slug, "Late", "Ben")[0]
    early = submit(store, ana, slug, "first", answer(5), file_name="a.txt")
    worse = submit(store, ana, slug, "first", answer(2), file_name="a.txt")
    finish_jobs(store, clock)
    clock.forward(hours=12)
    late = [submit(store, who, slug, "first", answer(8), file_name="a.txt") for who in (ana, ben)]
    finish_jobs(store, clock)
    seen = get_submission(store, ana, late[0].id)
    assert (seen.state, seen.late, seen.can_choose) == ("scored", True, False)
    assert any("scored but not ranked" in line.text for line in seen.log)
    assert seen.figures is not None
    assert not get_submission(store, ana, early.id).late

    def standing() -> list[tuple[str, int | None, str | None, int]]:
        board = leaderboard(store, OPERATOR, slug, "first")
        assert any("came out at 2030-05-02 00:00+00:00" in note for note in board.notes)
        return [(entry.name, entry.rank, entry.submission, len(entry.history)) for entry in board.entries]

    assert standing() == [("Team Joy", 1, early.id, 1)]
    for change in (
        lambda: choose_submission(store, ana, worse.id),  # the labels tell which of them is best
        lambda: delete_submission(store, ana, early.id),
    ):
        with pytest.raises(Conflict, match="once the phase's labels are out"):
            change()
    with pytest.raises(Conflict, match="can appear on the leaderboard"):
        choose_submission(store, OPERATOR, late[0].id)
    close_phase(store, OPERATOR, slug, "first")
    assert standing() == [("Team Joy", 1, early.id, 1)]


def test_the_release_of_labels_is_scheduled(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, labels="next")
    for when, problem in (
        (datetime(2030, 4, 29), "after the phase opens"),
        (datetime(2030, 5, 1, 11), "in the past"),
        (datetime(1, 1, 1), "in the years"),
    ):
        with pytest.raises(Invalid, match=problem):
            reschedule(store, OPERATOR, slug, "first", labels=when)
    assert reschedule(store, OPERATOR, slug, "first", labels=RELEASE).phases[0].labels_at is not None
    ana, _ = team(store, slug)
    clock.forward(hours=12)
    submit(store, ana, slug, "first", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    assert leaderboard(store, PUBLIC, slug, "first").entries == ()
    again = reschedule(store, OPERATOR, slug, "first", clear={"labels"}).phases[0]  # nobody has them yet
    assert (again.labels, again.labels_at, again.labels_released) == ("next", None, False)
    assert leaderboard(store, PUBLIC, slug, "first").entries[0].rank == 1


def test_a_phase_does_not_open_after_its_labels(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made(store, tmp_path, opens=None, labels=RELEASE)
    clock.forward(days=2)
    assert not get_challenge(store, OPERATOR, slug).phases[0].labels_released
    with pytest.raises(Invalid, match="must be released after the phase opens"):
        open_phase(store, OPERATOR, slug, "first")


def test_labels_wait_for_another_phase_that_ranks_the_same_items(store: Store, clock: Clock, tmp_path: Path) -> None:
    later = datetime(2030, 5, 3)
    slug = made_challenge(store, tmp_path, phases=phase("first", labels=RELEASE) + phase("second", labels=later))
    ana, _ = team(store, slug)
    clock.forward(hours=12)
    with pytest.raises(NotFound, match=r"while another phase ranks submissions on the same items$"):
        labels_file(store, ana, slug, "first")
    clock.forward(days=1)
    assert labels_file(store, ana, slug, "first")[1] == "given-labels.txt"


def test_labels_stay_secret_while_another_phase_has_the_same_items(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("first", labels="closed") + phase("second"))
    ana, _ = team(store, slug)
    close_phase(store, OPERATOR, slug, "first")
    with pytest.raises(NotFound):
        labels_file(store, ana, slug, "first")
    close_phase(store, OPERATOR, slug, "second")
    assert labels_file(store, ana, slug, "first")[1] == "given-labels.txt"


def test_the_chosen_submission_counts_in_place_of_the_best(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = []
    for right in (2, 8, 5):
        sent.append(submit(store, ana, slug, "practice", answer(right), file_name="a.txt").id)
        clock.forward(minutes=1)
    finish_jobs(store, clock)

    def counting() -> tuple[str | None, int]:
        entry = leaderboard(store, ana, slug, "practice").entries[0]
        return entry.submission, len(entry.history)

    assert counting() == (sent[1], 2)
    choose_submission(store, ana, sent[0])
    assert counting() == (sent[0], 3)
    choose_submission(store, ana, sent[2])
    assert counting()[0] == sent[2]
    assert [get_submission(store, ana, one).chosen for one in sent] == [False, False, True]
    choose_submission(store, ana, sent[2], chosen=False)
    assert counting()[0] == sent[1]
    with pytest.raises(NotFound):
        choose_submission(store, team(store, slug, "Other")[0], sent[0])
    choose_submission(store, ana, sent[0])
    close_phase(store, OPERATOR, slug, "practice")
    assert counting()[0] == sent[0]
    with pytest.raises(Conflict, match="only an organiser"):
        choose_submission(store, ana, sent[1])
    last = submit(store, ana, slug, "final", answer(8), file_name="a.txt")
    with pytest.raises(Conflict, match="the last submission counts"):
        choose_submission(store, ana, last.id)


def test_a_note_is_the_teams_to_change(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt", note="first try")
    annotate_submission(store, ana, sent.id, "the larger  encoder")
    assert get_submission(store, ana, sent.id).note == "the larger encoder"
    with pytest.raises(NotAllowed):
        annotate_submission(store, OPERATOR, sent.id, "mine now")
    with pytest.raises(NotFound):
        annotate_submission(store, team(store, slug, "Other")[0], sent.id, "x")


def test_texts_are_taken_from_the_edited_file(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head='rules = "Be fair."')
    assert get_challenge(store, PUBLIC, slug).texts == {"rules": "Be fair."}
    edited = write_challenge(tmp_path / "source", head='rules = "Be kind."\nfaq = "Why?"\nsurvey = "iest"')
    found = rewrite(store, OPERATOR, slug, edited)
    assert (found.texts, found.has_survey) == ({"rules": "Be kind.", "faq": "Why?"}, True)
    with pytest.raises(NotAllowed):
        rewrite(store, team(store, slug)[0], slug, edited)
