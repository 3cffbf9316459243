"""A worker scores only with the model and version that the run was started with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector, load
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.scoring import score
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.part_scorer import PartScorer
from emoscope.scoring.plan import make_plan
from emoscope.tables.inputs import find_inputs
from kits.score_kit import chats, write_jsonl


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"emoscope": "0.0.0"}, rf"has emoscope {emoscope.__version__}, but the run was started with 0\.0\.0; install"),
        ({"kernel": "encoder.c"}, r"computes with any, but the run was started with encoder\.c, .*EMOSCOPE_NATIVE=0"),
    ],
)
def test_another_version_or_kernel_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(3))
    settings = {"emoscope": emoscope.__version__, "kernel": "any"}
    plan = make_plan(find_inputs([str(path)]).files, settings)
    output = OutputFolder(str(tmp_path / "out"))
    output.prepare()
    PartScorer(plan, output, load("nano"), 8)(0)
    with pytest.raises(EmoscopeError, match=message):
        PartScorer(replace(plan, settings={**settings, **changes}), output, load("nano"), 8)(0)


def test_run_records_its_runtime_and_no_other_continues_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write_jsonl(tmp_path / "a.jsonl", chats(3)))
    assert score([path], tmp_path / "nano", model="nano", workers=1).settings["kernel"] == "any"
    monkeypatch.setattr(Detector, "kernel", "encoder.c")
    assert score([path], tmp_path / "out", model="nano", workers=1).settings["kernel"] == "encoder.c"
    monkeypatch.setattr(Detector, "kernel", "onnxruntime")
    with pytest.raises(EmoscopeError, match=r"out: holds a run that encoder\.c computed; choose another folder"):
        score([path], tmp_path / "out", model="nano", workers=1)


def test_detector_names_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("default").kernel in ("encoder.c", "onnxruntime", "onnxruntime in single precision")
    monkeypatch.setattr(ExportedEncoder, "_native", lambda *_: None)
    assert load("default").kernel.startswith("onnxruntime")
