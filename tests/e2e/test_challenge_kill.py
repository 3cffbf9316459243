"""A server that is killed at any moment, again and again, loses no submission and scores none twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from emoscope.server.challenge.services.submissions import get_submission, list_submissions, quota
from emoscope.server.store import Store
from emoscope.server.store.models import Job, Result, Submission
from kits.challenge_kit import BACKENDS, answer, made_challenge, opened_store, phase, rows_of, team

# `EMOSCOPE_KILL_SCORER=real` makes it the long run, with the real scorer instead of one that answers at once.
SUBMISSIONS = int(os.environ.get("EMOSCOPE_KILL_SUBMISSIONS", "200"))
SCORER = os.environ.get("EMOSCOPE_KILL_SCORER", "instant")

WINDOW = 6.0 if SCORER == "real" else 2.0  # seconds until it is killed, at most

# Accepts and scores in one process, as `emoscope serve` does. The key of each request stays the same over restarts,
# like a client's that had no answer and asks again; an answer is noted where the parent can see it.
SERVER = """
import io, sys, threading
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.scoring.worker import SCORER, ScoringWorker
from emoscope.server.store import Store
folder, url, token, answers, count, scorer = sys.argv[1:]
store = Store.open(folder, url)
stop = threading.Event()
instant = (sys.executable, "-S", "-c",
    "print('{\\"ok\\": true, \\"score\\": 0.5, \\"low\\": 0.4, \\"high\\": 0.6, \\"per_class\\": {}}')")
command = SCORER if scorer == "real" else instant
worker = ScoringWorker(store, lease_seconds=1, poll_seconds=0.05, command=command)
for _ in range(2):
    threading.Thread(target=worker.run, args=(stop,)).start()
actor = authenticate(store, token)
print("ready", flush=True)
done = set(open(answers).read().split())
for number in range(int(count)):
    if str(number) not in done:
        data = open(f"{folder}/send-{number % 8}.txt", "rb").read()
        submit(store, actor, "mine", "practice", io.BytesIO(data), file_name="a.txt", key=f"request-{number}")
        with open(answers, "a") as notes:
            notes.write(f"{number}\\n")
stop.wait()
"""


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with opened_store(request.param, tmp_path) as opened:
        yield opened


def states(store: Store) -> dict[str, int]:
    with store.database.read() as session:
        query = select(Submission.state, func.count()).group_by(Submission.state)
        return dict(iter(session.execute(query)))


def test_killing_the_server_loses_nothing_and_scores_nothing_twice(store: Store, tmp_path: Path) -> None:
    phases = phase("practice", per_day=SUBMISSIONS, opens=datetime(2020, 1, 1))
    ana, made = team(store, made_challenge(store, tmp_path, phases=phases))
    for right in range(8):
        (tmp_path / f"send-{right}.txt").write_bytes(answer(right).read())
    answers = tmp_path / "answers"
    answers.write_text("")
    url = store.database.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", SERVER, str(tmp_path), url, made.token, str(answers), str(SUBMISSIONS), SCORER]
    # The seed makes the moments the same in each run; what happens at them differs anyway.
    moments, kills, deadline = random.Random(5), 0, time.monotonic() + 60 + SUBMISSIONS * 5
    while states(store) != {"scored": SUBMISSIONS}:
        assert time.monotonic() < deadline, f"stuck at {states(store)} after {kills} kills"
        with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            until = time.monotonic() + moments.uniform(0, WINDOW)
            while time.monotonic() < until and states(store) != {"scored": SUBMISSIONS}:
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGKILL)
        kills += 1
    print(f"{SUBMISSIONS} submissions, {kills} kills")
    assert kills >= 2
    sent = list_submissions(store, ana, "mine")
    assert len(sent) == SUBMISSIONS
    assert len(answers.read_text().split()) == SUBMISSIONS
    with store.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Result)) == SUBMISSIONS
        assert session.scalar(select(func.count(func.distinct(Result.submission_id)))) == SUBMISSIONS
        assert session.scalar(select(func.count()).where(Job.kind == "score")) == SUBMISSIONS
        keys = set(session.scalars(select(Submission.request_key)))
    assert keys == {f"request-{number}" for number in range(SUBMISSIONS)}
    assert quota(store, ana, "mine", "practice").used_total == SUBMISSIONS
    for one in sent:
        assert (
            store.files.path("submissions", one.sha256).read_bytes().startswith(rows_of(None).split("\n")[0].encode())
        )
        assert [line.text for line in get_submission(store, ana, one.id).log].count("scored") == 1
