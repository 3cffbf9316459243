"""The organisers' console without a browser: every action, who may do it, and that nothing is done without its form."""

import html
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from emoscope.server.challenge.pages import console
from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import replace_gold
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, NOON, phase, rows_of, write_challenge
from kits.challenge_site import OPENED, Site, bearer, form_secret, opened_site

AT = "/challenges/mine/organise"
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


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    phases = phase("practice", opens=OPENED, per_day=5) + phase("final", opens=None, board="hidden")
    with opened_site(tmp_path, phases=phases, mail_url="console:") as opened:
        yield opened


@pytest.fixture
def chief(site: Site) -> TestClient:
    """Somebody who organises everything, signed in."""
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    token = issue_organiser_token(store, OPERATOR, name="Chief").token
    return signed_in(site, token)


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


def test_pages_and_forms_are_for_organisers_with_their_own_form(site: Site) -> None:
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


def test_an_organiser_of_one_challenge_does_not_see_the_server(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    front = olga.get("/organise")
    assert front.status_code == 200
    assert "New challenge" not in front.text
    for path in ("/organise/new", "/organise/new/toml", "/organise/audit"):
        assert olga.get(path).status_code == 403, path
    form = {"csrf": form_secret(front.text), "name": "Eve", "text": "slug = 1", "slug": "x"}
    for path in ("/organise/new", "/organise/new/toml", "/organise/tokens", "/organise/tokens/1/revoke"):
        assert olga.post(path, data=form).status_code == 403, path


def test_pages_are_whole(site: Site, chief: TestClient) -> None:
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


FORM = {
    "slug": "new",
    "title": "New one",
    "task": "emocontext",
    "metric": "",
    "registration": "approval",
    "max_teams": "20",
    "description": "About <b>it</b>",
    "phases.0.name": "practice",
    "phases.0.title": "Practice",
    "phases.0.per_day": "4",
    "phases.0.time_zone": "Europe/Berlin",
    "phases.0.opens": "2030-01-01T00:00",
    "phases.0.closes": "",
    "phases.0.board": "open",
    "phases.0.public_share": "1",
    "phases.0.counts": "best",
    "phases.1.name": "final",
    "phases.1.title": "Final",
    "phases.1.per_day": "2",
    "phases.1.board": "hidden",
    "phases.2.board": "open",
    "phases.2.time_zone": "UTC",
}
NO_LABELS, LABELS = rows_of(None).encode(), rows_of(GOLD).encode()


def _files(**changed: tuple[str, bytes]) -> dict[str, tuple[str, bytes]]:
    files = {f"phases.{number}.unlabelled": ("data.txt", NO_LABELS) for number in (0, 1)}
    return files | {f"phases.{number}.gold": ("data.txt", LABELS) for number in (0, 1)} | changed


def test_a_challenge_is_created_from_a_form(site: Site, chief: TestClient) -> None:
    assert send(chief, "/organise/new", _files(), 303, **FORM) == "/challenges/new/organise"
    made = site.client.get("/v1/challenges/new").json()
    assert (made["title"], made["registration"], made["max_teams"]) == ("New one", "approval", 20)
    assert [phase["name"] for phase in made["phases"]] == ["practice", "final"]
    first = made["phases"][0]
    assert (first["opens"], first["time_zone"], first["unlabelled_name"]) == (
        "2029-12-31T23:00:00+00:00",
        "Europe/Berlin",
        "data.txt",
    )
    again = send(chief, "/organise/new", _files(), 409, **FORM)
    assert "already exists" in again.lower()


def test_a_form_with_mistakes_says_so_at_the_fields_and_keeps_the_rest(site: Site, chief: TestClient) -> None:
    wrong = FORM | {"slug": "New One", "phases.0.per_day": "0", "phases.1.time_zone": "Mars/Olympus"}
    page = send(chief, "/organise/new", _files(), 422, **wrong)
    for name in ("slug", "phases.0.per_day", "phases.1.time_zone"):
        assert f'id="fault-{name}"' in page
        assert re.search(rf'name="{re.escape(name)}"[^>]*aria-describedby="fault-{re.escape(name)}"', page), name
    assert "unknown time zone" in page
    assert "Tuple" not in page
    assert 'value="New one"' in page
    assert "About &lt;b&gt;it&lt;/b&gt;" in page
    files = _files()
    del files["phases.0.gold"]
    assert 'id="fault-phases.0.gold"' in send(chief, "/organise/new", files, 422, **FORM)
    swapped = send(chief, "/organise/new", _files(**{"phases.0.unlabelled": ("x.txt", LABELS)}), 422, **FORM)
    assert "has a label" in swapped
    sneaky = FORM | {"phases.0.gold": "../../session.key"}
    assert "was not uploaded" in send(chief, "/organise/new", files, 422, **sneaky)
    assert site.client.get("/v1/challenges/new").status_code == 404


def test_a_challenge_is_created_from_a_toml_file(site: Site, chief: TestClient, tmp_path: Path) -> None:
    page = chief.get("/organise/new/toml?template=emocontext").text
    assert "slug = &#34;emocontext&#34;" in page
    assert chief.get("/organise/new/toml?template=none").status_code == 404
    text = write_challenge(tmp_path / "other", slug="two").read_text()
    files = [("files", ("given.txt", NO_LABELS)), ("files", ("gold.txt", LABELS))]
    assert send(chief, "/organise/new/toml", files, 303, text=text) == "/challenges/two/organise"
    text = text.replace('"two"', '"three"')
    uploaded = [("toml", ("three.toml", text.encode())), *files]
    assert send(chief, "/organise/new/toml", uploaded, 303) == "/challenges/three/organise"
    page = send(chief, "/organise/new/toml", files, 422, text=text.replace("per_day", "per_week"))
    assert "per_week" in page
    assert "Choose a TOML file or paste its text" in send(chief, "/organise/new/toml", None, 422, text=" ")
    stolen = text.replace('"three"', '"four"').replace('"gold.txt"', '"/etc/passwd"')
    assert "was not uploaded" in send(chief, "/organise/new/toml", files, 422, text=stolen)


def test_a_challenge_is_created_by_the_api(site: Site, chief: TestClient, tmp_path: Path) -> None:
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    token = issue_organiser_token(store, OPERATOR, name="Chief").token
    text = write_challenge(tmp_path / "other", slug="two").read_text().encode()
    files = [("definition", ("two.toml", text)), ("files", ("given.txt", NO_LABELS)), ("files", ("gold.txt", LABELS))]
    assert site.client.post("/v1/challenges", files=files).status_code == 401
    assert site.client.post("/v1/challenges", files=files, headers=bearer(site.organiser)).status_code == 403
    assert site.client.post("/v1/challenges", files=files, headers=bearer(site.team())).status_code == 403
    made = site.client.post("/v1/challenges", files=files, headers=bearer(token))
    assert (made.status_code, made.json()["slug"]) == (201, "two")


def test_times_are_set_on_the_calendar(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    page = send(olga, f"{AT}/phases/practice/schedule", opens="2020-01-01T00:00", closes="2030-05-20T12:00")
    assert "The times of Practice were saved" in page
    assert 'value="2030-05-20T12:00"' in page
    month = olga.get(f"{AT}/phases?month=2030-05").text
    assert "May 2030" in month
    assert "Practice closes" in month
    assert olga.get(f"{AT}/phases?month=nonsense").status_code == 200
    # What opens or closes a phase at once wants its name.
    path, past = f"{AT}/phases/practice/schedule", "2030-04-30T00:00"
    question = send(olga, path, opens="2020-01-01T00:00", closes=past)
    assert "phase practice is closed immediately" in question
    assert api(site, "")["phases"][0]["state"] == "open"
    send(olga, path, opens="2020-01-01T00:00", closes=past, confirm="practice")
    assert api(site, "")["phases"][0]["state"] == "closed"
    assert "phase practice is open immediately" in send(olga, path, opens="2020-01-01T00:00", closes="")
    assert "must close after" in send(
        olga, f"{AT}/phases/final/schedule", None, 422, opens="2031-01-02T00:00", closes="2031-01-01T00:00"
    )
    assert "is not a valid time" in send(olga, f"{AT}/phases/final/schedule", None, 422, opens="tomorrow")
    assert "years 1970 to 9000" in send(
        olga, f"{AT}/phases/final/schedule", None, 422, opens="0001-01-01T00:00:00+14:00", confirm="final"
    )
    assert send(olga, f"{AT}/phases/none/schedule", None, 404, opens="") is not None


def test_gold_is_replaced_with_its_name_typed_and_all_is_scored_again(site: Site) -> None:
    token = site.team()
    sent = site.submit(token).json()["id"]
    before = site.final(token, sent)["figures"]["score"]
    olga = signed_in(site, site.organiser)
    path = f"{AT}/phases/practice/gold"
    new = {"file": ("gold.txt", rows_of(["sad", *GOLD[1:]]).encode())}
    assert "to confirm" in send(olga, path, new, 422)
    assert "Choose the new gold file" in send(olga, path, None, 422, confirm="practice")
    short = {"file": ("gold.txt", rows_of(GOLD[:2], 2).encode())}
    assert "labels for the 8 items" in send(olga, path, short, 422, confirm="practice")
    assert "phase.gold" not in actions(site)
    assert "1 submission is being rescored." in send(olga, path, new, 200, confirm="practice")
    assert actions(site)[0] == "phase.gold"
    assert site.final(token, sent)["figures"]["score"] != before
    again = site.client.put(
        "/v1/challenges/mine/phases/practice/gold", files={"file": ("g.txt", LABELS)}, headers=bearer(site.organiser)
    )
    assert (again.status_code, again.json()["queued"]) == (200, 0)  # the first results are of this gold
    for headers, status in (({}, 401), (bearer(token), 403)):
        refused = site.client.put("/v1/challenges/mine/phases/practice/gold", files=new, headers=headers)
        assert refused.status_code == status
    assert rows_of(GOLD).splitlines()[1] not in olga.get(f"{AT}/exports/all.json").text


def shows(client: TestClient, text: str) -> None:
    """Wait until the overview shows it: jobs run beside."""
    until = time.monotonic() + 60
    while text not in client.get(AT).text:
        assert time.monotonic() < until, text
        time.sleep(0.1)


def test_scores_of_former_gold_stand_among_what_is_to_be_done(site: Site, tmp_path: Path) -> None:
    olga, token = signed_in(site, site.organiser), site.team()
    site.final(token, site.submit(token).json()["id"])
    shows(olga, "Nothing to do")
    gold = tmp_path / "gold2.txt"
    gold.write_bytes(LABELS.replace(b"\tothers", b"\thappy", 1))
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    replace_gold(store, OPERATOR, "mine", "practice", gold, rescoring=False)
    shows(olga, "1 score is stale")
    send(olga, f"{AT}/rescore")
    shows(olga, "Nothing to do")


def test_teams_are_registered_found_told_and_taken_out(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    page = send(olga, f"{AT}/teams", team="Aurora", member="Ana", email="ana@example.org")
    token = re.search(r'<pre id="secret" class="secret">([^<]+)</pre>', page)
    assert token is not None
    ana = signed_in(site, html.unescape(token[1]))
    assert "is missing" in send(olga, f"{AT}/teams", None, 422, team="", member="Ana")
    site.team("Borealis", "Ben")
    site.submit(site.team("Corona", "Cem"))
    listed = olga.get(f"{AT}/teams?name=AUR").text
    assert "Aurora" in listed
    assert "Borealis" not in listed
    assert "Borealis" in olga.get(f"{AT}/teams?name=ben").text
    number = next(one["id"] for one in api(site, "/teams") if one["name"] == "Aurora")
    at = f"{AT}/teams/{number}"
    told = send(olga, f"{at}/message", title="Hello", text="Only <you>.", mail="yes")
    assert "It is being e-mailed to 1 member." in told
    assert "Only &lt;you&gt;." in ana.get("/challenges/mine").text
    assert "Only" not in site.client.get("/challenges/mine").text
    assert api(site, "/notices")[0]["mailed"] == 1
    assert "text must have 1 to" in send(olga, f"{at}/message", None, 422, title="Hello", text=" ")
    out = send(olga, f"{at}/disqualify", reason="Two accounts")
    assert f'action="{at}/reinstate"' in out
    assert "Your team is disqualified: Two accounts" in ana.get("/challenges/mine").text
    assert "Your team is disqualified: Two accounts" in ana.get("/challenges/mine/team").text
    assert "Aurora" in olga.get(f"{AT}/teams?state=disqualified").text
    send(olga, f"{at}/disqualify", None, 422, reason="")
    assert "is reinstated" in send(olga, f"{at}/reinstate", back="team")
    assert "disqualified" not in ana.get("/challenges/mine").text
    member = api(site, f"/teams/{number}")["members"][0]["id"]
    fresh = re.search(r'"secret">(emo_[^<]+)<', send(olga, f"{at}/members/{member}/token"))
    assert fresh is not None
    assert "Our team: Aurora" in signed_in(site, fresh[1]).get("/challenges/mine").text
    assert send(olga, f"{at}/members/999/token", None, 404) is not None
    assert "is deleted" in send(olga, f"{at}/delete", back="team")
    assert "is restored" in send(olga, f"{at}/restore", back="team")
    assert olga.get(f"{AT}/teams/999").status_code == 404


def test_waiting_teams_are_let_in_and_stand_on_the_overview(tmp_path: Path) -> None:
    with opened_site(tmp_path, head='registration = "approval"') as site:
        made = site.client.post(
            "/v1/challenges/mine/teams", json={"team": "Late", "member": "Lea", "email": "lea@example.org"}
        )
        olga = signed_in(site, site.organiser)
        assert "1 team is waiting" in olga.get(AT).text
        assert "Late" in olga.get(f"{AT}/teams?state=waiting").text
        send(olga, f"{AT}/teams/{made.json()['team']['id']}/approve")
        assert "Nothing to do" in olga.get(AT).text


def test_a_team_that_waits_is_told_so_with_its_token(tmp_path: Path) -> None:
    with opened_site(tmp_path, head='registration = "approval"') as site:
        page = "/challenges/mine"
        form = {"team": "Late", "member": "Lea", "email": "lea@example.org"}
        form["csrf"] = form_secret(site.client.get(page).text)
        assert (
            "You can submit once the organisers have approved" in site.client.post(f"{page}/register", data=form).text
        )


def test_the_audit_log_shows_reasons_in_full_and_hashes_shortened(site: Site) -> None:
    token = site.team("Aurora")
    site.submit(token)
    olga = signed_in(site, site.organiser)
    reason = "Two accounts of one person, see rule 3."
    send(olga, f"{AT}/teams/1/disqualify", reason=reason)
    new = {"file": ("gold.txt", rows_of(["sad", *GOLD[1:]]).encode())}
    send(olga, f"{AT}/phases/practice/gold", new, 200, confirm="practice")
    log = html.unescape(olga.get(f"{AT}/audit").text)
    assert f">{reason}<" in log
    for name in ("sha256", "before", "after"):
        shown = re.search(rf"{name}: <span title=\"([0-9a-f]{{64}})\">([0-9a-f]+…)<", log)
        assert shown is not None, name
        assert shown[1].startswith(shown[2][:-1])


def test_sizes_are_in_the_units_of_the_challenge_page(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    assert re.search(r"Up to [0-9.]+ MiB\.", olga.get(f"{AT}/phases").text)
    sizes = re.findall(r"<dd>[0-9.]+ ([A-Za-z]+)", olga.get(f"{AT}/exports").text)
    assert sizes
    assert set(sizes) <= {"Bytes", "KiB", "MiB", "GiB"}


def test_an_invitation_is_shown_at_the_top(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    page = send(olga, f"{AT}/invitation", email="lea@example.org")
    said, _, rest = page.partition('<pre id="secret" class="secret">reg_')
    assert rest
    assert "It was e-mailed to lea@example.org. It is shown only once:" in said
    assert '<h2 id="teams">' not in said


def test_opening_and_closing_a_phase_is_said(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    for action, state in (("open", "open"), ("close", "closed")):
        assert f"Final is {state} now." in send(olga, f"{AT}/phases/final/{action}", confirm="final")


def test_announcements_are_posted_mailed_withdrawn_and_shown_again(site: Site) -> None:
    site.client.post("/v1/challenges/mine/teams", json={"team": "A", "member": "Ana", "email": "ana@example.org"})
    olga = signed_in(site, site.organiser)
    at = f"{AT}/announcements"
    done = send(olga, at, title="One day more", text="First.\n\n<script>alert(1)</script>")
    undo = re.search(rf'action="({at}/\d+/withdraw)"', done)
    assert undo is not None
    public = site.client.get("/challenges/mine").text
    assert "One day more" in public
    assert "<script>alert" not in public
    assert site.client.get("/v1/challenges/mine/notices").json()[0]["author"] == "Olga"
    assert "is withdrawn" in send(olga, undo[1])
    assert "One day more" not in site.client.get("/challenges/mine").text
    assert "is shown again" in send(olga, undo[1].replace("withdraw", "restore"))
    question = send(olga, at, title="By mail", text="To all", mail="yes")
    assert "E-mails cannot be recalled" in question
    assert "By mail" not in site.client.get("/challenges/mine").text
    send(olga, at, title="By mail", text="To all", mail="yes", confirm="mine")
    newest = api(site, "/notices")[0]
    assert (newest["title"], newest["mailed"], newest["unsent"]) == ("By mail", 1, 0)
    assert "1 e-mail sent" in send(olga, f"{at}/{newest['id']}/mail")
    assert "title must have 1 to 200" in send(olga, at, None, 422, title="", text="x")
    assert {"notice.post", "notice.withdraw", "notice.restore", "notice.mail"} <= set(actions(site))


def test_tokens_are_made_and_revoked_with_the_name_typed(site: Site, chief: TestClient) -> None:
    olga = signed_in(site, site.organiser)
    page = send(olga, f"{AT}/tokens", name="Pia")
    made = re.search(r'"secret">(emo_[^<]+)<', page)
    assert made is not None
    pia = signed_in(site, made[1])
    number = next(one["id"] for one in api(site, "/tokens") if one["name"] == "Pia")
    assert "Chief" not in page  # who organises everything is not theirs to revoke
    path = f"{AT}/tokens/{number}/revoke"
    assert "Revoke Pia&#39;s token?" in send(olga, path)
    assert pia.get(AT).status_code == 200
    assert "is revoked" in send(olga, path, confirm="Pia")
    assert pia.get(AT).status_code == 401
    send(olga, f"{AT}/tokens/999/revoke", None, 404)
    own = next(one["id"] for one in api(site, "/tokens") if one["name"] == "Olga")
    everything = send(chief, "/organise/tokens", name="Quinn")
    quinn = re.search(r'"secret">(emo_[^<]+)<', everything)
    assert quinn is not None
    assert signed_in(site, quinn[1]).get("/organise/audit").status_code == 200
    number = max(map(int, re.findall(r"/organise/tokens/(\d+)/revoke", everything)))
    assert "is revoked" in send(chief, f"/organise/tokens/{number}/revoke", confirm="Quinn")
    assert send(olga, f"{AT}/tokens/{own}/revoke", None, 303, confirm="olga") == "/sign-in"
    assert olga.get(AT).status_code == 401


def test_settings_are_saved_and_a_challenge_is_deleted_and_restored(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    form = {"title": "Renamed", "registration": "closed", "max_teams": "7"}
    assert "Settings saved" in send(olga, f"{AT}/settings", None, 200, **form)
    assert site.client.get("/v1/challenges/mine").json()["registration"] == "closed"
    wrong = send(olga, f"{AT}/settings", None, 422, **(form | {"max_teams": "0", "title": "Kept"}))
    assert 'value="Kept"' in wrong
    gone = send(olga, f"{AT}/delete")
    assert f'action="{AT}/restore"' in gone
    assert site.client.get("/challenges/mine").status_code == 404
    assert "This challenge is deleted" in olga.get(AT).text
    assert "The challenge is restored" in send(olga, f"{AT}/restore")
    assert site.client.get("/challenges/mine").status_code == 200


def test_texts_are_previewed_and_saved(site: Site) -> None:
    olga = signed_in(site, site.organiser)
    texts = {
        "description": "# About\r\n\r\n*Moods* <script>alert(1)</script>",
        "rules": "- be **fair**\r\n- [x](javascript:a)",
    }
    shown = send(olga, f"{AT}/texts", preview="yes", **texts)
    assert "<em>Moods</em> &lt;script&gt;" in shown
    assert "<strong>fair</strong>" in shown
    assert "Not saved yet" in shown
    assert 'href="javascript' not in shown
    assert "# About" in shown  # in the form still
    assert "fair" not in site.client.get("/challenges/mine").text
    assert "Texts saved" in send(olga, f"{AT}/texts", **texts)
    page = site.client.get("/challenges/mine").text
    assert "<strong>fair</strong>" in page
    assert "<h3>About</h3>" in page
    assert "- be **fair**\n- [x]" in html.unescape(olga.get(f"{AT}/texts").text)
    before = actions(site)
    assert before[0] == "challenge.change"
    send(olga, f"{AT}/texts", **texts)
    assert actions(site) == before  # nothing was changed
    kept = send(olga, f"{AT}/texts", None, 422, description="x" * 20_001, faq="kept")
    assert "kept</textarea>" in kept
    assert 'aria-invalid="true"' in kept
    assert "control characters" in send(olga, f"{AT}/texts", None, 422, rules="a\x00b")
    send(olga, f"{AT}/texts", description="Only this")
    assert 'id="rules"' not in site.client.get("/challenges/mine").text


def test_texts_and_survey_are_taken_from_the_edited_definition(site: Site, tmp_path: Path) -> None:
    olga = signed_in(site, site.organiser)
    assert olga.get("/challenges/mine/techniques").status_code == 404

    def take(text: str, status: int = 200) -> str:
        return send(olga, f"{AT}/texts/file", {"file": ("edited.toml", text.encode())}, status)

    text = write_challenge(tmp_path / "edited", head='rules = "- be fair"\nsurvey = "emocontext"').read_text()
    assert "Texts and survey were updated from edited.toml" in take(text)
    assert "be fair" in olga.get("/challenges/mine").text
    assert "Input representations" in olga.get("/challenges/mine/techniques").text
    assert actions(site)[0] == "challenge.texts"
    refused = take(text.replace('slug = "mine"', 'slug = "other"'), 409)
    assert "edited.toml is for &#39;other&#39;" in refused
    assert "edited.toml: is not valid TOML" in take("slug = ", 422)
    assert str(tmp_path) not in refused
    assert "Choose the edited TOML file" in send(olga, f"{AT}/texts/file", None, 422)


def test_texts_are_changed_by_the_api(site: Site) -> None:
    answer = site.client.patch(
        "/v1/challenges/mine", headers=bearer(site.organiser), json={"faq": "Why? *Because.*", "title": "Moods"}
    )
    assert answer.status_code == 200
    page = site.client.get("/challenges/mine").text
    assert "<em>Because.</em>" in page
    assert "<h1>Moods</h1>" in page


def test_files_are_added_replaced_and_removed(site: Site) -> None:
    olga = signed_in(site, site.organiser)

    def add(content: bytes, status: int = 200, name: str = "train data.txt", **form: str) -> str:
        return send(olga, f"{AT}/files", {"file": (name, content)}, status, **form)

    assert "Teams can download it now" in add(b"one", title="Training data")
    file = "/challenges/mine/files/train%20data.txt"
    assert site.client.get(file).content == b"one"
    assert "Training data" in site.client.get("/challenges/mine").text
    add(b"two")
    assert site.client.get(file).content == b"two"
    assert "when phase final opens" in add(b"later", name="final.txt", phase="final")
    assert site.client.get("/challenges/mine/files/final.txt").status_code == 404
    assert "no phase" in add(b"x", 404, name="other.txt", phase="nowhere")
    assert "is the gold file of phase" in add(rows_of(GOLD).encode(), 409, name="oops.txt", title="Mine")
    assert "Choose a file first" in send(olga, f"{AT}/files", None, 422, title="Kept title")
    assert "no longer available" in send(olga, f"{AT}/files/remove", name="train data.txt")
    assert site.client.get(file).status_code == 404
    assert "has no file" in send(olga, f"{AT}/files/remove", None, 404, name="train data.txt")
    assert actions(site)[:4] == ["file.remove", "file.add", "file.add", "file.add"]


def test_a_large_file_for_teams_is_read_from_organisers_only(site: Site) -> None:
    large = {"file": ("train.txt", b"x" * (2 << 20))}
    member = signed_in(site, site.team("Aurora"))
    assert "only organisers" in send(member, f"{AT}/files", large, 403)
    assert "train.txt was added" in send(signed_in(site, site.organiser), f"{AT}/files", large)


def test_exports_jobs_space_and_audit_are_read(site: Site) -> None:
    token = site.team("Aurora")
    site.final(token, site.submit(token).json()["id"])
    olga = signed_in(site, site.organiser)
    whole = olga.get(f"{AT}/exports/all.json")
    assert json.loads(whole.text)["submissions"]
    assert "attachment" in whole.headers["content-disposition"]
    assert "submissions" not in json.loads(olga.get(f"{AT}/exports/public.json").text)
    assert "if it closed now" in olga.get(f"{AT}/phases/practice/final").text
    final = olga.get(f"{AT}/exports/practice/csv")
    assert "Aurora" in final.text
    assert "precision_happy" in final.text  # exact, as after the close
    assert "Storage" in olga.get(f"{AT}/exports").text
    assert "All jobs are done" in olga.get(f"{AT}/scoring").text or "compare" in olga.get(f"{AT}/scoring").text
    assert "being rescored" in send(olga, f"{AT}/rescore", phase="practice")
    assert send(olga, f"{AT}/rescore", None, 404, phase="none") is not None
    newest = api(site, "/audit")[0]["id"]
    older = olga.get(f"{AT}/audit?before={newest}").text
    assert "team.register" in older
    assert NOON.strftime("%Y-%m-%d") in older


def test_what_is_new_in_the_api_is_for_organisers(site: Site) -> None:
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


def test_a_large_file_is_not_read_from_somebody_who_may_not_send_it(site: Site) -> None:
    member = signed_in(site, site.team())
    huge = b"x" * (2 << 20)
    for client, status in ((member, 403), (TestClient(site.client.app), 401)):
        for path in (f"{AT}/phases/practice/gold", "/organise/new", "/organise/new/toml"):
            answer = client.post(path, files={"file": ("gold.txt", huge)})
            assert (answer.status_code, answer.headers.get("connection")) == (status, "close"), path
