"""Mining with a classifier trained on the seeds, next to their similarity."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from emoscope.corpus.mining.mine import COUNTS
from emoscope.corpus.mining.seed_classifier import SeedClassifier, sample_vectors
from emoscope.corpus.mining.similarity import SeedVectors
from emoscope.corpus.mining.vectors import as_bytes
from kits.corpus_command import run

pytest.importorskip("vaderSentiment")
if find_spec("usearch") is None:  # importing it here would be too early: see `load_usearch`
    pytest.skip("needs usearch", allow_module_level=True)


def around(rng: np.random.Generator, centre: Sequence[float], count: int) -> NDArray[np.int8]:
    """Vectors about a direction."""
    return as_bytes(np.array(centre) + rng.normal(0, 0.6, (count, len(centre))))


@pytest.fixture
def clouds() -> tuple[SeedClassifier, NDArray[np.int8], NDArray[np.int8]]:
    """Seeds of two classes and of none; then 400 vectors that are sad, and 2,000 that are nothing."""
    rng = np.random.default_rng(3)
    sad, happy, none = (1, 0, 0, 0.5, 0, 0), (0, 1, 0, 0.5, 0, 0), (0, 0, 1, 0.5, 0, 0)
    near = SeedVectors({"happy": around(rng, happy, 200), "sad": around(rng, sad, 200)}, around(rng, none, 200))
    pool, hidden = around(rng, none, 2_000), around(rng, sad, 400)
    return SeedClassifier.fit(near, sample_vectors([pool, hidden], 2_400, seed=1, count=800)), hidden, pool


def test_learning_finds_a_class_and_its_threshold_the_share_asked_for(
    clouds: tuple[SeedClassifier, NDArray[np.int8], NDArray[np.int8]],
) -> None:
    learnt, sad, none = clouds
    for recall in (0.3, 0.5, 0.8):
        least = learnt.threshold("sad", recall)
        assert (learnt.scores(sad)[:, 1] >= least).mean() == pytest.approx(recall, abs=0.1)
        nearest_alone = (learnt.near.scores(none)[:, 1] >= learnt.near.threshold("sad", recall)).mean()
        assert (learnt.scores(none)[:, 1] >= least).mean() <= nearest_alone


def test_a_dialogue_scores_the_same_alone_and_among_others(
    clouds: tuple[SeedClassifier, NDArray[np.int8], NDArray[np.int8]],
) -> None:
    learnt, sad, _ = clouds
    assert np.array_equal(learnt.scores(sad), np.concatenate([learnt.scores(sad[row : row + 1]) for row in range(400)]))


def test_learning_works_with_few_seeds_and_a_small_pool() -> None:
    two = np.array([[1, 0], [2, 1]], np.int8)
    learnt = SeedClassifier.fit(SeedVectors({"sad": two}), np.zeros((1, 2), np.int8))
    assert np.isfinite(learnt.scores(np.array([[5, 1], [0, 0]], np.int8))).all()
    assert np.isfinite(learnt.threshold("sad", 0.5))


def test_the_background_is_drawn_from_all_files() -> None:
    shards = [np.arange(start, start + 10, dtype=np.int8)[:, None] for start in (0, 10, 20)]
    found = sample_vectors(shards, 30, seed=1, count=20)[:, 0].tolist()
    assert len(set(found)) == 20 and found == sorted(found)
    assert found == sample_vectors(shards, 30, seed=1, count=20)[:, 0].tolist()
    assert found != sample_vectors(shards, 30, seed=2, count=20)[:, 0].tolist()


def test_mine_learns_unless_disabled_or_given_a_cosine(tmp_path: Path) -> None:
    sad, plain = ("so sad today", "I cried all night", "I miss her so"), ("the bus is late", "which song is that", "ok")
    (tmp_path / "seeds.csv").write_text("turn1,label\n" + "".join(f"{text},sad\n" for text in sad))
    (tmp_path / "pool.csv").write_text(
        "turn1\n" + "".join(f"{text} {n}\n" for n in range(9) for text in (*sad, *plain))
    )
    thresholds = {}
    for name, options in {"learnt": (), "near": ("--no-learn",), "cosine": ("--threshold", "0.3")}.items():
        command = ("corpus", "mine", tmp_path / "pool.csv", "--seeds", tmp_path / "seeds.csv", "-o", tmp_path / name)
        assert run(*command, *options)[0] == 0
        counts = json.loads((tmp_path / name / COUNTS).read_text())
        thresholds[name] = counts["classes"]["sad"]
        assert counts["learn"] == (name != "near")
    assert thresholds["cosine"]["threshold"] == 0.3
    pairs = zip(*(thresholds[name]["threshold_at_recall"].values() for name in ("cosine", "near")), strict=True)
    assert all(nearest >= mean for nearest, mean in pairs), "cosines to the nearest seed, not to the nearest ten"
    assert thresholds["learnt"]["threshold_at_recall"] != thresholds["near"]["threshold_at_recall"]
    for own in (thresholds["learnt"], thresholds["near"]):
        assert own["threshold"] == own["threshold_at_recall"]["0.5"]
        asked = list(own["threshold_at_recall"].values())
        assert asked == sorted(asked, reverse=True)
