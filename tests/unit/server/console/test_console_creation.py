"""New challenges: from the form, from a TOML file, and by the API."""

import re
from pathlib import Path

from fastapi.testclient import TestClient

from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.store import Store
from kits.challenge_kit import write_challenge
from kits.challenge_site import Site, bearer
from kits.console_kit import LABELS, NO_LABELS, send

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


def _files(**changed: tuple[str, bytes]) -> dict[str, tuple[str, bytes]]:
    files = {f"phases.{number}.unlabelled": ("data.txt", NO_LABELS) for number in (0, 1)}
    return files | {f"phases.{number}.gold": ("data.txt", LABELS) for number in (0, 1)} | changed


def test_create_challenge_from_form(site: Site, chief: TestClient) -> None:
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


def test_form_with_mistakes_marks_the_fields_and_keeps_the_input(site: Site, chief: TestClient) -> None:
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


def test_create_challenge_from_toml_file(site: Site, chief: TestClient, tmp_path: Path) -> None:
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


def test_create_challenge_through_the_api(site: Site, chief: TestClient, tmp_path: Path) -> None:
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    token = issue_organiser_token(store, OPERATOR, name="Chief").token
    text = write_challenge(tmp_path / "other", slug="two").read_text().encode()
    files = [("definition", ("two.toml", text)), ("files", ("given.txt", NO_LABELS)), ("files", ("gold.txt", LABELS))]
    assert site.client.post("/v1/challenges", files=files).status_code == 401
    assert site.client.post("/v1/challenges", files=files, headers=bearer(site.organiser)).status_code == 403
    assert site.client.post("/v1/challenges", files=files, headers=bearer(site.team())).status_code == 403
    made = site.client.post("/v1/challenges", files=files, headers=bearer(token))
    assert (made.status_code, made.json()["slug"]) == (201, "two")
