"""The pages without a browser: content, forms, and protection against misuse."""

import html
import re
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from emoscope.server.challenge import pages
from emoscope.server.http.security import CONTENT_POLICY
from emoscope.server.sessions import Sessions
from emoscope.server.store.signing_key import load_key
from kits.challenge_kit import GOLD, answer, rows_of
from kits.challenge_site import Site, bearer, form_secret

STATIC = Path(__file__).parents[3] / "src" / "emoscope" / "server" / "http"


@pytest.fixture
def site(shared_site: Site) -> Site:
    """The site as somebody who has not signed in."""
    shared_site.client.cookies.clear()
    return shared_site


def sign_in(client: TestClient, token: str) -> None:
    secret = form_secret(client.get("/sign-in").text)
    assert client.post("/sign-in", data={"csrf": secret, "token": token}).status_code == 303


def register(client: TestClient, team: str, member: str = "Ana") -> str:
    secret = form_secret(client.get("/challenges/mine").text)
    made = client.post("/challenges/mine/register", data={"csrf": secret, "team": team, "member": member})
    assert made.status_code == 201, made.text
    found = re.search(r'<pre id="token" class="secret">([^<]+)</pre>', made.text)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/detect", "/detect?two=1", "/model", "/docs"),
        *("/challenges", "/challenges/mine", "/challenges/mine/board/practice", "/sign-in", "/join"),
    ],
)
def test_pages_are_whole_and_load_nothing_from_elsewhere(site: Site, path: str) -> None:
    found = site.client.get(path)
    assert found.status_code == 200
    assert found.headers["content-security-policy"] == CONTENT_POLICY
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["referrer-policy"] == "same-origin"
    assert found.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert '<html lang="en">' in found.text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', re.sub(r"<a [^>]*>", "", found.text))
    assert loaded
    assert all(address.startswith("/static/") for address in loaded)
    # The policy would forbid them; a page that relies on them would be broken.
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", found.text)
    for address in loaded:
        assert site.client.get(address).status_code == 200


def test_our_own_scripts_reach_for_nothing_outside() -> None:
    for file in (path for path in (STATIC / "static").rglob("*") if path.is_file()):
        text = file.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), file.name
        assert "innerHTML" not in text, file.name


def test_every_field_has_a_label(site: Site) -> None:
    for path in ("/", "/detect?two=1", "/challenges/mine", "/sign-in", "/join"):
        page = site.client.get(path).text
        for tag, attributes in re.findall(r"<(input|select|textarea)\b([^>]*)>", page):
            if 'type="hidden"' in attributes:
                continue
            name = re.search(r'\bid="([^"]+)"', attributes)
            inside = re.search(rf"<label[^>]*>(?:(?!</label>).)*<{tag}{re.escape(attributes)}>", page, re.DOTALL)
            assert inside or (name and f'for="{name[1]}"' in page), (path, tag, attributes)


def test_errors_are_pages_for_people_and_documents_for_programs(site: Site) -> None:
    page = site.client.get("/challenges/none", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    document = site.client.get("/challenges/none", headers={"Accept": "application/json"})
    assert document.headers["content-type"] == "application/problem+json"
    assert page.headers["content-security-policy"] == CONTENT_POLICY


def test_register_submit_and_see_the_board(site: Site) -> None:
    client = site.client
    token = register(client, "Walkers")
    page = client.get("/challenges/mine").text
    assert "Submissions left today: <strong>3</strong> of 3" in page
    files = {"file": ("walk.txt", answer(7).getvalue())}
    form = {"csrf": form_secret(page), "phase": "practice", "note": "first <b>try</b>"}
    made = client.post("/challenges/mine/submissions", data=form, files=files)
    assert made.status_code == 303, made.text
    address = made.headers["location"]
    site.final(token, address.rsplit("/", 1)[-1])
    shown = client.get(address).text
    assert "scored" in shown
    assert "first &lt;b&gt;try&lt;/b&gt;" in shown
    assert client.get(f"{address}/state").json() == {"state": "scored", "final": True}
    board = client.get("/challenges/mine/board/practice").text
    assert "Walkers" in board
    assert ">Cluster</th>" in board
    assert "<circle" in board
    assert client.get("/challenges/mine/board/practice/csv").headers["content-type"].startswith("text/csv")
    assert client.get("/challenges/mine/board/practice/json").json()["phase"] == "practice"
    listed = client.get("/challenges/mine/submissions").text
    assert "walk.txt" in listed


def test_refused_upload_gives_the_reason_on_the_page_and_as_json(site: Site) -> None:
    client = site.client
    register(client, "Refused")
    secret = form_secret(client.get("/challenges/mine").text)
    files = {"file": ("bad.txt", rows_of(["glad"] * len(GOLD)).encode())}
    page = client.post("/challenges/mine/submissions", data={"csrf": secret, "phase": "practice"}, files=files)
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert "glad" in page.text
    document = client.post(
        "/challenges/mine/submissions",
        data={"csrf": secret, "phase": "practice"},
        files=files,
        headers={"Accept": "application/json"},
    )
    assert len(document.json()["rows"]) == len(GOLD)
    refused = client.get(f"/submissions/{document.json()['submission']}").text
    assert "Why it was rejected" in refused
    assert "Download the file" not in refused  # it is not kept
    assert "Remove from the leaderboard" not in refused  # nor is it on one
    nothing = client.post("/challenges/mine/submissions", data={"csrf": secret, "phase": "practice"})
    assert nothing.status_code == 422
    assert "Choose a file first" in nothing.text


def test_invite_join_and_merge_by_pages(site: Site) -> None:
    client = site.client
    register(client, "Inviters", "Ina")
    team = client.get("/challenges/mine/team").text
    invited = client.post("/challenges/mine/team/invite", data={"csrf": form_secret(team)}).text
    found = re.search(r"/join#(inv_[\w-]+)", invited)
    assert found is not None
    client.cookies.clear()
    secret = form_secret(client.get("/join").text)
    joined = client.post("/join", data={"csrf": secret, "invitation": found[1], "member": "Joe"})
    assert joined.status_code == 201
    assert "Joe" in client.get("/challenges/mine/team").text
    client.cookies.clear()
    register(client, "Mergers", "Max")
    secret = form_secret(client.get("/challenges/mine/team").text)
    for _ in range(2):
        offered = client.post("/challenges/mine/team/merge", data={"csrf": secret, "team": "Inviters"})
        assert offered.status_code == 303, offered.text
        offers = re.findall(r"/team/merge/(\d+).*Withdraw the offer", client.get("/challenges/mine/team").text)
        assert len(offers) == 1
        back = client.post(f"/challenges/mine/team/merge/{offers[0]}", data={"csrf": secret, "accept": "false"})
        assert back.status_code == 303
    wrong = client.post("/challenges/mine/team/merge", data={"csrf": secret, "team": "No such team"})
    assert wrong.status_code in (404, 422)
    assert 'role="alert"' in wrong.text


def test_the_organiser_opens_closes_and_reads_the_audit_log(site: Site) -> None:
    client = site.client
    register(client, "Watched")
    assert client.get("/challenges/mine/organise").status_code == 403
    client.cookies.clear()
    assert client.get("/challenges/mine/organise").status_code == 401
    sign_in(client, site.organiser)
    page = client.get("/challenges/mine/organise").text
    assert "Watched" in page
    assert "team.register" in page or "register" in page
    secret = form_secret(page)
    form = {"csrf": secret, "confirm": "final"}
    assert client.post("/challenges/mine/organise/phases/final/close", data=form).status_code == 200
    assert client.post("/challenges/mine/organise/phases/final/open", data=form).status_code == 200
    again = client.post("/challenges/mine/organise/rescore", data={"csrf": secret, "phase": "practice"})
    assert "being rescored" in again.text


def test_html_in_names_is_text(site: Site) -> None:
    client = site.client
    evil = "<script>alert(1)</script>"
    secret = form_secret(client.get("/challenges/mine").text)
    made = client.post("/challenges/mine/register", data={"csrf": secret, "team": evil, "member": '"><img src=x>'})
    assert made.status_code in (201, 422)
    assert "<script>alert" not in made.text
    assert "<img src=x>" not in made.text
    for path in ("/challenges/mine", "/challenges/mine/team", "/challenges/mine/board/practice"):
        assert evil not in client.get(path).text


def test_a_form_from_another_site_is_refused(site: Site) -> None:
    client = site.client
    secret = form_secret(client.get("/challenges/mine").text)
    form = {"csrf": secret, "team": "Stolen", "member": "Eve"}
    path = "/challenges/mine/register"
    assert client.post(path, data={**form, "csrf": ""}).status_code == 403
    assert client.post(path, data={**form, "csrf": "0" * 64}).status_code == 403
    assert client.post(path, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.post(path, data=form, headers={"Origin": "null"}).status_code == 403
    assert client.post(path, data=form, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    stranger = TestClient(client.app, follow_redirects=False)  # without the cookie the secret belongs to
    assert stranger.post(path, data=form).status_code == 403
    assert "Stolen" not in client.get("/v1/challenges/mine/teams", headers=bearer(site.organiser)).text


def test_every_form_of_the_pages_is_guarded(site: Site) -> None:
    sign_in(site.client, site.organiser)
    routes = [route for router in pages.ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    addresses = [route.path for route in routes if "POST" in route.methods]
    assert len(addresses) >= 14
    parts = {"slug": "mine", "phase": "practice", "action": "delete"}
    for address in addresses:
        filled = re.sub(r"\{(\w+)\}", lambda found: parts.get(found[1], "1"), address)
        assert site.client.post(filled).status_code == 403, address


def test_signing_in_gives_a_new_session(site: Site) -> None:
    client = site.client
    client.get("/sign-in")
    planted = client.cookies["emoscope"]
    sign_in(client, site.organiser)
    assert client.cookies["emoscope"] != planted
    outsider = TestClient(client.app, cookies={"emoscope": planted}, follow_redirects=False)
    assert outsider.get("/challenges/mine/organise").status_code == 401


def test_the_session_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    cookie = site.client.get("/sign-in").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    secure = Sessions(site.client.app.state.store, b"k" * 32, https=True)
    assert secure.cookie.startswith("__Host-")


def test_forged_or_expired_cookie_is_anonymous(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions: Sessions = site.client.app.state.sessions  # type: ignore[attr-defined]
    value = sessions.encoded(sessions.begin(1))
    assert sessions.decoded(value) is not None
    foreign = Sessions(site.client.app.state.store, b"x" * 32).encoded(sessions.begin(1))
    _, signature = value.split(".")
    altered = f"{sessions.encoded(sessions.begin(2)).split('.')[0]}.{signature}"
    for forged in ("", ".", "a.1.9999999999.", value[:-1], altered, "é" * 10, foreign):
        assert sessions.decoded(forged) is None
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert sessions.decoded(value) is None


def test_revoking_a_token_ends_its_sessions(site: Site) -> None:
    client = site.client
    token = register(client, "Leavers")
    team = client.get("/challenges/mine/team").text
    revoke = re.search(r'action="(/challenges/mine/team/token/\d+/revoke)"', team)
    assert revoke is not None
    cookies = dict(client.cookies)
    assert client.post(revoke[1], data={"csrf": form_secret(team), "confirm": "Ana"}).status_code == 303
    old = TestClient(client.app, cookies=cookies, follow_redirects=False)
    assert old.get("/challenges/mine/team").status_code == 401
    assert client.get("/v1/challenges/mine/team", headers=bearer(token)).status_code == 401


def test_signing_in_does_not_reveal_who_exists(site: Site) -> None:
    client = site.client
    answers = set()
    for token in ("", "emo_" + "a" * 43, "org_" + "b" * 43, "x" * 290, "inv_guess"):
        page = client.get("/sign-in").text
        refused = client.post("/sign-in", data={"csrf": form_secret(page), "token": token})
        assert refused.status_code == 401
        answers.add(re.sub(r'value="[0-9a-f]+"', "", refused.text))
    assert len(answers) == 1


def test_cookie_is_not_accepted_as_bearer_token(site: Site) -> None:
    sign_in(site.client, site.organiser)
    assert site.client.get("/v1/challenges/mine/teams").status_code == 401


def test_line_breaks_cannot_reach_a_header(site: Site) -> None:
    for path in ("/challenges/mine%0d%0aSet-Cookie:%20x=1", "/submissions/a%0d%0ab/file", "/static/%0d%0a"):
        found = site.client.get(path)
        assert found.status_code in (401, 404, 422)
        assert "x=1" not in found.headers.get("set-cookie", "")


def test_static_files_stay_in_their_folder(site: Site) -> None:
    for path in ("../rendering.py", "%2e%2e/rendering.py", "..%2frendering.py", "/etc/passwd", "..%5crendering.py"):
        assert site.client.get(f"/static/{path}").status_code == 404


def test_the_session_key_is_private_and_kept(tmp_path: Path) -> None:
    key = load_key(tmp_path)
    assert load_key(tmp_path) == key
    assert (tmp_path / "session.key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["session.key"]


def test_irreversible_actions_need_confirmation(site: Site) -> None:
    client = site.client
    sign_in(client, site.organiser)
    secret = form_secret(client.get("/challenges/mine/organise").text)
    path = "/challenges/mine/organise/phases/practice/close"
    asked = client.post(path, data={"csrf": secret})
    assert (asked.status_code, "Close phase practice?" in asked.text) == (200, True)
    wrong = client.post(path, data={"csrf": secret, "confirm": "final"})
    assert (wrong.status_code, "What was typed is not" in wrong.text) == (422, True)
    phases = client.get("/v1/challenges/mine").json()["phases"]
    assert phases[0]["state"] == "open"
    client.cookies.clear()
    token = register(client, "Askers")
    secret = form_secret(client.get("/challenges/mine").text)
    assert client.post(path, data={"csrf": secret, "confirm": "practice"}).status_code == 403
    offerers = TestClient(client.app, follow_redirects=False)
    register(offerers, "Offerers")
    offer = {"csrf": form_secret(offerers.get("/challenges/mine/team").text), "team": "Askers"}
    assert offerers.post("/challenges/mine/team/merge", data=offer).status_code == 303
    page = client.get("/challenges/mine/team").text
    answer_path = re.search(r"/challenges/mine/team/merge/\d+", page)
    assert answer_path is not None
    form = {"csrf": form_secret(page), "accept": "true"}
    assert "Merge with Offerers?" in client.post(answer_path[0], data=form).text
    assert client.post(answer_path[0], data={**form, "confirm": "offerers"}).status_code == 303
    assert len(client.get("/v1/challenges/mine/team", headers=bearer(token)).json()["members"]) == 2


def test_deleting_can_be_undone(site: Site) -> None:
    client = site.client
    token = register(client, "Deleted")
    number = client.get("/v1/challenges/mine/team", headers=bearer(token)).json()["id"]
    sent = site.submit(token).json()["id"]
    page = client.post(
        f"/submissions/{sent}/delete", data={"csrf": form_secret(client.get(f"/submissions/{sent}").text)}
    )
    assert f'action="/submissions/{sent}/restore"' in page.text
    assert ">Undo<" in page.text
    client.cookies.clear()
    sign_in(client, site.organiser)
    secret = form_secret(client.get("/challenges/mine/organise").text)
    deleted = client.post(f"/challenges/mine/organise/teams/{number}/delete", data={"csrf": secret})
    assert "Deleted is deleted" in deleted.text
    undo = f"/challenges/mine/organise/teams/{number}/restore"
    assert f'action="{undo}"' in deleted.text
    assert "Deleted is restored" in client.post(undo, data={"csrf": secret}).text
    assert client.get("/v1/challenges/mine/team", headers=bearer(token)).status_code == 200


def test_revoking_the_only_token_offers_a_new_one(site: Site) -> None:
    client = site.client
    token = register(client, "Careful", "Cem")
    team = client.get("/challenges/mine/team").text
    revoke = re.search(r'action="(/challenges/mine/team/token/\d+/revoke)"', team)
    assert revoke is not None
    form = {"csrf": form_secret(team)}
    asked = client.post(revoke[1], data=form).text
    assert "This is your only token" in asked
    assert "Revoke it and get a new one" in asked
    renewed = client.post(revoke[1], data={**form, "confirm": "Cem", "renew": "yes"})
    found = re.search(r'<pre id="token" class="secret">([^<]+)</pre>', renewed.text)
    assert found is not None
    assert client.get("/challenges/mine/team").status_code == 200  # still signed in
    assert client.get("/v1/challenges/mine/team", headers=bearer(token)).status_code == 401
    assert client.get("/v1/challenges/mine/team", headers=bearer(html.unescape(found[1]))).status_code == 200


def test_cookie_is_invalid_after_sign_out(site: Site) -> None:
    client = site.client
    register(client, "Leaving", "Lea")
    page = client.get("/challenges/mine/team")
    assert page.status_code == 200
    copied = TestClient(client.app, cookies=dict(client.cookies), follow_redirects=False)
    assert copied.get("/challenges/mine/team").status_code == 200
    assert client.post("/sign-out", data={"csrf": form_secret(page.text)}).status_code == 303
    assert copied.get("/challenges/mine/team").status_code == 401
    assert client.get("/challenges/mine/team").status_code == 401
