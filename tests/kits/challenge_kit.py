"""A small challenge on a real store: SQLite always, PostgreSQL where `EMOSCOPE_TEST_POSTGRES` names one."""

import io
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine, insert, select, text
from sqlalchemy.engine import make_url

from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC, Actor
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.views import Registered
from emoscope.server.errors import NotAllowed, Unauthenticated
from emoscope.server.store import Store
from emoscope.server.store.database import Database
from emoscope.server.store.migrate import upgrade

GOLD = ["happy", "sad", "angry", "others", "others", "happy", "sad", "others"]
NOON = datetime(2030, 5, 1, 12, tzinfo=UTC)

BACKENDS = ["sqlite", "postgresql"]


class Clock:
    """A clock that tests set."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **much: float) -> None:
        self.now += timedelta(**much)


class NoonClock:
    """A clock that starts at NOON and runs, so that no test meets midnight."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self) -> datetime:
        return NOON + timedelta(seconds=time.monotonic() - self._started)


@contextmanager
def database_url(backend: str, folder: Path) -> Iterator[str]:
    """The address of an empty database of one's own."""
    if backend == "sqlite":
        yield f"sqlite:///{folder / 'emoscope.sqlite3'}"
        return
    server = os.environ.get("EMOSCOPE_TEST_POSTGRES")
    if not server:
        pytest.skip("no PostgreSQL: set EMOSCOPE_TEST_POSTGRES to the address of a database for tests")
    schema = f"test_{secrets.token_hex(6)}"
    engine = create_engine(server)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    try:
        url = make_url(server).update_query_dict({"options": f"-csearch_path={schema}"})
        yield url.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        engine.dispose()


@contextmanager
def opened_store(backend: str, folder: Path, clock: Clock | None = None) -> Iterator[Store]:
    """An upgraded, empty store."""
    folder.mkdir(exist_ok=True)
    with database_url(backend, folder) as url:
        database = Database(url)
        upgrade(database)
        database.close()
        store = Store.open(folder, url) if clock is None else Store.open(folder, url, clock=clock)
        try:
            yield store
        finally:
            store.close()


def copy_as_of(revision: str, source: Database, target: Database) -> None:
    """Fill an empty database with the data of another, in the tables of an older version."""
    upgrade(target, revision)
    with source.read() as now, target.write() as then:
        tables, older = MetaData(), MetaData()
        tables.reflect(now.connection())
        older.reflect(then.connection())
        for table in older.sorted_tables:
            known = [tables.tables[table.name].c[column.name] for column in table.c]
            rows = now.execute(select(*known)).mappings().all()
            if rows and table.name != "alembic_version":
                then.execute(insert(table), [dict(row) for row in rows])


def rows_of(labels: list[str] | None, items: int = len(GOLD)) -> str:
    """An EmoContext file, with labels or without."""
    header = ["id", "turn1", "turn2", "turn3", *(["label"] if labels else [])]
    lines = ["\t".join(header)]
    for number in range(items):
        cells = [str(number), f"hello {number}", "tell me", f"so it is {number}"]
        lines.append("\t".join([*cells, *([labels[number]] if labels else [])]))
    return "\n".join(lines) + "\n"


def write_challenge(folder: Path, *, slug: str = "mine", phases: str | None = None, head: str = "") -> Path:
    """The definition and its files."""
    folder.mkdir(exist_ok=True)
    (folder / "given.txt").write_text(rows_of(None))
    (folder / "gold.txt").write_text(rows_of(GOLD))
    file = folder / f"{slug}.toml"
    file.write_text(
        f'slug = "{slug}"\ntitle = "Mine"\ntask = "emocontext"\n{head}\n'
        + (phases or phase("practice", per_day=3) + phase("final", per_day=2, board="hidden", counts="last"))
    )
    return file


def phase(name: str, **settings: object) -> str:
    """A phase that is open since the day before NOON."""
    values: dict[str, object] = {
        "title": name.title(),
        "unlabelled": "given.txt",
        "gold": "gold.txt",
        "opens": datetime(2030, 4, 30),
        "per_day": 3,
    }
    if settings.get("board") != "hidden":
        values["public_share"] = 1  # of eight items no part would tell much
    lines = [f'name = "{name}"']
    for key, value in {**values, **settings}.items():
        if value is None:
            continue
        shown = (
            value.isoformat()
            if isinstance(value, datetime)
            else str(value).lower()
            if isinstance(value, bool)
            else value
        )
        lines.append(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {shown}")
    return "[[phases]]\n" + "\n".join(lines) + "\n"


def made_challenge(store: Store, folder: Path, **settings: str) -> str:
    """A challenge in the store; its slug."""
    return create_challenge(store, OPERATOR, write_challenge(folder / "source", **settings)).slug


def team(store: Store, slug: str, name: str = "Team Joy", member: str = "Ana") -> tuple[Actor, Registered]:
    """A registered team's first member."""
    made = register_team(store, PUBLIC, slug, team=name, member=member)
    return authenticate(store, made.token), made


def answer(right: int = len(GOLD)) -> io.BytesIO:
    """A valid submission, in which the first `right` labels are those of the gold file."""
    labels = [label if number < right else ("sad" if label != "sad" else "angry") for number, label in enumerate(GOLD)]
    return io.BytesIO(rows_of(labels).encode())


def finish_jobs(store: Store, clock: Clock) -> None:
    """Do all jobs there are; comparisons are due a little later than scores."""
    worker = ScoringWorker(store)
    for _ in range(2):
        while worker.run_once():
            pass
        clock.forward(seconds=3)


def assert_refused(actions: Sequence[Callable[[Actor], object]], *others: Actor) -> None:
    """Every action is refused to other people, and to the public."""
    for number, action in enumerate(actions):
        for who in others:
            with pytest.raises(NotAllowed):
                action(who)
                pytest.fail(f"action {number} was allowed to {who.label}")
        with pytest.raises(Unauthenticated):
            action(PUBLIC)
