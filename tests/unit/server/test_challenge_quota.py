"""Quotas are enforced under concurrent uploads and with several processes."""

import io
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.submissions import list_submissions, quota, submit
from emoscope.server.errors import ServerError
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, Clock, answer, made_challenge, phase, rows_of, team

PARALLEL = 100

UPLOADER = """
import io, sys
from datetime import datetime, UTC
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import QuotaExceeded
from emoscope.server.store import Store
folder, url, token, file, count = sys.argv[1:]
store = Store.open(folder, url, clock=lambda: datetime(2030, 5, 1, 12, tzinfo=UTC))
actor, data, accepted = authenticate(store, token), open(file, "rb").read(), 0
for _ in range(int(count)):
    try:
        submit(store, actor, "mine", "practice", io.BytesIO(data), file_name="a.txt")
        accepted += 1
    except QuotaExceeded:
        pass
print(accepted)
"""


def all_at_once(store: Store, actor: Actor, data: bytes) -> Counter[str]:
    def one(_: int) -> str:
        try:
            return submit(store, actor, "mine", "practice", io.BytesIO(data), file_name="a.txt").state
        except ServerError as error:
            return type(error).__name__

    with ThreadPoolExecutor(PARALLEL) as pool:
        return Counter(pool.map(one, range(PARALLEL)))


def test_a_hundred_parallel_uploads_never_pass_the_quota(store: Store, tmp_path: Path) -> None:
    ana, _ = team(store, made_challenge(store, tmp_path, phases=phase("practice", per_day=7)))
    assert all_at_once(store, ana, answer().read()) == {"queued": 7, "QuotaExceeded": PARALLEL - 7}
    assert quota(store, ana, "mine", "practice").used_today == 7
    assert len(list_submissions(store, ana, "mine")) == 7


def test_a_hundred_parallel_refused_files_never_pass_their_cap(store: Store, tmp_path: Path) -> None:
    ana, _ = team(store, made_challenge(store, tmp_path, phases=phase("practice", per_day=5, rejected_per_day=6)))
    wrong = rows_of(["joy", *GOLD[1:]]).encode()
    assert all_at_once(store, ana, wrong) == {"Rejected": 6, "QuotaExceeded": PARALLEL - 6}
    assert quota(store, ana, "mine", "practice").used_today == 0


@pytest.mark.e2e
def test_quota_applies_across_processes(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=9))
    _, made = team(store, slug)
    file = tmp_path / "answer.txt"
    file.write_bytes(answer().read())
    url = store.database.url.render_as_string(hide_password=False)
    arguments = [sys.executable, "-c", UPLOADER, str(tmp_path), url, made.token, str(file), "10"]
    running = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    accepted = [int(process.communicate(timeout=120)[0]) for process in running]
    assert sum(accepted) == 9


def test_used_and_remaining_quota_of_a_team(store: Store, clock: Clock, tmp_path: Path) -> None:
    """Its own submissions of this phase and day, charged ones only; both caps count."""
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=3, total=4) + phase("other", per_day=9))
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    for actor, name, count in ((ana, "practice", 2), (ben, "practice", 1), (ana, "other", 3)):
        for _ in range(count):
            submit(store, actor, slug, name, answer(), file_name="a.txt")
    with pytest.raises(ServerError):
        submit(store, ana, slug, "practice", io.BytesIO(b"nonsense"), file_name="a.txt")
    used = quota(store, ana, slug, "practice")
    assert (used.used_today, used.used_total, used.rejected_today, used.left_today) == (2, 2, 1, 1)
    assert used.next_day.isoformat() == "2030-05-02T00:00:00+00:00"
    clock.forward(days=1)
    used = quota(store, ana, slug, "practice")
    assert (used.used_today, used.used_total, used.rejected_today, used.left_today) == (0, 2, 0, 2)
    for _ in range(2):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    assert quota(store, ana, slug, "practice").left_today == 0
