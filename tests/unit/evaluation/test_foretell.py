"""The estimate of a blind score from folds: weights by agreement."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.tables import write_json
from benchmarks.quality import places
from benchmarks.quality.estimates import FOLDS, by_others, with_estimates
from benchmarks.quality.foretell import implied_kappa, kappa, tilted
from emoscope.core.agreement import fleiss_kappa
from emoscope.evaluation.results import read_results

rng = np.random.default_rng(0)
VOTES = np.array([rng.multinomial(5, rng.dirichlet([0.5, 0.4, 0.3])) for _ in range(600)], float)
DIALOGUE = np.repeat(np.arange(100), 6)


def test_equal_weights_give_fleiss_kappa() -> None:
    assert kappa(VOTES, np.ones(len(VOTES))) == pytest.approx(fleiss_kappa(VOTES))


def test_weights_reach_the_wanted_kappa_by_favouring_dialogues_of_less_agreement() -> None:
    own = fleiss_kappa(VOTES)
    weights = tilted(VOTES, DIALOGUE, own - 0.05)
    assert kappa(VOTES, weights[DIALOGUE]) == pytest.approx(own - 0.05, abs=1e-6)
    agreement = np.bincount(DIALOGUE, (VOTES * (VOTES - 1)).sum(1)) / 6
    assert np.corrcoef(agreement, weights)[0, 1] < -0.9


def test_implied_kappa_is_the_rest_of_a_mean() -> None:
    assert implied_kappa(0.3, 0.4, 100, 100) == pytest.approx(0.2)


TASK = {
    "train_kappa": 0.34,
    "evaluation_kappa": 0.27,
    "systems": {
        "a": {"folds": 0.90, "without": 0.88, "estimate": 0.86, "low": 0.84, "high": 0.87},
        "b": {"folds": 0.80, "without": None, "estimate": 0.76, "low": 0.74, "high": 0.79},
    },
}


def test_a_system_without_fold_labels_has_the_mean_change_of_the_others() -> None:
    found = by_others(TASK, 0.86, learnt_meld=False)
    assert found == pytest.approx({"folds": 0.86, "without": None, "estimate": 0.83, "low": 0.81, "high": 0.85})
    leaked = by_others(TASK, 0.86, learnt_meld=True)
    assert leaked == pytest.approx({"folds": 0.86, "without": 0.84, "estimate": 0.81, "low": 0.79, "high": 0.83})


def test_fold_scores_of_emotionx_are_noted_with_the_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = read_results(RESULTS / "models" / "large.json")
    monkeypatch.setattr(places, "TABLES", tmp_path)
    write_json(tmp_path / "foretell.json", {"tasks": {"emotionx-friends": TASK}})
    changed = with_estimates(large)
    notes = {head.data: head.notes for head in changed.heads if head.split == FOLDS}
    score = next(head.score for head in large.heads if (head.data, head.split) == ("EmotionX Friends", FOLDS))
    assert notes["EmotionX Friends"][-1] == (
        f"the [estimate](foretell.md) for the blind set is {score - 0.03:.4f} "
        f"(95 % interval {score - 0.05:.4f} to {score - 0.01:.4f}), as folds overestimate that score"
    )
    assert notes["IEST"] == next(head.notes for head in large.heads if head.data == "IEST")
    assert with_estimates(changed) == changed


@pytest.mark.parametrize("page", ["quality.md", "card-large.md"])
def test_pages_print_the_estimate_where_they_print_a_fold_score(page: str) -> None:
    estimates = [
        line.split(" | ")
        for line in (PAGES / "foretell.md").read_text(encoding="utf-8").splitlines()
        if " | large, by the others' change | " in line
    ]
    assert len(estimates) == 2
    for cells in estimates:
        interval = cells[5].removesuffix(" |")
        assert f"{cells[4]} (95 % interval {interval})" in (PAGES / page).read_text(encoding="utf-8")
