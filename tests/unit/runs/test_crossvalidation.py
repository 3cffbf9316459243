"""Cross-validation with several folds and seeds at once."""

import json
from pathlib import Path

import pytest

from emoscope.runs.crossvalidate import crossvalidate
from kits.corpus_command import run
from kits.emocontext_files import make_corpus

pytest.importorskip("sklearn")


@pytest.mark.slow
def test_scores_do_not_depend_on_workers(tmp_path: Path) -> None:
    data = make_corpus(tmp_path)
    alone = crossvalidate("nano", "emocontext", seeds=(3, 4), folds=2, root=data)
    assert alone == crossvalidate("nano", "emocontext", seeds=(3, 4), folds=2, root=data, workers=2)
    assert [len(result.scores) for result in alone] == [2, 2]
    assert crossvalidate("nano", "emocontext", seeds=(4,), folds=2, root=data) == alone[1:]


def test_the_command_takes_seeds(tmp_path: Path) -> None:
    data = make_corpus(tmp_path)
    arguments = ("crossvalidate", "nano", "-t", "emocontext", "--folds", "2", "--seeds", "2", "--data", data)
    code, shown, _ = run(*arguments)
    assert code == 0
    assert "seed 0" in shown
    assert "seed 1" in shown
    assert len(json.loads(run(*arguments, "--json")[1])) == 2
