"""Detection over HTTP: requests, responses, and every kind of bad request."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

import emoscope
from emoscope.server.app import create_app
from emoscope.server.detect.service import DetectService
from emoscope.server.settings import Limits, Settings

TURNS = ["I won the first prize!", "wow, congrats", "I am so happy :)"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    limits = Limits(max_turns=5, max_characters=50, max_dialogues=3, max_body_bytes=4096)
    made = Settings(model="nano", data_dir=tmp_path_factory.mktemp("data"), limits=limits)
    with TestClient(create_app(made)) as opened:
        yield opened


def problem(client: TestClient, path: str, status: int, **request: Any) -> dict[str, Any]:
    answer = client.post(path, **request)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert found["type"].startswith("urn:emoscope:problem:")
    return found


def test_detect_answers_as_the_library_does(client: TestClient) -> None:
    answer = client.post("/v1/detect", json={"turns": TURNS})
    assert answer.status_code == 200
    assert answer.json() == {**emoscope.load("nano").detect(TURNS).as_dict(), "model": "nano"}


def test_a_turn_may_name_its_speaker(client: TestClient) -> None:
    spoken = [{"speaker": "Ana", "text": TURNS[0]}, {"text": TURNS[1]}, TURNS[2]]
    assert client.post("/v1/detect", json={"turns": spoken}).json()["label"] == "happy"


def test_chat_messages_are_turns(client: TestClient) -> None:
    messages = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": TURNS[0]},
        {"role": "assistant", "content": [{"type": "text", "text": TURNS[1]}]},
        {"role": "user", "content": TURNS[2]},
    ]
    plain = client.post("/v1/detect", json={"turns": TURNS}).json()
    assert client.post("/v1/detect", json={"turns": messages}).json() == plain
    assert len(client.post("/v1/timeline", json={"turns": messages}).json()["turns"]) == 3
    spoken = client.post("/v1/explain", json={"turns": messages}).json()["turns"]
    assert [turn["speaker"] for turn in spoken] == ["user", "assistant", "user"]
    assert problem(client, "/v1/detect", 422, json={"turns": messages[:1]})["errors"][0]["field"] == "turns"
    wrong = problem(client, "/v1/detect", 422, json={"turns": [{"role": "user", "content": 3}]})
    assert "expected 'content' as text, not int" in wrong["detail"]
    for turn in ({"role": "user"}, {"content": "hi"}):
        wrong = problem(client, "/v1/detect", 422, json={"turns": [turn]})
        assert wrong["detail"] == f"turns[0]: a message needs 'content' and 'role'; found '{next(iter(turn))}'"


def test_queue_and_inference_are_reported_apart(client: TestClient) -> None:
    timing = client.post("/v1/detect", json={"turns": TURNS}).headers["server-timing"]
    names = [part.split(";")[0].strip() for part in timing.split(",")]
    assert names == ["queue", "inference"]
    assert all(float(part.split("dur=")[1]) >= 0 for part in timing.split(","))


def test_batch_keeps_the_order(client: TestClient) -> None:
    asked = [["I hate you"], ["what time is it"], ["I am so happy :)"]]
    answer = client.post("/v1/detect/batch", json={"dialogues": [{"turns": turns} for turns in asked]}).json()
    detector = emoscope.load("nano")
    assert answer["results"] == [detector.detect(turns).as_dict() for turns in asked]
    assert answer["model"] == "nano"


def test_timeline_has_an_answer_for_each_turn(client: TestClient) -> None:
    answer = client.post("/v1/timeline", json={"turns": TURNS}).json()
    assert answer["turns"] == [found.as_dict() for found in emoscope.load("nano").timeline(TURNS)]


def test_explanation_sums_to_the_answer(client: TestClient) -> None:
    answer = client.post("/v1/explain", json={"turns": TURNS}).json()
    total = answer["baseline"] + sum(turn["contribution"] for turn in answer["turns"])
    assert answer["label"] == "happy"
    assert total == pytest.approx(answer["log_odds"], abs=1e-6)
    other = client.post("/v1/explain", json={"turns": TURNS, "label": "sad"}).json()
    assert other["label"] == "sad"


def test_the_callers_prior_moves_the_answer(client: TestClient) -> None:
    prior = {"others": 0.997, "happy": 0.001, "sad": 0.001, "angry": 0.001}
    plain = client.post("/v1/detect", json={"turns": TURNS}).json()
    shifted = client.post("/v1/detect", json={"turns": TURNS, "prior": prior}).json()
    assert shifted["scores"]["others"] > plain["scores"]["others"]
    expected = emoscope.load("nano", prior=prior).detect(TURNS)
    assert shifted["scores"] == dict(expected.scores)


def test_models_returns_labels_colours_priors_and_limits(client: TestClient) -> None:
    answer = client.get("/v1/models").json()
    (model,) = answer["models"]
    (only,) = model["label_sets"]
    assert model["name"] == "nano"
    assert model["terms"].startswith("Research use. ") and "\n" not in model["terms"]
    assert only["name"] == "emocontext"
    assert {label["name"] for label in only["labels"]} == {"happy", "sad", "angry", "others"}
    assert all(label["colour"].startswith("#") for label in only["labels"])
    assert sum(only["prior"].values()) == pytest.approx(1)
    assert answer["limits"]["max_turns"] == 5


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/detect", {}, "turns"),
        ("/v1/detect", {"turns": []}, "turns"),
        ("/v1/detect", {"turns": "hello"}, "turns"),
        ("/v1/detect", {"turns": ["hi", 3]}, "turns[1]"),
        ("/v1/detect", {"turns": [{"speaker": "A"}]}, "turns[0].text"),
        ("/v1/detect", {"turns": [{"text": 5}]}, "turns[0].text"),
        ("/v1/detect", {"turns": [{"text": "a", "mood": "b"}]}, "turns[0].mood"),
        ("/v1/detect", {"turns": ["a"] * 6}, "turns"),
        ("/v1/detect", {"turns": ["a", "b" * 51]}, "turns[1].text"),
        ("/v1/detect", {"turns": [{"text": "a", "speaker": "b" * 51}]}, "turns[0].speaker"),
        ("/v1/detect", {"turns": ["a"], "lables": "x"}, "lables"),
        ("/v1/detect", {"turns": ["a"], "labels": "moods"}, "labels"),
        ("/v1/detect", {"turns": ["a"], "labels": 7}, "labels"),
        ("/v1/detect", {"turns": ["a"], "prior": {"happy": 1}}, "prior"),
        ("/v1/detect", {"turns": ["a"], "prior": {"happy": -1, "sad": 1, "angry": 1, "others": 1}}, "prior"),
        ("/v1/detect", {"turns": ["a"], "prior": {"happy": "x", "sad": 1, "angry": 1, "others": 1}}, "prior.happy"),
        ("/v1/detect", {"turns": [""]}, "turns"),
        ("/v1/timeline", {"turns": ["", {"text": "  "}]}, "turns"),
        ("/v1/explain", {"turns": ["\n"]}, "turns"),
        ("/v1/detect/batch", {"dialogues": [{"turns": ["a"]}, {"turns": [" "]}]}, "dialogues[1].turns"),
        ("/v1/timeline", {"turns": [None]}, "turns[0]"),
        ("/v1/explain", {"turns": ["a"], "label": "bored"}, "label"),
        ("/v1/detect/batch", {"dialogues": []}, "dialogues"),
        ("/v1/detect/batch", {"dialogues": [{"turns": ["a"]}] * 4}, "dialogues"),
        ("/v1/detect/batch", {"dialogues": [{"turns": ["a"]}, {"turns": []}]}, "dialogues[1].turns"),
        (
            "/v1/detect/batch",
            {"dialogues": [{"turns": ["a"]}, {"turns": ["a", "b" * 51]}]},
            "dialogues[1].turns[1].text",
        ),
    ],
)
def test_a_mistake_is_named_with_its_field(client: TestClient, path: str, body: Any, field: str) -> None:
    found = problem(client, path, 422, json=body)
    assert found["errors"][0]["field"] == field
    assert found["detail"].startswith(f"{field}: ")
    assert "\n" not in found["detail"]
    assert "after validation" not in found["detail"]  # words of the framework's
    assert "nput should be" not in found["detail"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b'{"turns": ["a"]}', "text/plain", 415),
        (b'{"turns": ["a"]}', "application/x-www-form-urlencoded", 415),
        (b"\xff\xfe\x00", "application/json", 400),
        (b"[" * 3000, "application/json", 400),
        (b'{"turns": ["a"], "prior": {"happy": ' + b"9" * 3000 + b"}}", "application/json", 422),
        (b'{"turns": ["a"], "prior": {"happy": NaN, "sad": 1, "angry": 1, "others": 1}}', "application/json", 422),
        (b'{"turns": ["a"], "prior": {"happy": 1e999, "sad": 1, "angry": 1, "others": 1}}', "application/json", 422),
        (b'{"turns": ["\\ud800"]}', "application/json", 422),
        (b'{"turns": ["a"], "\\ud800": 1}', "application/json", 422),
        (b"x" * 5000, "application/json", 413),
    ],
)
def test_malformed_request_bodies_are_refused(client: TestClient, content: bytes, kind: str, status: int) -> None:
    found = problem(client, "/v1/detect", status, content=content, headers={"Content-Type": kind})
    assert found["detail"]


def test_nul_and_emoji_are_text(client: TestClient) -> None:
    answer = client.post("/v1/explain", json={"turns": ["\x00", "👩‍👩‍👧 I am so happy 😂😂"]})
    assert answer.status_code == 200
    assert [word["text"] for word in answer.json()["turns"][1]["words"]][-1] == "😂😂"


def test_unknown_addresses_and_methods(client: TestClient) -> None:
    assert client.get("/v1/nothing").json()["detail"] == "there is nothing at this address"
    wrong = client.get("/v1/detect")
    assert wrong.status_code == 405
    assert wrong.headers["allow"] == "POST"


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/healthz").json()["status"] == "ok"
    assert client.get("/readyz").status_code == 200


def test_not_ready_before_the_model_is_loaded() -> None:
    unstarted = TestClient(create_app(Settings(model="nano")))
    assert unstarted.get("/healthz").status_code == 200
    answer = unstarted.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert unstarted.post("/v1/detect", json={"turns": ["a"]}).status_code == 503


def test_metrics_count_by_route(client: TestClient) -> None:
    client.post("/v1/detect", json={"turns": ["I am so happy"]})
    client.get("/made/up/address")
    text = client.get("/metrics").text
    assert 'emoscope_http_requests_total{method="POST",route="/v1/detect",status="200"}' in text
    assert "made/up" not in text
    assert 'emoscope_queue_seconds_count{lane="detect"}' in text
    assert 'emoscope_inference_seconds_bucket{lane="detect",le="0.001"}' in text
    assert 'emoscope_labels_total{label="happy",labels="emocontext"}' in text


def test_the_description_has_examples_that_work(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in json.dumps(described)
    for path, schema in (
        ("/v1/detect", "DetectIn"),
        ("/v1/detect/batch", "BatchIn"),
        ("/v1/timeline", "TimelineIn"),
        ("/v1/explain", "ExplainIn"),
    ):
        assert client.post(path, json=schemas[schema]["examples"][0]).status_code == 200


def test_internal_error_reveals_nothing(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the gold label of row 3 is happy")

    monkeypatch.setattr(DetectService, "detect", broken)
    answer = client.post("/v1/detect", json={"turns": ["a"]})
    assert answer.status_code == 500
    assert answer.json()["detail"] == "something went wrong on the server; it has been logged"
    assert "gold" not in answer.text
    assert "content-security-policy" in answer.headers
    assert client.get("/metrics").text.count('route="/v1/detect",status="500"') == 2  # the count and when it began


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=50), min_size=1, max_size=5))
def test_any_text_gets_probabilities(client: TestClient, turns: list[str]) -> None:
    answer = client.post("/v1/detect", json={"turns": turns})
    if not any(map(str.strip, turns)):
        assert answer.status_code == 422
        return
    assert answer.status_code == 200
    assert sum(answer.json()["scores"].values()) == pytest.approx(1)
