"""The server does what the API description says about tokens, methods and priors."""

import asyncio
import re
from typing import Any

import pytest

from kits.challenge_site import SUBMISSIONS, Site, bearer

PUBLIC = {
    ("get", "/v1/challenges"),
    ("get", "/v1/challenges/{slug}"),
    ("get", "/v1/challenges/{slug}/phases/{phase}/data"),
    ("get", "/v1/challenges/{slug}/phases/{phase}/board"),
    ("get", "/v1/challenges/{slug}/export"),
    ("get", "/v1/challenges/{slug}/files"),
    ("get", "/v1/challenges/{slug}/files/{name}"),
    ("get", "/v1/challenges/{slug}/survey"),
    ("get", "/v1/challenges/{slug}/techniques"),
    ("get", "/v1/challenges/{slug}/notices"),
    ("post", "/v1/challenges/{slug}/teams"),
    ("post", "/v1/challenges/{slug}/recovery"),
    ("post", "/v1/invitations/join"),
    ("post", "/v1/registrations"),
    ("post", "/v1/recoveries"),
    ("post", "/v1/detect"),
    ("post", "/v1/detect/batch"),
    ("post", "/v1/timeline"),
    ("post", "/v1/explain"),
    ("get", "/v1/models"),
}


def test_only_what_needs_a_token_is_described_as_needing_one(shared_site: Site) -> None:
    client = shared_site.client
    values = {"slug": "nowhere", "phase": "practice", "team_id": 1, "merge_id": 1, "token_id": 1, "submission": "x"}
    values |= {"member_id": 1, "notice_id": 1}
    for path, item in client.get("/openapi.json").json()["paths"].items():
        for method, operation in item.items():
            if "security" not in operation:
                continue
            assert ({} in operation["security"]) == ((method, path) in PUBLIC), (method, path)
            if (method, path) not in PUBLIC:
                # Whatever else is wrong with the request, and whether or not there is such a challenge.
                assert client.request(method, path.format(**values)).status_code == 401, (method, path)


def test_a_token_that_is_none_is_refused_everywhere(shared_site: Site) -> None:
    for header in ("Basic YTpi", "Bearer", "Bearer emo_wrong", "emo_wrong"):
        answer = shared_site.client.get("/v1/challenges", headers={"Authorization": header})
        assert answer.status_code == 401, header


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (SUBMISSIONS, "GET, HEAD, POST"),
        ("/v1/challenges/mine/teams/1", "DELETE, GET, HEAD"),
        ("/v1/challenges/mine/tokens", "GET, HEAD, POST"),
        ("/v1/submissions/abc", "DELETE, GET, HEAD"),
        ("/v1/detect", "POST"),
    ],
)
def test_all_methods_of_an_address_are_named(shared_site: Site, path: str, allowed: str) -> None:
    answer = shared_site.client.request("PATCH", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_priors_are_described_as_they_are_checked(shared_site: Site) -> None:
    client = shared_site.client
    shape = client.get("/openapi.json").json()["components"]["schemas"]["DetectIn"]
    assert shape["anyOf"][0]["properties"]["labels"] == {"enum": ["emocontext", None]}
    prior = shape["anyOf"][0]["properties"]["prior"]["anyOf"][1]
    assert prior["required"] == ["angry", "happy", "others", "sad"]
    assert prior["additionalProperties"] is False


def test_a_huge_prior_is_a_prior(shared_site: Site) -> None:
    ask: dict[str, Any] = {"turns": ["I am so happy"]}
    scores = [
        shared_site.client.post("/v1/detect", json=ask | {"prior": dict.fromkeys(LABELS, size)}).json()["scores"]
        for size in (0.25, 1e308)
    ]
    assert scores[0] == pytest.approx(scores[1])
    assert sum(scores[1].values()) == pytest.approx(1)


def test_texts_are_described_as_they_are_checked(shared_site: Site) -> None:
    client, olga = shared_site.client, bearer(shared_site.organiser)
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    title, text = (schemas["NoticeIn"]["properties"][name]["pattern"] for name in ("title", "text"))
    notices = "/v1/challenges/mine/notices"
    for told, described in (
        ("well done \U0001f469\u200d\U0001f52c", True),  # a zero-width joiner makes one emoji of two
        ("a\x9eb", False),
        ("a\x00b", False),
        ("a\x0bb", False),
    ):
        assert all(bool(re.search(pattern, told)) is described for pattern in (title, text)), told
        for name in ("title", "text"):
            answer = client.post(notices, json={"title": "x", "text": "x", name: told}, headers=olga)
            assert answer.status_code == (201 if described else 422), (name, told, answer.text)
    for name, pattern in (("title", title), ("text", text)):
        assert not re.search(pattern, " ")
        assert re.search(pattern, " x ")
        blank = client.post(notices, json={"title": "x", "text": "x", name: " "}, headers=olga)
        assert blank.status_code == 422
    assert re.search(text, "two\nlines")
    assert not re.search(title, "two\nlines")
    changed = client.patch("/v1/challenges/mine", json={"rules": "a\x01b"}, headers=olga)
    assert changed.status_code == 422
    assert not re.search(schemas["ChangesIn"]["properties"]["rules"]["anyOf"][0]["pattern"], "a\x01b")


def test_an_integer_may_be_written_with_a_point_as_in_json_schema(shared_site: Site) -> None:
    client, olga = shared_site.client, bearer(shared_site.organiser)
    schema = client.get("/openapi.json").json()["components"]["schemas"]["ChangesIn"]["properties"]["max_teams"]
    assert schema["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 100_000}
    for number, accepted in (("304.0", True), ("3.04e2", True), ("304.5", False), ("0.0", False), ("1e999", False)):
        headers = {**olga, "Content-Type": "application/json"}
        answer = client.patch("/v1/challenges/mine", content=f'{{"max_teams": {number}}}', headers=headers)
        assert answer.status_code == (200 if accepted else 422), (number, answer.text)
        assert not accepted or answer.json()["max_teams"] == 304
    for path in ("audit?limit=3", "teams/1"):
        whole, pointed = (client.get(f"/v1/challenges/mine/{path}{end}", headers=olga) for end in ("", ".0"))
        assert (whole.status_code, whole.content) == (pointed.status_code, pointed.content), path


LABELS = ("angry", "happy", "others", "sad")


@pytest.mark.parametrize("path", [SUBMISSIONS, "/challenges/mine/submissions"])
@pytest.mark.parametrize("token", ["", "emo_wrong"])
def test_nobodys_body_is_read_before_it_is_known_whose_it_is(shared_site: Site, path: str, token: str) -> None:
    headers = [(b"host", b"testserver"), (b"content-type", b"multipart/form-data; boundary=x")]
    headers += [(b"content-length", b"16000000")]
    headers += [(name.lower().encode(), value.encode()) for name, value in (bearer(token) if token else {}).items()]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("192.0.2.1", 1),
        "server": ("testserver", 80),
        "scheme": "http",
        "http_version": "1.1",
        "app": shared_site.client.app,
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(shared_site.client.app(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 401
    assert (b"connection", b"close") in sent[0]["headers"]


def test_refusals_that_no_schema_can_state_are_described(shared_site: Site) -> None:
    client, olga = shared_site.client, bearer(shared_site.organiser)
    paths = client.get("/openapi.json").json()["paths"]
    refused = {
        operation["responses"]["422"]["description"]
        for path in paths.values()
        for operation in path.values()
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
    }
    assert len(refused) == 3  # one for each kind of file
    assert all("names" in description for description in refused)
    named = client.post("/v1/challenges/mine/organisers", json={"name": "Ol\u200bga"}, headers=olga)
    assert (named.status_code, named.json()["errors"][0]["field"]) == (422, "name")
