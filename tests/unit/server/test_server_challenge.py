"""A shared task over HTTP: from registration to the board, and who may see what."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.datastructures import UploadFile

from emoscope.server.errors import StoreUnavailable
from emoscope.server.store.database import Database
from kits.challenge_kit import GOLD, answer, rows_of
from kits.challenge_site import SUBMISSIONS, Site, bearer, opened_site


def test_from_registration_to_the_board(site: Site) -> None:
    token = site.team("Aurora")
    made = site.submit(token, answer(6).getvalue())
    assert made.status_code == 201, made.text
    assert made.json()["state"] == "queued"
    found = site.final(token, made.json()["id"])
    assert found["state"] == "scored", found
    assert 0 < found["figures"]["score"] < 1
    assert found["log"]
    board = site.client.get("/v1/challenges/mine/phases/practice/board").json()
    teams = [entry for entry in board["entries"] if entry["kind"] == "team"]
    assert [(entry["name"], entry["rank"]) for entry in teams] == [("Aurora", 1)]
    assert any(entry["kind"] == "published" for entry in board["entries"])
    listed = site.client.get(SUBMISSIONS, headers=bearer(token)).json()
    assert [one["id"] for one in listed] == [made.json()["id"]]
    left = site.client.get("/v1/challenges/mine/phases/practice/quota", headers=bearer(token)).json()
    assert left["left_today"] == 2


def test_a_refused_file_names_row_and_reason_and_costs_nothing(site: Site) -> None:
    token = site.team()
    wrong = rows_of(["happy", "glad", *GOLD[2:]]).encode()
    refused = site.submit(token, wrong)
    assert refused.status_code == 422
    problem = refused.json()
    assert refused.headers["content-type"] == "application/problem+json"
    assert "glad" in problem["detail"]
    assert "row 3" in problem["detail"]
    assert problem["rows"][0] == problem["detail"]
    left = site.client.get("/v1/challenges/mine/phases/practice/quota", headers=bearer(token)).json()
    assert (left["used_today"], left["rejected_today"]) == (0, 1)


def test_exceeded_quota_is_429_with_retry_after(site: Site) -> None:
    token = site.team()
    for _ in range(3):
        assert site.submit(token).status_code == 201
    refused = site.submit(token)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0


def test_the_same_request_sent_again_counts_once(site: Site) -> None:
    token = site.team()
    headers = {**bearer(token), "Idempotency-Key": "abc-1"}
    sent = {"files": {"file": ("a.txt", answer(3).getvalue())}, "data": {"phase": "practice"}, "headers": headers}
    first, second = (site.client.post(SUBMISSIONS, **sent) for _ in range(2))  # type: ignore[arg-type]
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"]
    assert second.json()["repeated"] is True


def test_members_join_by_invitation_and_teams_merge(shared_site: Site) -> None:
    client = shared_site.client
    first, second = shared_site.team("Comet", "Cleo"), shared_site.team("Dune", "Dan")
    invitation = client.post("/v1/challenges/mine/invitations", headers=bearer(first)).json()["token"]
    joined = client.post("/v1/invitations/join", json={"invitation": invitation, "member": "Carl"})
    assert joined.status_code == 201
    again = client.post("/v1/invitations/join", json={"invitation": invitation, "member": "Eve"})
    assert 400 <= again.status_code < 500
    own = client.get("/v1/challenges/mine/team", headers=bearer(joined.json()["token"])).json()
    assert [member["name"] for member in own["members"]] == ["Cleo", "Carl"]
    offer = client.post("/v1/challenges/mine/merges", headers=bearer(first), json={"team": "Dune"}).json()
    address = f"/v1/challenges/mine/merges/{offer['id']}"
    assert client.post(address, headers=bearer(first), json={"accept": True}).status_code in (403, 404, 409)
    merged = client.post(address, headers=bearer(second), json={"accept": True})
    assert merged.json()["state"] == "accepted"
    names = {
        member["name"] for member in client.get("/v1/challenges/mine/team", headers=bearer(second)).json()["members"]
    }
    assert names == {"Cleo", "Carl", "Dan"}


def test_other_peoples_things_do_not_exist(shared_site: Site) -> None:
    client = shared_site.client
    own, other = shared_site.team("Echo"), shared_site.team("Fog")
    made = shared_site.submit(own).json()
    for path in (f"/v1/submissions/{made['id']}", f"/v1/submissions/{made['id']}/file"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=bearer(other)).status_code == 404
        assert client.get(path, headers=bearer(shared_site.organiser)).status_code == 200
    assert client.delete(f"/v1/submissions/{made['id']}", headers=bearer(other)).status_code == 404
    assert made["id"] not in client.get(SUBMISSIONS, headers=bearer(other)).text
    unknown = client.get("/v1/submissions/0000000000000000", headers=bearer(other))
    hidden = client.get(f"/v1/submissions/{made['id']}", headers=bearer(other))
    assert unknown.json() == hidden.json()  # nothing tells whether it is there


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/challenges/mine/teams"),
        ("GET", "/v1/challenges/mine/audit"),
        ("POST", "/v1/challenges/mine/phases/practice/close"),
        ("POST", "/v1/challenges/mine/phases/practice/open"),
        ("POST", "/v1/challenges/mine/rescore"),
        ("DELETE", "/v1/challenges/mine/teams/1"),
    ],
)
def test_organising_is_for_organisers(shared_site: Site, method: str, path: str) -> None:
    body = {"phase": None} if path.endswith("rescore") else None
    assert shared_site.client.request(method, path, json=body).status_code == 401
    member = shared_site.team(f"Team {method} {path.rsplit('/', 1)[-1]}")
    assert shared_site.client.request(method, path, json=body, headers=bearer(member)).status_code == 403


def test_wrong_tokens_all_get_the_same_answer(shared_site: Site) -> None:
    answers = set()
    for header in ("Bearer nothing", "Bearer emo_" + "a" * 43, "Bearer org_" + "b" * 500, "Bearer ünknown"):
        found = shared_site.client.get("/v1/challenges/mine/team", headers={"Authorization": header.encode()})
        assert found.status_code == 401
        assert found.headers["www-authenticate"] == "Bearer"
        answers.add(found.text)
    assert len(answers) == 1


def test_a_hidden_board_is_hidden_until_the_phase_closes(site: Site) -> None:
    client = site.client
    token = site.team()
    path = "/v1/challenges/mine/phases/final/board"
    made = site.submit(token, phase="final").json()
    assert site.final(token, made["id"])["figures"] is None
    assert client.get(path).status_code == 403
    assert client.get(path, headers=bearer(token)).status_code == 403
    assert client.get(path, headers=bearer(site.organiser)).status_code == 200
    closed = client.post("/v1/challenges/mine/phases/final/close", headers=bearer(site.organiser))
    assert closed.status_code == 200
    assert client.get(path).status_code == 200


def test_exports_carry_no_gold_and_no_formula(shared_site: Site) -> None:
    refused = shared_site.client.post("/v1/challenges/mine/teams", json={"team": "=SUM(1,2)", "member": "Ana"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "team"
    token = shared_site.team("Sum =1+2, and more")
    made = shared_site.submit(token).json()
    shared_site.final(token, made["id"])
    exported = shared_site.client.get("/v1/challenges/mine/phases/practice/board?format=csv")
    assert exported.headers["content-type"].startswith("text/csv")
    assert "attachment" in exported.headers["content-disposition"]
    assert not any(cell.startswith("=") for line in exported.text.splitlines() for cell in line.split(","))
    everything = shared_site.client.get("/v1/challenges/mine/export")
    assert everything.status_code == 200
    data = shared_site.client.get("/v1/challenges/mine/phases/practice/data")
    assert data.text == rows_of(None)
    assert "attachment" in data.headers["content-disposition"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty", b""),
        ("utf-16", rows_of(GOLD).encode("utf-16")),
        ("nul", rows_of(GOLD).replace("hello 1", "hel\x00lo").encode()),
        ("zip", b"PK\x03\x04" + b"\x00" * 500),
        ("long line", b"id\t" + b"a" * 3_000_000),
        ("deep JSON", b"[" * 100_000),
        ("HTML", b"<script>alert(1)</script>"),
        ("binary", bytes(range(256)) * 10),
        ("short", rows_of(GOLD, items=3).encode()),
        ("NaN", rows_of(["NaN"] * len(GOLD)).encode()),
    ],
)
def test_hostile_files_are_refused_clearly(shared_site: Site, name: str, content: bytes) -> None:
    refused = shared_site.submit(shared_site.team(f"Hostile {name}"), content)
    assert refused.status_code == 422, refused.text
    assert refused.json()["detail"]
    assert len(refused.json()["detail"]) < 500


def test_a_wrong_media_type_is_refused_clearly(shared_site: Site) -> None:
    headers = bearer(shared_site.team("Mime"))
    for kind in ("image/png", "application/zip"):
        files = {"file": ("mine.txt", answer(4).getvalue(), kind)}
        refused = shared_site.client.post(SUBMISSIONS, headers=headers, files=files, data={"phase": "practice"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "file")
        assert f"it is {kind}" in refused.json()["detail"]
    for kind in ("text/plain", "application/json", "application/octet-stream"):  # not a form at all
        refused = shared_site.client.post(
            SUBMISSIONS, headers={**headers, "Content-Type": kind}, content=answer(4).getvalue()
        )
        assert refused.status_code == 415, refused.text
        assert "multipart/form-data" in refused.json()["detail"]
    assert shared_site.client.get(SUBMISSIONS, headers=headers).json() == []


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a\r\nSet-Cookie: x=1.txt", "<img src=x>.txt", "x" * 5000, "ok\x00.txt"]
)
def test_a_hostile_file_name_is_only_a_name(shared_site: Site, name: str) -> None:
    token = shared_site.team(f"Named {hash(name) % 10_000}")
    made = shared_site.client.post(
        SUBMISSIONS, headers=bearer(token), files={"file": (name, answer(4).getvalue())}, data={"phase": "practice"}
    )
    assert made.status_code in (201, 400, 422), made.text
    if made.status_code == 201:
        got = shared_site.client.get(f"/v1/submissions/{made.json()['id']}/file", headers=bearer(token))
        assert got.content == answer(4).getvalue()
        assert "set-cookie" not in got.headers
        assert "/" not in made.json()["file_name"]


def test_an_upload_over_the_limit_is_refused_early(tmp_path: Path) -> None:
    with opened_site(tmp_path) as site:
        token = site.team()
        refused = site.submit(token, b"x" * (17 << 20))
        assert refused.status_code == 413
        assert "larger than" in refused.json()["detail"]


def test_wrong_parts_of_an_address(shared_site: Site) -> None:
    for path in (
        "/v1/challenges/NOPE",
        "/v1/challenges/%00",
        "/v1/challenges/mine/teams/99999999999999999999",
        "/v1/challenges/mine/phases/%00/board",
        "/v1/challenges/mine/audit?before=99999999999999999999",
        "/v1/submissions/%00",
    ):
        answer_ = shared_site.client.get(path, headers=bearer(shared_site.organiser))
        assert answer_.status_code in (404, 422), path
        assert answer_.headers["content-type"] == "application/problem+json"


def test_a_hundred_uploads_at_once_never_pass_the_quota(site: Site) -> None:
    token = site.team()
    with ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(lambda _: site.submit(token).status_code, range(100)))
    assert answers.count(201) == 3
    assert set(answers) == {201, 429}
    left = site.client.get("/v1/challenges/mine/phases/practice/quota", headers=bearer(token)).json()
    assert (left["used_today"], left["left_today"]) == (3, 0)


def test_a_full_disk_under_an_upload_is_not_the_clients_mistake(
    shared_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = shared_site.team("Fullness")

    async def full(self: UploadFile, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(UploadFile, "write", full)
        refused = shared_site.submit(token)
    assert refused.status_code == 503
    assert "nothing was accepted" in refused.json()["detail"]
    assert refused.headers["retry-after"] == "5"
    assert shared_site.client.get(SUBMISSIONS, headers=bearer(token)).json() == []


def test_lost_database_is_reported_and_leaves_nothing_half_done(
    shared_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = shared_site.team("Patience")

    def lost(self: Database) -> None:
        raise StoreUnavailable("the database cannot be used at the moment; nothing was changed")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", lost)
        refused = shared_site.submit(token)
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "5"
        patch.setattr(Database, "read", lost)
        assert shared_site.client.get("/readyz").status_code == 503
        assert shared_site.client.get("/challenges", headers={"Accept": "text/html"}).status_code == 503
        assert shared_site.client.post("/v1/detect", json={"turns": ["still here"]}).status_code == 200
    assert shared_site.client.get(SUBMISSIONS, headers=bearer(token)).json() == []
    assert shared_site.submit(token).status_code == 201
