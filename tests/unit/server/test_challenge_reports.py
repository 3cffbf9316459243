"""The survey of systems, ranks that need a report, and what a board adds to its rows."""

import csv
import io
import json
from pathlib import Path

import pytest

from emoscope.core.errors import InputError
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.board.summary import class_winners, statistics
from emoscope.server.challenge.board.techniques import techniques, techniques_text
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC, Actor
from emoscope.server.challenge.services.challenges import close_phase
from emoscope.server.challenge.services.merges import answer_merge, offer_merge
from emoscope.server.challenge.services.reports import get_report, keep_report
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.views import Entry
from emoscope.server.errors import Invalid, NotAllowed, NotFound
from emoscope.server.store import Store
from kits.challenge_kit import Clock, answer, finish_jobs, made_challenge, phase, team
from kits.crowded_board import crowded_challenge

SURVEY = """report = "ranked"
[[survey]]
name = "encoders"
title = "Encoders"
options = ["GloVe", "BERT", "ELMo"]
[[survey]]
name = "tools"
title = "Tools"
options = ["Keras"]
"""


def scored(store: Store, clock: Clock, slug: str, **right: int) -> dict[str, Actor]:
    """Teams with these names and so many right answers, scored."""
    actors = {}
    for name, count in right.items():
        actors[name] = team(store, slug, name)[0]
        submit(store, actors[name], slug, "practice", answer(count), file_name="a.txt")
        clock.forward(minutes=1)
    finish_jobs(store, clock)
    return actors


def test_answers_become_tables_when_the_challenge_is_over(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head=SURVEY, phases=phase("practice"))
    teams = scored(store, clock, slug, First=8, Second=6, Silent=4)
    told = {"encoders": ["bert", " Our  own ", "BERT"], "tools": ["Keras"]}
    kept = keep_report(store, teams["Second"], slug, answers=told, paper="https://example.org/a", summary="It blends.")
    assert kept.answers["encoders"] == ("BERT", "Our own")
    keep_report(store, teams["First"], slug, answers={"encoders": ["BERT", "GloVe"]})
    with pytest.raises(NotAllowed, match="when the last phase has closed"):
        techniques(store, teams["First"], slug)
    assert len(techniques(store, OPERATOR, slug)) == 2
    close_phase(store, OPERATOR, slug, "practice")
    encoders, tools = techniques(store, PUBLIC, slug)
    assert (encoders.columns, encoders.counts) == (("BERT", "GloVe", "Our own", "ELMo"), (2, 1, 1, 0))
    assert [(row.rank, row.team, row.marks) for row in encoders.rows] == [
        (1, "First", (True, True, False, False)),
        (2, "Second", (True, False, True, False)),
    ]
    assert tools.rows[1].paper == "https://example.org/a"
    rows = list(csv.DictReader(io.StringIO(techniques_text([encoders, tools]))))
    assert (rows[1]["team"], rows[1]["encoders: Our own"], rows[1]["tools: Keras"]) == ("Second", "x", "x")


@pytest.mark.parametrize(
    ("told", "field", "why"),
    [
        ({"answers": {}}, "answers", "empty"),
        ({"answers": {"colour": ["red"]}}, "answers", "no question 'colour'"),
        ({"answers": {"encoders": ["x" * 61]}}, "encoders", "longer than 60"),
        ({"answers": {}, "paper": "javascript:alert(1)"}, "paper", "https://"),
        ({"answers": {}, "summary": "x" * 2001}, "summary", "at most 2,000"),
    ],
)
def test_a_mistake_in_a_report_names_its_field(
    store: Store, tmp_path: Path, told: dict[str, object], field: str, why: str
) -> None:
    slug = made_challenge(store, tmp_path, head=SURVEY, phases=phase("practice"))
    ana, _ = team(store, slug)
    with pytest.raises(Invalid, match=why) as refused:
        keep_report(store, ana, slug, **told)  # type: ignore[arg-type]
    assert refused.value.field == field
    assert get_report(store, ana, slug) is None


def test_without_a_survey_there_are_no_reports(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    with pytest.raises(NotFound):
        keep_report(store, team(store, slug)[0], slug, answers={}, summary="x")
    with pytest.raises(InputError, match="needs a survey"):
        made_challenge(store, tmp_path, slug="other", head='report = "ranked"')
    with pytest.raises(InputError, match="no survey template 'emo'; available: emocontext, iest"):
        made_challenge(store, tmp_path, slug="other", head='survey = "emo"')


def test_team_without_a_report_is_listed_without_a_rank(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head=SURVEY, phases=phase("practice"))
    teams = scored(store, clock, slug, First=8, Silent=7, Third=4)
    for name in ("First", "Third"):
        keep_report(store, teams[name], slug, answers={"tools": ["Keras"]})
    running = leaderboard(store, PUBLIC, slug, "practice")
    assert [entry.rank for entry in running.entries] == [1, 2, 3]
    close_phase(store, OPERATOR, slug, "practice")
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [(entry.name, entry.rank, entry.row, entry.reported) for entry in board.entries] == [
        ("First", 1, 1, True),
        ("Silent", None, 2, False),
        ("Third", 2, 3, True),
    ]
    assert board.entries[1].score is not None
    assert any("1 has not done so yet" in note for note in board.notes)
    keep_report(store, teams["Silent"], slug, answers={"tools": ["Weka"]})
    assert [entry.rank for entry in leaderboard(store, PUBLIC, slug, "practice").entries] == [1, 2, 3]


def test_a_report_goes_with_a_merger(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head=SURVEY, phases=phase("practice"))
    ana, ben = team(store, slug, "Joy")[0], team(store, slug, "Woe", "Ben")[0]
    keep_report(store, ana, slug, answers={"tools": ["Keras"]})
    answer_merge(store, ben, slug, offer_merge(store, ana, slug, "Woe").id, accept=True)
    kept = get_report(store, ben, slug)
    assert kept is not None
    assert kept.answers["tools"] == ("Keras",)


def test_ranks_change_between_phases(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice") + phase("final"))
    teams = scored(store, clock, slug, First=8, Second=6)
    for name, right in (("Second", 8), ("First", 4), ("New", 2)):
        actor = teams.get(name) or team(store, slug, name)[0]
        submit(store, actor, slug, "final", answer(right), file_name="a.txt")
    finish_jobs(store, clock)
    board = leaderboard(store, PUBLIC, slug, "final")
    assert board.former == "Practice"
    assert [(entry.name, entry.rank, entry.former_rank) for entry in board.entries] == [
        ("Second", 1, 2),
        ("First", 2, 1),
        ("New", 3, None),
    ]
    assert leaderboard(store, PUBLIC, slug, "practice").former is None


def test_ranks_before_are_those_that_board_showed(store: Store, tmp_path: Path) -> None:
    crowded_challenge(store, tmp_path / "source", teams=12, closed={"practice", "final"})
    before = {entry.name: entry.rank for entry in leaderboard(store, PUBLIC, "mine", "practice").entries}
    assert None in before.values()  # some teams have told nothing
    assert {entry.name: entry.former_rank for entry in leaderboard(store, PUBLIC, "mine", "final").entries} == before


def test_earlier_hidden_phase_reveals_no_ranks(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", board="hidden") + phase("final"))
    teams = scored(store, clock, slug, First=8)
    submit(store, teams["First"], slug, "final", answer(4), file_name="a.txt")
    finish_jobs(store, clock)
    assert leaderboard(store, PUBLIC, slug, "final").entries[0].former_rank is None
    assert leaderboard(store, OPERATOR, slug, "final").entries[0].former_rank == 1


def test_winners_and_statistics_are_for_the_close(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice"))
    scored(store, clock, slug, First=8, Second=3)
    running = leaderboard(store, PUBLIC, slug, "practice")
    assert (running.winners, running.statistics) == ((), None)
    close_phase(store, OPERATOR, slug, "practice")
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert {winner.team for winner in board.winners} == {"First"}
    assert {winner.label for winner in board.winners} == {"happy", "sad", "angry"}  # not others, which is not scored
    happy = next(winner for winner in board.winners if winner.label == "happy")
    # Of two happy items the first is right in both; the second team says sad to the other.
    assert (happy.f1, happy.mean_f1) == (1.0, pytest.approx((1 + 2 / 3) / 2))
    told = board.statistics
    assert told is not None
    scores = [entry.score for entry in board.entries if entry.score is not None]
    assert (told.teams, told.max, told.min) == (2, max(scores), min(scores))
    assert told.median == pytest.approx(sum(scores) / 2)


def test_classes_are_best_and_worst_for_teams() -> None:
    f1 = {
        "A": {"others": 0.95, "happy": 0.5, "sad": 0.9, "angry": 0.7},
        "B": {"others": 0.3, "happy": 0.6, "sad": 0.8, "angry": 0.4},
    }
    entries = [
        Entry(
            kind="team",
            name=name,
            score=0.7,
            rank=rank,
            per_class={label: {"precision": value, "recall": value, "f1": value} for label, value in values.items()},
        )
        for rank, (name, values) in enumerate(f1.items(), start=1)
    ]
    assert [one.best_for for one in class_winners(entries)] == [1, 0, 1, 0]
    found = class_winners(entries, ("happy", "sad", "angry"))
    assert {one.label: (one.team, one.best_for, one.worst_for) for one in found} == {
        "happy": ("B", 0, 1),
        "sad": ("A", 2, 0),
        "angry": ("A", 0, 1),
    }


def test_the_statistics_are_those_of_table_6() -> None:
    told = statistics([0.2, 0.4, 0.6, 0.9])
    assert told is not None
    assert (told.first_quartile, told.third_quartile) == (pytest.approx(0.35), pytest.approx(0.675))
    assert told.deviation == pytest.approx(0.29861, abs=1e-5)  # of a sample
    assert statistics([]) is None


def test_history_reveals_no_more_than_the_running_board(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=10))
    ana, _ = team(store, slug)
    for right in (3, 5, 4, 8):
        submit(store, ana, slug, "practice", answer(right), file_name="a.txt")
        clock.forward(minutes=1)
        finish_jobs(store, clock)
    board = leaderboard(store, OPERATOR, slug, "practice")
    final = leaderboard(store, OPERATOR, slug, "practice", final=True).entries[0].history
    told = [point.score for point in board.entries[0].history]
    assert board.step is not None
    assert all(score == pytest.approx(board.step * round(score / board.step)) for score in told)
    assert told == sorted(set(told))  # only what the board showed: the best, and when it changed
    exact = [point.score for point in final]
    assert len(exact) == 3
    shown = json.dumps(leaderboard(store, ana, slug, "practice").as_dict())
    assert not any(str(score) in shown for score in exact if score not in told)
