"""Mining candidates: similarity, pruning, choice, and the files it leaves."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.mining.mine import (
    CANDIDATES,
    COUNTS,
    NONE,
    MiningSettings,
    best_rows,
    mine,
    nearest_classes,
    read_seeds,
    sample_rows,
)
from emoscope.corpus.mining.ngrams import NgramEmbedder
from emoscope.corpus.mining.pruning import Pruner, PruneReason
from emoscope.corpus.mining.similarity import SeedVectors, nearest
from emoscope.corpus.mining.valence import valences_of_faces
from emoscope.corpus.mining.vectors import VectorFolder, as_bytes
from kits.corpus_command import kill_once_writing, run
from kits.jsonl import read_jsonl, write_jsonl

pytest.importorskip("vaderSentiment")
if find_spec("usearch") is None:  # importing it here would be too early: see `load_usearch`
    pytest.skip("needs usearch", allow_module_level=True)

SAD = ["I miss my old dog so much", "I cried all night again", "my heart is broken and I feel alone"]
HAPPY = ["I got the job, so happy", "best day of my life", "we won the game, I am so glad"]
PLAIN = ["what time is the bus", "send me the link please", "I had rice for lunch", "which song is that"]


class Counting:
    """An embedder that says how much it was asked for."""

    def __init__(self) -> None:
        self._ngrams = NgramEmbedder()
        self.name = "counting"
        self.asked = 0

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[Any]:
        self.asked += len(dialogues)
        return self._ngrams.vectors(dialogues)


def chats(texts: Sequence[str]) -> list[Dialogue]:
    return [Dialogue.of(["hi", "hello", text]) for text in texts]


def seeds() -> dict[str, list[Dialogue]]:
    return {"sad": chats(SAD), "happy": chats(HAPPY)}


def write_pool(path: Path, texts: Sequence[str]) -> str:
    rows = ({"id": f"d{row}", "turns": ["hi", "hello", text]} for row, text in enumerate(texts))
    return str(write_jsonl(path, rows))


def write_seeds(path: Path) -> Path:
    rows = [("sad", text) for text in SAD] + [("happy", text) for text in HAPPY]
    path.write_text("turn1,turn2,turn3,label\n" + "".join(f'hi,hello,"{text}",{label}\n' for label, text in rows))
    return path


def mined(folder: Path) -> dict[str, str]:
    return {row["id"]: row["mined_as"] for row in read_jsonl(folder / CANDIDATES)}


# Vectors


@settings(deadline=None)
@given(table=arrays(np.float32, (4, 8), elements=st.floats(-10, 10, width=32)))
def test_bytes_keep_directions(table: NDArray[np.float32]) -> None:
    small = as_bytes(table).astype(np.float64)
    for row, whole in zip(small, table.astype(np.float64), strict=True):
        if np.linalg.norm(whole) > 1e-3:
            cosine = row @ whole / np.linalg.norm(row) / np.linalg.norm(whole)
            assert cosine > 0.999


@settings(deadline=None)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_ngrams_of_a_dialogue_do_not_depend_on_its_batch(texts: list[str]) -> None:
    dialogues = chats(texts)
    together = NgramEmbedder().vectors(dialogues)
    alone = np.concatenate([NgramEmbedder().vectors([dialogue]) for dialogue in dialogues])
    assert (together == alone).all()


def test_shared_ngrams_make_texts_alike() -> None:
    same, other, far = as_bytes(NgramEmbedder().vectors(chats(["I miss my dog", "I miss my old dog", "rice please"])))
    (near,) = nearest(same[None], other[None], 1)[0]
    (not_near,) = nearest(same[None], far[None], 1)[0]
    assert near > 0.6 > 0.3 > not_near


def test_vectors_are_made_once_and_only_where_texts_are_new(tmp_path: Path) -> None:
    embedder = Counting()
    folder = VectorFolder(tmp_path, embedder)
    dialogues = chats([f"text number {row}" for row in range(10)])
    assert folder.fill(dialogues, shard=4) == 10
    assert embedder.asked == 10
    assert [len(shard) for shard in folder.shards()] == [4, 4, 2]
    first = [np.array(shard) for shard in folder.shards()]
    assert folder.fill([*dialogues, *chats(["a new one"])], shard=4) == 11
    assert embedder.asked == 13, "the last file of three is made again, the others are not"
    assert all((one == two).all() for one, two in zip(first[:2], folder.shards(), strict=False))
    assert len(list(tmp_path.iterdir())) == 3, "a file of no use is gone"


def test_vectors_of_another_embedder_are_not_used(tmp_path: Path) -> None:
    one, other = Counting(), Counting()
    other.name = "another"
    VectorFolder(tmp_path, one).fill(chats(SAD))
    VectorFolder(tmp_path, other).fill(chats(SAD))
    assert other.asked == len(SAD)


@pytest.mark.parametrize("wrong", [np.zeros((1, 4)), np.full((3, 4), np.nan)])
def test_an_embedder_that_answers_nonsense(tmp_path: Path, wrong: NDArray[Any]) -> None:
    class Wrong(Counting):
        def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[Any]:
            return wrong

    with pytest.raises(EmoscopeError, match="expected 3 finite vectors"):
        VectorFolder(tmp_path, Wrong()).fill(chats(SAD))


# Similarity


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), count=st.integers(1, 12))
def test_nearest_by_hand(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    known, asked = (as_bytes(rng.normal(size=(size, 64)).astype(np.float32)) for size in (8, 5))
    units = [
        table / np.linalg.norm(table, axis=1, keepdims=True) for table in (known.astype(float), asked.astype(float))
    ]
    expected = -np.sort(-(units[1] @ units[0].T), axis=1)[:, :count]
    assert nearest(known, asked, count) == pytest.approx(expected, abs=1e-3)


def test_models_can_be_loaded_after_vectors_were_compared() -> None:
    """onnxruntime crashes when usearch was loaded before it."""
    code = (
        "import numpy as np; from emoscope.corpus.mining.similarity import nearest; "
        "nearest(np.ones((2, 4), np.int8), np.ones((1, 4), np.int8), 1); import onnxruntime"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_a_vector_without_direction_is_near_to_none() -> None:
    assert nearest(np.ones((2, 4), np.int8), np.zeros((1, 4), np.int8), 2).tolist() == [[0, 0]]


def test_counterexamples_count_against() -> None:
    right, up = np.array([[9, 0]] * 2, np.int8), np.array([[0, 9]] * 2, np.int8)
    plain, contrasted = SeedVectors({"sad": right}), SeedVectors({"sad": right}, others=up)
    between = np.array([[5, 5]], np.int8)
    assert plain.scores(between)[0, 0] == pytest.approx(0.707, abs=0.01)
    assert contrasted.scores(between)[0, 0] == pytest.approx(0, abs=0.01)
    assert contrasted.threshold("sad", 0.5) == pytest.approx(1, abs=0.01)


def test_threshold_is_a_quantile_of_the_class() -> None:
    rng = np.random.default_rng(1)
    table = as_bytes((rng.normal(size=(2000, 32)) + 1).astype(np.float32))
    known = SeedVectors({"sad": table[:300]})
    for recall in (0.2, 0.5, 0.8):
        reached = (known.scores(table[300:])[:, 0] >= known.threshold("sad", recall)).mean()
        assert reached == pytest.approx(recall, abs=0.08)


def test_one_seed_is_not_a_class() -> None:
    with pytest.raises(EmoscopeError, match="class sad: expected at least 2 seeds, found 1"):
        SeedVectors({"sad": np.ones((1, 4), np.int8)})


# Choice


def test_each_dialogue_has_the_class_it_is_nearest_to_and_its_threshold() -> None:
    scores = np.array([[0.9, 0.8], [0.4, 0.5], [0.5, 0.4]], np.float32)
    assert nearest_classes(scores, [0.6, 0.45])[0].tolist() == [0, 1, NONE]


def test_the_best_first_and_then_the_first_of_the_pool() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.7], np.float32)
    assert best_rows(np.arange(4), scores, 3).tolist() == [1, 3, 0]


@given(size=st.integers(0, 30), count=st.integers(0, 40), seed=st.integers(0, 5))
def test_drawn_rows_are_different_and_the_same_again(size: int, count: int, seed: int) -> None:
    chosen = sample_rows(np.arange(size), count, seed=seed).tolist()
    assert len(set(chosen)) == len(chosen) == min(size, count)
    assert chosen == sample_rows(np.arange(size), count, seed=seed).tolist()


# Pruning


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("happy", "we won today :'(", PruneReason.EMOTICON),
        ("happy", "we won today 😡", PruneReason.EMOTICON),
        ("happy", "we won today 😭😂", None),
        ("happy", "we won today :)", None),
        ("happy", "I hate this awful, horrible day", PruneReason.SENTIMENT),
        ("happy", "it is not bad", None),
        ("sad", "she left today :D", PruneReason.EMOTICON),
        ("angry", "you are the best, I love you so much", PruneReason.SENTIMENT),
        ("angry", "stop it 💔", None),
        ("sad", "one two three four five six seven eight nine", PruneReason.LENGTH),
        ("surprise", "I hate this awful, horrible day :'(", None),
    ],
)
def test_reasons_to_prune_a_candidate(name: str, text: str, reason: PruneReason | None) -> None:
    pruner = Pruner(dict.fromkeys(("happy", "sad", "angry", "surprise"), 8))
    assert pruner.reason(name, Dialogue.of(["I hate you :(", text])) is reason


def test_kinds_of_faces() -> None:
    assert valences_of_faces("😂 <3 :P 👍🏽 ^_^ 😍") == {1}
    assert valences_of_faces("</3 >:( T_T 👎 😠 :((") == {-1}
    assert valences_of_faces("hm 😐 🤔 🚌 at 8:0") == set()


# The whole


def test_candidates_and_others(tmp_path: Path) -> None:
    texts = ["I miss my old dog", "we won the game, so glad :)", *PLAIN, SAD[0], "I miss my old dog so much :D"]
    pool = write_pool(tmp_path / "pool.jsonl", texts)
    counts = mine(
        pool, seeds(), tmp_path / "out", NgramEmbedder(), MiningSettings(threshold=0.4, neighbours=1, others=2)
    )
    found = mined(tmp_path / "out")
    assert found["d0"] == "sad"
    assert found["d1"] == "happy"
    assert "d6" not in found, "a seed has been judged already"
    assert found.get("d7") != "sad", "it laughs"
    assert sorted(found.values()) == ["happy", "others", "others", "sad"]
    assert counts.seeds_in_pool == 1
    dropped = {reason: count for reason, count in counts.classes["sad"].dropped.items() if count}
    assert dropped == {PruneReason.SEED: 1, PruneReason.EMOTICON: 1}
    assert (counts.classes["sad"].near, counts.classes["sad"].candidates) == (3, 1)
    written = json.loads((tmp_path / "out" / COUNTS).read_text())
    assert written["classes"]["sad"]["dropped"]["opposite emoticon"] == 1
    assert written["encoder"] == NgramEmbedder.name


def test_a_threshold_is_a_plain_cosine_whatever_the_counterexamples(tmp_path: Path) -> None:
    texts = ["I miss my old dog so much today", *PLAIN]
    pool = write_pool(tmp_path / "pool.jsonl", texts)
    known = {"sad": chats(SAD), "happy": chats(HAPPY), "others": chats([*PLAIN, "I miss the old bus"])}
    embedder = NgramEmbedder()
    vectors = {name: as_bytes(embedder.vectors(dialogues)) for name, dialogues in known.items()}
    near = SeedVectors({name: vectors[name] for name in ("happy", "sad")}, vectors["others"])
    pool_vectors = as_bytes(embedder.vectors(chats(texts)))
    best = near.cosines(pool_vectors).max(axis=1)
    assert best[0] > 0.6 > 0.55 > best[1:].max(), "0.6 separates the sad one from the others"
    assert near.scores(pool_vectors).max() < 0.5, "less the cosine to `others`, none would reach it"
    counts = mine(pool, known, tmp_path / "out", embedder, MiningSettings(threshold=0.6, others=0, prune=False))
    assert mined(tmp_path / "out") == {"d0": "sad"}
    assert (counts.classes["sad"].near, counts.classes["happy"].near) == (1, 0)
    at_recall = list(counts.classes["sad"].threshold_at_recall.values())
    assert at_recall == sorted(at_recall, reverse=True)
    assert at_recall[-1] == pytest.approx(near.cosine_threshold("sad", 0.9), abs=1e-6), "cosines, to plan the next run"
    counts = mine(pool, known, tmp_path / "out", embedder, MiningSettings(threshold=0.99, others=0))
    assert (counts.classes["sad"].near, mined(tmp_path / "out")) == (0, {})


def test_columns_of_the_pool_pass_and_a_row_without_id_gets_its_number(tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text("source,turn1\nphone,I miss my old dog\n")
    mine(str(pool), seeds(), tmp_path / "out", NgramEmbedder(), MiningSettings(threshold=0.1, neighbours=1))
    (row,) = read_jsonl(tmp_path / "out" / CANDIDATES)
    score = row.pop("mined_score")
    assert row == {"id": "2", "source": "phone", "turn1": "I miss my old dog", "mined_as": "sad"}
    assert 0.1 < score <= 1


def test_only_the_best_of_a_class(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", ["my dog", "I miss my old dog so much!", "I miss a dog"])
    plan = MiningSettings(threshold=0.0, neighbours=1, per_class=1, others=0)
    counts = mine(pool, {"sad": chats(SAD)}, tmp_path / "out", NgramEmbedder(), plan)
    assert mined(tmp_path / "out") == {"d1": "sad"}
    assert counts.classes["sad"].dropped[PruneReason.SURPLUS] == 2


def test_another_threshold_needs_no_embedding_and_the_same_gives_the_same(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", [*PLAIN, *(f"{text} today" for text in [*SAD, *HAPPY])])
    embedder = Counting()
    mine(pool, seeds(), tmp_path / "out", embedder, MiningSettings(threshold=0.5, neighbours=1))
    first = {name: (tmp_path / "out" / name).read_bytes() for name in (CANDIDATES, COUNTS)}
    asked = embedder.asked
    mine(pool, seeds(), tmp_path / "out", embedder, MiningSettings(threshold=0.9, neighbours=1))
    assert embedder.asked == asked + len(SAD) + len(HAPPY), "the seeds alone"
    assert (tmp_path / "out" / CANDIDATES).read_bytes() != first[CANDIDATES]
    mine(pool, seeds(), tmp_path / "again", embedder, MiningSettings(threshold=0.5, neighbours=1))
    assert {name: (tmp_path / "again" / name).read_bytes() for name in first} == first


def test_less_recall_asked_for_is_a_part_of_more(tmp_path: Path) -> None:
    """Nothing but the thresholds depends on it, which the benchmark relies on."""
    pool = write_pool(tmp_path / "pool.jsonl", [f"{a} {b}" for a in [*SAD, *HAPPY] for b in PLAIN])
    found = []
    for recall in (0.2, 0.6, 1.0):
        mine(pool, seeds(), tmp_path / "out", NgramEmbedder(), MiningSettings(recall=recall, neighbours=2, others=0))
        found.append(mined(tmp_path / "out").items())
    assert found[0] <= found[1] <= found[2]


@pytest.mark.e2e
def test_killed_run_resumes_with_the_same_result(tmp_path: Path) -> None:
    texts = [f"{(PLAIN[0], SAD[0], HAPPY[0])[row % 40 if row % 40 < 3 else 0]} {row}" for row in range(12_000)]
    pool = write_pool(tmp_path / "pool.jsonl", texts)
    given = write_seeds(tmp_path / "seeds.csv")
    output = tmp_path / "out"
    kill_once_writing(output, "vectors/*.npy", "corpus", "mine", pool, "--seeds", given, "-o", output)
    begun = {path.name: path.stat().st_mtime_ns for path in output.glob("vectors/*.npy")}
    assert not (output / COUNTS).exists()
    for folder in (output, tmp_path / "whole"):
        code, shown, problem = run("corpus", "mine", pool, "--seeds", given, "-o", folder)
        assert code == 0, problem
        assert "candidates" in shown
    for name in (CANDIDATES, COUNTS):
        assert (output / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert begun.items() <= {path.name: path.stat().st_mtime_ns for path in output.glob("vectors/*.npy")}.items()


def test_the_command(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", [*PLAIN, *(f"{text} today" for text in [*SAD, *HAPPY])])
    given = write_seeds(tmp_path / "seeds.csv")
    options = ("--threshold", "0.2", "--per-class", "2", "--others", "1", "--seed", "3")
    code, shown, _ = run("corpus", "mine", pool, "--seeds", given, "-o", tmp_path / "out", *options, "--json")
    assert code == 0
    answer = json.loads(shown)
    assert answer["read"] == 10
    assert answer["others"] == 1
    assert answer["classes"]["happy"]["threshold"] == 0.2
    assert sum(name == "others" for name in mined(tmp_path / "out").values()) == 1


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", PLAIN)
    given = write_seeds(tmp_path / "seeds.csv")
    unlabelled = tmp_path / "unlabelled.csv"
    unlabelled.write_text("turn1\nhi\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    for pool_given, seeds_given, output, encoder, expected in (
        ("-", given, "out", "ngrams", "which a pipe does not allow"),
        (pool, unlabelled, "out", "ngrams", "row 2: expected a seed's class in the column 'label'"),
        (pool, given, "full", "ngrams", "expected a new or an empty folder, or one of an earlier run"),
        (pool, given, "no/such", "ngrams", "no such folder to write such into"),
        (pool, given, "out", str(tmp_path), "is not a sentence encoder; `emoscope corpus encoder` makes one"),
    ):
        arguments = (pool_given, "--seeds", seeds_given, "-o", tmp_path / output, "--encoder", encoder)
        code, _, problem = run("corpus", "mine", *arguments)
        assert code == 2
        assert expected in problem


def test_seeds_of_others_alone_are_none(tmp_path: Path) -> None:
    path = tmp_path / "seeds.csv"
    path.write_text("turn1,label\nhi,others\n")
    with pytest.raises(InputError, match="holds no seeds of a class other than 'others'"):
        read_seeds(path)


def test_a_pool_that_shrinks_is_noticed(tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    write_pool(pool, PLAIN)

    class Shrinking(Counting):
        def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[Any]:
            if len(dialogues) == len(PLAIN):
                write_pool(pool, PLAIN[:2])
            return super().vectors(dialogues)

    with pytest.raises(EmoscopeError, match="has become shorter"):
        mine(str(pool), seeds(), tmp_path / "out", Shrinking())


@pytest.mark.data
def test_mining_saves_judgements_on_emocontext(data_folder: Path, tmp_path: Path) -> None:
    """A third of the measurement in the documentation, with n-grams: at least three times fewer at a third found."""
    from emoscope.tasks import get_task
    from emoscope.tasks.data import read_split

    examples = list(read_split(get_task("emocontext"), "train", data_folder))[::3]
    by_label = {
        label: [each.dialogue for each in examples if each.label == label]
        for label in ("happy", "sad", "angry", "others")
    }
    known = {label: found[:300] for label, found in by_label.items()}
    size = round(len(by_label["others"][300:]) * 0.04 / 0.88)
    rows = [
        (label, each)
        for label, found in by_label.items()
        for each in found[300 : None if label == "others" else 300 + size]
    ]
    pool = write_jsonl(tmp_path / "pool.jsonl", ({"id": label, "turns": each.texts} for label, each in rows))
    mine(str(pool), known, tmp_path / "out", NgramEmbedder(), MiningSettings(recall=0.33, others=0))
    judged = [row["id"] for row in read_jsonl(tmp_path / "out" / CANDIDATES)]
    emotional = sum(label != "others" for label in judged)
    assert emotional / len(judged) > 3 * 0.12
    assert emotional / (3 * size) > 0.2
