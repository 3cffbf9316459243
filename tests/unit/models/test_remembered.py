"""Pieces of texts that come again: the same as if they were cut anew, and not many of them kept."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.models.text.token_cache import LONGEST, RememberedPieces
from emoscope.models.text.tokenizer import Pieces

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hi", "##hi", "so", "happy", "a", "##a", "face", "!")
TOKENIZER = json.dumps(
    {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate(WORDS)},
        },
    }
)
SPECIAL = {"start": 2, "end": 3, "mask": 4, "padding": 0}
TEXTS = st.lists(st.sampled_from(["hi", "so happy", "", "  ", "😂", "a [#TRIGGERWORD#] hi", "a" * 300]), max_size=12)


@pytest.fixture
def pieces() -> RememberedPieces:
    return RememberedPieces.read(TOKENIZER, **SPECIAL)


def kept(pieces: RememberedPieces) -> set[str]:
    return {*pieces._new, *pieces._old}


@settings(deadline=None)
@given(calls=st.lists(TEXTS, max_size=6), room=st.integers(1, 4))
def test_they_are_what_cutting_gives(calls: list[list[str]], room: int) -> None:
    plain, remembered = (kind.read(TOKENIZER, **SPECIAL) for kind in (Pieces, RememberedPieces))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("emoscope.models.text.token_cache.TEXTS", room)
        for texts in calls:
            assert remembered.numbers(texts) == plain.numbers(texts)


def test_a_known_text_is_not_cut_again(pieces: RememberedPieces, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pieces.numbers(["so happy", "hi"])
    cut: list[str] = []

    def count(self: Pieces, texts: list[str]) -> list[list[int]]:
        cut.extend(texts)
        return [[5] for _ in texts]

    monkeypatch.setattr(Pieces, "numbers", count)
    assert pieces.numbers(["hi", "a", "so happy"]) == [before[1], [5], before[0]]
    assert cut == ["a"]


def test_few_texts_are_kept_and_no_long_ones(pieces: RememberedPieces, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.models.text.token_cache.TEXTS", 10)
    for number in range(200):
        pieces.numbers([f"hi {number}"])
        assert len(kept(pieces)) <= 20
    assert {f"hi {number}" for number in range(190, 200)} <= kept(pieces)
    pieces.numbers(["a " * LONGEST])
    assert all(len(text) <= LONGEST for text in kept(pieces))


def test_threads_share_them(pieces: RememberedPieces, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.models.text.token_cache.TEXTS", 5)
    texts = [f"hi {'a' * (number % 13 + 1)}" for number in range(40)]
    expected = Pieces.read(TOKENIZER, **SPECIAL).numbers(texts)

    def work(first: int) -> bool:
        turned = texts[first:] + texts[:first]
        return pieces.numbers(turned) == expected[first:] + expected[:first]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(40)))
