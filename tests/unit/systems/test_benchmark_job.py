"""A job of the systems' benchmark: one training run with the measured settings."""

import argparse
import json
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.systems import cpu, job
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from kits.tiny_encoder import make_tiny_encoder


def write_dialogues(folder: Path) -> Path:
    """EmotionX Friends with twenty short dialogues, and its evaluation file."""
    said = {"neutral": "what time is it", "joy": "so happy", "sadness": "I cry alone", "anger": "I hate you"}
    dialogues = [
        [{"speaker": "Ross", "utterance": f"{text} {number}", "emotion": label} for label, text in said.items()]
        for number in range(20)
    ]
    (folder / "emotionx").mkdir(parents=True)
    for name in ("friends.json", "friends_eval.json"):
        (folder / "emotionx" / name).write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


def test_a_system_with_an_encoder_gets_the_one_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, data = make_tiny_encoder(tmp_path / "tiny"), write_dialogues(tmp_path / "data")
    monkeypatch.setitem(job.MEASURED, "alexu", {"epochs": 1, "max_length": 16})
    options = argparse.Namespace(
        encoder=str(encoder),
        data=data,
        device="cpu",
        precision="full",
        blind=tmp_path / "blind",
        row=tmp_path / "row.json",
    )
    job.do_job("alexu", "emotionx-friends", "fold0", options)
    row = json.loads(options.row.read_text(encoding="utf-8"))
    assert row["settings"] == {"epochs": 1, "max_length": 16, "encoder": "tiny", "precision": "full"}
    folds = fold_numbers(read_split(get_task("emotionx-friends"), "train", data), job.FOLDS)
    assert row["examples"] == sum(fold != 0 for fold in folds)
    assert 0 < row["examples"] < len(folds)
    right = row["score"] * sum(fold == 0 for fold in folds)  # micro-F1 over all labels is a share of the held-out turns
    assert right == pytest.approx(round(right), abs=1e-3)


def test_a_share_of_the_data_has_the_same_share_of_the_pretraining_text(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int | None] = []
    system = cpu.SYSTEMS["nelec"]
    monkeypatch.setattr(cpu, "read_split", lambda *_: [])
    monkeypatch.setattr(system, "fit", lambda self, *_: built.append(self.settings.pretraining_text))
    for share in (1.0, 0.1):
        cpu.seconds("nelec", "emocontext", share, Path())
    assert built[0]
    assert built[1] == round(built[0] * 0.1)
