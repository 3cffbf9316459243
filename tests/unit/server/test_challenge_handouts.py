"""Files for teams, labels of phases that are over, notes and the chosen submission."""

from datetime import datetime
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
    get_submission,
    submit,
)
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import Conflict, NotAllowed, NotFound, Unauthenticated
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
