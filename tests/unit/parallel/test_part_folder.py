"""Results of parts on disk: computed once, not reused for other work, and cleaned up."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.language import LanguageFilter
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.parallel.parts import PartFolder, batches, packed, unpacked

PARTS = [b"one", b"two", b"three"]


class Doubling:
    """Remembers what it was asked for."""

    def __init__(self, refused: bytes = b"none") -> None:
        self.asked: list[bytes] = []
        self.refused = refused

    def __call__(self, part: bytes) -> bytes:
        if part == self.refused:
            raise EmoscopeError(f"refused {part!r}")
        self.asked.append(part)
        return part * 2


def test_results_are_made_once(tmp_path: Path) -> None:
    work = Doubling()
    folder = PartFolder(tmp_path / "parts", "doubled", ".bin")
    first = list(folder.fill(PARTS, work))
    assert [path.read_bytes() for path in first] == [b"oneone", b"twotwo", b"threethree"]
    assert list(folder.fill(PARTS, work)) == first
    assert work.asked == PARTS


def test_parts_of_another_function_are_computed_again(tmp_path: Path) -> None:
    work = Doubling()
    list(PartFolder(tmp_path, "a", ".bin").fill(PARTS, work))
    list(PartFolder(tmp_path, "b", ".bin").fill(PARTS, work))
    assert work.asked == PARTS * 2
    assert len(list(tmp_path.iterdir())) == 3, "the first results are gone"


def test_parts_finished_before_a_failure_are_kept(tmp_path: Path) -> None:
    folder = PartFolder(tmp_path / "parts", "doubled", ".bin")
    with pytest.raises(EmoscopeError, match="refused b'three'"):
        list(folder.fill(PARTS, Doubling(refused=b"three")))
    work = Doubling()
    assert len(list(folder.fill(PARTS, work))) == 3
    assert work.asked == [b"three"]


def test_leftovers_go_and_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".00000-abc.bin.x.part").write_text("half of it")
    folder = PartFolder(tmp_path, "doubled", ".bin")
    list(folder.fill(PARTS, Doubling()))
    (kept,) = folder.fill(PARTS[:1], Doubling())
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", kept.name}


def test_no_parts_create_no_folder(tmp_path: Path) -> None:
    assert list(PartFolder(tmp_path / "parts", "doubled", ".bin").fill([], Doubling())) == []
    assert not (tmp_path / "parts").exists()


turns = st.builds(Turn, st.text(), st.none() | st.text())


@given(said=st.lists(st.lists(turns, min_size=1, max_size=4).map(lambda found: Dialogue(tuple(found))), max_size=5))
def test_dialogues_survive_a_round_trip(said: list[Dialogue]) -> None:
    assert unpacked(packed(said)) == said


@given(items=st.lists(st.integers()), size=st.integers(1, 7))
def test_batches_are_all_and_full_but_for_the_last(items: list[int], size: int) -> None:
    found = list(batches(items, size))
    assert [item for part in found for item in part] == items
    assert all(len(part) == size for part in found[:-1])


def test_filters_find_the_same_in_another_process() -> None:
    said = [Dialogue.of(["tu fais quoi", "je ne sais pas"]), Dialogue.of(["hi, my name is Ann, ann@example.com"])]
    for one in (LanguageFilter(["en", "es+en"]), PersonalFilter(mask=True)):
        copy = pickle.loads(pickle.dumps(one))
        assert copy.review(said) == one.review(said)
        assert copy.settings == one.settings
