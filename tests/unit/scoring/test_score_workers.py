"""A worker answers only with the model and the version that the run was started with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector, load
from emoscope.detector.bundle import folder_hash, resolve
from emoscope.models.onnx.network import EncoderNetwork
from emoscope.scoring import score
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.part_scorer import ModelSpec, PartScorer
from emoscope.scoring.plan import make_plan
from emoscope.tables.inputs import find_inputs
from kits.score_kit import chats, write_jsonl


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"emoscope": "0.0.0"}, rf"has emoscope {emoscope.__version__}, but the run was started with 0\.0\.0; install"),
        ({"model": {"sha256": "0" * 64}}, r"has model nano \w{12}, but the run was started with 000000000000; install"),
        ({"kernel": "encoder.c"}, r"computes with any, but the run was started with encoder\.c, .*EMOSCOPE_NATIVE=0"),
    ],
)
def test_another_model_version_or_kernel_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(3))
    settings = {
        "emoscope": emoscope.__version__,
        "model": {"sha256": folder_hash(resolve("nano"))},
        "kernel": "any",
    }
    plan = make_plan(find_inputs([str(path)]).files, settings)
    output = OutputFolder(str(tmp_path / "out"))
    output.prepare()
    PartScorer(plan, output, ModelSpec("nano"), 8)(0)
    with pytest.raises(EmoscopeError, match=message):
        PartScorer(replace(plan, settings={**settings, **changes}), output, ModelSpec("nano"), 8)(0)


def test_a_run_says_what_computed_and_is_not_continued_by_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_jsonl(tmp_path / "a.jsonl", chats(3)))
    assert score([path], tmp_path / "nano", model="nano", workers=1).settings["kernel"] == "any"
    monkeypatch.setattr(Detector, "kernel", "encoder.c")
    assert score([path], tmp_path / "out", model="nano", workers=1).settings["kernel"] == "encoder.c"
    monkeypatch.setattr(Detector, "kernel", "onnxruntime")
    with pytest.raises(EmoscopeError, match=r"out: holds a run that encoder\.c computed; choose another folder"):
        score([path], tmp_path / "out", model="nano", workers=1)


def test_what_computes_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("default").kernel in ("encoder.c", "onnxruntime", "onnxruntime in single precision")
    monkeypatch.setattr(EncoderNetwork, "_native", staticmethod(lambda *_: None))
    assert load("default").kernel.startswith("onnxruntime")
