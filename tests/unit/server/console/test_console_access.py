"""Who may use the organisers' console and its API, and that no action works without its form."""

import re
from typing import Any

from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from emoscope.server.challenge.pages import console
from kits.challenge_site import Site, bearer, form_secret
from kits.console_kit import AT, actions, api, send, signed_in

GETS = sorted(
    route.path
    for router in console.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and "GET" in (route.methods or ())
)

POSTS = sorted(
    route.path
    for router in console.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and "POST" in (route.methods or ())
)

PARTS = {"slug": "mine", "phase": "practice", "action": "delete", "kind": "json"}


def _path(template: str) -> str:
    template = template.replace("{kind}.json", "all.json")
    parts = PARTS | ({"action": "open"} if "/phases/" in template else {})
    return re.sub(r"\{(\w+)\}", lambda found: parts.get(found[1], "1"), template)


def test_a_page_that_needs_a_token_leads_to_the_sign_in(site: Site) -> None:
    link = '<a href="/sign-in">Sign in</a></p>'
    for path, status in (("/organise", 401), ("/nowhere", 404)):
        answer = site.client.get(path, headers={"Accept": "text/html"})
        assert (answer.status_code, link in answer.text) == (status, status == 401)


def test_pages_and_forms_need_an_organiser_and_a_csrf_token(site: Site) -> None:
    member = site.team("Curious")
    players, strangers = signed_in(site, member), TestClient(site.client.app, follow_redirects=False)
    organisers = signed_in(site, site.organiser)
    assert len(GETS) >= 16
    assert len(POSTS) >= 20
    for path in map(_path, GETS):
        assert players.get(path).status_code == 403, path
        assert strangers.get(path).status_code == 401, path
    for path in map(_path, POSTS):
        for client, status in ((players, 403), (strangers, 401)):
            form = {"csrf": form_secret(client.get("/sign-in").text)}
            for name in ("confirm", "title", "text", "reason", "name", "team", "member"):
                form[name] = "practice"
            assert client.post(path, data=form).status_code == status, (path, status)
        assert organisers.post(path).status_code == 403, path
        assert organisers.post(path, data={"csrf": "0" * 64}).status_code == 403, path
        foreign = {"csrf": form_secret(organisers.get("/sign-in").text)}
        headers = {"Origin": "https://evil.example"}
        assert organisers.post(path, data=foreign, headers=headers).status_code == 403, path
    assert set(actions(site)) <= {"challenge.create", "token.organiser", "team.register", "team.join"}


def test_organiser_of_one_challenge_cannot_manage_the_server(site: Site, organiser: TestClient) -> None:
    front = organiser.get("/organise")
    assert front.status_code == 200
    assert "New challenge" not in front.text
    for path in ("/organise/new", "/organise/new/toml", "/organise/audit"):
        assert organiser.get(path).status_code == 403, path
    form = {"csrf": form_secret(front.text), "name": "Eve", "text": "slug = 1", "slug": "x"}
    for path in ("/organise/new", "/organise/new/toml", "/organise/tokens", "/organise/tokens/1/revoke"):
        assert organiser.post(path, data=form).status_code == 403, path


def test_pages_have_labels_and_no_inline_scripts(site: Site, chief: TestClient) -> None:
    site.team("First")
    for path in [_path(path) for path in GETS if "exports/" not in path]:
        found = chief.get(path)
        assert found.status_code == 200, path
        assert '<html lang="en">' in found.text
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", found.text), path
        for tag, attributes in re.findall(r"<(input|select|textarea)\b([^>]*)>", found.text):
            if 'type="hidden"' not in attributes:
                inside = rf"<label[^>]*>(?:(?!</label>).)*<{tag}{re.escape(attributes)}>"
                assert re.search(inside, found.text, re.DOTALL), (path, tag, attributes)


def test_api_for_organisers_refuses_everyone_else(site: Site) -> None:
    token, client = site.team("Aurora"), site.client
    number = api(site, "/teams")[0]["id"]
    calls: list[tuple[str, str, Any]] = [
        ("PATCH", "", {"title": "Taken"}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("PUT", "/phases/practice/schedule", {"closes": "2031-01-01T00:00:00", "clear": []}),
        ("POST", f"/teams/{number}/disqualify", {"reason": "x"}),
        ("POST", f"/teams/{number}/reinstate", None),
        ("POST", f"/teams/{number}/messages", {"title": "x", "text": "x"}),
        ("POST", "/notices", {"title": "x", "text": "x"}),
        ("DELETE", "/notices/1", None),
        ("POST", "/notices/1/restore", None),
        ("POST", "/notices/1/mail", None),
        ("GET", "/storage", None),
        ("POST", "/organisers", {"name": "Eve"}),
    ]
    for method, path, body in calls:
        for headers, status in ((bearer(token), 403), ({}, 401)):
            answer = client.request(method, f"/v1/challenges/mine{path}", json=body, headers=headers)
            assert answer.status_code == status, (method, path, answer.text)
    member = api(site, "/teams")[0]["members"][0]["id"]
    other = site.team("Borealis", "Ben")
    path = f"/v1/challenges/mine/members/{member}/tokens"
    assert client.post(path, headers=bearer(other)).status_code == 404  # not told whether there is one
    for path in ("/v1/storage", "/v1/audit"):
        assert client.get(path, headers=bearer(site.organiser)).status_code == 403, path
        assert client.get(path, headers=bearer(token)).status_code == 403, path
        assert client.get(path).status_code == 401, path
    assert client.post("/v1/organisers", json={"name": "E"}, headers=bearer(site.organiser)).status_code == 403
    good = {"PUT": 200, "GET": 200, "PATCH": 200, "DELETE": 204}
    order = [*calls[3:], *calls[:3]]
    for method, path, body in order:
        answer = client.request(method, f"/v1/challenges/mine{path}", json=body, headers=bearer(site.organiser))
        expected = {good.get(method, 200), 201, 204} if method == "POST" else {good[method]}
        assert answer.status_code in expected, (method, path, answer.text)


def test_large_uploads_are_refused_before_they_are_read(site: Site) -> None:
    member = signed_in(site, site.team())
    huge = b"x" * (2 << 20)
    for client, status in ((member, 403), (TestClient(site.client.app), 401)):
        for path in (f"{AT}/phases/practice/gold", "/organise/new", "/organise/new/toml"):
            answer = client.post(path, files={"file": ("gold.txt", huge)})
            assert (answer.status_code, answer.headers.get("connection")) == (status, "close"), path


def test_tokens_are_issued_and_revoked_after_confirmation(site: Site, organiser: TestClient, chief: TestClient) -> None:
    page = send(organiser, f"{AT}/tokens", name="Pia")
    made = re.search(r'"secret">(emo_[^<]+)<', page)
    assert made is not None
    pia = signed_in(site, made[1])
    number = next(one["id"] for one in api(site, "/tokens") if one["name"] == "Pia")
    assert "Chief" not in page  # who organises everything is not theirs to revoke
    path = f"{AT}/tokens/{number}/revoke"
    assert "Revoke Pia&#39;s token?" in send(organiser, path)
    assert pia.get(AT).status_code == 200
    assert "is revoked" in send(organiser, path, confirm="Pia")
    assert pia.get(AT).status_code == 401
    send(organiser, f"{AT}/tokens/999/revoke", None, 404)
    own = next(one["id"] for one in api(site, "/tokens") if one["name"] == "Olga")
    everything = send(chief, "/organise/tokens", name="Quinn")
    quinn = re.search(r'"secret">(emo_[^<]+)<', everything)
    assert quinn is not None
    assert signed_in(site, quinn[1]).get("/organise/audit").status_code == 200
    number = max(map(int, re.findall(r"/organise/tokens/(\d+)/revoke", everything)))
    assert "is revoked" in send(chief, f"/organise/tokens/{number}/revoke", confirm="Quinn")
    assert send(organiser, f"{AT}/tokens/{own}/revoke", None, 303, confirm="olga") == "/sign-in"
    assert organiser.get(AT).status_code == 401
