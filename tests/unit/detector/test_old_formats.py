"""Models that were written before every folder held one block still load, and answer the same."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.detector.bundle import resolve
from emoscope.detector.model import FittedModel
from emoscope.runs.predict import predictor
from emoscope.tasks import get_task

ASKED = [["hi", "hello", "I am so happy 😂"], ["no", "why", "leave me alone!"], ["what time is it"] * 5]


def old(name: str, folder: Path, kind: str, move: Callable[[Path], None]) -> dict[str, Any]:
    """An embedded model with the description, and the files in the places, it once had."""
    shutil.copytree(resolve(name), folder)
    move(folder)
    content = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    content = {**content, "kind": kind, "format": "emoscope-bundle-1"}
    write(folder / "bundle.json", content)
    return dict(content)


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def assert_same(folder: Path, name: str) -> None:
    before, now = emoscope.load(folder), emoscope.load(name)
    assert before.heads == now.heads
    for head in now.heads:
        for found, expected in zip(
            before.with_(labels=head).detect_many(ASKED), now.with_(labels=head).detect_many(ASKED), strict=True
        ):
            assert found.scores == pytest.approx(dict(expected.scores), abs=1e-12)
    assert [found.truncated for found in before.detect_many(ASKED)] == [False, False, True]


def encoder(folder: Path) -> None:
    (folder / "model").rename(folder / "network")
    (folder / "network" / "block.json").unlink()


def nano(folder: Path) -> None:
    (folder / "model" / "model.npz").rename(folder / "model.npz")
    shutil.rmtree(folder / "model")


def test_an_encoder(tmp_path: Path) -> None:
    old("open", tmp_path / "old", "encoder", encoder)
    assert_same(tmp_path / "old", "open")


def test_a_weighted_mean_of_encoders(tmp_path: Path) -> None:
    old("open", tmp_path / "old", "encoder", encoder)
    for number in (0, 1):
        shutil.copytree(tmp_path / "old" / "network", tmp_path / "old" / f"network{number}")
    shutil.rmtree(tmp_path / "old" / "network")
    path = tmp_path / "old" / "network1" / "network.json"
    write(path, {**json.loads(path.read_text(encoding="utf-8")), "weight": 3.0})
    block: Any = FittedModel.load(tmp_path / "old").block
    assert block.weights == [1.0, 3.0]
    assert_same(tmp_path / "old", "open")


def test_nano(tmp_path: Path) -> None:
    content = old("nano", tmp_path / "old", "nano", nano)
    head = content["heads"][0]
    del head["trained"]
    write(tmp_path / "old" / "bundle.json", content)
    assert_same(tmp_path / "old", "nano")
    examples = [Example(Dialogue.of(turns), len(turns) - 1) for turns in ASKED]
    task, folders = get_task("emocontext"), (resolve("nano"), tmp_path / "old")
    new, before = (predictor(folder, task)(examples) for folder in folders)
    assert new == before
    # Before that, a model with one set of labels had no heads.
    del content["heads"]
    write(tmp_path / "old" / "bundle.json", {**content, "prior": head["prior"]})
    assert_same(tmp_path / "old", "nano")


def test_runs_with_a_file_of_settings(tmp_path: Path) -> None:
    """Their bundle said `blocks`; the oldest had none, and `system.json` said what it says now."""
    content = old("nano", tmp_path / "old", "blocks", lambda folder: None)
    expected, labels = emoscope.load("nano", for_metric=True), ("others", "happy", "sad", "angry")
    settings = {"seed": 0, "settings": {"shift": "natural"}}
    settings["prior"] = [expected.training_prior[label] for label in labels]
    settings["decision"] = [content["heads"][0]["decision"][label] for label in labels]
    write(tmp_path / "old" / "system.json", settings)
    assert_same(tmp_path / "old", "nano")
    (tmp_path / "old" / "bundle.json").unlink()
    assert_same(tmp_path / "old", "nano")
    found = emoscope.load(tmp_path / "old", for_metric=True).detect_many(ASKED)
    assert [each.label for each in found] == [each.label for each in expected.detect_many(ASKED)]
    write(tmp_path / "old" / "system.json", {**settings, "settings": {"shift": "estimate"}})
    assert FittedModel.load(tmp_path / "old").bundle.head().estimate
    (tmp_path / "old" / "system.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"system.json: does not hold a system's settings"):
        emoscope.load(tmp_path / "old")
    (tmp_path / "old" / "system.json").unlink()
    with pytest.raises(EmoscopeError, match=r"holds no model \(bundle.json is missing\)"):
        emoscope.load(tmp_path / "old")


def test_other_formats_are_refused(tmp_path: Path) -> None:
    for kind in ({"kind": "nano"}, {}):
        shutil.copytree(resolve("nano"), tmp_path / "other", dirs_exist_ok=True)
        path = tmp_path / "other" / "bundle.json"
        write(path, {**json.loads(path.read_text(encoding="utf-8")), **kind, "format": "emoscope-bundle-9"})
        with pytest.raises(InputError, match="has format 'emoscope-bundle-9'; this version reads 'emoscope-bundle-2'"):
            emoscope.load(tmp_path / "other")
