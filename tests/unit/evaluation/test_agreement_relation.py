"""Whether a system errs where people disagree, and scores over a task's own labels alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.errors import InputError
from emoscope.evaluation.agreement import by_agreement, spearman
from emoscope.evaluation.score import evaluate, read_gold
from emoscope.tasks import get_task
from kits.task_files import iest_file, labels_file, run

SIX = ["anger", "disgust", "fear", "joy", "sad", "surprise"]


def voted_file(path: Path) -> Path:
    """Four dialogues of two turns, from full agreement to three of five votes."""
    rows = [("5000000", "0500000"), ("4100000", "0500000"), ("4100000", "1400000"), ("3200000", "2300000")]
    path.write_text(
        json.dumps(
            [
                [
                    {"speaker": "A", "utterance": f"{number} {label}", "emotion": label, "annotation": votes}
                    for label, votes in zip(("neutral", "joy"), pair, strict=True)
                ]
                for number, pair in enumerate(rows)
            ]
        )
    )
    return path


def test_ties_share_their_rank() -> None:
    assert spearman(np.array([1.0, 1, 2]), np.array([5.0, 5, 9])) == pytest.approx(1)
    assert spearman(np.array([1.0, 1, 1]), np.array([5.0, 6, 9])) == 0


def test_a_system_that_errs_where_people_disagree(tmp_path: Path) -> None:
    task, gold = get_task("emotionx-friends"), read_gold(get_task("emotionx-friends"), voted_file(tmp_path / "g.json"))
    said = ["neutral", "joy", "neutral", "joy", "neutral", "neutral", "joy", "neutral"]
    found = by_agreement(task, gold, said, samples=200)
    # Agreement: (5*4)/20 = 1; (4*3)/20 = 0.6 and 1, mean 0.8; 0.6; (3*2 + 2*1)/20 = 0.4. Right: 1, 1, 1/2, 0.
    assert [group.low for group in found.groups] == pytest.approx([0.4, 0.6, 0.8, 1])
    assert [group.scores.score for group in found.groups] == pytest.approx([0, 0.5, 1, 1])
    # Ranks 1 2 3 4 and 1 2 3.5 3.5: 4.5 / sqrt(5 * 4.5).
    assert found.correlation == pytest.approx(4.5 / np.sqrt(5 * 4.5))
    assert found.labels["neutral"].share == 0.5
    assert found.labels["anger"].kappa is None
    assert found.interval.low <= found.correlation <= found.interval.high


def test_without_votes_there_is_no_agreement(tmp_path: Path) -> None:
    gold = read_gold(get_task("iest"), iest_file(tmp_path / "g.csv", [(label, "that") for label in SIX]))
    with pytest.raises(InputError, match="has no votes"):
        by_agreement(get_task("iest"), gold, SIX)


def test_command_shows_it_next_to_slices(tmp_path: Path) -> None:
    gold, said = voted_file(tmp_path / "g.json"), labels_file(tmp_path / "said.txt", ["neutral", "joy"] * 4)
    options = ["evaluate", said, "--task", "emotionx-friends", "--gold", gold, "--samples", "50"]
    options += ["--by", "agreement", "--by", "length"]
    shown = run(*options)
    assert shown.exit_code == 0, shown.output
    assert "over 4 dialogues" in shown.output
    assert "0.40 to 0.40" in shown.output
    assert "By length" in shown.output
    found = json.loads(run(*options, "--json").output)
    assert found["by"]["agreement"]["dialogues"] == 4
    assert found["by"]["length"]["groups"]["1-2 words"]["said"]["items"] == 8
    assert "by" not in json.loads(run(*options[:-4], "--json").output)
    assert str(run(*options, "--by", "agrement").exception) == "no slice named 'agrement'; did you mean 'agreement'?"


def test_a_foreign_label_counts_as_an_error_but_not_as_a_label(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX])
    said = labels_file(tmp_path / "said.txt", [*SIX[:5], "love"])
    task = get_task("iest")
    assert evaluate(task, gold, said, samples=50).score == pytest.approx(5 / 7)
    found = evaluate(task, gold, said, samples=50, own_labels=True)
    assert found.score == pytest.approx(5 / 6)
    assert found.rank is not None
    assert (found.rank.rank, found.rank.official) == (1, False)
    assert found.outside == {"love": 1}
    shown = run("evaluate", said, "--task", "iest", "--gold", gold, "--own-labels", "--samples", "50").output
    assert "macro-F1 over the task's 6 labels only" in shown
    assert "unofficially, 0.8333 would rank 1st of 31" in shown
    assert "an unofficial rank: published scores count labels outside the task's too" in " ".join(shown.split())


def test_without_foreign_labels_the_official_score_and_rank_stand(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX])
    said = labels_file(tmp_path / "said.txt", [*SIX[:5], "anger"])
    task = get_task("iest")
    official, own = (evaluate(task, gold, said, samples=50, own_labels=value) for value in (False, True))
    assert own.score == official.score
    assert own.rank == official.rank
    assert own.rank is not None
    assert own.rank.official
