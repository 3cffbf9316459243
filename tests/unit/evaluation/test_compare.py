"""`compare`: order, p-values, column B, clusters."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import encode
from emoscope.evaluation.compare import compare, significance_clusters, system_names
from emoscope.evaluation.score import evaluate
from emoscope.tasks import get_task
from kits.paired_bootstrap import paired_bootstrap
from kits.task_files import emocontext_file, emotionx_file, iest_file, labels_file, run

LABELS = ["anger", "disgust", "fear", "joy", "sad", "surprise"]


def systems(folder: Path, rights: dict[str, float], items: int = 600) -> tuple[Path, list[Path]]:
    """Gold and systems that are right this often, wrong by naming the next label."""
    rng = np.random.default_rng(0)
    gold = [LABELS[index] for index in rng.integers(6, size=items)]
    files = []
    for name, right in rights.items():
        hits = rng.random(items) < right
        said = [label if hit else LABELS[(LABELS.index(label) + 1) % 6] for label, hit in zip(gold, hits, strict=True)]
        files.append(labels_file(folder / f"{name}.txt", said))
    return iest_file(folder / "gold.csv", [(label, "that") for label in gold]), files


def test_rows_are_sorted_with_b_and_clusters(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"weak": 0.3, "good": 0.9, "twin": 0.9, "fair": 0.6})
    found = compare(get_task("iest"), gold, files, samples=2_000)
    assert {row.name for row in found.rows[:2]} == {"good", "twin"}
    assert [row.name for row in found.rows[2:]] == ["fair", "weak"]
    assert [row.first_different for row in found.rows] == [3, 3, 4, None]
    assert [row.cluster for row in found.rows] == [1, 1, 2, 3]
    assert found.rows[-1].to_next is None
    scores = [row.scores.score for row in found.rows]
    assert scores == sorted(scores, reverse=True)
    assert found.clusters == ((found.rows[0].name, found.rows[1].name), ("fair",), ("weak",))


def test_p_values_are_those_of_the_pair(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"a": 0.75, "b": 0.70, "c": 0.69}, items=900)
    task = get_task("iest")
    found = compare(task, gold, files, samples=5_000)
    labels = [example.label or "" for example in task.read(gold)]
    codes = [encode(task.read_predictions(row.path), task.labels) for row in found.rows]
    right = encode(labels, task.labels)
    for row, (upper, lower) in zip(found.rows, pairwise(codes), strict=False):
        alone = paired_bootstrap(
            right, upper, lower, classes=6, metric=lambda m: task.metric(m, task.labels), samples=5_000, seed=9
        )
        assert row.to_next is not None
        assert row.to_next.difference == pytest.approx(alone.observed)
        assert row.to_next.p_bootstrap == pytest.approx(alone.p_value, abs=0.03)
        gain = (upper == right).astype(int) - (lower == right)
        expected = stats.wilcoxon(gain, method="asymptotic").pvalue
        assert row.to_next.p_wilcoxon == pytest.approx(expected)
    assert (found.p_values == found.p_values.T).all()
    assert (np.diagonal(found.p_values) == 1).all()


def test_ties_keep_the_order_the_files_were_named_in(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"z": 1.0, "a": 1.0, "m": 1.0}, items=30)
    found = compare(get_task("iest"), gold, files, samples=200)
    assert [row.name for row in found.rows] == ["z", "a", "m"]
    assert [row.cluster for row in found.rows] == [1, 1, 1]
    assert all(row.to_next.p_bootstrap == row.to_next.p_wilcoxon == 1 for row in found.rows[:2] if row.to_next)


def test_a_lower_level_finds_more(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"a": 0.74, "b": 0.68}, items=500)
    task = get_task("iest")
    strict, lax = (compare(task, gold, files, level=level, samples=2_000) for level in (0.999, 0.8))
    assert strict.rows[0].first_different is None
    assert lax.rows[0].first_different == 2
    assert [row.cluster for row in strict.rows] == [1, 1]
    assert [row.cluster for row in lax.rows] == [1, 2]


def test_one_system_may_be_alone(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"only": 0.5}, items=40)
    (row,) = compare(get_task("iest"), gold, files, samples=200).rows
    assert (row.number, row.cluster, row.first_different, row.to_next) == (1, 1, None, None)


def test_unscored_items_and_foreign_labels_are_noted(tmp_path: Path) -> None:
    gold = emotionx_file(tmp_path / "gold.json", ["joy", "surprise", "neutral"])
    one = emotionx_file(tmp_path / "one.json", ["joy", "joy", "anger"], submitted=True)
    two = emotionx_file(tmp_path / "two.json", ["joy", "joy", "neutral"], submitted=True)
    found = compare(get_task("emotionx-push"), gold, [one, two], samples=200)
    assert [(row.name, row.scores.score) for row in found.rows] == [("two", 1.0), ("one", 0.5)]
    assert list(found.notes) == [
        "gold items left out, as the task does not score their label: surprise (1)",
    ]


@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_line_is_drawn_only_between_separable_clusters(size: int, random: Random) -> None:
    rng = np.random.default_rng(random.randrange(1 << 30))
    half = np.triu(rng.random((size, size)) < 0.8, 1)
    differs = half | half.T
    clusters = significance_clusters(differs)
    assert clusters[0] == 1
    for row in range(1, size):
        parted = all(differs[above, below] for above in range(row) for below in range(row, size))
        assert clusters[row] - clusters[row - 1] == parted


def test_the_command_prints_the_table(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"a": 0.9, "b": 0.5, "c": 0.5}, items=300)
    result = run("compare", *files, "-t", "iest", "-g", gold, "--samples", "500")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "iest, differences at 0.99"
    first = next(number for number, line in enumerate(lines) if line.startswith("1 "))
    assert set(lines[first + 1]) == {"─"}
    assert "─" not in lines[first + 3]
    assert "ties in the order the files were named" in " ".join(result.stdout.split())


def test_the_command_as_json(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"a": 0.9, "b": 0.5}, items=200)
    arguments = ["compare", *files, "-t", "iest", "-g", gold, "--samples", "300", "--level", "0.95", "--json"]
    found = json.loads(run(*arguments).stdout)
    assert found["level"] == 0.95
    assert [row["name"] for row in found["rows"]] == ["a", "b"]
    assert found["rows"][0]["first_different"] == 2
    assert {"difference", "interval", "p_bootstrap", "p_wilcoxon"} == set(found["rows"][0]["to_next"])
    assert found["rows"][0]["to_next"]["p_bootstrap"] == pytest.approx(1 / 301)
    assert "ties in the order the files were named" in found["how"]
    assert json.loads(run(*arguments).stdout) == found


def test_names_are_shortened_while_they_differ() -> None:
    assert system_names(["x/a.txt", "y/a.json"]) == ["a.txt", "a.json"]
    with pytest.raises(EmoscopeError, match=r"a\.txt is named twice"):
        system_names(["a.txt", "a.txt"])
    with pytest.raises(EmoscopeError, match="at least one"):
        system_names([])
    with pytest.raises(EmoscopeError, match=r"a\.txt: expected a list of prediction files, not one"):
        system_names("a.txt")


def test_too_few_samples_for_the_level_are_reported(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad"])
    for level, problem in ((0.99, "50 samples cannot show a difference at 0.99"), (99, "between 0 and 1, not 99")):
        result = run("compare", gold, "-t", "emocontext", "-g", gold, "--samples", "50", "--level", str(level))
        assert problem in str(result.exception)


def test_evaluate_and_compare_give_the_same_interval(tmp_path: Path) -> None:
    gold, files = systems(tmp_path, {"a": 0.75, "b": 0.70})
    files.append(labels_file(tmp_path / "odd.txt", ["outside", *(["joy"] * 599)]))  # adds a label to the table of all
    task = get_task("iest")
    for row in compare(task, gold, files, samples=500, seed=3).rows:
        assert row.interval == evaluate(task, gold, row.path, samples=500, seed=3).interval
