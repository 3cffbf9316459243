"""What organisers do with a challenge: new gold, announcements, disqualification, uploads, settings and space."""

import io
import json
import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from emoscope.server.challenge.board.export import export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.scoring.queue import claim
from emoscope.server.challenge.services import challenges as services
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC, Actor
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.challenges import (
    change_challenge,
    create_challenge,
    delete_challenge,
    get_challenge,
    replace_gold,
    reschedule,
)
from emoscope.server.challenge.services.creation import (
    InvalidDefinition,
    create_from_uploads,
    uploaded,
)
from emoscope.server.challenge.services.merges import offer_merge
from emoscope.server.challenge.services.notices import (
    list_notices,
    post_notice,
    restore_notice,
    send_notice,
    withdraw_notice,
)
from emoscope.server.challenge.services.operation import storage
from emoscope.server.challenge.services.registration import Post, invite_team
from emoscope.server.challenge.services.submissions import get_submission, submit
from emoscope.server.challenge.services.teams import (
    disqualify_team,
    get_team,
    list_teams,
    register_team,
    reinstate_team,
)
from emoscope.server.challenge.services.tokens import authenticate, issue_member_token, issue_organiser_token
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound, Rejected, StoreUnavailable, Unauthenticated
from emoscope.server.mail import Mailer
from emoscope.server.store import Store
from emoscope.server.store.models import Job, Phase
from kits.challenge_kit import (
    GOLD,
    Clock,
    answer,
    assert_refused,
    finish_jobs,
    made_challenge,
    phase,
    rows_of,
    team,
    write_challenge,
)

LABELS = ["happy"] * 20 + ["sad"] * 20 + ["angry"] * 20 + ["others"] * 40
WRONG = {"happy": "sad", "sad": "angry", "angry": "happy", "others": "happy"}


def _new_gold(folder: Path, labels: list[str]) -> Path:
    file = folder / "new-gold.txt"
    file.write_text(rows_of(labels, len(labels)))
    return file


def _phase(store: Store) -> Phase:
    with store.database.read() as session:
        return session.get_one(Phase, 1)


def test_new_gold_rescores_every_submission_and_is_audited(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = [submit(store, ana, slug, "practice", answer(right), file_name="a.txt").id for right in (8, 5)]
    finish_jobs(store, clock)
    waiting = submit(store, ana, slug, "practice", answer(3), file_name="a.txt").id  # queued for the former gold
    before = _phase(store).gold_sha256
    done = replace_gold(store, OPERATOR, slug, "practice", _new_gold(tmp_path, ["sad", *GOLD[1:]]))
    assert (done.before, done.queued) == (before, 3)
    line = read_audit(store, OPERATOR, slug)[0]
    assert (line.action, line.object) == ("phase.gold", "mine/practice")
    assert line.detail == {"before": done.before, "after": done.after, "queued": 3}
    finish_jobs(store, clock)
    found = [get_submission(store, OPERATOR, one) for one in (*sent, waiting)]
    assert [(one.state, one.stale) for one in found] == [("scored", False)] * 3
    assert found[0].figures is not None
    assert found[0].figures.score == pytest.approx(0.8)


def test_new_gold_is_there_with_all_its_jobs_or_not_at_all(
    store: Store, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    sent = submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    before = _phase(store)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(services, "record", killed)  # the last thing before the transaction ends
        with pytest.raises(KeyboardInterrupt):
            replace_gold(store, OPERATOR, slug, "practice", _new_gold(tmp_path, ["sad", *GOLD[1:]]))
    assert _phase(store).gold_sha256 == before.gold_sha256
    assert not get_submission(store, ana, sent.id).stale
    with store.database.read() as session:
        assert session.scalars(select(Job.gold_sha256).where(Job.kind == "score")).all() == [before.gold_sha256]
    replace_gold(store, OPERATOR, slug, "practice", _new_gold(tmp_path, ["sad", *GOLD[1:]]))
    assert claim(store, clock.now - clock.now) is not None  # by a worker that is never heard of again
    clock.forward(seconds=1)
    finish_jobs(store, clock)
    found = get_submission(store, OPERATOR, sent.id)
    assert (found.state, found.stale) == ("scored", False)


def test_new_gold_reveals_no_more_than_the_old(store: Store, clock: Clock, tmp_path: Path) -> None:
    file = write_challenge(tmp_path / "source", phases=phase("practice", per_day=50, public_share=0.3))
    (file.parent / "given.txt").write_text(rows_of(None, 100))
    (file.parent / "gold.txt").write_text(rows_of(LABELS, 100))
    slug = services.create_challenge(store, OPERATOR, file).slug
    old = _phase(store).public
    assert old is not None
    public = set(json.loads(store.files.path("gold", old["sha256"]).read_bytes()))
    new = [WRONG[label] if item % 10 == 0 else label for item, label in enumerate(LABELS)]
    ana, _ = team(store, slug)

    def told(right: set[int]) -> float:
        labels = [label if item in right else WRONG[label] for item, label in enumerate(new)]
        upload = io.BytesIO(rows_of(labels, 100).encode())
        sent = submit(store, ana, slug, None, upload, file_name="a.txt")
        finish_jobs(store, clock)
        figures = get_submission(store, ana, sent.id).figures
        assert figures is not None
        assert not figures.per_class
        return figures.score

    replace_gold(store, OPERATOR, slug, "practice", _new_gold(tmp_path, new))
    now = _phase(store).public
    assert now is not None
    assert now["sha256"] == old["sha256"]  # the same items are public: some of their labels may be known
    assert (now["step"], now["margin"]) >= (old["step"], old["margin"])
    everything = set(range(100))
    assert told(public) == told(everything) == 1.0  # the private rest shows nowhere
    assert told(everything - public) == told(set())
    step = now["step"]
    score = told(public - set(sorted(public)[:7]))
    assert score == pytest.approx(round(score / step) * step)


@pytest.mark.parametrize("kind", ["finer", "coarser"])
def test_rounding_of_shown_scores_never_gets_finer(store: Store, tmp_path: Path, kind: str) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", public_share=1))
    with store.database.write() as session:
        one = session.get_one(Phase, 1)
        step, margin = (0.5, 0.5) if kind == "finer" else (0.001, 0.001)
        one.public = {**(one.public or {}), "step": step, "margin": margin}
    replace_gold(store, OPERATOR, slug, "practice", _new_gold(tmp_path, ["sad", *GOLD[1:]]))
    after = _phase(store).public
    assert after is not None
    assert after["step"] == (0.5 if kind == "finer" else pytest.approx(0.2, abs=0.15))


def test_gold_that_leaves_nothing_to_score_in_a_part_is_refused(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, phases=phase("practice", per_day=3))
    before = _phase(store).gold_sha256
    short = io.BytesIO(rows_of(GOLD[:3], 3).encode())
    with (
        pytest.raises(Invalid, match=r"short.txt: has 3 labels for the 8 items of given\.txt"),
        uploaded(store, OPERATOR, slug, "short.txt", short) as path,
    ):
        replace_gold(store, OPERATOR, slug, "practice", path)
    assert _phase(store).gold_sha256 == before
    assert list((tmp_path / "files" / "incoming").iterdir()) == []  # nothing is left behind


def test_disqualified_team_leaves_the_board_and_sees_the_reason(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug, "Cheaters")
    ben, other = team(store, slug, "Honest", "Ben")
    submit(store, ana, slug, "practice", answer(8), file_name="a.txt")
    submit(store, ben, slug, "practice", answer(6), file_name="b.txt")
    finish_jobs(store, clock)
    offer_merge(store, ana, slug, "Honest")
    disqualify_team(store, OPERATOR, slug, made.team.id, " two   accounts ")
    finish_jobs(store, clock)
    board = leaderboard(store, PUBLIC, slug, "practice")
    assert [(entry.name, entry.rank) for entry in board.entries] == [("Honest", 1)]
    assert get_team(store, ana, slug).disqualified_for == "two accounts"  # they can still sign in
    with pytest.raises(NotAllowed, match="disqualified: two accounts"):
        submit(store, ana, slug, "practice", answer(8), file_name="a.txt")
    with pytest.raises(Conflict, match="is disqualified"):
        offer_merge(store, ben, slug, "Cheaters")
    assert [line.action for line in read_audit(store, OPERATOR, slug, limit=1)] == ["team.disqualify"]
    reinstate_team(store, OPERATOR, slug, made.team.id)
    assert len(leaderboard(store, PUBLIC, slug, "practice").entries) == 2
    with pytest.raises(Conflict):
        reinstate_team(store, OPERATOR, slug, other.team.id)
    for reason in ("", "x" * 501, "a\x00b"):
        with pytest.raises(Invalid):
            disqualify_team(store, OPERATOR, slug, made.team.id, reason)


def test_only_organisers_see_the_submissions_of_teams(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug)
    submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    finish_jobs(store, clock)
    submit(store, ana, slug, "practice", answer(3), file_name="b.txt")
    with pytest.raises(Rejected):
        submit(store, ana, slug, "practice", io.BytesIO(b"id\tlabel\n"), file_name="c.txt")
    (found,) = list_teams(store, OPERATOR, slug)
    assert found.counts is not None
    assert (found.counts.scored, found.counts.waiting, found.counts.rejected, found.counts.sent) == (1, 1, 1, 2)
    assert found.counts.last == clock.now
    assert get_team(store, OPERATOR, slug, made.team.id).counts == found.counts
    assert get_team(store, ana, slug).counts is None


def test_notices_are_for_all_or_one_team(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, made = team(store, slug, "One")
    ben, _ = team(store, slug, "Two", "Ben")
    first = post_notice(store, OPERATOR, slug, title="One  day more", text="Until\r\nSunday.\n")
    own = post_notice(store, OPERATOR, slug, title="Hello", text="You.", team_id=made.team.id)
    assert (first.title, first.text, own.team) == ("One day more", "Until\nSunday.", "One")
    assert [one.id for one in list_notices(store, PUBLIC, slug)] == [first.id]
    assert [one.id for one in list_notices(store, ben, slug)] == [first.id]
    assert [one.id for one in list_notices(store, ana, slug)] == [own.id, first.id]
    withdraw_notice(store, OPERATOR, slug, first.id)
    assert list_notices(store, PUBLIC, slug) == []
    assert [one.withdrawn for one in list_notices(store, OPERATOR, slug)] == [False, True]
    restore_notice(store, OPERATOR, slug, first.id)
    assert len(list_notices(store, PUBLIC, slug)) == 1
    for title, text in (("", "x"), ("x", " "), ("x" * 201, "x"), ("x", "x" * 10_001), ("x", "a\x07")):
        with pytest.raises(Invalid):
            post_notice(store, OPERATOR, slug, title=title, text=text)
    with pytest.raises(NotFound):
        withdraw_notice(store, OPERATOR, slug, 99)
    with pytest.raises(NotFound):
        post_notice(store, OPERATOR, slug, title="x", text="x", team_id=99)


def test_sending_mail_resumes_where_it_stopped(store: Store, clock: Clock, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    for number in range(4):
        register_team(store, PUBLIC, slug, team=f"Team {number}", member="Ana", email=f"m{number}@example.org")
    team(store, slug, "Without an address")
    sent: list[str] = []
    lost = {"m1@example.org"}

    class Postman:
        def send(self, to: str, subject: str, text: str) -> None:
            if to in lost:
                raise StoreUnavailable("no such mailbox")
            assert subject == "Mine: News"
            assert "http://here/challenges/mine" in text
            sent.append(to)

    post = Post(Postman(), "http://here")  # type: ignore[arg-type]
    notice = post_notice(store, OPERATOR, slug, title="News", text="Text", mail=True)
    assert notice.unsent == 4
    done = send_notice(store, OPERATOR, slug, notice.id, post)
    assert (done.mailed, done.unsent) == (3, 1)
    lost.clear()
    done = send_notice(store, OPERATOR, slug, notice.id, post)
    assert (done.mailed, done.unsent) == (4, 0)
    assert sorted(sent) == [f"m{number}@example.org" for number in range(4)]  # each once
    assert send_notice(store, OPERATOR, slug, notice.id, post).mailed == 4
    with pytest.raises(NotAllowed, match="sends no e-mail"):
        send_notice(store, OPERATOR, slug, notice.id, Post(None, "http://here"))


def test_only_one_sends_a_notice_and_a_lost_sender_is_followed_by_another(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    slug = made_challenge(store, tmp_path)
    register_team(store, PUBLIC, slug, team="One", member="Ana", email="ana@example.org")
    notice = post_notice(store, OPERATOR, slug, title="News", text="Text", mail=True)
    sent: list[str] = []

    class Killed:
        def send(self, to: str, *_: str) -> None:
            raise KeyboardInterrupt

    class Postman:
        def send(self, to: str, *_: str) -> None:
            sent.append(to)

    with pytest.raises(KeyboardInterrupt):
        send_notice(store, OPERATOR, slug, notice.id, Post(Killed(), ""))  # type: ignore[arg-type]
    with pytest.raises(Conflict, match="being sent"):
        send_notice(store, OPERATOR, slug, notice.id, Post(Postman(), ""))  # type: ignore[arg-type]
    clock.forward(minutes=3)
    assert send_notice(store, OPERATOR, slug, notice.id, Post(Postman(), "")).mailed == 1  # type: ignore[arg-type]
    assert sent == ["ana@example.org"]


def _uploads(**changed: bytes) -> dict[str, io.BytesIO]:
    files = {"given.txt": rows_of(None).encode(), "gold.txt": rows_of(GOLD).encode(), **changed}
    return {name: io.BytesIO(content) for name, content in files.items()}


def test_a_challenge_is_created_from_uploads_and_nothing_else_is_read(store: Store, tmp_path: Path) -> None:
    text = write_challenge(tmp_path / "source").read_text()
    made = create_from_uploads(store, OPERATOR, text, _uploads())
    assert (made.slug, made.phases[0].items, made.phases[0].unlabelled_name) == ("mine", 8, "given.txt")
    assert list((tmp_path / "files" / "incoming").iterdir()) == []
    secret = tmp_path / "secret.txt"
    secret.write_text(rows_of(GOLD))
    for name in (str(secret), "../../../secret.txt", "other.txt", "~/x", "/etc/passwd"):
        changed = text.replace('slug = "mine"', 'slug = "two"').replace('gold = "gold.txt"', f'gold = "{name}"', 1)
        with pytest.raises(InvalidDefinition, match="was not uploaded"):
            create_from_uploads(store, OPERATOR, changed, _uploads())
    with pytest.raises(Conflict, match="already"):
        create_from_uploads(store, OPERATOR, text, _uploads())
    with pytest.raises(Invalid, match="not valid TOML"):
        create_from_uploads(store, OPERATOR, "slug = ", {})
    labelled = {"given.txt": rows_of(GOLD).encode()}
    with pytest.raises(Invalid, match="has a label") as refused:
        create_from_uploads(store, OPERATOR, text.replace("mine", "three"), _uploads(**labelled))
    assert str(tmp_path) not in str(refused.value)  # files are named as they were uploaded
    with pytest.raises(InvalidDefinition) as mistakes:
        document = {"slug": "X", "title": "X", "task": "none", "phases": [{"name": "a", "title": "A", "per_day": "0"}]}
        create_from_uploads(store, OPERATOR, document, {})
    assert {"slug", "task", "phases.0.per_day", "phases.0.gold"} <= set(mistakes.value.fields)


def test_files_that_a_killed_creation_left_are_swept(store: Store) -> None:
    left = store.files.root / "incoming" / "tmpabc"
    left.mkdir()
    (left / "gold.txt").write_text("x")
    assert store.files.sweep(now=left.stat().st_mtime + 48 * 3600) == 1
    assert not left.exists()


def test_settings_change_and_are_audited(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    change_challenge(store, OPERATOR, slug, {"registration": "closed", "max_teams": "5", "title": None})
    found = get_challenge(store, PUBLIC, slug)
    assert (found.registration, found.max_teams, found.title) == ("closed", 5, "Mine")
    line = read_audit(store, OPERATOR, slug)[0]
    assert (line.action, line.detail) == ("challenge.change", {"registration": "closed", "max_teams": "5"})
    for changes in ({"registration": "never"}, {"max_teams": 0}, {"title": " "}, {"slug": "other"}):
        with pytest.raises(Invalid):
            change_challenge(store, OPERATOR, slug, changes)


def test_a_time_can_be_removed(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    reschedule(store, OPERATOR, slug, "practice", closes=datetime(2030, 6, 1))
    found = reschedule(store, OPERATOR, slug, "practice", clear={"closes"}).phases[0]
    assert (found.closes, found.state) == (None, "open")
    found = reschedule(store, OPERATOR, slug, "practice", clear={"opens"}).phases[0]
    assert (found.opens, found.state) == (None, "planned")


def test_space_is_counted_once_for_a_file_sent_twice(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    ana, _ = team(store, slug)
    for _ in range(2):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    used = storage(store, OPERATOR, slug)
    assert (used.submissions, used.submission_bytes) == (1, len(answer().getvalue()))
    assert used.data_bytes == len(rows_of(None)) + len(rows_of(GOLD))
    assert used.free_bytes
    assert used.database_bytes
    assert storage(store, OPERATOR).submissions == 1
    olga = authenticate(store, issue_organiser_token(store, OPERATOR, name="Olga", slug=slug).token)
    assert storage(store, olga, slug).free_bytes is None  # not hers to know


def test_others_are_refused_every_action(store: Store, tmp_path: Path) -> None:
    for slug in ("mine", "other"):
        made_challenge(store, tmp_path, slug=slug)
    eve = authenticate(store, issue_organiser_token(store, OPERATOR, name="Eve", slug="other").token)
    ana, made = team(store, "mine")
    notice = post_notice(store, OPERATOR, "mine", title="x", text="x")
    text = write_challenge(tmp_path / "source").read_text().replace("mine", "new")
    gold = tmp_path / "source" / "gold.txt"
    post = Post(None, "")
    actions: list[Callable[[Actor], Any]] = [
        lambda who: create_from_uploads(store, who, text, _uploads()),
        lambda who: uploaded(store, who, "mine", "g.txt", gold.open("rb")).__enter__(),
        lambda who: replace_gold(store, who, "mine", "practice", gold),
        lambda who: change_challenge(store, who, "mine", {"title": "Taken"}),
        lambda who: reschedule(store, who, "mine", "practice", clear={"opens"}),
        lambda who: disqualify_team(store, who, "mine", made.team.id, "x"),
        lambda who: reinstate_team(store, who, "mine", made.team.id),
        lambda who: post_notice(store, who, "mine", title="x", text="x"),
        lambda who: withdraw_notice(store, who, "mine", notice.id),
        lambda who: restore_notice(store, who, "mine", notice.id),
        lambda who: storage(store, who, "mine"),
        lambda who: storage(store, who),
    ]
    assert_refused(actions, eve, ana)
    with pytest.raises(NotAllowed):
        send_notice(store, ana, "mine", notice.id, post)


def test_console_mail_reaches_the_log(store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    slug = made_challenge(store, tmp_path)
    register_team(store, PUBLIC, slug, team="One", member="Ana", email="ana@example.org")
    notice = post_notice(store, OPERATOR, slug, title="News", text="Text", mail=True)
    with caplog.at_level(logging.WARNING):
        send_notice(store, OPERATOR, slug, notice.id, Post(Mailer.of("console:", None), "http://here"))
    assert "mail to ana@example.org" in caplog.text


def test_organiser_of_another_challenge_exports_only_public_data(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    create_challenge(store, OPERATOR, write_challenge(tmp_path / "other", slug="other"))
    other = authenticate(store, issue_organiser_token(store, OPERATOR, name="Otto", slug="other").token)
    assert export_challenge(store, other, slug) == export_challenge(store, PUBLIC, slug)


def test_deleted_challenge_can_be_edited_but_is_not_linked(store: Store, tmp_path: Path) -> None:
    slug, post = made_challenge(store, tmp_path), Post(Mailer.of("console:", None), "https://emoscope.example")
    _, made = team(store, slug)
    delete_challenge(store, OPERATOR, slug)
    assert change_challenge(store, OPERATOR, slug, {"title": "Hidden"}).title == "Hidden"
    notice = post_notice(store, OPERATOR, slug, title="Soon", text="We are back soon")
    assert withdraw_notice(store, OPERATOR, slug, notice.id).withdrawn
    for refused in (
        partial(post_notice, title="Soon", text="Soon", mail=True),
        partial(send_notice, notice_id=notice.id, post=post),
        partial(invite_team, post=post),
        partial(register_team, team="Late", member="Lea"),
        partial(issue_member_token, member_id=made.member.id),
    ):
        with pytest.raises(Conflict, match="mine is deleted; restore it first"):
            refused(store, OPERATOR, slug)
        with pytest.raises((NotFound, Unauthenticated)):
            refused(store, PUBLIC, slug)
