"""The batch size that `emoscope score` measures at the start of a long run."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import emoscope
from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.detector.detector import Answers
from emoscope.scoring import batch_size
from emoscope.scoring.batch_size import CANDIDATES, measure_batch_size
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.plan import make_plan
from emoscope.tables.inputs import find_inputs
from kits.score_kit import chats, write_jsonl


@pytest.mark.parametrize(
    ("seconds_per_batch", "seconds_per_squared_dialogue", "fastest"),
    [(0.02, 0.0, max(CANDIDATES)), (0.0, 1e-7, min(CANDIDATES))],
)
def test_the_batch_size_with_the_most_dialogues_per_second_is_chosen(
    seconds_per_batch: float,
    seconds_per_squared_dialogue: float,
    fastest: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def infer(self: Detector, dialogues: Sequence[Dialogue]) -> Answers:
        time.sleep(seconds_per_batch + seconds_per_squared_dialogue * len(dialogues) ** 2)
        return Answers(np.ones((len(dialogues), 4)), np.zeros(len(dialogues), bool), [None] * len(dialogues))

    monkeypatch.setattr(Detector, "infer", infer)
    monkeypatch.setattr(batch_size, "WORTH_MEASURING", 1)
    monkeypatch.setattr(batch_size, "SECONDS", 0.05)
    path = write_jsonl(tmp_path / "a.jsonl", chats(max(CANDIDATES)))
    plan = make_plan(find_inputs([str(path)]).files, {}, part_rows=max(CANDIDATES))
    assert measure_batch_size(emoscope.load("nano"), plan, OutputFolder(str(tmp_path / "out"))) == fastest
