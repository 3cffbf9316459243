"""The store: migrations of existing data, an append-only log, whole files, and clear errors."""

import io
import resource
import shutil
import sqlite3
import stat
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, inspect, text
from sqlalchemy.exc import DBAPIError

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.audit import read_audit
from emoscope.server.challenge.services.submissions import get_submission, list_submissions, quota, submit
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import StoreUnavailable, TooLarge
from emoscope.server.store import FileStore, Store
from emoscope.server.store.backup import backup
from emoscope.server.store.database import Database
from emoscope.server.store.migrate import current, newest, upgrade
from emoscope.server.store.models import Base
from kits.challenge_kit import Clock, answer, copy_as_of, database_url, made_challenge, opened_store, phase, team


def test_the_migrations_make_exactly_the_tables_of_the_models(store: Store) -> None:
    with store.database.write() as session:
        assert compare_metadata(MigrationContext.configure(session.connection()), Base.metadata) == []


def test_data_of_the_first_version_survive_the_upgrade(store: Store, backend: str, tmp_path: Path) -> None:
    ana, made = team(store, made_challenge(store, tmp_path))
    sent = submit(store, ana, "mine", "practice", answer(), file_name="a.txt")
    ScoringWorker(store).run_once()
    (tmp_path / "old").mkdir()
    with database_url(backend, tmp_path / "old") as url, closing(Database(url)) as old:
        copy_as_of("0001", store.database, old)
        assert current(old) == "0001"
        with old.write() as session:
            assert "comparisons" not in inspect(session.connection()).get_table_names()
            session.execute(text("DELETE FROM audit WHERE id = 1"))  # the log was not protected then
        upgrade(old)
        assert current(old) == newest()
        upgraded = replace(store, database=old)
        assert authenticate(upgraded, made.token) == ana
        assert get_submission(upgraded, ana, sent.id).state == "scored"
        assert leaderboard(upgraded, PUBLIC, "mine", "practice").entries[0].score == 1


def test_two_processes_may_upgrade_at_once(backend: str, tmp_path: Path) -> None:
    with database_url(backend, tmp_path) as url:
        databases = [Database(url) for _ in range(4)]
        failures: list[BaseException] = []

        def run(database: Database) -> None:
            try:
                upgrade(database)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(database,)) for database in databases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert current(databases[0]) == newest()
        for database in databases:
            database.close()


def test_a_new_file_can_be_opened_while_another_process_is_setting_it_up(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as first:
        first.execute("BEGIN IMMEDIATE")  # as SQLite does while it changes the journal's mode
        done = threading.Timer(0.3, first.execute, ["COMMIT"])
        done.start()
        with closing(Database(f"sqlite:///{path}")) as second:
            upgrade(second)
            assert current(second) == newest()
        done.join()


def test_eight_threads_may_open_the_same_new_file_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)

    def opened(path: Path) -> str | None:
        with closing(Database(f"sqlite:///{path}")) as database:
            barrier.wait(60)
            with database.write() as session:
                session.execute(text("CREATE TABLE IF NOT EXISTS t (x)"))
                return session.execute(text("PRAGMA journal_mode")).scalar_one()

    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            assert list(pool.map(opened, [tmp_path / f"{number}.sqlite3"] * 8)) == ["wal"] * 8


def test_a_postgresql_database_is_upgraded_by_command_only(tmp_path: Path) -> None:
    told = "has no tables yet; run: emoscope challenge upgrade"
    with database_url("postgresql", tmp_path) as url, pytest.raises(EmoscopeError, match=told):
        Store.open(tmp_path, url)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit SET action = 'x'",
        "DELETE FROM audit",
        "INSERT OR REPLACE INTO audit (id, at, actor, action, object, detail) VALUES (1, '2030-01-01', '', '', '', 0)",
    ],
)
def test_the_audit_log_can_only_grow(store: Store, tmp_path: Path, change: str) -> None:
    if "OR REPLACE" in change and not store.database.is_sqlite:
        pytest.skip("PostgreSQL has no such statement")
    made_challenge(store, tmp_path)
    with pytest.raises(DBAPIError, match="append-only"), store.database.engine.begin() as connection:
        connection.execute(text(change))
    assert [line.action for line in read_audit(store, OPERATOR)] == ["challenge.create"]


def test_an_upload_over_the_limit_leaves_nothing(tmp_path: Path) -> None:
    files = FileStore(tmp_path)
    with (
        pytest.raises(TooLarge, match="larger than the limit of 10 bytes"),
        files.incoming(io.BytesIO(b"x" * 11), limit=10),
    ):
        pass
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_file_is_kept_under_its_hash_and_for_the_owner_alone(tmp_path: Path) -> None:
    files = FileStore(tmp_path)
    for _ in range(2):
        with files.incoming(io.BytesIO(b"gold"), limit=10) as part:
            kept = files.keep(part, "gold")
    assert kept.path.read_bytes() == b"gold"
    assert [path.name for path in kept.path.parent.iterdir()] == [kept.sha256]
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "gold").stat().st_mode) == 0o700
    stray = tmp_path / "incoming" / "old.part"
    stray.write_text("left behind")
    assert files.sweep() == 0
    assert files.sweep(stray.stat().st_mtime + 90_000) == 1


def test_full_disk_is_reported_and_nothing_is_accepted(store: Store, tmp_path: Path) -> None:
    ana, _ = team(store, made_challenge(store, tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # writes beyond fail like on a full disk
    try:
        with pytest.raises(StoreUnavailable, match=r"could not be stored .*; nothing was accepted"):
            submit(store, ana, "mine", "practice", answer(), file_name="a.txt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((store.files.root / "incoming").iterdir()) == []
    assert list_submissions(store, ana, "mine") == []
    assert quota(store, ana, "mine", "practice").used_today == 0
    assert submit(store, ana, "mine", "practice", answer(), file_name="a.txt").state == "queued"


def test_full_database_is_reported_and_nothing_is_accepted(tmp_path: Path) -> None:
    with opened_store("sqlite", tmp_path, Clock()) as store:
        ana, _ = team(store, made_challenge(store, tmp_path, phases=phase("practice", per_day=10_000)))
        store.database.close()

        @event.listens_for(store.database.engine, "connect")
        def no_more_pages(connection: object, _: object) -> None:
            connection.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

        accepted = 0
        with pytest.raises(StoreUnavailable, match="the disk of the database is full; nothing was changed"):
            for _ in range(1000):
                submit(store, ana, "mine", "practice", answer(), file_name="a.txt")
                accepted += 1
        assert len(list_submissions(store, ana, "mine")) == accepted


def test_lost_database_is_reported_without_its_address(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as told:
        Store.open(tmp_path, "postgresql+psycopg://secret:password@127.0.0.1:1/none")
    assert "secret" not in str(told.value)
    assert "password" not in str(told.value)
    with opened_store("sqlite", tmp_path, Clock()) as store:
        store.ready()
        store.database.close()
        (tmp_path / "emoscope.sqlite3").rename(tmp_path / "away")
        (tmp_path / "emoscope.sqlite3").mkdir()
        with pytest.raises(StoreUnavailable, match="cannot be used at the moment; nothing was changed"):
            store.ready()


def test_lost_connection_is_reopened(tmp_path: Path) -> None:
    with opened_store("postgresql", tmp_path, Clock()) as store:
        slug = made_challenge(store, tmp_path)
        ana, _ = team(store, slug)
        with store.database.read() as session:
            ours = session.scalar(text("SELECT pg_backend_pid()"))
        other = Database(store.database.url.render_as_string(hide_password=False))
        with other.write() as session:
            assert session.scalar(text("SELECT pg_terminate_backend(:pid)"), {"pid": ours})
        other.close()
        assert submit(store, ana, slug, "practice", answer(), file_name="a.txt").state == "queued"


def test_a_dump_of_postgresql_can_be_restored(tmp_path: Path) -> None:
    if shutil.which("pg_dump") is None:
        pytest.skip("no pg_dump: install PostgreSQL's client")
    with opened_store("postgresql", tmp_path / "live", Clock()) as store:
        ana, made = team(store, made_challenge(store, tmp_path))
        sent = submit(store, ana, "mine", "practice", answer(), file_name="a.txt")
        url = store.database.url.set(drivername="postgresql")
        schema = str(url.query["options"]).removeprefix("-csearch_path=")
        address = url.set(query={}).render_as_string(hide_password=False)
        dump = tmp_path / "emoscope.dump"
        subprocess.run(["pg_dump", "--format=custom", f"--schema={schema}", f"--file={dump}", address], check=True)
        copy = backup(store, tmp_path / "copy")
        with store.database.write() as session:
            session.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        store.database.close()
        with pytest.raises(EmoscopeError, match="no tables yet"):
            Store.open(copy, store.database.url.render_as_string(hide_password=False))
        subprocess.run(["pg_restore", "--no-owner", "--exit-on-error", f"--dbname={address}", dump], check=True)
        restored = Store.open(copy, store.database.url.render_as_string(hide_password=False), clock=Clock())
        assert authenticate(restored, made.token) == ana
        ScoringWorker(restored).run_once()
        assert get_submission(restored, ana, sent.id).state == "scored"
        with pytest.raises(DBAPIError, match="append-only"), restored.database.engine.begin() as connection:
            connection.execute(text("DELETE FROM audit"))
        restored.close()


def test_a_backup_of_a_store_in_use_can_be_served(tmp_path: Path) -> None:
    with opened_store("sqlite", tmp_path / "live", Clock()) as store:
        ana, made = team(store, made_challenge(store, tmp_path, phases=phase("practice", per_day=500)))
        stop, sent = threading.Event(), []

        def keep_sending() -> None:
            while not stop.is_set():
                sent.append(submit(store, ana, "mine", "practice", answer(len(sent) % 8), file_name="a.txt").id)

        thread = threading.Thread(target=keep_sending)
        thread.start()
        while len(sent) < 5:
            pass
        copy = backup(store, tmp_path / "copy")
        stop.set()
        thread.join()
        with pytest.raises(EmoscopeError, match="already exists; choose a new folder"):
            backup(store, copy)
    restored = Store.open(copy, f"sqlite:///{copy / 'emoscope.sqlite3'}", clock=Clock())
    kept = list_submissions(restored, authenticate(restored, made.token), "mine")
    assert 5 <= len(kept) <= len(sent)
    for one in kept:
        assert restored.files.path("submissions", one.sha256).is_file()
    ScoringWorker(restored).run_once()
    assert get_submission(restored, OPERATOR, kept[-1].id).state == "scored"
    restored.close()
    assert list((copy / "files" / "incoming").iterdir()) == []
