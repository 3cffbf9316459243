"""The whole server with a small challenge in it, for tests of routes and pages."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from emoscope.server.app import create_app
from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.database import Database
from emoscope.server.store.migrate import upgrade
from kits.challenge_kit import NoonClock, answer, database_url, phase, write_challenge

OPENED = datetime(2020, 1, 1)
PHASES = phase("practice", opens=OPENED, per_day=3, published=True) + phase(
    "final", opens=OPENED, per_day=2, board="hidden", counts="last"
)
SUBMISSIONS = "/v1/challenges/mine/submissions"


class Site:
    """A running app with a challenge `mine`, and a token of its organiser."""

    def __init__(self, client: TestClient, organiser: str) -> None:
        self.client = client
        self.organiser = organiser

    def team(self, name: str = "Team Joy", member: str = "Ana") -> str:
        """Register a team; its first member's token."""
        made = self.client.post("/v1/challenges/mine/teams", json={"team": name, "member": member})
        assert made.status_code == 201, made.text
        token: str = made.json()["token"]
        return token

    def submit(self, token: str, content: bytes | None = None, **fields: str) -> Any:
        """Submit a file to the practice phase."""
        body = answer(6).getvalue() if content is None else content
        fields = {"phase": "practice", **fields}
        return self.client.post(
            SUBMISSIONS, headers=bearer(token), files={"file": ("mine.txt", body, "text/plain")}, data=fields
        )

    def final(self, token: str, submission: str) -> dict[str, Any]:
        """The submission once it has its final state under the current gold."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found: dict[str, Any] = self.client.get(f"/v1/submissions/{submission}", headers=bearer(token)).json()
            if found["state"] in ("scored", "failed", "rejected") and not found["stale"]:
                return found
            time.sleep(0.1)
        raise AssertionError(f"submission {submission} was not scored in time")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def prepare(folder: Path, url: str | None = None, *, phases: str = PHASES, head: str = "") -> str:
    """A data folder with a challenge `mine`; its organiser's token."""
    store = Store.open(folder, url)
    try:
        create_challenge(store, OPERATOR, write_challenge(folder / "source", phases=phases, head=head))
        return issue_organiser_token(store, OPERATOR, name="Olga", slug="mine").token
    finally:
        store.close()


@contextmanager
def opened_site(
    folder: Path, backend: str = "sqlite", *, phases: str = PHASES, head: str = "", **settings: Any
) -> Iterator[Site]:
    """The app in this process; registrations per address are not limited unless the settings say so."""
    with database_url(backend, folder) as url:
        database = Database(url)
        upgrade(database)
        database.close()
        organiser = prepare(folder, url, phases=phases, head=head)
        values = {"registrations_per_address": 10_000, "registrations_per_network": 10_000, **settings}
        made = Settings(model="nano", data_dir=folder, database_url=url, **values)
        with TestClient(create_app(made, clock=NoonClock()), follow_redirects=False) as client:
            yield Site(client, organiser)


def form_secret(page: str) -> str:
    """The CSRF token of a page's forms."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
    assert found is not None
    return found[1]
