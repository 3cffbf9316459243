"""Hashed n-grams and the linear model over them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.linear.ngram_block import MAX_CHARACTERS, NgramBlock
from emoscope.models.linear.ngram_hashing import Channel, HashedTexts, hash_ngrams
from emoscope.models.linear.ngram_linear import NgramLinear

CHANNELS = [Channel("word", 1), Channel("word", 2), Channel("char", 2), Channel("char", 3)]


def buckets_of(hashed: HashedTexts, text: int) -> list[int]:
    end = hashed.starts[text + 1] if text + 1 < len(hashed.starts) else len(hashed.buckets)
    found = hashed.buckets[hashed.starts[text] : end]
    return [int(bucket) for bucket in found if bucket != hashed.empty]


def ngrams(text: str, channel: Channel) -> list[str]:
    """The same n-grams, written down the plain way."""
    if channel.kind == "char":
        padded = f" {text} "
        return [padded[i : i + channel.length] for i in range(len(padded) - channel.length + 1)]
    words = text.split(" ") if text else []
    return [" ".join(words[i : i + channel.length]) for i in range(len(words) - channel.length + 1)]


WORD = st.text(st.characters(exclude_characters=" ", exclude_categories=["Cs"]), min_size=1, max_size=6)
TEXTS = st.lists(st.lists(WORD, max_size=6).map(" ".join), min_size=1, max_size=6)


@given(TEXTS)
def test_equal_ngrams_and_only_those_share_a_bucket(texts: list[str]) -> None:
    for channel, hashed in zip(CHANNELS, hash_ngrams(texts, CHANNELS, bits=52, salts=[0] * len(texts)), strict=True):
        bucket_of: dict[str, int] = {}
        for number, text in enumerate(texts):
            plain, found = ngrams(text, channel), buckets_of(hashed, number)
            assert len(plain) == len(found)
            for ngram, bucket in zip(plain, found, strict=True):
                assert bucket_of.setdefault(ngram, bucket) == bucket
        assert len(set(bucket_of.values())) == len(bucket_of)


@given(TEXTS)
def test_a_text_hashes_the_same_in_any_company(texts: list[str]) -> None:
    together = hash_ngrams(texts, CHANNELS, bits=20, salts=[0] * len(texts))
    for number, text in enumerate(texts):
        alone = hash_ngrams([text], CHANNELS, bits=20, salts=[0])
        assert [buckets_of(h, number) for h in together] == [buckets_of(h, 0) for h in alone]


def test_salts_keep_roles_apart() -> None:
    (hashed,) = hash_ngrams(["word", "word"], CHANNELS[:1], bits=40, salts=[0, 1])
    assert buckets_of(hashed, 0) != buckets_of(hashed, 1)


HAPPY = ["I won the game", "so happy today :)", "this is great", "I love it", "best day ever"]
SAD = ["I lost the game", "so sad today :(", "this is terrible", "I miss her", "worst day ever"]


def examples_of(*dialogues: Sequence[str]) -> list[Example]:
    return [Example(Dialogue.of(turns), len(turns) - 1) for turns in dialogues]


@pytest.fixture(scope="module")
def tiny() -> NgramBlock:
    texts = [*HAPPY, *SAD] * 3
    labels = (["happy"] * len(HAPPY) + ["sad"] * len(SAD)) * 3
    examples = examples_of(*(["hi", "hello", text] for text in texts))
    return NgramBlock(("happy", "sad", "angry"), bits=12).fit(examples, labels, FitContext())


def test_learns_what_it_was_shown(tiny: NgramBlock) -> None:
    answers = tiny.predict_proba(examples_of(["hi", "hello", "a great day"], ["x", "y", "terrible, so sad"]))
    assert [tiny.labels[index] for index in answers.argmax(1)] == ["happy", "sad"]
    assert np.allclose(answers.sum(1), 1)
    assert (answers[:, 2] == 0).all()  # no example was angry
    held_out = tiny.out_of_fold()
    assert held_out is not None
    assert held_out.shape == (30, 3)


@settings(max_examples=50)
@given(st.lists(st.lists(st.text(max_size=20), min_size=1, max_size=4), min_size=1, max_size=8), st.randoms())
def test_same_scores_alone_and_in_any_batch(tiny: NgramBlock, turns: list[list[str]], random: object) -> None:
    dialogues = examples_of(*turns)
    together = tiny.predict_proba(dialogues)
    backwards = tiny.predict_proba(dialogues[::-1])[::-1]
    alone = np.concatenate([tiny.predict_proba([dialogue]) for dialogue in dialogues])
    assert (together == alone).all()
    assert (together == backwards).all()


def test_saved_and_loaded_gives_the_same_bits(tiny: NgramBlock, tmp_path: Path) -> None:
    tiny.save(tmp_path)
    again = Block.load(tmp_path)
    dialogues = examples_of(*([text] for text in (*HAPPY, *SAD)))
    assert again.labels == tiny.labels
    assert (again.predict_proba(dialogues) == tiny.predict_proba(dialogues)).all()


def test_the_seed_reproduces(tmp_path: Path) -> None:
    rows, labels = [[text] for text in (*HAPPY, *SAD)], ["happy"] * 5 + ["sad"] * 5
    first, second = (NgramLinear(bits=10, field_weights=[1.0], seed=3).fit(rows, labels) for _ in range(2))
    assert (first.predict_proba(rows) == second.predict_proba(rows)).all()


def test_an_empty_batch_and_an_unfitted_model(tiny: NgramBlock) -> None:
    assert tiny.predict_proba([]).shape == (0, 3)
    with pytest.raises(EmoscopeError, match="has not been fitted"):
        NgramBlock(("a", "b")).predict_proba(examples_of(["a"]))


def test_learning_needs_two_labels() -> None:
    with pytest.raises(EmoscopeError, match="at least two different labels"):
        NgramBlock(("happy", "sad"), bits=8).fit(examples_of(["a"]), ["happy"], FitContext())


def test_file_that_is_not_a_model_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"not a zip")
    with pytest.raises(InputError, match="is not an n-gram model"):
        NgramLinear.load(tmp_path / "model.npz")


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", settings=np.array([{"format": "x"}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="is not an n-gram model"):
        NgramLinear.load(tmp_path / "model.npz")


def test_the_last_texts_are_the_fields() -> None:
    rows = [["one", "two", text] for text in (*HAPPY, *SAD)]
    longer = [["an earlier text", *row] for row in rows]
    labels = ["happy"] * 5 + ["sad"] * 5
    first, second = (NgramLinear(bits=10).fit(each, labels) for each in (rows, longer))
    answers = [model.predict_proba(each) for model in (first, second) for each in (rows, longer)]
    first._native = second._native = None  # the same without the kernel
    answers += [model.predict_proba(each) for model in (first, second) for each in (rows, longer)]
    assert all((each == answers[0]).all() for each in answers)
    assert (first.predict_proba([["so"]]) == first.predict_proba([["", "", "so"]])).all()


def test_unread_turns_and_characters_are_marked_truncated(tiny: NgramBlock) -> None:
    asked = examples_of(["a", "b", "c"], ["a", "b", "c", "d"], ["a" * (MAX_CHARACTERS + 1)])
    truncated = tiny.infer(asked).truncated
    assert truncated is not None
    assert truncated.tolist() == [False, True, True]
