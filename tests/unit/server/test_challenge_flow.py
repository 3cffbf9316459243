"""A shared task from its file to its board, on both databases."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emoscope.evaluation.score import evaluate_labels
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import (
    close_phase,
    open_phase,
    replace_gold,
    reschedule,
    rescore,
    unlabelled_file,
)
from emoscope.server.challenge.services.submissions import (
    delete_submission,
    get_submission,
    list_submissions,
    quota,
    restore_submission,
    submission_file,
    submit,
)
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound, QuotaExceeded, Rejected, Unauthenticated
from emoscope.server.store import Store
from emoscope.tasks import get_task
from kits.challenge_kit import (
    GOLD,
    NOON,
    Clock,
    answer,
    finish_jobs,
    made_challenge,
    phase,
    rows_of,
    team,
)


def test_a_submission_is_scored_like_the_evaluation_does_it(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(5), file_name="answers.txt", note="first try")
    assert (sent.state, sent.figures, sent.charged) == ("queued", None, True)
    finish_jobs(store, clock)
    close_phase(store, OPERATOR, slug, "practice")
    found = get_submission(store, ana, sent.id)
    labels = [line.split("\t")[4] for line in answer(5).read().decode().splitlines()[1:]]
    expected = evaluate_labels(get_task("emocontext"), GOLD, labels)
    assert found.state == "scored"
    assert found.figures is not None
    assert found.figures.score == expected.score
    assert found.figures.low == expected.interval.low
    assert found.figures.per_class["happy"]["f1"] == expected.per_class["happy"].f1
    assert "support" not in found.figures.per_class["happy"]
    assert [line.text for line in found.log] == [
        f"received {len(answer(5).getvalue()):,} bytes and verified",
        "scoring, attempt 1 of 3",
        "scored",
    ]
    assert submission_file(store, ana, sent.id)[0].read_bytes() == answer(5).getvalue()
    assert unlabelled_file(store, PUBLIC, slug, "practice")[0].read_text() == rows_of(None)


@pytest.mark.parametrize("metric", ["accuracy", "macro-f1"])
def test_a_challenge_may_rank_by_another_metric(store: Store, clock: Clock, tmp_path: Path, metric: str) -> None:
    slug = made_challenge(store, tmp_path, head=f'metric = "{metric}"')
    for name, right in (("Some", 5), ("Most", 7)):
        submit(store, team(store, slug, name)[0], slug, "practice", answer(right), file_name="a.txt")
    finish_jobs(store, clock)
    close_phase(store, OPERATOR, slug, "practice")
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert (board.metric, board.clusters_ready) == (metric, True)
    for entry, right in zip(board.entries, (7, 5), strict=True):
        labels = [line.split("\t")[4] for line in answer(right).read().decode().splitlines()[1:]]
        scores = evaluate_labels(get_task("emocontext"), GOLD, labels).scores
        assert entry.score == {"accuracy": scores.accuracy, "macro-f1": scores.macro_f1}[metric] != scores.score
        assert entry.low is not None
        assert entry.high is not None
        assert entry.low <= entry.score <= entry.high


def test_the_board_ranks_by_score_and_then_by_time(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    right = {"Late": 7, "Early": 7, "Best": 8, "Worst": 1}
    actors = {name: team(store, slug, name)[0] for name in right}
    for name in ("Early", "Late", "Best", "Worst"):
        submit(store, actors[name], slug, "practice", answer(right[name]), file_name="a.txt")
        clock.forward(minutes=1)
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [entry.rank for entry in board.entries] == [None] * 4  # nothing is scored, so nothing is ranked
    finish_jobs(store, clock)
    submit(store, actors["Worst"], slug, "practice", answer(0), file_name="worse.txt")  # the best counts
    finish_jobs(store, clock)
    close_phase(store, OPERATOR, slug, "practice")  # until then scores are rounded
    board = leaderboard(store, actors["Late"], slug, "practice")
    assert [(entry.rank, entry.name) for entry in board.entries] == [
        (1, "Best"),
        (2, "Early"),
        (3, "Late"),
        (4, "Worst"),
    ]
    assert [entry.mine for entry in board.entries] == [False, False, True, False]
    assert [entry.submission is not None for entry in board.entries] == [False, False, True, False]
    assert board.entries[3].submissions == 2
    assert board.clusters_ready
    assert board.entries[0].cluster == 1
    # Eight items: "Best" has all right, "Worst" none of the emotions but one.
    assert board.entries[0].first_different == 4


def test_last_submission_counts_if_the_phase_says_so(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    submit(store, ana, slug, "final", answer(8), file_name="a.txt")
    clock.forward(minutes=1)
    submit(store, ana, slug, "final", answer(3), file_name="b.txt")
    finish_jobs(store, clock)
    worse = leaderboard(store, OPERATOR, slug, "final").entries[0].score
    assert worse is not None
    assert worse < 1
    newest = list_submissions(store, ana, slug)[0]
    assert newest.file_name == "b.txt"
    delete_submission(store, ana, newest.id)
    assert leaderboard(store, OPERATOR, slug, "final").entries[0].score == 1
    assert len(list_submissions(store, ana, slug)) == 1
    restore_submission(store, ana, newest.id)
    assert leaderboard(store, OPERATOR, slug, "final").entries[0].score == worse


def test_a_hidden_board_hides_also_ones_own_score_until_it_closes(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "final", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    assert get_submission(store, ana, sent.id).state == "scored"
    assert get_submission(store, ana, sent.id).figures is None
    for actor in (PUBLIC, ana):
        with pytest.raises(NotAllowed, match="is shown when the phase closes"):
            leaderboard(store, actor, slug, "final")
    assert leaderboard(store, OPERATOR, slug, "final").entries[0].score == 1
    close_phase(store, OPERATOR, slug, "final")
    assert leaderboard(store, PUBLIC, slug, "final").entries[0].score == 1
    assert get_submission(store, ana, sent.id).figures is not None


def test_phases_open_and_close_by_the_clock_and_by_command(store: Store, clock: Clock, tmp_path: Path) -> None:
    phases = phase("planned", opens=datetime(2030, 5, 2), closes=datetime(2030, 5, 3)) + phase("unset", opens=None)
    slug = made_challenge(store, tmp_path, phases=phases)
    ana, _ = team(store, slug)
    with pytest.raises(Conflict, match="not open yet; it opens at 2030-05-02T00:00"):
        submit(store, ana, slug, "planned", answer(), file_name="a.txt")
    with pytest.raises(NotFound, match="available when phase planned opens"):
        unlabelled_file(store, ana, slug, "planned")
    with pytest.raises(Conflict, match="no open phase"):
        submit(store, ana, slug, None, answer(), file_name="a.txt")
    clock.forward(days=1)
    submit(store, ana, slug, None, answer(), file_name="a.txt")  # the one that is open
    clock.forward(days=1)
    with pytest.raises(Conflict, match="closed at 2030-05-03T00:00"):
        submit(store, ana, slug, "planned", answer(), file_name="a.txt")
    open_phase(store, OPERATOR, slug, "planned")
    open_phase(store, OPERATOR, slug, "unset")
    with pytest.raises(Conflict, match="several phases are open, choose one: planned, unset"):
        submit(store, ana, slug, None, answer(), file_name="a.txt")
    submit(store, ana, slug, "planned", answer(), file_name="a.txt")


def test_a_deadline_is_extended(store: Store, clock: Clock, tmp_path: Path) -> None:
    phases = phase("one", closes=datetime(2030, 5, 2), time_zone="Europe/Berlin")
    slug = made_challenge(store, tmp_path, phases=phases)
    ana, _ = team(store, slug)
    found = reschedule(store, OPERATOR, slug, "one", closes=datetime(2030, 5, 3))
    assert found.phases[0].closes == datetime(2030, 5, 2, 22, tzinfo=UTC)
    clock.forward(days=1)
    assert submit(store, ana, slug, "one", answer(), file_name="a.txt").state == "queued"
    with pytest.raises(Invalid, match="must close after it opens"):
        reschedule(store, OPERATOR, slug, "one", closes=datetime(2030, 4, 1))
    with pytest.raises(NotAllowed):
        reschedule(store, ana, slug, "one", closes=datetime(2030, 6, 1))


def test_the_days_quota_is_counted_in_the_phases_time_zone(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=2, total=5, time_zone="Asia/Tokyo"))
    ana, _ = team(store, slug)
    for _ in range(2):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    with pytest.raises(QuotaExceeded, match="used its 2 submissions for 2030-05-01") as refused:
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    assert refused.value.retry_after == 3 * 3600  # noon in UTC is nine in the evening in Tokyo
    clock.forward(hours=3)
    assert quota(store, ana, slug, "practice").left_today == 2
    for _ in range(2):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    clock.forward(days=1)
    submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    with pytest.raises(QuotaExceeded, match="all 5 submissions") as refused:
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    assert refused.value.retry_after is None


def test_a_refused_file_costs_its_own_cap_only(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=1, rejected_per_day=2))
    ana, _ = team(store, slug)
    wrong = rows_of(["joy", *GOLD[1:]]).encode()
    with pytest.raises(Rejected) as refused:
        submit(store, ana, slug, "practice", io.BytesIO(wrong), file_name="mine.txt")
    assert refused.value.rows == [
        "mine.txt, row 2: unknown label 'joy', expected one of others, happy, sad, angry; did you mean 'happy'?"
    ]
    recorded = get_submission(store, ana, str(refused.value.submission))
    assert (recorded.state, recorded.charged, recorded.problems) == ("rejected", False, tuple(refused.value.rows))
    with pytest.raises(Rejected, match="has 1 labels, expected 8; the file seems cut off"):
        submit(store, ana, slug, "practice", io.BytesIO(rows_of(GOLD, 1).encode()), file_name="mine.txt")
    with pytest.raises(QuotaExceeded, match="limit of 2 rejected files"):
        submit(store, ana, slug, "practice", io.BytesIO(wrong), file_name="mine.txt")
    clock.forward(days=1)
    submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    with pytest.raises(NotFound, match="rejected files are not kept"):
        submission_file(store, ana, recorded.id)


def test_the_same_request_again_gets_the_first_answer(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=1))
    ana, _ = team(store, slug)
    first = submit(store, ana, slug, "practice", answer(), file_name="a.txt", key="k1")
    again = submit(store, ana, slug, "practice", answer(), file_name="a.txt", key="k1")
    assert (again.id, again.repeated) == (first.id, True)
    assert quota(store, ana, slug, "practice").used_today == 1


def test_other_gold_makes_results_stale_until_rescored(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    other = tmp_path / "other.txt"
    other.write_text(rows_of(["sad", *GOLD[1:]]))
    replace_gold(store, OPERATOR, slug, "practice", other, rescoring=False)
    entry = leaderboard(store, PUBLIC, slug, "practice").entries[0]
    assert (entry.stale, entry.rank, entry.score) == (True, None, 1.0)
    assert leaderboard(store, PUBLIC, slug, "practice").notes[0].startswith("1 score is stale")
    assert rescore(store, OPERATOR, slug) == 1
    assert rescore(store, OPERATOR, slug) == 0  # it is queued already
    finish_jobs(store, clock)
    entry = leaderboard(store, PUBLIC, slug, "practice").entries[0]
    # happy: predicted 2, right 1, gold 1; sad: 2, 2, 3; angry: 1, 1, 1, so 2 * 4 / (5 + 5)
    assert (entry.stale, entry.rank, entry.score) == (False, 1, pytest.approx(0.8))
    replace_gold(store, OPERATOR, slug, "practice", tmp_path / "source" / "gold.txt")
    assert not get_submission(store, ana, sent.id).stale  # the first result is of this gold


def test_teams_cannot_see_each_others_submissions(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two")
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    for call in (get_submission, submission_file, delete_submission, restore_submission):
        with pytest.raises(NotFound, match="no such submission"):
            call(store, ben, sent.id)
        with pytest.raises(NotFound, match="no such submission"):
            call(store, ben, "0" * 16)  # the same answer as for one that is not there
        with pytest.raises(Unauthenticated):
            call(store, PUBLIC, sent.id)
    assert list_submissions(store, ben, slug) == []
    with pytest.raises(NotFound):
        list_submissions(store, ben, slug, team_id=ana.team_id)
    with pytest.raises(Unauthenticated):
        list_submissions(store, PUBLIC, slug)
    with pytest.raises(NotAllowed):
        submit(store, OPERATOR, slug, "practice", answer(), file_name="a.txt")


def test_long_list_of_submissions_is_paged(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug, "One")
    ben, _ = team(store, slug, "Two")
    sent = [submit(store, ana, slug, "practice", answer(), file_name="a.txt").id for _ in range(3)]
    first = list_submissions(store, OPERATOR, slug, limit=2)
    rest = list_submissions(store, OPERATOR, slug, limit=2, before=first[-1].id)
    assert [one.id for one in (*first, *rest)] == sent[::-1]
    with pytest.raises(NotFound, match="no such submission"):
        list_submissions(store, ben, slug, before=first[-1].id)


def test_audit_log_records_what_was_done(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    lines = read_audit(store, OPERATOR, slug)
    assert [line.action for line in lines] == [
        "submission.accept",
        "team.join",
        "team.register",
        "challenge.create",
    ]
    assert lines[0].object == f"submission {sent.id}"
    assert lines[0].actor == f"participant member {ana.member_id} of team {ana.team_id}"
    assert lines[0].at == NOON
    with pytest.raises(NotAllowed):
        read_audit(store, ana, slug)
