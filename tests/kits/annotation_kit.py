"""A small annotation study: tasks, gold questions, and a desk to judge them at."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import select

from emoscope.core.dialogue import Turn
from emoscope.corpus.annotation.items import Item
from emoscope.server.annotate.app import create_annotation_app
from emoscope.server.annotate.links import link_token
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.annotate.studies import add_annotators, create_study
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.models import Annotator
from emoscope.server.store.signing_key import load_key

LABELS = ("happy", "sad", "angry", "others")
CONTENT_TYPE = {"Content-Type": "application/json"}


def items(asked: int, gold: int = 0, *, turns: int = 3, whole: bool = False) -> list[Item]:
    """Made-up dialogues; those named `g...` are gold questions, about a prize."""
    ordinary = [_item(f"d{n}", f"I lost key number {n}", turns, whole) for n in range(asked)]
    return ordinary + [_item(f"g{n}", f"I won prize number {n}", turns, whole) for n in range(gold)]


def _item(name: str, text: str, turns: int, whole: bool) -> Item:
    said = [Turn(text, "Ana"), Turn("oh", "Ben"), Turn("really, it is so", "Ana")]
    return Item(name, tuple(said[:turns]), whole, {"source": "made up"})


def gold_answers(questions: list[Item], label: str = "happy") -> dict[str, str]:
    """Every task of the items that are gold questions, with the same answer."""
    return {task: label for item in questions if item.name.startswith("g") for task in item.tasks}


def made_study(folder: Path, questions: list[Item], people: tuple[str, ...] = ("ann", "ben"), **rules: Any) -> None:
    """A study in a folder."""
    with closing(store_of(folder)) as store:
        gold = gold_answers(questions)
        checked = StudyRules.checked(**{"labels": LABELS, "judges": 2, "min_gold_answers": 1, **rules})
        create_study(store, checked, questions, gold)
        add_annotators(store, people)


def tokens(folder: Path) -> dict[str, str]:
    """Everyone's token, by name."""
    with closing(store_of(folder)) as store:
        return {name: link_token(load_key(folder), number) for number, name in annotators(store).items()}


def annotators(store: Store) -> dict[int, str]:
    """The annotators' names, by id."""
    with store.database.read() as session:
        return {row.id: row.name for row in session.scalars(select(Annotator))}


def store_of(folder: Path) -> Store:
    """The study's database."""
    return Store.open(folder, _url(folder))


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'emoscope.sqlite3'}"


class Worker:
    """An annotator's browser, without the browser."""

    def __init__(self, client: TestClient, token: str) -> None:
        self._client = client
        self.headers = {"Authorization": f"Bearer {token}"}
        self.view: dict[str, Any] = {}

    def ask(self, action: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = self._client.post(f"/annotate/{action}", json=dict(body or {}), headers=self.headers)
        assert answer.status_code == 200, answer.text
        self.view = answer.json()
        return self.view

    def look(self) -> dict[str, Any]:
        return self.ask("look")

    def judge(self, *labels: str, others: tuple[str, ...] = ()) -> dict[str, Any]:
        answers = [{"label": label, "others": list(others)} for label in labels]
        return self.ask("judge", {"version": self.view["version"], "answers": answers})

    def step(self, action: str) -> dict[str, Any]:
        return self.ask(action, {"version": self.view["version"]})

    @property
    def text(self) -> str:
        """The text of the current item."""
        return str(self.view["turns"][0]["text"])

    @property
    def is_gold(self) -> bool:
        return "prize" in self.text


@contextmanager
def opened(folder: Path) -> Iterator[TestClient]:
    """The app of a study, in this process."""
    settings = Settings(data_dir=folder, database_url=_url(folder))
    with TestClient(create_annotation_app(settings)) as client:
        yield client
