"""A model with several sets of labels behind the server: any of them can be asked for, and requests do not mix."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from emoscope.server.app import create_app
from emoscope.server.detect.heads import Heads
from emoscope.server.settings import Settings
from kits.even_model import Even, even_model, registered


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with registered("even", "kits.even_model:Even"):
        even_model().save(tmp_path)
        yield tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(model=str(folder), data_dir=folder / "data"))) as opened:
        yield opened


def test_the_label_set_is_chosen_by_name(client: TestClient) -> None:
    first = client.post("/v1/detect", json={"turns": ["hi"]}).json()
    second = client.post("/v1/detect", json={"turns": ["hi"], "labels": "tone"}).json()
    assert set(first["scores"]) == {"calm", "glad", "cross"}
    assert second["scores"] == pytest.approx({"up": 0.7, "down": 0.3})
    wrong = client.post("/v1/detect", json={"turns": ["hi"], "labels": "moods"}).json()
    assert wrong["detail"] == "labels: is not a label set of this model; expected one of: mood, tone"


def test_a_prior_is_for_the_labels_of_its_set(client: TestClient) -> None:
    shifted = client.post("/v1/detect", json={"turns": ["hi"], "labels": "tone", "prior": {"up": 1, "down": 3}}).json()
    assert shifted["scores"] == pytest.approx({"up": 0.25, "down": 0.75})
    wrong = client.post("/v1/detect", json={"turns": ["hi"], "prior": {"up": 1, "down": 3}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["field"] == "prior"


def test_models_lists_every_set(client: TestClient) -> None:
    (model,) = client.get("/v1/models").json()["models"]
    assert [found["name"] for found in model["label_sets"]] == ["mood", "tone"]
    assert len({label["colour"] for label in model["label_sets"][0]["labels"]}) == 3


def test_requests_for_different_sets_and_priors_do_not_mix(client: TestClient) -> None:
    priors = [None, {"up": 1.0, "down": 1.0}, {"up": 1.0, "down": 9.0}]
    asked = [{"turns": ["hi"], "labels": "tone", "prior": priors[number % 3]} for number in range(30)]
    asked += [{"turns": ["hi"], "labels": "mood"}] * 10
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda body: client.post("/v1/detect", json=body).json()["scores"], asked))
    expected = [{"up": 0.7, "down": 0.3}, {"up": 0.5, "down": 0.5}, {"up": 0.1, "down": 0.9}]
    for number in range(30):
        assert found[number] == pytest.approx(expected[number % 3])
    assert all(set(scores) == {"calm", "glad", "cross"} for scores in found[30:])


def test_detectors_are_cached_by_prior_up_to_a_limit(folder: Path) -> None:
    heads = Heads(folder)
    one = heads.detector("tone", {"up": 1.0, "down": 2.0})
    assert heads.detector("tone", {"down": 2.0, "up": 1.0}) is one
    for number in range(300):
        heads.detector("tone", {"up": 1.0, "down": float(number + 3)})
    assert heads.detector("tone", {"up": 1.0, "down": 2.0}) is not one


def test_the_weights_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    monkeypatch.setattr(Even, "load_weights", lambda self, folder: loads.append(folder))
    heads = Heads(folder)
    assert heads.names == ("mood", "tone")
    assert len(loads) == 1
    detectors = [heads.detector(), heads.detector("tone"), heads.detector("tone", {"up": 1, "down": 2})]
    assert len({id(detector._model.block) for detector in detectors}) == 1
