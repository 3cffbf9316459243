"""A worker answers only with the model and the version that the run was begun with."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import emoscope
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import folder_hash, resolve
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.part_scorer import ModelSpec, PartScorer
from emoscope.scoring.plan import make_plan
from emoscope.tables.inputs import find_inputs
from kits.score_kit import chats, write_jsonl


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"emoscope": "0.0.0"}, rf"has emoscope {emoscope.__version__}, but the run was begun with 0\.0\.0; install"),
        ({"model": {"sha256": "0" * 64}}, r"has model nano \w{12}, but the run was begun with 000000000000; install"),
    ],
)
def test_another_model_or_version_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(3))
    settings = {"emoscope": emoscope.__version__, "model": {"sha256": folder_hash(resolve("nano"))}}
    plan = make_plan(find_inputs([str(path)]).files, settings)
    output = OutputFolder(str(tmp_path / "out"))
    output.prepare()
    PartScorer(plan, output, ModelSpec("nano"), 8)(0)
    with pytest.raises(EmoscopeError, match=message):
        PartScorer(replace(plan, settings={**settings, **changes}), output, ModelSpec("nano"), 8)(0)
