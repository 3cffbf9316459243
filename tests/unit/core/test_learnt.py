"""What a model learnt: fingerprints of items, and the file that keeps them."""

from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import InputError
from emoscope.core.learnt import FILE, LearntItems, Overlap, fingerprints, pack, unpack


def item(*turns: str, label: str | None = "sad") -> Example:
    return Example(Dialogue.of(turns), len(turns) - 1, label)


LOST = item("where are they", "I lost my keys")


def test_another_edition_of_an_item_is_the_same_item() -> None:
    learnt = LearntItems.of({"ours": [LOST]})
    same = [item("Where  are they?", "I lost my keys!"), item("where are they", "I lost my keys", label=None)]
    going_on = Example(Dialogue.of(["where are they", "I lost my keys", "oh no"]), 1)
    others = [item("I lost my keys"), item("where are they", "I lost my keys", "oh no"), item("where", "are they lost")]
    assert learnt.overlap([*same, going_on]) == Overlap(3, 3)
    assert learnt.overlap(others) == Overlap(0, 3)


def test_turns_are_kept_apart() -> None:
    one, other = fingerprints([item("so you are", "here at last"), item("so you", "are here at last")])
    assert one != other


def test_any_text_has_a_fingerprint() -> None:
    assert len(set(fingerprints([item("odd \x00 signs \u200b are still here"), item("", "", "")]).tolist())) == 2


def test_an_emoji_alone_is_a_text() -> None:
    one, other = fingerprints([item("how was the big day", "😂"), item("how was the big day", "😭")])
    assert one != other


def test_common_lines_identify_no_item() -> None:
    assert LearntItems.of({"ours": [item("hi"), item("hi", "how are you")]}).overlap([item("hi")]) == Overlap(0, 1)


@pytest.mark.parametrize(("turns", "known"), [(("so sad", "too bad"), 0), (("so very sad", "too bad"), 1)])
def test_five_words_in_all_turns_make_an_item(turns: tuple[str, ...], known: int) -> None:
    assert LearntItems.of({"ours": [item(*turns)]}).overlap([item(*turns)]) == Overlap(known, 1)
    assert (fingerprints([item(*turns)])[0] != 0) == bool(known)


def test_fingerprints_are_those_of_records_that_were_shipped() -> None:
    """Another hash would not find the items of any record."""
    assert fingerprints([LOST]).tolist() == [91249939426338]


@pytest.mark.parametrize("other", ["the \uff42\uff49\uff47 stra\u00dfe was_so empty", "The BIG STRASSE wasSo empty..."])
def test_ways_to_write_the_same_letters(other: str) -> None:
    one, same = fingerprints([item("the big strasse was so empty"), item(other)])
    assert one == same != 0


def test_text_without_a_gold_label_counts_for_its_source_only() -> None:
    made = Example(Dialogue.of(["where are they now, my keys"]), 0, "sad", origin=LOST.dialogue)
    learnt = LearntItems.of({"ours": [LOST, made], "text": [item("nobody has labelled this one", label=None)]})
    assert len(learnt) == 1
    assert dict(learnt.sources) == {"ours": 2, "text": 1}


def test_a_share_that_chance_explains_is_not_learnt() -> None:
    assert not Overlap(0, 0).is_learnt
    assert not Overlap(52, 9591).is_learnt  # what IEST's own dev has in common with its train
    assert Overlap(300, 9591).is_learnt
    assert [Overlap(items, 1000).is_learnt for items in (20, 21)] == [False, True]  # up to 2 %
    assert str(Overlap(1300, 9591)) == "1,300 of 9,591 items"


def test_record_survives_saving_and_is_small(tmp_path: Path) -> None:
    examples = [item(f"this is item number {number}") for number in range(20_000)]
    learnt = LearntItems.of({"a": examples[:15_000], "b": examples[15_000:]})
    learnt.save(tmp_path)
    again = LearntItems.load(tmp_path)
    assert again is not None
    assert np.array_equal(again.fingerprints, learnt.fingerprints)
    assert dict(again.sources) == {"a": 15_000, "b": 5_000}
    assert again.overlap(examples) == Overlap(20_000, 20_000)
    assert again.overlap([item(f"this is no item, {number}") for number in range(20_000)]).items == 0
    assert (tmp_path / FILE).stat().st_size < 5 * 20_000


def test_records_add_up() -> None:
    both = LearntItems.of({"a": [LOST]}) | LearntItems.of({"a": [], "b": [LOST, item("I found them in my car")]})
    assert len(both) == 2
    assert dict(both.sources) == {"a": 1, "b": 2}


def test_the_sources_of_a_record_cannot_be_changed() -> None:
    sources = {"a": 1}
    learnt = LearntItems(sources)
    sources["a"] = 2
    assert dict(learnt.sources) == {"a": 1}
    with pytest.raises(TypeError):
        learnt.sources["a"] = 2  # type: ignore[index]


def test_of_two_records_the_larger_count_of_a_source_stays() -> None:
    one, other = LearntItems({"a": 1, "b": 5}), LearntItems({"a": 3, "b": 2, "c": 0})
    assert dict((one | other).sources) == dict((other | one).sources) == {"a": 3, "b": 5, "c": 0}


def test_what_is_learnt_is_told_item_by_item() -> None:
    many = [item(f"this is item number {number}") for number in range(40)]
    learnt = LearntItems.of({"ours": many[::2]})
    assert learnt.known(many).tolist() == [True, False] * 20
    assert learnt.known([]).tolist() == [] == LearntItems().known([]).tolist()
    assert LearntItems().known(many).tolist() == [False] * 40
    assert len(LearntItems.of({"ours": [LOST], "theirs": [LOST]})) == 1


@pytest.mark.parametrize("items", [[], [0], [5], [1, 2**48 - 1], [255, 256, 65536, 2**40]])
def test_packed_fingerprints_come_back(items: list[int]) -> None:
    packed = pack(np.array(items, np.uint64))
    assert packed.shape == (6, len(items)) and packed.dtype == np.uint8
    assert unpack(packed).tolist() == items and unpack(packed).dtype == np.uint64
    assert pack(np.array([3, 700], np.uint64)).T.tolist() == [[0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 2, 185]]


def test_an_empty_record(tmp_path: Path) -> None:
    LearntItems().save(tmp_path)
    again = LearntItems.load(tmp_path)
    assert again is not None and again.overlap([LOST]) == Overlap(0, 1)
    assert LearntItems.load(tmp_path / "elsewhere") is None


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut off"])
def test_broken_record_is_a_one_line_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(InputError, match=r"is not a record of what a model learnt|is empty") as caught:
        LearntItems.load(tmp_path)
    assert "\n" not in str(caught.value)
