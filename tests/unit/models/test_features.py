"""Feature extractors: hand-computed values, unseen words, missing turns, saving."""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.arrays import pack_words, unpack_words
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.features.base import Extractor, all_features
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.features.ranked_words import RankedWords
from emoscope.models.features.scores import ClassifierScores
from emoscope.models.features.style import Style
from emoscope.models.features.tokens import chat_tokens, iest_tokens
from emoscope.models.features.vectors import AveragedVectors
from emoscope.models.features.word_ratings import WordRatings, read_vad
from emoscope.tasks.datasets.readers import read_sentiment

TEXTS = st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=4), min_size=1, max_size=5)


def said(*turns: str) -> Example:
    return Example(Dialogue.of(turns), len(turns) - 1)


def fitted(
    made: Extractor, examples: list[Example], labels: list[str] | None = None, **fit_context: object
) -> Extractor:
    return made.fit(examples, labels or ["a"] * len(examples), FitContext(**fit_context))  # type: ignore[arg-type]


@pytest.fixture
def resources(tmp_path: Path) -> Path:
    """A folder of resources with a few lines in each file."""
    for folder in ("lexicons", "embeddings", "auxiliary/goemotions/ekman", "auxiliary/tweeteval/offensive"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lexicons/NRC-VAD-Lexicon.txt").write_text(
        "good\t0.9\t0.5\t0.7\nbad\t0.1\t0.6\t0.3z\nice cream\t1\t1\t1\n"
    )
    (tmp_path / "auxiliary/goemotions/ekman/train.tsv").write_text("good day\t3\tx\nbad day\t0,5\ty\n" * 5)
    np.savez(
        tmp_path / "embeddings/glove.6B.100d.subset.npz",
        words=np.array(["good", "day"]),
        vectors=np.array([[1, 2], [3, 4]], np.float16),
    )
    vector = struct.pack("<3f", 1.0, 0.5, -1.0)
    (tmp_path / "embeddings/emoji2vec.bin").write_bytes(b"1 3\n" + "❤️".encode() + b" " + vector)
    tweets = tmp_path / "auxiliary/semeval2017-4a/train"
    tweets.mkdir(parents=True)
    kinds = {"positive": "love it", "negative": "hate it", "neutral": "at noon"}
    lines = [f"{n}\t{kind}\t{text}\\u002c {n}\n" for n in range(6) for kind, text in kinds.items()]
    (tweets / "a.tsv").write_text("".join(lines))
    offensive = tmp_path / "auxiliary/tweeteval/offensive"
    (offensive / "train_text.txt").write_text("you fool\nnice to see you\n" * 6)
    (offensive / "train_labels.txt").write_text("1\n0\n" * 6)
    return tmp_path


# Tokens


def test_chat_tokens_keep_emoticons_and_emoji_whole() -> None:
    assert chat_tokens("Yesss!! 😂😂❤️ :-( it's <3 8pm") == (
        ["yess", "!", "!", "😂", "😂", "❤", ":-(", "it's", "<3", "8pm"]
    )


def test_iest_tokens_drop_symbols_and_words_with_a_hash() -> None:
    assert iest_tokens("@USERNAME I'm SO [#TRIGGERWORD#] that a_b=c won 100 % #win !") == (
        ["USERNAME", "I", "m", "SO", "that", "a_b=c", "won", "100"]
    )


@given(st.lists(st.text(st.characters(exclude_characters="\n"), min_size=1)))
def test_packed_words_are_the_same_words(words: list[str]) -> None:
    assert unpack_words(pack_words(words)) == words


# N-grams


def test_boolean_ngrams_of_each_turn() -> None:
    examples = [said("no no", "yes"), said("yes no")]
    grams = fitted(Ngrams(weighting="boolean", turns=(0, 1), min_count=1), examples)
    assert isinstance(grams, Ngrams)
    assert grams.vocabularies == [["no", "yes", "yes no"], ["no", "no no"]]
    # Columns: last turn "no", "yes", "yes no"; turn before "no", "no no".
    assert grams.transform(examples).toarray().tolist() == [[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]]


def test_tfidf_by_hand() -> None:
    examples = [said("so so sad"), said("so happy")]
    grams = fitted(Ngrams(lengths=(1, 1), turns=(0,), min_count=1), examples)
    # Columns: happy, sad, so. Two texts: rarity of "so" ln(3/3)+1 = 1, of the others ln(3/2)+1.
    rare = math.log(3 / 2) + 1
    twice = 1 + math.log(2)
    first = np.array([0, rare, twice]) / math.hypot(rare, twice)
    second = np.array([rare, 0, 1]) / math.hypot(rare, 1)
    assert np.allclose(grams.transform(examples).toarray(), [first, second], atol=1e-6)


def test_character_ngrams_see_the_edges_of_words() -> None:
    grams = fitted(Ngrams(unit="char", lengths=(3, 3), turns=(0,), min_count=1, weighting="count"), [said("Go on")])
    assert isinstance(grams, Ngrams)
    assert grams.vocabularies == [[" go", " on", "go ", "o o", "on "]]


def test_rare_ngrams_are_left_out_and_the_commonest_kept() -> None:
    examples = [said("a b"), said("a b"), said("a c")]
    assert fitted(Ngrams(lengths=(1, 1), turns=(0,), min_count=2), examples).vocabularies == [["a", "b"]]  # type: ignore[attr-defined]
    few = fitted(Ngrams(lengths=(1, 1), turns=(0,), min_count=1, max_features=1), examples)
    assert few.vocabularies == [["a"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("weighting", ["boolean", "count", "tfidf"])
def test_unseen_words_and_missing_turns_are_zeros(weighting: str) -> None:
    grams = fitted(Ngrams(weighting=weighting, min_count=1), [said("a", "b", "c")])  # type: ignore[arg-type]
    assert not grams.transform([said("zebra"), said("")]).toarray().any()


# Ranked words


def test_words_are_ranked_within_each_label() -> None:
    examples = [said("joy joy the"), said("the tears"), said("the the rage")]
    words = fitted(RankedWords(top=1, turns=(0, 1)), examples, ["joy", "sadness", "anger"])
    # "the" is everywhere, so its rarity is 1; a word of one label has ln(4/2)+1 = 1.69.
    # anger: the 2/3 * 1 = .67, rage 1/3 * 1.69 = .56; joy: joy 2/3 * 1.69; sadness: tears 1/2 * 1.69 > the 1/2.
    assert words.words == ["joy", "tears", "the"]  # type: ignore[attr-defined]
    assert words.transform([said("the rage", "joy , joy")]).toarray().tolist() == [[1, 0, 0, 0, 0, 1]]


# Lexicons


def test_ratings_of_a_turn(resources: Path) -> None:
    ratings = fitted(WordRatings(source="vad", turns=(0,)), [], resources=resources)
    row = ratings.transform([said("good but bad , bad")]).toarray()[0]
    # Valence: 0.4, -0.4, -0.4; arousal: 0, 0.1, 0.1; dominance: 0.2, -0.2, -0.2; three of five tokens are rated.
    mean = [-0.4 / 3, 0.2 / 3, -0.2 / 3]
    assert np.allclose(row, [*mean, 0.4, 0.1, 0.2, -0.4, 0.0, -0.2, 3 / 5], atol=1e-6)
    assert not ratings.transform([said("hm"), said("")]).toarray().any()


def test_ratings_keep_single_words_only(resources: Path) -> None:
    assert sorted(read_vad(resources / "lexicons/NRC-VAD-Lexicon.txt")) == ["bad", "good"]


def test_a_broken_lexicon_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "vad.txt"
    path.write_text("good\t0.9\t0.5\t0.7\nbad\t0.1\n")
    with pytest.raises(InputError, match="row 2: expected a word and three numbers"):
        read_vad(path)


def test_intensity_is_learnt_from_comments(resources: Path) -> None:
    ratings = fitted(WordRatings(source="intensity", turns=(0,)), [], resources=resources)
    assert isinstance(ratings, WordRatings)
    # 5 comments with "good", all joy (id 3); usual share 0.5; ten comments of doubt: (5 + 10 * .5) / 15 - .5 = 1/6.
    assert np.isclose(ratings.table["good"][3], 1 / 6)
    assert np.allclose(ratings.table["day"], 0)


def test_a_missing_lexicon_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match=r"this needs lexicons/NRC-VAD-Lexicon\.txt, which is not in"):
        fitted(WordRatings(), [], resources=tmp_path)
    with pytest.raises(EmoscopeError, match="expected one of vad, intensity"):
        WordRatings(source="mood")  # type: ignore[arg-type]


# Style


def test_style_counts_what_normalising_changes() -> None:
    row = dict(zip(Style.names, Style(turns=(0,)).transform([said("WHAT?! Nooo 😂 :(")]).toarray()[0], strict=True))
    counts = {name: round(math.expm1(value)) for name, value in row.items() if value}
    assert counts["characters"] == 16
    assert counts["words"] == 9  # WHAT?! Noo face with tears of joy frowning face
    assert {name: counts[name] for name in ("emoji", "emoticons", "elongations", "shouted")} == dict.fromkeys(
        ("emoji", "emoticons", "elongations", "shouted"), 1
    )
    assert (counts["exclamations"], counts["questions"]) == (1, 1)


# Vectors and scores


def test_vectors_are_averaged_over_known_tokens(resources: Path) -> None:
    glove = fitted(AveragedVectors(vectors="glove", turns=(0, 1)), [], resources=resources)
    assert glove.transform([said("unknown", "Good day !")]).toarray().tolist() == [[2, 3, 0, 0]]
    emoji = fitted(AveragedVectors(vectors="emoji2vec", turns=(0,)), [], resources=resources)
    assert emoji.transform([said("you ❤️❤"), said("you")]).toarray().tolist() == [[1, 0.5, -1], [0, 0, 0]]


def test_random_vectors_follow_the_seed_and_need_no_resources() -> None:
    examples = [said("so happy"), said("so sad")]
    first, again, other = (
        fitted(AveragedVectors(vectors="random", size=4, turns=(0,)), examples, seed=seed).transform(examples).toarray()
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_scores_of_classifiers_learnt_from_tweets(resources: Path) -> None:
    scores = fitted(ClassifierScores(turns=(0,), bits=12), [], resources=resources)
    loved, hated, foolish = scores.transform([said("love it"), said("hate it"), said("you fool")]).toarray()
    # Columns: neutral, positive, offensive.
    assert loved[1] > 0.5 > hated[1]
    assert foolish[2] > 0.5
    assert foolish[2] > loved[2]
    assert not scores.transform([said("")]).toarray().any()


def test_sentiment_tweets_are_unescaped(resources: Path) -> None:
    assert next(read_sentiment(resources / "auxiliary/semeval2017-4a")) == ("love it, 0", "positive")


# What all of them share


def some_of_each() -> list[Extractor]:
    return [
        Ngrams(unit="char", lengths=(1, 2), min_count=1),
        RankedWords(top=3),
        WordRatings(),
        Style(),
        ClassifierScores(bits=8),
        AveragedVectors(),
    ]


def test_saved_extractors_give_the_same_features_without_resources(resources: Path, tmp_path: Path) -> None:
    examples = [said("hi", "good day 😂"), said("bad ❤️"), said("")]
    extractors = [fitted(extractor, examples, ["x", "y", "x"], resources=resources) for extractor in some_of_each()]
    before = all_features(extractors, examples).toarray()
    for number, extractor in enumerate(extractors):
        extractor.save(tmp_path / str(number))
    again = [Extractor.load(tmp_path / str(number)) for number in range(len(extractors))]
    assert before.dtype == np.float32
    assert np.array_equal(all_features(again, examples).toarray(), before)


@settings(max_examples=30, deadline=None)
@given(TEXTS)
def test_a_row_does_not_depend_on_the_other_rows(dialogues: list[list[str]]) -> None:
    examples = [said(*turns) for turns in dialogues]
    made = [Ngrams(min_count=1), Ngrams(unit="char", min_count=1), RankedWords(top=5), Style()]
    extractors = [fitted(extractor, examples) for extractor in made]
    together = all_features(extractors, examples).toarray()
    alone = np.concatenate([all_features(extractors, [example]).toarray() for example in examples])
    assert np.array_equal(together, alone)


def test_no_features_is_reported() -> None:
    with pytest.raises(EmoscopeError, match="at least one kind of feature"):
        all_features([], [said("hi")])


@pytest.mark.data
def test_the_real_lexicon_and_vectors_are_read(data_folder: Path) -> None:
    assert len(read_vad(data_folder / "lexicons/NRC-VAD-Lexicon.txt")) > 15_000
    emoji = fitted(AveragedVectors(vectors="emoji2vec", turns=(0,)), [], resources=data_folder)
    assert emoji.transform([said("😂"), said("hm")]).toarray().any(1).tolist() == [True, False]


def test_extractor_is_not_a_block(tmp_path: Path) -> None:
    Style().save(tmp_path)
    assert json.loads((tmp_path / "block.json").read_text())["children"] == []
    with pytest.raises(EmoscopeError, match="expected a saved block, found a saved extractor"):
        Block.load(tmp_path)
