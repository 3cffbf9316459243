"""The organisers' baselines: EmoContext's starter kit, and IEST's maximum entropy classifier."""

import json
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.fit_context import FitContext
from emoscope.models.features.tokens import iest_tokens
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
from kits.corpus_command import run, stdout_of
from kits.emocontext_files import make_corpus
from kits.tiny_systems import examples_of

TINY = [f"--set={name}" for name in ("epochs=1", "hidden_size=4", "embedding_size=4", "vectors=random")]


@pytest.mark.slow
def test_the_starter_kit_trains_cross_validates_and_writes_a_submission(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data, trained, said = make_corpus(tmp_path), tmp_path / "runs" / "baseline", tmp_path / "test.txt"
    common = ("--task", "emocontext", "--data", data)
    assert run("train", "emocontext-baseline", *common, "-o", trained, *TINY)[0] == 0
    folds = ("crossvalidate", "emocontext-baseline", *common, "--folds", "2")
    found = json.loads(stdout_of(*folds, *TINY, "--json"))
    assert len(found["scores"]) == 2
    assert run("predict", trained, *common, "--split", "test", "-o", said)[0] == 0
    given = (data / "emocontext" / "testwithoutlabels.txt").read_text().splitlines()
    written = [line.rsplit("\t", 1) for line in said.read_text().splitlines()]
    assert [row for row, _ in written] == given  # the official file, with a column of labels
    assert {label for _, label in written[1:]} <= {"happy", "sad", "angry", "others"}
    assert run("verify", said, *common, "--split", "test")[0] == 0


def test_maxent_over_boolean_words_and_word_pairs() -> None:
    """Section 3.2: maximum entropy with L2 over sets of unigrams and bigrams; scikit-learn's own n-grams agree."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    examples = examples_of("iest")
    system = SYSTEMS["iest-baseline"](get_task("iest")).fit(examples, FitContext(seed=0))
    words = text.CountVectorizer(
        tokenizer=iest_tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2), binary=True
    )
    texts, labels = [example.text for example in examples], [example.label for example in examples]
    model = linear.LogisticRegression(C=1.0, max_iter=1000).fit(words.fit_transform(texts), labels)
    order = [list(model.classes_).index(label) for label in get_task("iest").labels]
    expected = model.predict_proba(words.transform(texts))[:, order]
    assert np.allclose(system.predict_proba(examples), expected, atol=0.01)
