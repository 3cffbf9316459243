"""Tokens, vocabularies and word vectors, on hand-made texts and files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.models.text.vocabulary import (
    TOKENISERS,
    Vocabulary,
    chat_tokens,
    plain_tokens,
    starter_tokens,
    tokeniser,
)
from emoscope.models.torch.vectors import (
    WordVectors,
    embedding_matrix,
    named_emoji,
    read_vectors,
    reduced,
    scaled_like,
    train_word2vec,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am so happy!!", "i am so happy !"),
        ("What??! no...", "what ? ! no ."),
        ("a,,b . . c", "a , b . . c"),
        ("  Two   spaces\tand a tab ", "two spaces and a tab"),
        ("😂😂 :)", "😂😂 :)"),
        ("", ""),
    ],
)
def test_the_starter_kits_preprocessing(text: str, expected: str) -> None:
    assert " ".join(starter_tokens(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't you're can’t O'Neill's", ["do", "n't", "you", "'re", "ca", "n't", "o'neill", "'s"]),
        ("sooo happyyyy!!!", ["soo", "happyy", "!"]),
        ("wait.. what… no.", ["wait", "...", "what", "...", "no", "."]),
        ("thanks:) xD <3", ["thanks", "smiling_face", "grinning_squinting_face", "red_heart"]),
        ("👍🏽👍", ["thumbs_up", "thumbs_up"]),
        ("3.5 at 10:30", ["3.5", "at", "10:30"]),
        ("(see below:)", ["(", "see", "below", ":", ")"]),
        ("@Bob_1 WWW.x.org/a?b hT", ["@user", "<url>", "ht"]),
        ("I feel [#TRIGGERWORD#] that[NEWLINE]ok", ["i", "feel", "[#TRIGGERWORD#]", "that", "ok"]),
        ("snake_case -- x", ["snake", "_", "case", "-", "x"]),
        (" \n ", []),
    ],
)
def test_chat_tokens(text: str, expected: list[str]) -> None:
    assert chat_tokens(text) == expected


def test_plain_tokens_spell_emoji_out() -> None:
    assert plain_tokens("ok 😂 _") == ["ok", "face", "with", "tears", "of", "joy", "_"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.sampled_from(sorted(TOKENISERS)))
def test_any_text_is_tokenised_without_empty_tokens_or_spaces(text: str, name: str) -> None:
    tokens = tokeniser(name)(text)
    assert all(token and not any(character.isspace() for character in token) for token in tokens)
    if text.strip() and name == "starter":
        assert tokens


def test_an_unknown_tokeniser_is_named() -> None:
    with pytest.raises(EmoscopeError, match="unknown tokens 'bpe'; expected one of starter, chat, plain"):
        tokeniser("bpe")


def test_a_vocabulary_counts_sorts_and_cuts() -> None:
    texts = [["b", "a", "b"], ["c", "a", "b", "<eos>"], ["d"]]
    whole = Vocabulary.of(texts)
    assert whole.tokens == ("<pad>", "<unk>", "<eos>", "b", "a", "c", "d")
    assert whole.encode(["a", "zzz", "<eos>", "b"]) == [4, 1, 2, 3]
    assert Vocabulary.of(texts, min_count=2).tokens[3:] == ("b", "a")
    assert Vocabulary.of(texts, max_features=1).tokens[3:] == ("b",)


def test_vocabulary_survives_saving(tmp_path: Path) -> None:
    vocabulary = Vocabulary.of([["é", "😂", '"']])
    vocabulary.save(tmp_path / "words.json")
    assert Vocabulary.load(tmp_path / "words.json").tokens == vocabulary.tokens


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2, 3]", '["a", "b", "c"]'])
def test_invalid_vocabulary_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "words.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EmoscopeError):
        Vocabulary.load(path)


def _vectors(rows: dict[str, list[float]]) -> WordVectors:
    return WordVectors(tuple(rows), np.array(list(rows.values()), np.float32))


def test_reading_npz_and_word2vec_files(tmp_path: Path) -> None:
    matrix = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)
    np.savez(tmp_path / "some.npz", words=np.array(["a", "b"]), vectors=matrix.astype(np.float16))
    # Some writers end each row with a line break, some do not.
    raw = b"2 2\n" + "é ".encode() + matrix[0].tobytes() + b"\n" + "😂 ".encode() + matrix[1].tobytes()
    (tmp_path / "some.bin").write_bytes(raw)
    for path, words in ((tmp_path / "some.npz", ("a", "b")), (tmp_path / "some.bin", ("é", "😂"))):
        found = read_vectors(path)
        assert found.words == words
        assert found.matrix.dtype == np.float32
        assert found.matrix.tolist() == matrix.tolist()


def test_a_broken_vector_file_gets_a_clear_line(tmp_path: Path) -> None:
    (tmp_path / "cut.bin").write_bytes(b"2 3\na " + b"\0" * 12 + b"b " + b"\0" * 5)
    with pytest.raises(InputError, match=r"cut\.bin.*word2vec's binary format"):
        read_vectors(tmp_path / "cut.bin")
    (tmp_path / "text.npz").write_bytes(b"hello")
    with pytest.raises(InputError, match=r"text\.npz.*not a file of word vectors"):
        read_vectors(tmp_path / "text.npz")


def test_rows_of_the_embedding() -> None:
    vectors = _vectors({"so": [1, 1], "happy": [2, 4], "frowning": [2, 0], "face": [4, 2]})
    vocabulary = Vocabulary.of([["so", "soo", "frowning_face", "xyzzy"]])
    table = embedding_matrix(vocabulary, vectors, 2, seed=5)
    row = {token: table[number].tolist() for number, token in enumerate(vocabulary.tokens)}
    assert row["<pad>"] == [0, 0]
    assert row["so"] == row["soo"] == [1, 1]
    assert row["frowning_face"] == [3, 1]  # the mean of (2, 0) and (4, 2)
    assert row["xyzzy"] != [0, 0]
    assert embedding_matrix(vocabulary, vectors, 2, seed=5).equal(table)
    assert not embedding_matrix(vocabulary, vectors, 2, seed=6).equal(table)


def test_vectors_of_another_size_are_refused() -> None:
    with pytest.raises(EmoscopeError, match="embedding_size is 3, but these vectors have 2"):
        embedding_matrix(Vocabulary.of([["a"]]), _vectors({"a": [1, 2]}), 3, seed=0)
    with pytest.raises(EmoscopeError, match="cannot be joined"):
        _vectors({"a": [1, 2]}).joined(_vectors({"b": [1]}))


def test_joining_keeps_the_first_of_two() -> None:
    whole = _vectors({"a": [1], "b": [2]}).joined(_vectors({"b": [3], "c": [4]}))
    assert whole.words == ("a", "b", "c")
    assert whole.matrix.ravel().tolist() == [1, 2, 4]


def test_emoji_are_named_and_their_skin_tones_averaged() -> None:
    named = named_emoji(_vectors({"👍": [1, 0], "👍🏽": [3, 0], "😂": [0, 1], "word": [9, 9]}))
    assert dict(zip(named.words, named.matrix.tolist(), strict=True)) == {
        "thumbs_up": [2, 0],
        "face_with_tears_of_joy": [0, 1],
    }


def test_reduced_vectors_keep_their_distances_along_the_main_direction() -> None:
    wide = _vectors({"a": [0, 0, 1], "b": [0, 3, 1], "c": [0, 6, 1]})
    narrow = reduced(wide, 1).matrix.ravel()
    assert np.abs(np.diff(narrow)) == pytest.approx([3, 3], abs=1e-5)
    assert reduced(_vectors({"a": [5]}), 3).matrix.tolist() == [[5, 0, 0]]


def test_scaling_gives_the_mean_length_of_the_model() -> None:
    scaled = scaled_like(_vectors({"a": [3, 4], "b": [6, 8]}), _vectors({"x": [0, 1], "y": [2, 0]}))
    # Lengths 5 and 10 become 1 and 2: the mean of the model's 1 and 2 is 1.5, ours was 7.5.
    assert np.linalg.norm(scaled.matrix, axis=1) == pytest.approx([1, 2], abs=1e-6)


def test_word2vec_of_texts_is_repeatable_and_finds_company() -> None:
    fruit, cars = (
        [["red", "apple", "sweet"], ["green", "apple", "sweet"]],
        [["fast", "car", "loud"], ["slow", "car", "loud"]],
    )
    texts = (fruit + cars) * 30
    vectors = train_word2vec(texts, 8, seed=1, epochs=300)
    assert vectors.size == 8
    assert set(vectors.words) == {word for text in texts for word in text}
    assert np.array_equal(train_word2vec(texts, 8, seed=1, epochs=300).matrix, vectors.matrix)
    row = {word: vectors.matrix[n] / np.linalg.norm(vectors.matrix[n]) for n, word in enumerate(vectors.words)}
    assert row["red"] @ row["green"] > row["red"] @ row["loud"]


@pytest.mark.data
def test_the_published_vectors_can_be_read(data_folder: Path) -> None:
    glove = read_vectors(data_folder / "embeddings/glove.6B.100d.subset.npz")
    assert glove.size == 100
    assert "happy" in glove.words
    emoji = named_emoji(read_vectors(data_folder / "embeddings/emoji2vec.bin"))
    assert emoji.size == 300
    assert {"face_with_tears_of_joy", "red_heart"} <= set(emoji.words)
