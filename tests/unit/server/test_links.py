"""Every link and form on a challenge's pages works for the person who sees it, deleted or not."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import delete_challenge
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, phase, rows_of, write_challenge
from kits.challenge_site import OPENED, Site, bearer, form_secret, opened_site

SLUG = "mine"
HEAD = """
report = "optional"
survey = "emocontext"
downloads = "registered"
registration = "approval"
rules = "Be fair"
[[files]]
file = "given.txt"
title = "To practise on"
[[files]]
file = "gold.txt"
phase = "over"
"""
PHASES = (
    phase("over", opens=OPENED, closes=OPENED.replace(year=2021), labels="closed")
    + phase("practice", opens=OPENED, gold="newer.txt", published=True)
    + phase("later", opens=None, board="hidden", gold="newer.txt")
)
VALUES = {"title": "A title", "text": "A text", "reason": "two accounts", "name": "Otto", "team": "Fresh"}
VALUES |= {
    "member": "Mia",
    "email": "mia@example.org",
    "max_teams": "20",
    "registration": "open",
    "confirm": "practice",
}


class Page(HTMLParser):
    """The links, ids and forms of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.forms: list[tuple[str, str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if "href" in values or "src" in values:
            self.links.append(values.get("href") or values["src"])
        if tag == "form":
            self.forms.append((values.get("method", "get"), values.get("action", ""), {}))
        elif tag in ("input", "select", "textarea") and self.forms and values.get("type") != "file":
            name = values.get("name", "")
            self.forms[-1][2][name] = values.get("value") or VALUES.get(name, "")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    source = write_challenge(tmp_path / "source").parent
    (source / "newer.txt").write_text(rows_of(GOLD[1:] + GOLD[:1]))
    with opened_site(tmp_path, phases=PHASES, head=HEAD, mail_url="console:") as opened:
        yield opened


def signed_in(site: Site, token: str) -> TestClient:
    client = TestClient(site.client.app, follow_redirects=False)
    secret = form_secret(client.get("/sign-in").text)
    assert client.post("/sign-in", data={"csrf": secret, "token": token}).status_code == 303
    return client


def crawled(client: TestClient, start: str) -> tuple[list[str], dict[str, Page]]:
    """What leads nowhere, with the page it stands on, and the pages by their addresses."""
    dead, pages, waiting, seen = [], {}, [("", start)], set()
    while waiting:
        source, path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = client.get(path)
        if answer.status_code not in (200, 303):
            dead.append(f"{source}: {path} ({answer.status_code})")
        elif answer.headers.get("content-type", "").startswith("text/html"):
            pages[path] = page = Page(answer.text)
            for link in page.links:
                address, _, anchor = link.partition("#")
                if not address and anchor and anchor not in page.ids:
                    dead.append(f"{path}: #{anchor}")
                of_challenges = re.match(r"/(challenges|organise|submissions|static|sign-in|join|recover)\b", address)
                if of_challenges and "?" not in path:  # the calendar's months and a board's sorted columns have no end
                    waiting.append((path, address))
    return dead, pages


def refused(client: TestClient, pages: dict[str, Page]) -> list[str]:
    """Forms that are there and can do nothing, each with the answer."""
    found = []
    for path, page in pages.items():
        for method, action, values in page.forms:
            elsewhere = action in ("/sign-in", "/sign-out", "/recover", "/join")
            if method != "post" or elsewhere or action.endswith(("/revoke", "/restore", "/delete")):
                continue
            secret = form_secret(client.get("/organise").text)
            answer = client.post(action, data={**values, "csrf": secret})
            if answer.status_code not in (200, 201, 202, 303, 409, 422) or "restore it first" in answer.text:
                found.append(f"{path}: {action} ({answer.status_code})")
    return found


def with_team(site: Site) -> tuple[str, str]:
    """The tokens of a member of a team that has submitted, and of one that waits to be approved."""
    body: dict[str, Any] = {"team": "Joy", "member": "Ana", "email": "ana@example.org"}
    made = site.client.post("/v1/challenges/mine/teams", json=body).json()
    approve = f"/v1/challenges/mine/teams/{made['team']['id']}/approve"
    assert site.client.post(approve, headers=bearer(site.organiser)).status_code == 200
    submitted = site.submit(made["token"])
    assert submitted.status_code == 201, submitted.text
    site.final(made["token"], submitted.json()["id"])
    notice = {"title": "Welcome", "text": "To everybody"}
    assert site.client.post("/v1/challenges/mine/notices", json=notice, headers=bearer(site.organiser)).is_success
    waits = {"team": "Waits", "member": "Ben", "email": "ben@example.org"}
    return made["token"], site.client.post("/v1/challenges/mine/teams", json=waits).json()["token"]


def test_every_link_works_for_everyone_who_sees_it(site: Site) -> None:
    approved, waiting = with_team(site)
    people = [TestClient(site.client.app, follow_redirects=False)]
    people += [signed_in(site, token) for token in (approved, waiting, site.organiser)]
    for number, client in enumerate(people):
        dead, pages = crawled(client, "/challenges")
        assert not dead, number
        assert len(pages) > 4, number


@pytest.mark.parametrize("everything", [False, True])
def test_every_link_and_form_of_a_deleted_challenge_works_for_its_organisers(site: Site, everything: bool) -> None:
    with_team(site)
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    token = issue_organiser_token(store, OPERATOR, name="Chief").token if everything else site.organiser
    delete_challenge(store, OPERATOR, SLUG)
    olga = signed_in(site, token)
    assert "deleted" in olga.get("/challenges").text
    dead, pages = crawled(olga, "/challenges")
    assert not dead
    assert len(pages) > 20
    assert sum(len(page.forms) for page in pages.values()) > 20
    restore = f"/challenges/{SLUG}/organise/restore"
    assert any(action == restore for page in pages.values() for _, action, _ in page.forms)
    assert not refused(olga, pages)


def test_deleted_challenge_is_not_linked_for_others(site: Site) -> None:
    member, _ = with_team(site)
    stranger, ana = TestClient(site.client.app, follow_redirects=False), signed_in(site, member)
    delete_challenge(site.client.app.state.store, OPERATOR, SLUG)  # type: ignore[attr-defined]
    for client in (stranger, ana):
        dead, pages = crawled(client, "/challenges")
        assert not dead
        assert not any(SLUG in path for path in pages)
        for path in (f"/challenges/{SLUG}", f"/challenges/{SLUG}/board/practice", f"/challenges/{SLUG}/submissions"):
            assert client.get(path).status_code == 404, path
