"""A score's place among the published results."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.core.jsonable import jsonable
from emoscope.evaluation.ranking import NamedScore, place, unofficial
from emoscope.tasks.published import Published, published

task_names = st.sampled_from(["emocontext", "emotionx-friends", "emotionx-push", "iest"])
scores = st.floats(0, 1)


@pytest.mark.parametrize(
    ("task", "score", "sentence"),
    [
        ("emocontext", 0.7712, "0.7712 would rank 5th of 16, between SymantoResearch and ANA"),
        ("emocontext", 0.8100, "0.8100 would rank 1st of 16, ahead of Leo1020"),
        ("emocontext", 0.5000, "0.5000 would rank below all 16, under Baseline"),
        ("emocontext", 0.7709, "0.7709 would rank 5th of 16, level with ANA"),
        ("emocontext", 0.79594, "0.7959 would rank 1st of 16, level with Leo1020"),
        ("emocontext", 0.79596, "0.7960 would rank 1st of 16, ahead of Leo1020"),
        ("emocontext", 0.7950, "0.7950 would rank 2nd of 16, between Leo1020 and Mfzszgs"),
        ("emocontext", 0.7800, "0.7800 would rank 3rd of 16, between Mfzszgs and NELEC"),
        ("emocontext", 0.7582, "0.7582 would rank 11th of 16, level with LIRMM-Advanse"),
        ("iest", 0.7145, "0.7145 would rank 1st of 31, level with Amobee"),
        ("iest", 0.6000, "0.6000 would rank 20th of 31, between RW and Baseline"),
        ("iest", 0.5900, "0.5900 would rank 21st of 31, between Baseline and USI-IR"),
        ("iest", 0.0, "0.0000 would rank below all 31, under NLP LDW"),
        (
            "emotionx-friends",
            0.8,
            "0.8000 would rank between 2nd and 11th of 11: under IDEA (0.815), above HSU (0.791), 9 scores unknown",
        ),
        (
            "emotionx-push",
            0.862,
            "0.8620 would rank between 2nd and 11th of 11: "
            "under IDEA (0.885), level with HSU (0.862), 9 scores unknown",
        ),
        ("emotionx-friends", 0.7, "0.7000 would rank 3rd of 11 or lower: under HSU (0.791), 9 scores unknown"),
        ("emotionx-friends", 0.83, "0.8300 would rank 1st of 11, ahead of IDEA"),
        # Published to three decimals, and 0.8146 is 0.815 there.
        ("emotionx-friends", 0.8146, "0.8146 would rank 1st of 11, level with IDEA"),
    ],
)
def test_the_sentence(task: str, score: float, sentence: str) -> None:
    assert place(score, published(task)).sentence == sentence


def test_several_systems_may_share_a_score() -> None:
    data = published("emocontext").model_dump()
    data["entries"][1]["score"] = data["entries"][0]["score"]
    tied = Published.model_validate(data)
    level = place(0.7959, tied)
    assert level.sentence == "0.7959 would rank 1st of 16, level with Leo1020 and Mfzszgs"
    assert place(0.7900, tied).rank == 3  # the two better ones share rank 1, and rank 2 is not given


def test_one_unknown_score_is_singular() -> None:
    data = published("emotionx-friends").model_dump()
    data["entries"], data["size"] = data["entries"][:2], 3
    assert place(0.8, Published.model_validate(data)).sentence == (
        "0.8000 would rank between 2nd and 3rd of 3: under IDEA (0.815), above HSU (0.791), 1 score unknown"
    )


def test_json_of_a_certain_and_an_uncertain_rank() -> None:
    certain = jsonable(place(0.7712, published("emocontext"), split="test", revision="labelled-test"))
    assert json.loads(json.dumps(certain)) == {
        "task": "emocontext",
        "score": 0.7712,
        "rank": 5,
        "rank_range": [5, 5],
        "of": 16,
        "above": {"name": "SymantoResearch", "score": 0.7731},
        "level": [],
        "below": {"name": "ANA", "score": 0.7709},
        "sentence": "0.7712 would rank 5th of 16, between SymantoResearch and ANA",
        "published_split": "Test2",
        "caveat": None,
        "official": True,
    }
    uncertain = jsonable(place(0.7, published("emotionx-push")))
    assert (uncertain["rank"], uncertain["rank_range"], uncertain["of"]) == (None, [3, 12], 11)
    assert (uncertain["above"], uncertain["below"]) == ({"name": "HSU", "score": 0.862}, None)
    assert place(0.7959, published("emocontext")).level == (NamedScore("Leo1020", 0.7959),)


def test_the_caveat_names_the_data_the_figures_are_for() -> None:
    emocontext, iest = published("emocontext"), published("iest")
    assert place(0.78, emocontext, split="dev").caveat == (
        "not comparable: published figures are on Test2, this score is on split 'dev'"
    )
    resplit = place(0.68, iest, split="test", revision="resplit").caveat
    assert resplit == (
        "not comparable: published figures are on the official test set (28,757 tweets), "
        "this score is on split 'test' of revision 'resplit' "
        "(compare it only as a ratio to the MaxEnt baseline trained and scored on the same data)"
    )
    assert place(0.68, iest, split="test", revision="official").caveat is None
    # Not told which data: the reader is told what the figures are for.
    for split in (None, "test"):
        assert place(0.78, emocontext, split=split).caveat == (
            "published figures are on Test2; a score on other data is not comparable"
        )


@pytest.mark.parametrize(
    ("score", "quarter"),
    [
        (0.74, "above the third quartile"),
        (0.72, "between the median and the third quartile"),
        (0.694, "between the median and the third quartile"),
        (0.65, "between the first quartile and the median"),
        (0.5, "below the first quartile"),
    ],
)
def test_score_below_the_listed_teams_gets_its_quarter(score: float, quarter: str) -> None:
    caveat = place(score, published("emocontext"), split="test", revision="labelled-test").caveat
    assert caveat == f"Table 5 lists only the best 15 teams; among all participants this is {quarter} (Table 6)"


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.1, 77.12])
def test_values_that_are_not_fractions_are_refused(score: float) -> None:
    with pytest.raises(EmoscopeError, match="between 0 and 1"):
        place(score, published("emocontext"))


@given(task_names, scores)
def test_ranks_are_in_range_and_neighbours_enclose_the_score(task: str, score: float) -> None:
    results = published(task)
    placement = place(score, results)
    best, worst = placement.rank_range
    assert 1 <= best <= worst <= results.size + 1
    assert placement.rank in (None, best)
    rounded = round(score, results.decimals)
    if placement.above is not None and placement.above.score is not None:
        assert placement.above.score > rounded
    if placement.below is not None and placement.below.score is not None:
        assert placement.below.score < rounded
    assert all(entry.score == rounded for entry in placement.level)
    # Every known score is above, level or below: the neighbours leave no gap.
    better = sum(entry.score > rounded for entry in results.scored if entry.score is not None)
    assert best == better + 1
    assert (placement.above is None) == (better == 0)


@given(task_names, scores, scores)
def test_a_better_score_never_ranks_worse(task: str, one: float, other: float) -> None:
    better, worse = (place(score, published(task)).rank_range for score in (max(one, other), min(one, other)))
    assert better[0] <= worse[0]
    assert better[1] <= worse[1]


@given(task_names, st.data())
def test_a_published_score_is_level_with_its_team(task: str, data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(published(task).scored))
    assert entry.score is not None
    assert NamedScore(entry.name, entry.score) in place(entry.score, published(task)).level


@pytest.mark.parametrize(("row", "rank"), [(22, 9), (28, 10)])
def test_by_their_own_labels_two_iest_teams_would_rank_as_the_paper_says(row: int, rank: int) -> None:
    results = published("iest")
    entry = next(entry for entry in results.entries if entry.id == row)
    by_six = sum(figures.f1 for figures in entry.per_class.values()) / len(entry.per_class)
    placed = unofficial(place(by_six, results, split="test", revision="official"), "over the six labels only")
    assert (placed.rank, placed.official) == (rank, False)
    assert placed.sentence.startswith("unofficially, ")
    assert placed.caveat == "an unofficial rank: over the six labels only"
