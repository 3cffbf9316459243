"""Texts, files and settings of a challenge on the organisers' console."""

import html
from pathlib import Path

from fastapi.testclient import TestClient

from kits.challenge_kit import GOLD, rows_of, write_challenge
from kits.challenge_site import Site, bearer
from kits.console_kit import AT, actions, send, signed_in


def test_settings_are_saved_and_challenge_is_deleted_and_restored(site: Site, organiser: TestClient) -> None:
    form = {"title": "Renamed", "registration": "closed", "max_teams": "7"}
    assert "Settings saved" in send(organiser, f"{AT}/settings", None, 200, **form)
    assert site.client.get("/v1/challenges/mine").json()["registration"] == "closed"
    wrong = send(organiser, f"{AT}/settings", None, 422, **(form | {"max_teams": "0", "title": "Kept"}))
    assert 'value="Kept"' in wrong
    gone = send(organiser, f"{AT}/delete")
    assert f'action="{AT}/restore"' in gone
    assert site.client.get("/challenges/mine").status_code == 404
    assert "This challenge is deleted" in organiser.get(AT).text
    assert "The challenge is restored" in send(organiser, f"{AT}/restore")
    assert site.client.get("/challenges/mine").status_code == 200


def test_texts_are_previewed_and_saved(site: Site, organiser: TestClient) -> None:
    texts = {
        "description": "# About\r\n\r\n*Moods* <script>alert(1)</script>",
        "rules": "- be **fair**\r\n- [x](javascript:a)",
    }
    shown = send(organiser, f"{AT}/texts", preview="yes", **texts)
    assert "<em>Moods</em> &lt;script&gt;" in shown
    assert "<strong>fair</strong>" in shown
    assert "Not saved yet" in shown
    assert 'href="javascript' not in shown
    assert "# About" in shown  # in the form still
    assert "fair" not in site.client.get("/challenges/mine").text
    assert "Texts saved" in send(organiser, f"{AT}/texts", **texts)
    page = site.client.get("/challenges/mine").text
    assert "<strong>fair</strong>" in page
    assert "<h3>About</h3>" in page
    assert "- be **fair**\n- [x]" in html.unescape(organiser.get(f"{AT}/texts").text)
    before = actions(site)
    assert before[0] == "challenge.change"
    send(organiser, f"{AT}/texts", **texts)
    assert actions(site) == before  # nothing was changed
    kept = send(organiser, f"{AT}/texts", None, 422, description="x" * 20_001, faq="kept")
    assert "kept</textarea>" in kept
    assert 'aria-invalid="true"' in kept
    assert "control characters" in send(organiser, f"{AT}/texts", None, 422, rules="a\x00b")
    send(organiser, f"{AT}/texts", description="Only this")
    assert 'id="rules"' not in site.client.get("/challenges/mine").text


def test_texts_and_survey_are_updated_from_a_toml_file(site: Site, organiser: TestClient, tmp_path: Path) -> None:
    assert organiser.get("/challenges/mine/techniques").status_code == 404

    def take(text: str, status: int = 200) -> str:
        return send(organiser, f"{AT}/texts/file", {"file": ("edited.toml", text.encode())}, status)

    text = write_challenge(tmp_path / "edited", head='rules = "- be fair"\nsurvey = "emocontext"').read_text()
    assert "Texts and survey were updated from edited.toml" in take(text)
    assert "be fair" in organiser.get("/challenges/mine").text
    assert "Input representations" in organiser.get("/challenges/mine/techniques").text
    assert actions(site)[0] == "challenge.texts"
    refused = take(text.replace('slug = "mine"', 'slug = "other"'), 409)
    assert "edited.toml is for &#39;other&#39;" in refused
    assert "edited.toml: is not valid TOML" in take("slug = ", 422)
    assert str(tmp_path) not in refused
    assert "Choose the edited TOML file" in send(organiser, f"{AT}/texts/file", None, 422)


def test_texts_are_changed_through_the_api(site: Site) -> None:
    answer = site.client.patch(
        "/v1/challenges/mine", headers=bearer(site.organiser), json={"faq": "Why? *Because.*", "title": "Moods"}
    )
    assert answer.status_code == 200
    page = site.client.get("/challenges/mine").text
    assert "<em>Because.</em>" in page
    assert "<h1>Moods</h1>" in page


def test_files_are_added_replaced_and_removed(site: Site, organiser: TestClient) -> None:

    def add(content: bytes, status: int = 200, name: str = "train data.txt", **form: str) -> str:
        return send(organiser, f"{AT}/files", {"file": (name, content)}, status, **form)

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
    assert "Choose a file first" in send(organiser, f"{AT}/files", None, 422, title="Kept title")
    assert "no longer available" in send(organiser, f"{AT}/files/remove", name="train data.txt")
    assert site.client.get(file).status_code == 404
    assert "has no file" in send(organiser, f"{AT}/files/remove", None, 404, name="train data.txt")
    assert actions(site)[:4] == ["file.remove", "file.add", "file.add", "file.add"]


def test_only_organisers_can_upload_large_files(site: Site) -> None:
    large = {"file": ("train.txt", b"x" * (2 << 20))}
    member = signed_in(site, site.team("Aurora"))
    assert "only organisers" in send(member, f"{AT}/files", large, 403)
    assert "train.txt was added" in send(signed_in(site, site.organiser), f"{AT}/files", large)
