"""The managers' desk of a study, without a browser."""

import csv
import re
from contextlib import closing
from pathlib import Path

from fastapi.testclient import TestClient

from emoscope.server.annotate.links import manager_token
from emoscope.server.annotate.notes import Briefing, set_briefing
from emoscope.server.store.signing_key import load_key
from kits.annotation_kit import Worker, store_of, tokens

HOME = "/annotate/desk"


class DeskBrowser:
    """A manager's session."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client = client
        entered = client.post(f"{HOME}/enter", data={"token": token})
        assert entered.status_code == 200, entered.text

    def get(self, path: str = "") -> str:
        answer = self.client.get(f"{HOME}{path}", headers={"Accept": "text/html"})
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, expected: int = 200, **fields: object) -> str:
        secret = re.search(r'name="csrf" value="(\w+)"', self.get())
        assert secret is not None
        answer = self.client.post(f"{HOME}{path}", data={"csrf": secret[1], **fields}, headers={"Accept": "text/html"})
        assert answer.status_code == expected, answer.text
        return answer.text


def open_desk(client: TestClient, folder: Path) -> DeskBrowser:
    """The desk, opened with the managers' link."""
    return DeskBrowser(client, manager_token(load_key(folder)))


def brief(folder: Path, guidelines: str = "", consent: str = "") -> None:
    with closing(store_of(folder)) as store:
        set_briefing(store, Briefing(guidelines, consent))


def judged_by_all(client: TestClient, folder: Path) -> dict[str, Worker]:
    """Three annotators who agree on two of four items: key 0 has a majority, key 1 has none."""
    said = {"number 0": ("sad", "sad", "angry"), "number 1": ("sad", "angry", "others")}
    workers = {name: Worker(client, token) for name, token in tokens(folder).items()}
    for place, worker in enumerate(workers.values()):
        worker.look()
        while worker.view["state"] == "item":
            labels = next((labels for text, labels in said.items() if worker.text.endswith(text)), ("sad",) * 3)
            worker.judge(labels[place])
    return workers


def item_number(desk: DeskBrowser, name: str) -> str:
    found = re.search(rf'{HOME}/items/(\d+)">{name}<', desk.get("/items"))
    assert found is not None
    return found[1]


def rows_of(desk: DeskBrowser, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(desk.get(f"/files/{name}").splitlines()))
