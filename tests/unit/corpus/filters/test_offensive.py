"""Offensive dialogues, and the model that finds them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.models.linear.offensive import SHIPPED, OffensiveModel
from kits.corpus_command import run
from kits.jsonl import read_jsonl


def by_length(texts: Sequence[str]) -> list[float]:
    return [min(len(text) / 10, 1.0) for text in texts]


def test_the_worst_turn_decides() -> None:
    dialogues = [Dialogue.of(["a", "abcdef", "ab"]), Dialogue.of(["abc"]), Dialogue.of(["abcde"])]
    first, second, third = OffensiveFilter(by_length, threshold=0.5).review(dialogues)
    assert (first.reason, dict(first.details)) == ("offensive", {"turn": 2, "score": 0.6})
    assert second.reason is None
    assert third.reason == "offensive"  # the threshold itself counts


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.1])
def test_invalid_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(EmoscopeError, match="threshold"):
        OffensiveFilter(by_length, threshold=threshold)


def test_shipped_model_is_small_and_names_its_source() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) <= 2_000_000
    about = json.loads((SHIPPED / "about.json").read_text())
    assert set(about["sha256"]) == {"train_text.txt", "train_labels.txt", "val_text.txt", "val_labels.txt"}
    assert "research use" in about["terms"]


def test_shipped_model_separates_insults_from_kindness() -> None:
    model = OffensiveModel.load()
    rude = model(["you are a fucking idiot", "shut up you stupid bitch"])
    kind = model(["good morning, did you sleep well?", "thank you so much for the flowers"])
    assert rude.min() > model.threshold > kind.max()


def test_a_text_scores_the_same_alone_and_in_a_batch() -> None:
    model = OffensiveModel.load()
    texts = ["you idiot", "nice day", "", "@bob what a loser 😂"]
    assert model(texts).tolist() == [model([text])[0] for text in texts]
    assert model(["@bob you idiot"])[0] == model(["@alice you idiot"])[0]


def test_save_and_load(tmp_path: Path) -> None:
    model = OffensiveModel(bits=10, calibration_folds=0).fit(["you idiot", "so nice"] * 5, [True, False] * 5)
    model.threshold = 0.4
    model.save(tmp_path)
    again = OffensiveModel.load(tmp_path)
    assert again.threshold == 0.4
    assert np.array_equal(again(["idiot"]), model(["idiot"]))
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(InputError, match="threshold"):
        OffensiveModel.load(tmp_path)


@pytest.mark.data
def test_tweeteval(data_folder: Path) -> None:
    folder = data_folder / "auxiliary/tweeteval/offensive"
    texts = (folder / "test_text.txt").read_text(encoding="utf-8").splitlines()
    gold = np.array([int(label) for label in (folder / "test_labels.txt").read_text().split()])
    model = OffensiveModel.load()
    said = model(texts) >= model.threshold
    f1 = [
        2 * ((gold == kind) & (said == kind)).sum() / ((gold == kind).sum() + (said == kind).sum()) for kind in (0, 1)
    ]
    assert np.mean(f1) >= 0.72


def test_the_command_drops_abuse_by_default(tmp_path: Path) -> None:
    log = tmp_path / "logs.jsonl"
    abusive = ["you worthless wh0re", "i'll break your legs", "hope you die"]
    log.write_text(
        "".join(json.dumps(["hi there", text]) + "\n" for text in (*abusive, "i am so mad at you", "good night"))
    )
    code, out, _ = run("corpus", "filter", log, "-o", tmp_path / "kept", "--json")
    assert code == 0
    offensive = json.loads(out)["filters"]["offensive"]
    assert (offensive["settings"], offensive["dropped"]) == ({"finds": "abuse"}, {"offensive": len(abusive)})
    kept = read_jsonl(tmp_path / "kept" / "kept.jsonl")
    assert [row["turns"][1] for row in kept] == ["i am so mad at you", "good night"]


def test_anger_is_not_abuse_without_a_threshold() -> None:
    angry = [Dialogue.of([text]) for text in ("I hate you", "Shut up", "what the hell, leave me alone", "I am so mad")]
    abusive = [Dialogue.of([text]) for text in ("you worthless wh0re", "i'll break your legs")]
    assert [review.reason for review in OffensiveFilter().review(angry)] == [None] * len(angry)
    assert [review.reason for review in OffensiveFilter().review(abusive)] == ["offensive"] * len(abusive)
    by_model = OffensiveFilter(threshold=0.41)
    assert [review.reason for review in by_model.review(angry[:2])] == ["offensive"] * 2
    assert by_model.settings != OffensiveFilter().settings  # verdicts of the one are no verdicts of the other
