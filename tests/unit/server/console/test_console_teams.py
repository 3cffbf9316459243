"""Teams on the organisers' console: registration, messages, disqualification, announcements, the audit log."""

import html
import re
from pathlib import Path

from fastapi.testclient import TestClient

from kits.challenge_kit import GOLD, rows_of
from kits.challenge_site import Site, form_secret, opened_site
from kits.console_kit import AT, actions, api, send, signed_in


def test_teams_are_registered_searched_messaged_and_disqualified(site: Site, organiser: TestClient) -> None:
    page = send(organiser, f"{AT}/teams", team="Aurora", member="Ana", email="ana@example.org")
    token = re.search(r'<pre id="secret" class="secret">([^<]+)</pre>', page)
    assert token is not None
    ana = signed_in(site, html.unescape(token[1]))
    assert "is missing" in send(organiser, f"{AT}/teams", None, 422, team="", member="Ana")
    site.team("Borealis", "Ben")
    site.submit(site.team("Corona", "Cem"))
    listed = organiser.get(f"{AT}/teams?name=AUR").text
    assert "Aurora" in listed
    assert "Borealis" not in listed
    assert "Borealis" in organiser.get(f"{AT}/teams?name=ben").text
    number = next(one["id"] for one in api(site, "/teams") if one["name"] == "Aurora")
    at = f"{AT}/teams/{number}"
    told = send(organiser, f"{at}/message", title="Hello", text="Only <you>.", mail="yes")
    assert "It is being e-mailed to 1 member." in told
    assert "Only &lt;you&gt;." in ana.get("/challenges/mine").text
    assert "Only" not in site.client.get("/challenges/mine").text
    assert api(site, "/notices")[0]["mailed"] == 1
    assert "text must have 1 to" in send(organiser, f"{at}/message", None, 422, title="Hello", text=" ")
    out = send(organiser, f"{at}/disqualify", reason="Two accounts")
    assert f'action="{at}/reinstate"' in out
    assert "Your team is disqualified: Two accounts" in ana.get("/challenges/mine").text
    assert "Your team is disqualified: Two accounts" in ana.get("/challenges/mine/team").text
    assert "Aurora" in organiser.get(f"{AT}/teams?state=disqualified").text
    send(organiser, f"{at}/disqualify", None, 422, reason="")
    assert "is reinstated" in send(organiser, f"{at}/reinstate", back="team")
    assert "disqualified" not in ana.get("/challenges/mine").text
    member = api(site, f"/teams/{number}")["members"][0]["id"]
    fresh = re.search(r'"secret">(emo_[^<]+)<', send(organiser, f"{at}/members/{member}/token"))
    assert fresh is not None
    assert "Our team: Aurora" in signed_in(site, fresh[1]).get("/challenges/mine").text
    assert send(organiser, f"{at}/members/999/token", None, 404) is not None
    assert "is deleted" in send(organiser, f"{at}/delete", back="team")
    assert "is restored" in send(organiser, f"{at}/restore", back="team")
    assert organiser.get(f"{AT}/teams/999").status_code == 404


def test_overview_lists_teams_waiting_for_approval(tmp_path: Path) -> None:
    with opened_site(tmp_path, head='registration = "approval"') as site:
        made = site.client.post(
            "/v1/challenges/mine/teams", json={"team": "Late", "member": "Lea", "email": "lea@example.org"}
        )
        organiser = signed_in(site, site.organiser)
        assert "1 team is waiting" in organiser.get(AT).text
        assert "Late" in organiser.get(f"{AT}/teams?state=waiting").text
        send(organiser, f"{AT}/teams/{made.json()['team']['id']}/approve")
        assert "Nothing to do" in organiser.get(AT).text


def test_team_waiting_for_approval_sees_that_with_its_token(tmp_path: Path) -> None:
    with opened_site(tmp_path, head='registration = "approval"') as site:
        page = "/challenges/mine"
        form = {"team": "Late", "member": "Lea", "email": "lea@example.org"}
        form["csrf"] = form_secret(site.client.get(page).text)
        assert (
            "You can submit once the organisers have approved" in site.client.post(f"{page}/register", data=form).text
        )


def test_invitation_is_shown_at_the_top(site: Site, organiser: TestClient) -> None:
    page = send(organiser, f"{AT}/invitation", email="lea@example.org")
    said, _, rest = page.partition('<pre id="secret" class="secret">reg_')
    assert rest
    assert "It was e-mailed to lea@example.org. It is shown only once:" in said
    assert '<h2 id="teams">' not in said


def test_announcements_are_posted_mailed_withdrawn_and_restored(site: Site, organiser: TestClient) -> None:
    site.client.post("/v1/challenges/mine/teams", json={"team": "A", "member": "Ana", "email": "ana@example.org"})
    at = f"{AT}/announcements"
    done = send(organiser, at, title="One day more", text="First.\n\n<script>alert(1)</script>")
    undo = re.search(rf'action="({at}/\d+/withdraw)"', done)
    assert undo is not None
    public = site.client.get("/challenges/mine").text
    assert "One day more" in public
    assert "<script>alert" not in public
    assert site.client.get("/v1/challenges/mine/notices").json()[0]["author"] == "Olga"
    assert "is withdrawn" in send(organiser, undo[1])
    assert "One day more" not in site.client.get("/challenges/mine").text
    assert "is shown again" in send(organiser, undo[1].replace("withdraw", "restore"))
    question = send(organiser, at, title="By mail", text="To all", mail="yes")
    assert "E-mails cannot be recalled" in question
    assert "By mail" not in site.client.get("/challenges/mine").text
    send(organiser, at, title="By mail", text="To all", mail="yes", confirm="mine")
    newest = api(site, "/notices")[0]
    assert (newest["title"], newest["mailed"], newest["unsent"]) == ("By mail", 1, 0)
    assert "1 e-mail sent" in send(organiser, f"{at}/{newest['id']}/mail")
    assert "title must have 1 to 200" in send(organiser, at, None, 422, title="", text="x")
    assert {"notice.post", "notice.withdraw", "notice.restore", "notice.mail"} <= set(actions(site))


def test_audit_log_shows_full_reasons_and_short_hashes(site: Site, organiser: TestClient) -> None:
    token = site.team("Aurora")
    site.submit(token)
    reason = "Two accounts of one person, see rule 3."
    send(organiser, f"{AT}/teams/1/disqualify", reason=reason)
    new = {"file": ("gold.txt", rows_of(["sad", *GOLD[1:]]).encode())}
    send(organiser, f"{AT}/phases/practice/gold", new, 200, confirm="practice")
    log = html.unescape(organiser.get(f"{AT}/audit").text)
    assert f">{reason}<" in log
    for name in ("sha256", "before", "after"):
        shown = re.search(rf"{name}: <span title=\"([0-9a-f]{{64}})\">([0-9a-f]+…)<", log)
        assert shown is not None, name
        assert shown[1].startswith(shown[2][:-1])
