"""Exact and near copies: within a file, between files, and between back-translations."""

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.dedupe.deduplicate import deduplicate
from emoscope.corpus.dedupe.duplicates import DuplicateFinder, comparable
from emoscope.corpus.dedupe.minhash import BANDS, ROWS, jaccard, shared_buckets, shingles, signatures
from kits.corpus_command import kill_once_writing, stdout_of
from kits.duplicates import find_duplicates

WORDS = [
    "apple",
    "river",
    "quiet",
    "mother",
    "train",
    "happy",
    "window",
    "seven",
    "garden",
    "purple",
    "doctor",
    "music",
]
LONG = "i told my mother that the train to the river was late again"
NEAR = "i told my mother that the train to the river was late today"
OTHER = "seven silver letters lay in the quiet kitchen all winter long"


def pairs(items: list[str | tuple[str, ...]], threshold: float = 0.8) -> list[tuple[int, int, bool]]:
    return [(copy.item, copy.of, copy.exact) for copy in find_duplicates(items, threshold=threshold)]


def test_jaccard_by_hand() -> None:
    # " abc", "abcd", "bcd " against " abc", "abce", "bce ": one of five in common.
    assert jaccard(shingles("abcd"), shingles("abce")) == pytest.approx(1 / 5)
    assert shingles("") == {"    "}


def test_exact_copies_differ_in_case_space_and_stretching_only() -> None:
    assert pairs(["Hello  there!!!", "hello\tthere!!!!!", "hellooo there", "hello there"]) == [(1, 0, True)]
    assert comparable("NOOOO   way") == "noo way"


def test_near_copies() -> None:
    assert jaccard(shingles(LONG), shingles(NEAR)) > 0.8
    assert pairs([LONG, OTHER, NEAR, LONG.upper()]) == [(2, 0, False), (3, 0, True)]
    assert pairs([LONG, OTHER, NEAR, LONG.upper()], threshold=1.0) == [(3, 0, True)]


def test_copies_of_dropped_items_are_compared_with_kept_ones() -> None:
    """A chain a-b-c in which only neighbours are alike: b goes, c stays, for nothing like it does."""
    a = "one two three four five six seven eight nine ten eleven twelve thirteen"
    b = a.replace("one two", "uno dos")
    c = b.replace("twelve thirteen", "doce trece")
    assert jaccard(shingles(a), shingles(b)) > 0.7 > jaccard(shingles(a), shingles(c))
    assert pairs([a, b, c], threshold=0.7) == [(1, 0, False)]


def test_same_ngrams_are_not_an_exact_copy() -> None:
    ((item, of, exact),) = pairs(["hahahaha", "hahahahaha"])
    assert (item, of, exact) == (1, 0, False)


def test_back_translations_count_and_are_never_compared_with_their_own_original() -> None:
    german = "meiner mutter habe ich von dem spaeten zug erzaehlt"
    assert pairs([(LONG, NEAR), OTHER]) == []
    assert pairs([(LONG, german), (OTHER, NEAR)]) == [(1, 0, False)]
    assert pairs([(LONG, german), german.upper()]) == [(1, 0, True)]


TEXT = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


@settings(deadline=None)
@given(texts=st.lists(TEXT, max_size=25), threshold=st.sampled_from([0.6, 0.8, 1.0]))
def test_dropped_items_are_copies_of_kept_ones(texts: list[str], threshold: float) -> None:
    found = find_duplicates(texts, threshold=threshold)
    dropped = {copy.item for copy in found}
    for copy in found:
        assert copy.of < copy.item
        assert copy.of not in dropped
        one, other = comparable(texts[copy.of]), comparable(texts[copy.item])
        assert copy.exact == (one == other)
        assert jaccard(shingles(one), shingles(other)) >= threshold
    kept = [comparable(text) for place, text in enumerate(texts) if place not in dropped]
    assert len(set(kept)) == len(kept)


@settings(deadline=None)
@given(texts=st.lists(TEXT, max_size=20))
def test_removing_copies_twice_is_removing_them_once(texts: list[str]) -> None:
    dropped = {copy.item for copy in find_duplicates(texts)}
    assert find_duplicates([text for place, text in enumerate(texts) if place not in dropped]) == []


@settings(deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=10))
def test_a_signature_does_not_depend_on_its_batch(texts: list[str]) -> None:
    together = signatures(texts)
    alone = np.concatenate([signatures([text]) for text in texts])
    assert (together == alone).all()


def test_signatures_estimate_jaccard() -> None:
    generator = random.Random(1)
    misses = []
    for _ in range(100):
        words = generator.choices(WORDS, k=30)
        changed = [generator.choice(WORDS) if generator.random() < 0.1 else word for word in words]
        one, other = " ".join(words), " ".join(changed)
        first, second = signatures([one, other])
        misses.append(float((first == second).mean()) - jaccard(shingles(one), shingles(other)))
    # The standard deviation of an estimate from 100 numbers is 0.05 at most, of the mean of 100 estimates 0.005.
    assert abs(np.mean(misses)) < 0.02
    assert np.std(misses) < 0.06


def test_buckets_are_shared_or_none() -> None:
    buckets = shared_buckets(signatures([LONG, LONG, OTHER]))
    assert buckets.shape == (3, BANDS)
    assert (buckets[0] == buckets[1]).all()
    assert len(set(buckets[0].tolist())) == BANDS
    assert (buckets[2] == -1).all()
    assert signatures([]).shape == (0, BANDS * ROWS)


def edited(text: str, generator: random.Random) -> str:
    """The text with a typing error, other case and other marks: what copies of a message look like."""
    place = generator.randrange(len(text) - 1)
    swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return generator.choice([str.upper, str.title, str.lower])(swapped) + generator.choice(["", "!", ".", " :)"])


def test_recall_and_precision_on_edits() -> None:
    generator = random.Random(2)
    originals = list({" ".join(generator.choices(WORDS, k=14)): None for _ in range(1000)})
    copies = [edited(text, generator) for text in originals[:300]]
    found = {(copy.item, copy.of) for copy in find_duplicates(originals + copies)}
    true = {(len(originals) + place, place) for place in range(300)}
    assert len(found & true) / len(true) > 0.98
    assert len(found & true) / len(found) > 0.98


def write_rows(path: Path, rows: list[dict[str, str]]) -> str:
    frame = pl.DataFrame(rows)
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".jsonl":
            frame.write_ndjson(path)
        case ".parquet":
            frame.write_parquet(path)
        case _:
            frame.write_csv(path, separator="\t", quote_style="never")
    return str(path)


def read_ids(path: Path) -> list[str]:
    match path.suffix:
        case ".csv":
            frame = pl.read_csv(path, infer_schema=False)
        case ".jsonl":
            frame = pl.read_ndjson(path)
        case ".parquet":
            frame = pl.read_parquet(path)
        case _:
            frame = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    return frame["id"].to_list()


def row(name: str, text: str, **more: str) -> dict[str, str]:
    return {"id": name, "turn1": "hi", "turn2": 'so, "what" is it?', "turn3": text, "label": "sad", **more}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "jsonl", "parquet"])
def test_no_near_copy_of_the_test_set_is_left_in_train(tmp_path: Path, suffix: str) -> None:
    test = write_rows(tmp_path / f"test.{suffix}", [row("t1", LONG), row("t2", LONG.upper())])
    train = write_rows(tmp_path / f"train.{suffix}", [row("a", NEAR), row("b", OTHER), row("c", LONG), row("d", OTHER)])
    counts = deduplicate([test, train], tmp_path / "out")
    assert read_ids(tmp_path / "out" / f"test.{suffix}") == ["t1"]
    assert read_ids(tmp_path / "out" / f"train.{suffix}") == ["b"]
    assert counts[test].as_dict()["dropped"]["exact copy"] == 1
    assert counts[train].as_dict() == {
        "read": 4,
        "kept": 1,
        "dropped": {
            "exact copy": 1,
            "near copy": 0,
            "exact copy of an earlier file": 1,
            "near copy of an earlier file": 1,
        },
    }


def test_plain_lines_stay_plain_lines(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(f"hi\t{LONG}\nyo\t{OTHER}\nHI\t{NEAR}\n")
    deduplicate([str(source)], tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == f"hi\t{LONG}\nyo\t{OTHER}\n"


def test_back_translations_in_columns(tmp_path: Path) -> None:
    rows = [{"text": LONG, "text_de": "x"}, {"text": OTHER, "text_de": NEAR}, {"text": "no", "text_de": "nein"}]
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    deduplicate([str(source)], tmp_path / "b.jsonl")
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()] == [rows[0], rows[2]]


def test_back_translations_in_rows_stay_or_go_together(tmp_path: Path) -> None:
    test = write_rows(tmp_path / "test.csv", [row("t", LONG, source="1")])
    train = write_rows(
        tmp_path / "train.csv",
        [
            row("a", OTHER, source="1"),  # its back-translation is in the test set, so both go
            row("b", WORDS[0] * 9, source="2"),
            row("b-de", WORDS[0] * 10, source="2"),  # like its own original, so both stay
            row("a-de", NEAR, source="1"),
            row("c", WORDS[0] * 9, source=""),  # of no group, and a copy of b
        ],
    )
    deduplicate([test, train], tmp_path / "out", group="source")
    assert read_ids(tmp_path / "out" / "train.csv") == ["b", "b-de"]
    assert read_ids(tmp_path / "out" / "test.csv") == ["t"]


def test_the_command(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "a.csv", [row("a", LONG), row("b", NEAR), row("c", OTHER)])
    answer = json.loads(stdout_of("corpus", "dedupe", source, "-o", str(tmp_path / "b.jsonl"), "--json"))
    assert answer["files"][source]["kept"] == 2
    assert read_ids(tmp_path / "b.jsonl") == ["a", "c"]
    shown = stdout_of("corpus", "dedupe", source, "-o", str(tmp_path / "c.csv"), "--threshold", "1")
    assert shown.split("\n")[2].split() == ["a.csv", "3", "3", "0", "0", "0", "0"]


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "a.csv", [row("a", LONG)])
    (tmp_path / "more").mkdir()
    twin = write_rows(tmp_path / "more" / "a.csv", [row("a", LONG)])
    for arguments, expected in (
        (["-", "-o", "x.csv"], "which a pipe does not allow"),
        ([source, twin, "-o", "x"], "two of the files have the same name"),
        ([source, "-o", source], "is the input itself"),
        ([source, "-o", str(tmp_path / "b.csv"), "--group", "nothing"], "row 2: has no column 'nothing'"),
    ):
        with pytest.raises(EmoscopeError, match=expected):
            stdout_of("corpus", "dedupe", *arguments)


def test_a_bad_file_leaves_nothing(tmp_path: Path) -> None:
    good = write_rows(tmp_path / "a.csv", [row("a", LONG)])
    bad = tmp_path / "b.csv"
    bad.write_text("turn1\nx\ny,z\n")
    with pytest.raises(InputError, match="row 3"):
        deduplicate([good, str(bad)], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


@pytest.mark.e2e
def test_a_killed_run_leaves_no_half_files(tmp_path: Path) -> None:
    """Killed while it writes: neither file is there, and a second run writes both as if nothing had been."""
    generator = random.Random(3)
    rows = [row(str(place), f"{generator.getrandbits(400):x}") for place in range(20_000)]
    sources = [write_rows(tmp_path / f"{name}.jsonl", rows[part::2]) for part, name in enumerate(("a", "b"))]
    target = tmp_path / "out"
    kill_once_writing(tmp_path, ".out.*.part/*", "corpus", "dedupe", *sources, "-o", target)
    assert not target.exists()
    deduplicate(sources, target)
    deduplicate(sources, tmp_path / "again")
    for name in ("a.jsonl", "b.jsonl"):
        assert (target / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_many_dialogues_with_the_same_beginning_are_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with one beginning share most of their buckets: nearly every pair is a candidate, few are compared."""
    compared = 0

    def counting(one: frozenset[str], other: frozenset[str]) -> float:
        nonlocal compared
        compared += 1
        return jaccard(one, other)

    monkeypatch.setattr("emoscope.corpus.dedupe.duplicates.jaccard", counting)
    generator = random.Random(4)
    texts = [LONG + " " + " ".join(generator.choices(WORDS, k=10)) for _ in range(1200)]
    found = find_duplicates([*texts, *texts[:100]])
    assert {1200 + place for place in range(100)} <= {copy.item for copy in found}
    assert compared <= 32 * 1300 < 1200 * 1199 / 2 / 10


def test_many_batches_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [LONG, OTHER, NEAR, OTHER + "!"]
    together = find_duplicates(texts)
    monkeypatch.setattr("emoscope.corpus.dedupe.duplicates._BATCH", 1)
    assert find_duplicates(texts) == together
    assert list(DuplicateFinder().duplicates()) == []
