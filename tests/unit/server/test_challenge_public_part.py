"""While a phase is open its board shows rounded scores on the public part of the gold; the private part decides."""

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.server.challenge.board.export import board_text, export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.scoring import public_part
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import close_phase, create_challenge, replace_gold
from emoscope.server.challenge.services.definition import read_definition
from emoscope.server.challenge.services.submissions import get_submission, submit
from emoscope.server.errors import NotAllowed, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.models import Phase
from emoscope.tasks import get_task
from kits.challenge_kit import (
    Clock,
    answer,
    finish_jobs,
    made_challenge,
    opened_store,
    phase,
    rows_of,
    team,
    write_challenge,
)

LABELS = ["happy"] * 20 + ["sad"] * 20 + ["angry"] * 20 + ["others"] * 40


def _parted(store: Store, folder: Path, share: float = 0.3) -> str:
    """A challenge of a hundred items, of which a share is public."""
    file = write_challenge(folder / "source", phases=phase("practice", per_day=50, public_share=share))
    (file.parent / "given.txt").write_text(rows_of(None, 100))
    (file.parent / "gold.txt").write_text(rows_of(LABELS, 100))
    return create_challenge(store, OPERATOR, file).slug


def _public(store: Store) -> set[int]:
    with store.database.read() as session:
        part = session.get_one(Phase, 1).public
    assert part is not None
    return set(json.loads(store.files.path("gold", part["sha256"]).read_bytes()))


def _answers(right: set[int]) -> io.BytesIO:
    """The gold's labels at these items, and wrong ones elsewhere."""
    wrong = {"happy": "sad", "sad": "angry", "angry": "happy", "others": "happy"}
    labels = [label if item in right else wrong[label] for item, label in enumerate(LABELS)]
    return io.BytesIO(rows_of(labels, 100).encode())


def test_public_part_is_stratified_and_chosen_once(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = _parted(store, tmp_path)
    public = _public(store)
    assert Counter(LABELS[item] for item in public) == {"happy": 6, "sad": 6, "angry": 6, "others": 12}
    new = tmp_path / "new.txt"
    new.write_text(rows_of(["sad", *LABELS[1:]], 100))
    replace_gold(store, OPERATOR, slug, "practice", new)
    assert _public(store) == public
    task = get_task("emocontext")
    assert public_part.choose(task, LABELS, 0.3, "one") != public_part.choose(task, LABELS, 0.3, "two")
    with pytest.raises(EmoscopeError, match="too small to be split"):
        public_part.choose(task, ["happy", "sad"], 0.3, "one")


def test_open_board_shows_only_the_rounded_public_score(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = _parted(store, tmp_path)
    public = _public(store)
    ana, _ = team(store, slug, "Ana's")
    sent = submit(store, ana, slug, None, _answers(public), file_name="a.txt")
    finish_jobs(store, clock)
    entry = leaderboard(store, ana, slug, "practice").entries[0]
    found = get_submission(store, ana, sent.id)
    assert found.figures is not None
    assert (entry.score, found.figures.score) == (1.0, 1.0)  # on the private part everything is wrong
    step = leaderboard(store, PUBLIC, slug, "practice").step
    assert step in (0.05, 0.1, 0.2)
    assert (entry.per_class, found.figures.per_class) == ({}, {})
    private = leaderboard(store, OPERATOR, slug, "practice", final=True).entries[0]
    assert private.score == 0.0
    assert private.per_class
    board = leaderboard(store, ana, slug, "practice")
    told = json.dumps(export_challenge(store, ana, slug)) + board_text(board, "csv") + board_text(board, "json")
    for figure in ("precision", "recall"):
        assert figure not in told
    for actor, refusal in ((PUBLIC, Unauthenticated), (ana, NotAllowed)):
        with pytest.raises(refusal):
            leaderboard(store, actor, slug, "practice", final=True)
    close_phase(store, OPERATOR, slug, "practice")
    entry = leaderboard(store, ana, slug, "practice").entries[0]
    assert (entry.score, bool(entry.per_class)) == (0.0, True)
    assert leaderboard(store, ana, slug, "practice").part == "private"


def test_shown_ranks_follow_from_the_shown_scores(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = _parted(store, tmp_path)
    with store.database.write() as session:
        row = session.get_one(Phase, 1)
        row.public = {**(row.public or {}), "step": 0.1, "margin": 0.12}
    public = sorted(_public(store))  # the last one is of "others"
    private = sorted(set(range(100)) - set(public))
    # Better on the private part, and by too little to be told on the public one; and a team far below.
    right = {"First": {*public[:-1], *private[:20]}, "Second": {*public, *private}, "Low": set(public[:8])}
    for name, items in right.items():
        submit(store, team(store, slug, name)[0], slug, None, _answers(items), file_name="a.txt")
        clock.forward(minutes=1)
    finish_jobs(store, clock)
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [entry.name for entry in board.entries] == ["First", "Second", "Low"]
    assert board.entries[0].score == board.entries[1].score
    assert [(entry.cluster, entry.first_different) for entry in board.entries] == [(1, 3), (1, 3), (2, None)]
    widths = {round((entry.high or 0) - (entry.score or 0), 4) for entry in board.entries if (entry.high or 0) < 1}
    assert len(widths) == 1  # the same margin for all, so that it tells nothing
    close_phase(store, OPERATOR, slug, "practice")
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [entry.name for entry in board.entries] == ["Second", "First", "Low"]
    assert board.clusters_ready


def test_the_submission_that_is_best_on_the_public_part_decides(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = _parted(store, tmp_path)
    public = _public(store)
    private = set(range(100)) - public
    ana, _ = team(store, slug)
    submit(store, ana, slug, None, _answers(private), file_name="lucky.txt")
    clock.forward(minutes=1)
    submit(store, ana, slug, None, _answers({*public, *sorted(private)[:40]}), file_name="chosen.txt")
    finish_jobs(store, clock)
    final = leaderboard(store, OPERATOR, slug, "practice", final=True).entries[0]
    assert final.submission is not None
    assert get_submission(store, OPERATOR, final.submission).file_name == "chosen.txt"


def test_phase_of_an_older_version_is_scored_on_all_items_and_rounded(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    slug = made_challenge(store, tmp_path)
    with store.database.write() as session:
        session.execute(update(Phase).values(public=None))
    ana, _ = team(store, slug)
    submit(store, ana, slug, "practice", answer(5), file_name="a.txt")
    finish_jobs(store, clock)
    entry = leaderboard(store, ana, slug, "practice").entries[0]
    assert (entry.score, entry.per_class) == (0.6, {})
    exact = leaderboard(store, OPERATOR, slug, "practice", final=True).entries[0].score
    assert exact == pytest.approx(6 / 11)


def test_a_hidden_board_has_no_public_part(tmp_path: Path) -> None:
    file = write_challenge(tmp_path, phases=phase("final", board="hidden", public_share=0.5))
    with pytest.raises(InputError, match="'public_share' is for an open leaderboard"):
        read_definition(file)
    with opened_store("sqlite", tmp_path / "live") as store:
        small = write_challenge(tmp_path, phases=phase("practice", public_share=0.3))
        (tmp_path / "given.txt").write_text(rows_of(None, 2))
        (tmp_path / "gold.txt").write_text(rows_of(["happy", "sad"], 2))
        with pytest.raises(EmoscopeError, match=r"phases\.practice\.public_share: the gold is too small to be split"):
            create_challenge(store, OPERATOR, small)


@pytest.mark.slow
def test_random_submissions_do_not_reveal_the_gold() -> None:
    pytest.importorskip("scipy", reason="no scipy: pip install 'emoscope[features]'")
    from benchmarks.serving.leak import attacked

    shares = np.array([0.1, 0.1, 0.1, 0.7])
    found = attacked(120, [60], shares, seed=1)
    assert found[60, "exact scores: linear program"][0] == 1.0  # every label
    for attack in ("default: linear program", "default: credit"):
        assert found[60, attack][2] < 0.1
