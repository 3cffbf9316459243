"""API keys, rate limits per client, concurrent explanations; the fast lane checks the same."""

import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from emoscope.cli.app import app as commands
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.server.app import create_app
from emoscope.server.detect.access import Access
from emoscope.server.detect.buckets import Buckets
from emoscope.server.detect.keys import KeyFile
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem
from emoscope.server.settings import Settings

ASK = {"turns": ["I am so happy"]}
EACH = [("/v1/detect", ASK), ("/v1/detect/batch", {"dialogues": [ASK]}), ("/v1/timeline", ASK), ("/v1/explain", ASK)]


def served(folder: Path, **settings: Any) -> TestClient:
    return TestClient(create_app(Settings(model="nano", data_dir=folder, **settings)))


@pytest.mark.parametrize(("path", "body"), EACH)
def test_where_a_key_is_needed_none_and_a_wrong_one_are_refused(tmp_path: Path, path: str, body: Any) -> None:
    secret = KeyFile(tmp_path).add("shop")
    with served(tmp_path, api_keys="required") as client:
        for headers in ({}, {"X-API-Key": "emk_wrong"}, {"Authorization": "Bearer emk_wrong"}):
            answer = client.post(path, json=body, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), headers
        for headers in ({"X-API-Key": secret}, {"Authorization": f"Bearer {secret}"}):
            assert client.post(path, json=body, headers=headers).status_code == 200, headers
        assert client.get("/v1/models").status_code == 200


def test_a_key_has_limits_of_its_own(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    small, unlimited = keys.add("small", dialogues_per_minute=2), keys.add("big", dialogues_per_minute=0)
    with served(tmp_path, dialogues_per_minute=4) as client:
        for headers, go in (({}, 4), ({"X-API-Key": small}, 2), ({"X-API-Key": unlimited}, 9)):
            statuses = [client.post("/v1/detect", json=ASK, headers=headers).status_code for _ in range(9)]
            assert statuses == [200] * go + [429] * (9 - go)
        refused = client.post("/v1/detect/batch", json={"dialogues": [ASK] * 3})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert "4 dialogues per minute" in refused.json()["detail"]
        assert 'emoscope_refused_total{lane="detect",reason="client"}' in client.get("/metrics").text


def test_a_running_server_sees_new_keys_and_revoked_ones(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    with served(tmp_path) as client:
        assert client.post("/v1/detect", json=ASK, headers={"X-API-Key": "emk_no"}).status_code == 401
        secret = keys.add("late")
        time.sleep(1.1)
        assert client.post("/v1/detect", json=ASK, headers={"X-API-Key": secret}).status_code == 200
        keys.revoke("late")
        time.sleep(1.1)
        assert client.post("/v1/detect", json=ASK, headers={"X-API-Key": secret}).status_code == 401


def test_the_commands_make_list_and_revoke_keys(tmp_path: Path) -> None:
    run = CliRunner()
    folder = ["--data-dir", str(tmp_path)]
    made = run.invoke(commands, ["keys", "add", "shop", "--dialogues-per-minute", "60", *folder])
    assert KeyFile(tmp_path).find(made.output.strip()) is not None
    assert (tmp_path / "api-keys.json").stat().st_mode & 0o077 == 0
    assert made.output.strip() not in (tmp_path / "api-keys.json").read_text()
    assert "60" in run.invoke(commands, ["keys", "list", *folder]).output
    with pytest.raises(EmoscopeError, match="already has a key"):
        KeyFile(tmp_path).add("shop")
    assert "revoked" in run.invoke(commands, ["keys", "revoke", "shop", *folder]).output
    with pytest.raises(EmoscopeError, match="no such key"):
        KeyFile(tmp_path).revoke("shop")


def test_processes_with_the_same_file_share_a_limit(tmp_path: Path) -> None:
    one, other = Buckets(tmp_path / "limits"), Buckets(tmp_path / "limits")
    assert [one.take("a", 1, per_minute=3, now=9.0), other.take("a", 2, per_minute=3, now=9.0)] == [0, 0]
    assert one.take("a", 1, per_minute=3, now=9.0) == 20
    assert other.take("a", 1, per_minute=3, now=30.0) == 0
    assert one.take("b", 500, per_minute=3, now=9.0) == 0  # more than a minute's worth goes once
    assert one.take("b", 1, per_minute=3, now=60.0) > 60


def test_explanations_are_limited_at_a_time_and_a_minute(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, explain_per_client=2, explanations_per_minute=3)
    access = Access(settings, Metrics())
    client = access.client({"headers": [], "client": ("192.0.2.1", 1)})
    other = access.client({"headers": [], "client": ("192.0.2.2", 1)})
    with access.explaining(client), access.explaining(client):
        with (
            pytest.raises(Problem, match="already have 2 explanations in progress") as refused,
            access.explaining(client),
        ):
            pass
        assert refused.value.status == 429
        with access.explaining(other):
            pass
    with access.explaining(client):
        pass
    with pytest.raises(Problem, match="3 explanations per minute"), access.explaining(client):
        pass


def test_explanations_leave_the_cores_to_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from emoscope.parallel import threads

    seen: dict[str, Any] = {}
    explain = Detector.explain

    def watched(self: Detector, *arguments: Any, **options: Any) -> Any:
        seen.update(options, cores=threads.cores())
        return explain(self, *arguments, **options)

    monkeypatch.setattr(Detector, "explain", watched)
    with served(tmp_path) as client:
        assert client.post("/v1/explain", json=ASK).status_code == 200
    assert seen["cores"] == 1
    assert seen["evaluations"] == Settings().explain_evaluations


def test_large_bodies_are_refused_unread_while_too_much_waits(tmp_path: Path) -> None:
    app = create_app(Settings(model="nano", data_dir=tmp_path))
    with TestClient(app) as client:
        waiting = app.state.detect._detections
        waiting.waiting += 2000
        refused = client.post("/v1/detect/batch", json={"dialogues": [{"turns": ["a" * 1000]}] * 20})
        assert (refused.status_code, refused.headers["connection"]) == (429, "close")
        assert client.post("/v1/detect", json=ASK).status_code == 200
        waiting.waiting -= 2000


def test_the_fast_lane_answers_as_the_route_does(tmp_path: Path) -> None:
    app = create_app(Settings(model="nano", data_dir=tmp_path))
    whole = {"turns": ["hi", {"text": "yes"}, {"speaker": "A", "text": "I am so happy"}], "labels": "emocontext"}
    with TestClient(app) as client:
        fast = client.post("/v1/detect", json=whole)
        slow = client.post("/v1/detect", json=whole, headers={"Content-Type": "application/problem+json"})
        assert fast.json() == slow.json()
        assert set(slow.headers) == set(fast.headers)
        prior = {"angry": 0.7, "happy": 0.1, "others": 0.1, "sad": 0.1}
        for path, key in (("/v1/timeline", "turns"), ("/v1/detect/batch", "results")):
            batch = {"dialogues": [{"turns": whole["turns"]}], "prior": prior}
            body: Any = batch if key == "results" else whole
            other = {"Content-Type": "application/x+json"}
            answers = [client.post(path, json=body, headers=headers).json() for headers in ({}, other)]
            assert answers[0] == answers[1]
            assert answers[0][key][-1]["label"]
