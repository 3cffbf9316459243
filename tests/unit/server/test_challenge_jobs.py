"""Jobs: every submission is finished exactly once, whatever happens to scorers and workers."""

import io
import json
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.scoring import queue
from emoscope.server.challenge.scoring.queue import MAX_LOST, claim, extend
from emoscope.server.challenge.scoring.scorer import answer as scorer_answer
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services import submissions
from emoscope.server.challenge.services.actor import OPERATOR, Actor
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import rescore
from emoscope.server.challenge.services.submissions import get_submission, quota, submit
from emoscope.server.challenge.views import LogLine
from emoscope.server.errors import StoreUnavailable
from emoscope.server.store import FileStore, Store
from emoscope.server.store.models import Job, Result
from kits.challenge_kit import Clock, answer, made_challenge, phase, rows_of, team

SLOW = (sys.executable, "-c", "import time; time.sleep(60)")
CRASH = (sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
NO_NUMBER = (sys.executable, "-c", 'print(\'{"ok": true, "score": NaN, "low": 0.0, "high": 1.0, "per_class": {}}\')')
NO_SCORE = (sys.executable, "-c", "print('{\"ok\": true}')")
GARBAGE = (sys.executable, "-c", "print('finished!')")
LEASE = timedelta(seconds=60)


def test_a_moment_has_its_offset_however_a_view_becomes_json() -> None:
    line = LogLine(at=datetime(2030, 1, 20, tzinfo=UTC), text="scored")
    assert line.as_dict() == json.loads(line.model_dump_json()) == {"at": "2030-01-20T00:00:00+00:00", "text": "scored"}


@pytest.fixture
def submitted(store: Store, tmp_path: Path) -> tuple[Actor, str]:
    """One submission of the only one a day."""
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=1))
    ana, _ = team(store, slug)
    return ana, submit(store, ana, slug, "practice", answer(), file_name="a.txt").id


def results(store: Store) -> int:
    with store.database.read() as session:
        return session.scalar(select(func.count()).select_from(Result)) or 0


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (SLOW, "the time limit of 1 s was reached"),
        (CRASH, "the scorer was ended by signal 11"),
        (NO_NUMBER, "the scorer returned no finite score"),
        (GARBAGE, "the scorer ended with status 0 and no answer"),
        (NO_SCORE, "the worker could not run the job (KeyError)"),
        (("/no/such/program",), "the worker could not run the job (FileNotFoundError)"),
    ],
    ids=["slow", "crash", "nan", "garbage", "no score", "no program"],
)
def test_failing_scorer_is_retried_and_then_refunds_the_submission(
    store: Store, clock: Clock, submitted: tuple[Actor, str], command: tuple[str, ...], reason: str
) -> None:
    ana, sent = submitted
    bad = ScoringWorker(store, score_seconds=1, command=command)
    for attempt in (1, 2, 3):
        assert get_submission(store, ana, sent).state == "queued"
        assert bad.run_once()
        assert not bad.run_once()  # it waits before it tries again
        clock.forward(seconds=2**attempt)
    found = get_submission(store, ana, sent)
    assert (found.state, found.charged, results(store)) == ("failed", False, 0)
    assert found.log[-1].text == f"failed: {reason}; the submission does not count against the quota"
    assert quota(store, ana, "mine", "practice").left_today == 1
    entry = leaderboard(store, OPERATOR, "mine", "practice").entries[0]
    assert (entry.rank, entry.score, entry.state) == (None, None, "failed")
    assert read_audit(store, OPERATOR, "mine")[0].action == "submission.fail"
    assert rescore(store, OPERATOR, "mine") == 1  # the scorer is mended
    ScoringWorker(store).run_once()
    assert get_submission(store, ana, sent).state == "scored"


def test_a_lost_worker_loses_its_job_to_another_and_cannot_score_it_too(
    store: Store, clock: Clock, submitted: tuple[Actor, str]
) -> None:
    ana, sent = submitted
    lost = claim(store, LEASE)
    assert lost is not None
    assert claim(store, LEASE) is None
    clock.forward(seconds=61)
    taken = claim(store, LEASE)
    assert taken is not None
    assert (taken.id, taken.lost, taken.attempts) == (lost.id, 1, 1)
    assert not extend(store, lost, LEASE)
    figures = {"score": 0.5, "low": 0.4, "high": 0.6, "per_class": {}, "further": {}}
    assert not queue.keep_score(store, lost, figures)
    assert not queue.fail(store, lost, "too late")
    assert queue.keep_score(store, taken, figures)
    assert not queue.keep_score(store, taken, figures)
    assert results(store) == 1
    assert get_submission(store, ana, sent).state == "scored"


def test_job_that_kills_its_workers_is_abandoned(store: Store, clock: Clock, submitted: tuple[Actor, str]) -> None:
    ana, sent = submitted
    for _ in range(MAX_LOST + 1):
        assert claim(store, LEASE) is not None
        clock.forward(seconds=61)
    ScoringWorker(store).run_once()
    found = get_submission(store, ana, sent)
    assert (found.state, found.charged) == ("failed", False)
    assert found.log[-1].text == "failed: the worker was lost 21 times; the submission does not count against the quota"


def test_the_heartbeat_keeps_a_long_job(
    store: Store, clock: Clock, submitted: tuple[Actor, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, sent = submitted
    go = tmp_path / "go"
    waiting = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
    run = "import emoscope.server.challenge.scoring.scorer as s; s.main()"
    others: list[object] = []

    def beat(*arguments: object) -> bool:
        assert extend(*arguments)  # type: ignore[arg-type]
        clock.forward(seconds=0.25)  # three beats together are longer than one lease
        others.append(claim(store, LEASE))
        if len(others) == 3:
            go.touch()
        return True

    monkeypatch.setattr(queue, "extend", beat)
    ScoringWorker(store, lease_seconds=0.3, command=(sys.executable, "-c", waiting + run)).run_once()
    assert others[:3] == [None, None, None]  # nobody else could take it
    with store.database.read() as session:
        job = session.scalars(select(Job).where(Job.kind == "score")).one()
        assert (job.state, job.attempts) == ("done", 1)
    assert get_submission(store, ana, sent).state == "scored"


def test_a_job_for_former_code_is_replaced_by_one_for_the_present(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    with monkeypatch.context() as before_the_upgrade:
        before_the_upgrade.setattr(submissions, "scorer_sha256", lambda *_: "f" * 64)
        sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt").id
    ScoringWorker(store).run_once()
    found = get_submission(store, ana, sent)
    assert found.state == "queued"
    assert found.log[-1].text == "the scorer or the gold labels have changed; queued again"
    ScoringWorker(store).run_once()
    with store.database.read() as session:
        assert session.scalars(select(Result.scorer_sha256)).all() == [scorer_sha256("emocontext")]
        assert session.scalars(select(Job.state).order_by(Job.id)).all()[:2] == ["superseded", "done"]
    found = get_submission(store, ana, sent)
    assert (found.state, found.stale) == ("scored", False)


def test_several_workers_share_the_work_and_do_none_twice(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=20))
    ana, _ = team(store, slug)
    sent = [submit(store, ana, slug, "practice", answer(n % 8), file_name="a.txt").id for n in range(12)]
    instant = (
        sys.executable,
        "-c",
        'print(\'{"ok": true, "score": 0.5, "low": 0.4, "high": 0.6, "per_class": {}, "further": {}}\')',
    )

    def work() -> None:
        while ScoringWorker(store, command=instant).run_once():
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {get_submission(store, ana, one).state for one in sent} == {"scored"}
    with store.database.read() as session:
        assert session.scalars(select(Job.attempts).where(Job.kind == "score")).all() == [1] * 12
    assert results(store) == 12


def test_a_worker_that_is_stopped_puts_a_long_job_back(store: Store, submitted: tuple[Actor, str]) -> None:
    ana, sent = submitted
    stop = threading.Event()
    slow = ScoringWorker(store, stop_seconds=0, poll_seconds=0.01, command=SLOW)
    thread = threading.Thread(target=slow.run, args=(stop,))
    thread.start()
    while get_submission(store, ana, sent).state != "scoring":
        time.sleep(0.01)
    stop.set()
    thread.join(timeout=120)
    assert not thread.is_alive()
    found = get_submission(store, ana, sent)
    assert (found.state, found.log[-1].text) == ("queued", "put back in the queue because the worker was stopped")
    ScoringWorker(store).run_once()
    assert [line.text for line in get_submission(store, ana, sent).log][-2:] == ["scoring, attempt 1 of 3", "scored"]


def test_a_worker_waits_for_a_database_that_is_gone(
    store: Store, submitted: tuple[Actor, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, sent = submitted
    stop, calls = threading.Event(), 0
    real = queue.claim

    def sometimes(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise StoreUnavailable("gone")
        if calls > 2:
            stop.set()
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(queue, "claim", sometimes)
    ScoringWorker(store, poll_seconds=0.01).run(stop)
    assert get_submission(store, ana, sent).state == "scored"


def test_no_error_ends_the_worker(store: Store, submitted: tuple[Actor, str], monkeypatch: pytest.MonkeyPatch) -> None:
    ana, sent = submitted
    stop, real = threading.Event(), queue.claim
    errors: list[Exception] = [OSError("too many open files"), RuntimeError("cannot start a thread")]

    def troubled(*arguments: object) -> object:
        if errors:
            raise errors.pop()
        found = real(*arguments)  # type: ignore[arg-type]
        if found is None:
            stop.set()
        return found

    monkeypatch.setattr(queue, "claim", troubled)
    ScoringWorker(store, poll_seconds=0.01).run(stop)
    assert get_submission(store, ana, sent).state == "scored"


def test_the_scorers_errors_quote_nothing_of_the_gold_file(tmp_path: Path) -> None:
    files = FileStore(tmp_path)
    paths = []
    for content in (rows_of(["happy"] * 7 + ["SECRET"]).encode(), answer().read()):
        with files.incoming(io.BytesIO(content), limit=1000) as part:
            paths.append(files.keep(part, "gold").path)
    gold, sent = paths
    request = {"kind": "score", "task": "emocontext", "gold": str(gold), "submission": str(sent)}
    told = scorer_answer({**request, "scorer_sha256": scorer_sha256("emocontext")})
    assert told["ok"] is False
    assert told["reason"].startswith("the input was refused in base.py, line ")
    assert "SECRET" not in json.dumps(told)


def test_a_score_by_other_code_than_asked_for_is_not_given() -> None:
    request = {"kind": "score", "task": "iest", "gold": "gold", "submission": "sent", "scorer_sha256": "f" * 64}
    assert scorer_answer(request)["reason"].startswith("ChangedCodeError in scorer.py")


def test_a_gold_file_that_was_changed_in_place_scores_nothing(
    store: Store, clock: Clock, submitted: tuple[Actor, str]
) -> None:
    ana, sent = submitted
    (gold,) = [path for path in store.files.root.glob("gold/*/*") if path.is_file()]
    gold.write_text(rows_of(["sad"] * 8))
    for attempt in (1, 2, 3):
        assert ScoringWorker(store).run_once()
        clock.forward(seconds=2**attempt)
    found = get_submission(store, ana, sent)
    assert found.state == "failed"
    assert "DamagedFileError" in found.log[-1].text
