"""The estimate of a blind score from folds: weights by agreement."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.quality.foretell import implied_kappa, kappa, tilted
from emoscope.core.agreement import fleiss_kappa

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
