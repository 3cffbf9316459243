"""The organisers' console without a browser: signing in, sending forms, reading what was done."""

from typing import Any

from fastapi.testclient import TestClient

from kits.challenge_kit import GOLD, rows_of
from kits.challenge_site import Site, bearer, form_secret

AT = "/challenges/mine/organise"
NO_LABELS, LABELS = rows_of(None).encode(), rows_of(GOLD).encode()


def signed_in(site: Site, token: str) -> TestClient:
    client = TestClient(site.client.app, follow_redirects=False)
    secret = form_secret(client.get("/sign-in").text)
    assert client.post("/sign-in", data={"csrf": secret, "token": token}).status_code == 303
    return client


def send(client: TestClient, path: str, files: Any = None, status: int = 200, **form: str) -> str:
    secret = form_secret(client.get("/challenges").text)
    answer = client.post(path, data={"csrf": secret, **form}, files=files)
    assert answer.status_code == status, answer.text[:2000]
    return answer.text if status != 303 else answer.headers["location"]


def api(site: Site, path: str, **options: Any) -> Any:
    return site.client.get(f"/v1/challenges/mine{path}", headers=bearer(site.organiser), **options).json()


def actions(site: Site) -> list[str]:
    return [line["action"] for line in api(site, "/audit")]
