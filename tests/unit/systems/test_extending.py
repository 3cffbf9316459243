"""A task, a system and an exportable block from outside the package: trained, evaluated, exported, detected with."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import BLOCKS, Block
from emoscope.runs.export import export_run
from emoscope.runs.predict import predictor
from emoscope.runs.train import official_score, train
from emoscope.systems import SYSTEMS
from emoscope.tasks import TASKS, get_task
from kits.toy_emotions import ENTRY_POINTS, ExportedKeywords, Keywords

MASK = "[#TRIGGERWORD#]"
TRAIN = [
    ("sunny", f"warm {MASK} sky"),
    ("rainy", f"wet {MASK} sky"),
    ("sunny", f"bright {MASK}"),
    ("rainy", f"dark {MASK}"),
] * 4
DEV = [("rainy", f"so wet {MASK}"), ("sunny", f"warm and bright {MASK}")]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with entry points, and files for its task."""
    for name in ("nano", "large"):  # imported here first, they would list the toy task among theirs in later tests
        assert SYSTEMS[name].metadata.any_task
    about = tmp_path / "site" / "toy_emotions-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-emotions\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(about.parent))
    folder = tmp_path / "data" / "toy-weather"
    folder.mkdir(parents=True)
    for name, rows in (("train.csv", TRAIN), ("dev.csv", DEV)):
        (folder / name).write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
    for registry in (TASKS, SYSTEMS, BLOCKS):
        registry.__dict__.pop("_installed", None)
    yield tmp_path / "data"
    for registry in (TASKS, SYSTEMS, BLOCKS):
        registry.__dict__.pop("_installed", None)


def test_everything_takes_what_another_package_adds(data: Path, tmp_path: Path) -> None:
    assert "toy-weather" in TASKS
    assert "toy-keywords" in list(SYSTEMS)
    record = train("toy-keywords", "toy-weather", tmp_path / "run", root=data)
    assert record.dev is not None
    assert record.dev["score"] == 1.0
    task = get_task("toy-weather")
    dev = list(task.read(data / "toy-weather" / "dev.csv"))
    predicted = predictor(tmp_path / "run", get_task("toy-weather"))(dev)
    assert official_score(task, dev, predicted) == 1.0

    pytest.importorskip("onnx")
    pytest.importorskip("torch")
    export_run(tmp_path / "run", tmp_path / "model", root=data)
    exported = Block.load(tmp_path / "model" / "model")
    assert [type(child) for child in exported.children().values()] == [ExportedKeywords, ExportedKeywords]
    run, model = emoscope.load(tmp_path / "run"), emoscope.load(tmp_path / "model")
    asked = [[f"what a wet day {MASK}"], ["hi", "so bright"]]
    assert np.array_equal(run.predict_proba(asked), model.predict_proba(asked))
    assert [(found.label, found.truncated) for found in model.detect_many(asked)] == [("rainy", False), ("sunny", True)]


def test_emoscopes_own_systems_take_the_task(data: Path, tmp_path: Path) -> None:
    record = train("nano", "toy-weather", tmp_path / "run", root=data)
    assert record.dev is not None
    assert emoscope.load(tmp_path / "run").labels == ("rainy", "sunny")
    pytest.importorskip("torch")
    assert SYSTEMS["large"](get_task("toy-weather")).build().labels == ("sunny", "rainy")


def test_unregistered_blocks_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="Keywords is not a registered block"):
        Keywords(("a", "b")).save(tmp_path)


def test_registered_name_wins_over_an_entry_point(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SYSTEMS, "_entries", {**SYSTEMS._entries, "toy-keywords": "emoscope.systems.nano:Nano"})
    assert SYSTEMS["toy-keywords"].metadata.name == "nano"
    assert json.dumps(list(SYSTEMS)).count("toy-keywords") == 1
