"""Transfer from other tasks: their files, what is carried over, and what is not."""

from pathlib import Path

import numpy as np
import pytest

from kits.auxiliary_files import make_resources
from kits.tiny_encoder import make_tiny_encoder
from kits.word_networks import LABELS, TINY, toy

torch = pytest.importorskip("torch")


from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.recurrent import TweetRecurrentNetwork
from emoscope.models.torch.training import Training
from emoscope.models.torch.transfer import Transferred
from emoscope.tasks.datasets.auxiliary import chosen, source, source_examples, unlabelled_texts

WORDS = {**TINY, "hidden_size": 8, "context": 1}
ONCE = Training(epochs=1, batch_size=16)


@pytest.fixture
def fit_context(tmp_path: Path) -> FitContext:
    return FitContext(seed=3, device="cpu", resources=make_resources(tmp_path / "resources"))


def test_the_auxiliary_tasks_are_read(fit_context: FitContext) -> None:
    sentiment = source_examples("semeval2017-4a", fit_context)
    assert len(sentiment) == 24
    assert {example.label for example in sentiment} == set(source("semeval2017-4a").labels)
    assert any(example.text.endswith(", no 0") for example in sentiment)
    emotions = source_examples("goemotions-ekman", fit_context)
    assert len(emotions) == 24  # the comment with two emotions is left out
    assert {example.label for example in emotions} == {"joy", "sadness", "anger"}
    assert len(source_examples("tweeteval-emoji", fit_context, limit=7)) == 7
    assert {example.label for example in source_examples("tweeteval-emotion", fit_context)} == {"0", "1", "2", "3"}


def test_unlabelled_text_is_each_text_once_and_the_same_choice_each_time(fit_context: FitContext) -> None:
    everything = unlabelled_texts(fit_context)
    assert len(everything) == len(set(everything)) == 24 + 8 + 40 + 24
    assert unlabelled_texts(fit_context, 10) == everything[:10]
    assert chosen(range(5), None) == chosen(range(5), 9)


def test_broken_auxiliary_files_are_named(fit_context: FitContext) -> None:
    assert fit_context.resources is not None
    path = fit_context.resources / "auxiliary/tweeteval/emotion/train_labels.txt"
    path.write_text("\n".join(["joy"] * 8) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train_labels.txt, row 1: expected the number"):
        source_examples("tweeteval-emotion", fit_context)
    (fit_context.resources / "auxiliary/goemotions/ekman/train.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train.tsv, row 1: expected 3"):
        source_examples("goemotions-ekman", fit_context)


def test_unknown_sources_are_refused() -> None:
    with pytest.raises(EmoscopeError, match="unknown auxiliary task 'sentiment'"):
        Transferred(LABELS, "recurrent", WORDS, ONCE, sources=("sentiment",))
    with pytest.raises(EmoscopeError, match="copies"):
        Transferred(LABELS, "recurrent", WORDS, ONCE, copies=0)


def test_without_sources_it_is_the_network_itself(fit_context: FitContext) -> None:
    examples, labels = toy(60)
    plan = Training(epochs=10, batch_size=8, learning_rate=1e-2)
    block = Transferred(LABELS, "recurrent", WORDS, plan, sources=("semeval2017-4a",), limit=0)
    # No resources are needed where the limit leaves the sources out.
    block.fit(examples, labels, FitContext(device="cpu"))
    assert np.mean(np.array(block.predict(examples)) == labels) > 0.9


def test_source_training_is_transferred_except_its_head(fit_context: FitContext) -> None:
    examples, labels = toy(20)
    no_learning = Training(epochs=1, batch_size=8, learning_rate=0.0)
    made = {}
    for name, limit in (("none", 0), ("sentiment", None)):
        block = Transferred(
            LABELS,
            "recurrent",
            {**WORDS, "max_features": 30},
            no_learning,
            sources=("semeval2017-4a",),
            source_training=Training(epochs=3, batch_size=8, learning_rate=1e-2),
            limit=limit,
        )
        block.fit(examples, labels, fit_context)
        (copy,) = block.parts
        assert isinstance(copy, NeuralClassifier)
        assert copy.network is not None
        made[name] = copy.network
    assert made["sentiment"].outputs == len(LABELS)
    assert made["sentiment"].state_dict()["head.weight"].shape[0] == len(LABELS)
    reader = "reader.forwards.0.weight_hh_l0"
    assert not torch.allclose(made["none"].state_dict()[reader], made["sentiment"].state_dict()[reader])
    # The words of the other task are known too.
    assert "sunny" in made["sentiment"].vocabulary.tokens  # type: ignore[union-attr, operator]
    assert "sunny" not in made["none"].vocabulary.tokens  # type: ignore[union-attr, operator]


def test_copies_start_from_one_preparation_and_differ(fit_context: FitContext, tmp_path: Path) -> None:
    examples, labels = toy(20)
    block = Transferred(LABELS, "recurrent", WORDS, ONCE, sources=("semeval2017-4a",), copies=3)
    block.fit(examples, labels, fit_context)
    answers = [copy.predict_proba(examples) for copy in block.parts]
    assert not np.allclose(answers[0], answers[1])
    assert np.allclose(block.predict_proba(examples), np.mean(answers, axis=0))
    block.save(tmp_path / "kept")
    assert np.array_equal(Block.load(tmp_path / "kept").predict_proba(examples), block.predict_proba(examples))


def test_the_seed_reproduces(fit_context: FitContext) -> None:
    examples, labels = toy(20)
    first, second = (
        Transferred(LABELS, "recurrent", WORDS, ONCE, sources=("tweeteval-emotion",), copies=2)
        .fit(examples, labels, fit_context)
        .predict_proba(examples)
        for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_an_encoder_learns_several_tasks_in_turn(fit_context: FitContext, tmp_path: Path) -> None:
    examples, labels = toy(20)
    encoder = make_tiny_encoder(tmp_path / "encoder")
    block = Transferred(
        LABELS,
        "transformer",
        {"encoder": str(encoder), "max_length": 40},
        ONCE,
        sources=("goemotions-ekman", "tweeteval-emoji"),
        source_training=ONCE,
        copies=2,
    )
    block.fit(examples, labels, fit_context)
    block.save(tmp_path / "kept")
    assert np.allclose(Block.load(tmp_path / "kept").predict_proba(examples), block.predict_proba(examples), atol=1e-6)


def test_word_vectors_of_tweets(fit_context: FitContext) -> None:
    pytest.importorskip("gensim")
    examples, _ = toy(20)
    settings = {**WORDS, "vectors": "word2vec"}
    network = TweetRecurrentNetwork(2, **settings)
    network.prepare(examples, fit_context)
    assert {"sunny", "yay"} <= set(network.vocabulary.tokens)
    alone = TweetRecurrentNetwork(2, **settings, pretraining_text=0)
    alone.prepare(examples, FitContext(device="cpu"))
    assert "sunny" not in alone.vocabulary.tokens
