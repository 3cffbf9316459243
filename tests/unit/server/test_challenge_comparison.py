"""Clusters appear wherever the data folder is, and a failed comparison is reported."""

import logging
import sys
from pathlib import Path

import pytest

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import rescore
from emoscope.server.challenge.services.operation import jobs
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.errors import NotAllowed
from emoscope.server.store import Store
from kits.challenge_kit import Clock, answer, finish_jobs, made_challenge, team


def _two_teams(store: Store, folder: Path) -> str:
    slug = made_challenge(store, folder)
    for name, right in (("First", 8), ("Second", 2)):
        submit(store, team(store, slug, name)[0], slug, "practice", answer(right), file_name="a.txt")
    return slug


def test_clusters_appear_in_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EMOSCOPE_SERVER_DATA", raising=False)
    store = Store.open(clock=clock)  # ./emoscope-data
    try:
        slug = _two_teams(store, tmp_path)
        finish_jobs(store, clock)
        assert jobs(store, OPERATOR, slug).counts == {"done": 3}
        assert leaderboard(store, OPERATOR, slug, "practice", final=True).clusters_ready
    finally:
        store.close()


def test_a_failed_comparison_is_logged_and_shown(
    store: Store, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slug = _two_teams(store, tmp_path)
    worker = ScoringWorker(store)
    while worker.run_once():
        pass
    broken = ScoringWorker(store, command=(sys.executable, "-c", "raise SystemExit(3)"))
    for _ in range(3):
        clock.forward(seconds=10)
        with caplog.at_level(logging.WARNING, "emoscope.server"):
            assert broken.run_once()
    reason = "the scorer ended with status 3 and no answer"
    assert caplog.text.count(reason) == 3
    assert "given up" in caplog.text
    board = leaderboard(store, OPERATOR, slug, "practice", final=True)
    assert (board.clusters_ready, board.comparison_failed) == (False, True)
    found = jobs(store, OPERATOR, slug)
    assert found.counts == {"done": 2, "failed": 1}
    assert [(one.kind, one.phase, one.state, one.reason) for one in found.unfinished] == [
        ("compare", "practice", "failed", reason)
    ]
    assert read_audit(store, OPERATOR, slug)[0].action == "comparison.fail"
    with pytest.raises(NotAllowed):
        jobs(store, team(store, slug, "Third")[0], slug)
    rescore(store, OPERATOR, slug)
    finish_jobs(store, clock)
    board = leaderboard(store, OPERATOR, slug, "practice", final=True)
    assert (board.clusters_ready, board.comparison_failed) == (True, False)
    assert jobs(store, OPERATOR, slug).unfinished == ()
