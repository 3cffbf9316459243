"""New gold while the server is killed: every submission ends with a score of the new labels."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kits.challenge_kit import GOLD, answer, phase, rows_of
from kits.challenge_site import OPENED, bearer, prepare
from kits.server_process import running_server

AT = "/v1/challenges/mine"


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60) as opened:  # tests may share a busy machine
        yield opened


@pytest.mark.parametrize("wait", [0.0, 1.5])
def test_new_gold_loses_no_submission_when_the_server_is_killed(
    tmp_path: Path, client: httpx.Client, wait: float
) -> None:
    organiser = prepare(tmp_path, phases=phase("practice", opens=OPENED, per_day=50))
    sent = []
    with running_server(tmp_path) as server:
        made = client.post(f"{server.url}{AT}/teams", json={"team": "One", "member": "Ana"})
        token = made.json()["token"]
        for number in range(12):
            files = {"file": ("a.txt", answer(number % 9).getvalue())}
            taken = client.post(f"{server.url}{AT}/submissions", files=files, headers=bearer(token))
            assert taken.status_code == 201, taken.text
            sent.append(taken.json()["id"])
        new = {"file": ("new.txt", rows_of(["sad", *GOLD[1:]]).encode())}
        replaced = client.put(f"{server.url}{AT}/phases/practice/gold", files=new, headers=bearer(organiser))
        assert replaced.json()["queued"] == len(sent)
        time.sleep(wait)
        server.kill()
    with running_server(tmp_path) as server:
        until = time.monotonic() + 150
        while time.monotonic() < until:
            found = client.get(f"{server.url}{AT}/submissions", headers=bearer(organiser)).json()
            if all(one["state"] == "scored" and not one["stale"] for one in found):
                break
            time.sleep(0.5)
        assert sorted(one["id"] for one in found) == sorted(sent)
        assert {(one["state"], one["stale"]) for one in found} == {("scored", False)}
        best = max(one["figures"]["score"] for one in found)
        assert best == pytest.approx(0.8)  # of the new labels
        lines = client.get(f"{server.url}{AT}/audit", headers=bearer(organiser)).json()
        assert [line["action"] for line in lines].count("phase.gold") == 1
