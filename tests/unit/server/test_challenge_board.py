"""The board with published systems and human scores, its exports and its plot; none of them reveals gold."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from emoscope.core import plots
from emoscope.core.errors import InputError
from emoscope.evaluation.score import evaluate
from emoscope.server.challenge.board.chart import board_chart
from emoscope.server.challenge.board.export import board_text, export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.pages.board_plot import sorted_entries
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import close_phase, create_challenge, replace_gold
from emoscope.server.challenge.services.submissions import get_submission, submit
from emoscope.server.errors import Rejected
from emoscope.server.store import Store
from emoscope.server.store.models import Base
from emoscope.tasks import get_task
from emoscope.tasks.published import published
from kits.challenge_kit import (
    GOLD,
    Clock,
    answer,
    finish_jobs,
    made_challenge,
    opened_store,
    phase,
    rows_of,
    team,
)
from kits.task_files import emotionx_file


def test_published_systems_and_people_are_listed_unranked(store: Store, clock: Clock, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    # Two workers on three items, four of six right; of the emotions 4 hits, 5 gold and 6 guesses: 2 * 4 / 11.
    judgements = ["0,a,happy", "1,a,sad", "2,a,happy", "0,b,happy", "1,b,sad", "3,b,angry"]
    (tmp_path / "source" / "people.csv").write_text("task,worker,label\n" + "\n".join(judgements) + "\n")
    slug = made_challenge(store, tmp_path, phases=phase("practice", published=True, humans="people.csv"))
    for name, right in (("Perfect", 8), ("Poor", 2)):
        submit(store, team(store, slug, name)[0], slug, "practice", answer(right), file_name="a.txt")
    finish_jobs(store, clock)
    board = leaderboard(store, PUBLIC, slug, "practice")
    paper = published("emocontext")
    assert board.entries[0].name == "Perfect"
    assert board.entries[1].kind == "published"
    assert board.entries[1].name == paper.entries[0].name
    assert board.entries[1].rank is None
    assert [entry.rank for entry in board.entries if entry.kind == "team"] == [1, 2]
    people = next(entry for entry in board.entries if entry.kind == "human")
    assert (people.name, people.score, people.note) == ("humans (2 workers)", pytest.approx(8 / 11), "6 judgements")
    scores = [entry.score or 0 for entry in board.entries]
    assert scores == sorted(scores, reverse=True)
    plain = leaderboard(store, PUBLIC, slug, "practice", published=False)
    assert {entry.kind for entry in plain.entries} == {"team", "human"}


def test_a_team_without_a_score_is_last_and_unranked(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    submit(store, team(store, slug, "Scored")[0], slug, "practice", answer(1), file_name="a.txt")
    finish_jobs(store, clock)
    submit(store, team(store, slug, "Waiting")[0], slug, "practice", answer(8), file_name="a.txt")
    entries = leaderboard(store, PUBLIC, slug, "practice").entries
    assert [(entry.rank, entry.name, entry.state) for entry in entries] == [
        (1, "Scored", "scored"),
        (None, "Waiting", "queued"),
    ]


def test_two_teams_with_the_same_file_are_compared(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    for name in ("First", "Second"):
        submit(store, team(store, slug, name)[0], slug, "practice", answer(6), file_name="a.txt")
        clock.forward(minutes=1)
    finish_jobs(store, clock)
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [(entry.name, entry.cluster, entry.first_different) for entry in board.entries] == [
        ("First", 1, None),
        ("Second", 1, None),
    ]


def test_a_board_is_exported_and_drawn(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", published=True))
    submit(store, team(store, slug, "Joy, and more")[0], slug, "practice", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    close_phase(store, OPERATOR, slug, "practice")
    board = leaderboard(store, PUBLIC, slug, "practice")
    rows = list(csv.DictReader(io.StringIO(board_text(board, "csv"))))
    assert (rows[0]["rank"], rows[0]["name"], float(rows[0]["score"])) == ("1", "Joy, and more", 1.0)
    assert float(rows[0]["f1_happy"]) == 1.0
    assert {row["kind"] for row in rows[1:]} == {"published"}
    assert json.loads(board_text(board, "json"))["entries"][0]["name"] == "Joy, and more"
    drawn = plots.svg(board_chart(board))
    assert "Joy, and more" in drawn
    assert "published" in drawn


def test_an_empty_board_can_be_drawn(store: Store, tmp_path: Path) -> None:
    board = leaderboard(store, PUBLIC, made_challenge(store, tmp_path), "practice")
    assert board.entries == ()
    assert plots.svg(board_chart(board)).startswith("<svg")


def test_gold_is_nowhere_but_in_its_file(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    marker = "the gold file's own words"
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(5), file_name="a.txt")
    with pytest.raises(Rejected):
        submit(store, ana, slug, "practice", io.BytesIO(rows_of(GOLD, 3).encode()), file_name="a.txt")
    broken = store.files.path("gold", _gold(store))
    broken.write_text(rows_of(GOLD) + f"9\t{marker}\tb\tc\thappy\n")
    for _ in range(3):
        ScoringWorker(store).run_once()
        clock.forward(seconds=10)
    found = get_submission(store, ana, sent.id)
    assert found.state == "failed"
    close_phase(store, OPERATOR, slug, "practice")
    told = json.dumps([found.as_dict(), export_challenge(store, PUBLIC, slug), export_challenge(store, OPERATOR, slug)])
    with store.database.read() as session:
        for name in Base.metadata.tables:
            told += str(session.execute(text(f"SELECT * FROM {name}")).all())
    assert marker not in told
    assert str(broken) not in told
    assert "support" not in told
    assert "confusion" not in told


def _gold(store: Store) -> str:
    with store.database.read() as session:
        return str(session.execute(text("SELECT gold_sha256 FROM phases LIMIT 1")).scalar_one())


def test_public_export_has_no_hidden_board_and_no_submissions(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug)
    submit(store, ana, slug, "final", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    public = export_challenge(store, PUBLIC, slug)
    assert [board["phase"] for board in public["boards"]] == ["practice"]
    assert "submissions" not in public
    assert "teams" not in public
    assert [board["phase"] for board in export_challenge(store, ana, slug)["boards"]] == ["practice"]
    full = export_challenge(store, OPERATOR, slug)
    assert [board["phase"] for board in full["boards"]] == ["practice", "final"]
    assert full["submissions"][0]["figures"]["score"] == 1
    assert made.token not in json.dumps(full)


SAID = {"Good": ["joy", "sadness", "joy", "neutral", "joy"], "Calm": ["neutral"] * 5}


def emotionx_board(store: Store, clock: Clock, folder: Path, head: str = "") -> dict[str, Path]:
    """A scored challenge `mine` of EmotionX with these teams; their files."""
    emotionx_file(folder / "gold.json", ["joy", "sadness", "anger", "neutral", "surprise"])
    lines = [{"speaker": "Ross", "utterance": f"line {number}"} for number in range(5)]
    (folder / "given.json").write_text(json.dumps([lines]))
    phases = phase("one", unlabelled="given.json", gold="gold.json")
    toml = folder / "mine.toml"
    toml.write_text(f'slug = "mine"\ntitle = "Mine"\ntask = "emotionx-friends"\n{head}\n{phases}')
    create_challenge(store, OPERATOR, toml)
    files = {name: emotionx_file(folder / f"{name}.json", labels, submitted=True) for name, labels in SAID.items()}
    for name, file in files.items():
        submit(store, team(store, "mine", name)[0], "mine", None, io.BytesIO(file.read_bytes()), file_name="a.json")
    finish_jobs(store, clock)
    return files


def test_emotionx_boards_show_macro_f1_too(store: Store, clock: Clock, tmp_path: Path) -> None:
    files = emotionx_board(store, clock, tmp_path)
    running = leaderboard(store, PUBLIC, "mine", "one")
    assert (running.further_metrics, [entry.further for entry in running.entries]) == ((), [{}, {}])
    close_phase(store, OPERATOR, "mine", "one")
    board = leaderboard(store, PUBLIC, "mine", "one")
    # Three of four right; joy has a false positive, anger is missed. And one of four, with neutral alone.
    assert {entry.name: (entry.score, entry.further) for entry in board.entries} == {
        "Good": (0.75, {"macro-f1": pytest.approx((2 / 3 + 1 + 0 + 1) / 4)}),
        "Calm": (0.25, {"macro-f1": pytest.approx(0.4 / 4)}),
    }
    task = get_task("emotionx-friends")
    for entry in board.entries:  # as `emoscope evaluate` prints it
        scores = evaluate(task, tmp_path / "gold.json", files[entry.name], samples=10).scores
        assert entry.further["macro-f1"] == scores.macro_f1
    header, first, _ = csv.reader(board_text(board, "csv").splitlines())
    assert first[header.index("macro-f1")] == str(board.entries[0].further["macro-f1"])
    assert sorted_entries(board.entries, "by-macro-f1", descending=False)[0].name == "Calm"


def test_a_metric_that_ranks_is_not_shown_again(store: Store, clock: Clock, tmp_path: Path) -> None:
    emotionx_board(store, clock, tmp_path, head='metric = "macro-f1"')
    close_phase(store, OPERATOR, "mine", "one")
    board = leaderboard(store, PUBLIC, "mine", "one")
    assert (board.metric, board.further_metrics) == ("macro-f1", ())


@pytest.mark.data
def test_the_papers_practice_phase_runs_on_its_own_data(data_folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    rows = (data_folder / "emocontext" / "dev.txt").read_text(encoding="utf-8").splitlines()
    (source / "test1.txt").write_text("\n".join(row.rsplit("\t", 1)[0] for row in rows) + "\n", encoding="utf-8")
    shutil.copy(data_folder / "emocontext" / "dev.txt", source)
    (source / "mine.toml").write_text(
        'slug = "emocontext"\ntitle = "EmoContext"\ntask = "emocontext"\n'
        + phase("practice", unlabelled="test1.txt", gold="dev.txt", per_day=20)
    )
    clock = Clock()
    with opened_store("sqlite", tmp_path / "live", clock) as store:
        assert create_challenge(store, OPERATOR, source / "mine.toml").phases[0].items == 2755
        # All "others" finds no emotion; all "happy" has 142 hits of 2,755 guesses for 417 emotions.
        for label in ("others", "happy"):
            answers = "\n".join([rows[0], *(row.rsplit("\t", 1)[0] + f"\t{label}" for row in rows[1:])]) + "\n"
            actor = team(store, "emocontext", f"All {label}")[0]
            submit(store, actor, "emocontext", None, io.BytesIO(answers.encode()), file_name="a.txt")
        finish_jobs(store, clock)
        assert [entry.score for entry in leaderboard(store, PUBLIC, "emocontext", "practice").entries] == [0.08, 0.0]
        close_phase(store, OPERATOR, "emocontext", "practice")
        board = leaderboard(store, PUBLIC, "emocontext", "practice")
        assert [(entry.name, entry.score) for entry in board.entries] == [
            ("All happy", pytest.approx(2 * 142 / (2755 + 417))),
            ("All others", 0.0),
        ]
        assert [entry.cluster for entry in board.entries] == [1, 2]
        with pytest.raises(InputError, match="labels for the 2,755 items"):
            replace_gold(store, OPERATOR, "emocontext", "practice", _short_gold(source, rows))


def _short_gold(folder: Path, rows: list[str]) -> Path:
    file = folder / "short.txt"
    file.write_text("\n".join(rows[:11]) + "\n", encoding="utf-8")
    return file
