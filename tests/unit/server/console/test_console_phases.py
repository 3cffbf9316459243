"""Phases on the organisers' console: schedule, opening and closing, gold, scoring, exports."""

import json
import re
import time
from pathlib import Path

from fastapi.testclient import TestClient
from sqlalchemy import select

from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import replace_gold
from emoscope.server.store import Store
from emoscope.server.store.models import Phase
from kits.challenge_kit import GOLD, NOON, rows_of
from kits.challenge_site import Site, bearer
from kits.console_kit import AT, LABELS, actions, api, send, signed_in


def test_release_of_labels_can_be_scheduled(site: Site, organiser: TestClient) -> None:
    times = {"opens": "2020-01-01T00:00", "closes": "", "labels": "2030-05-20T12:00"}
    page = send(organiser, f"{AT}/phases/practice/schedule", **times)
    assert 'name="labels" value="2030-05-20T12:00"' in page
    assert "labels available to teams from" in organiser.get("/challenges/mine").text
    assert "Practice: labels are released" in organiser.get("/challenges/mine").text
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    with store.database.write() as session:
        changed = session.scalars(select(Phase).where(Phase.name == "practice")).one()
        changed.labels_at = NOON.replace(hour=11, second=30)
    assert "Practice: labels were released" in organiser.get("/challenges/mine").text
    token = site.team()
    late = site.submit(token).json()["id"]
    assert "not ranked, as the labels were out" in organiser.get(f"/submissions/{late}").text
    assert "not ranked" in organiser.get("/challenges/mine/submissions").text
    assert "submissions are scored, but no longer ranked" in signed_in(site, token).get("/challenges/mine").text
    times["labels"] = "2030-05-01T11:00"  # as the form shows it: unchanged, so it may be in the past
    assert "were saved" in send(organiser, f"{AT}/phases/practice/schedule", **times)
    assert 'name="labels" value=""' in send(organiser, f"{AT}/phases/practice/schedule", **{**times, "labels": ""})
    assert "in the past" in send(organiser, f"{AT}/phases/practice/schedule", None, 422, **times)


def test_phase_schedule_can_be_changed(site: Site, organiser: TestClient) -> None:
    page = send(organiser, f"{AT}/phases/practice/schedule", opens="2020-01-01T00:00", closes="2030-05-20T12:00")
    assert "The times of Practice were saved" in page
    assert 'value="2030-05-20T12:00"' in page
    month = organiser.get(f"{AT}/phases?month=2030-05").text
    assert "May 2030" in month
    assert "Practice closes" in month
    assert organiser.get(f"{AT}/phases?month=nonsense").status_code == 200
    # What opens or closes a phase at once wants its name.
    path, past = f"{AT}/phases/practice/schedule", "2030-04-30T00:00"
    question = send(organiser, path, opens="2020-01-01T00:00", closes=past)
    assert "phase practice is closed immediately" in question
    assert api(site, "")["phases"][0]["state"] == "open"
    send(organiser, path, opens="2020-01-01T00:00", closes=past, confirm="practice")
    assert api(site, "")["phases"][0]["state"] == "closed"
    assert "phase practice is open immediately" in send(organiser, path, opens="2020-01-01T00:00", closes="")
    assert "must close after" in send(
        organiser, f"{AT}/phases/final/schedule", None, 422, opens="2031-01-02T00:00", closes="2031-01-01T00:00"
    )
    assert "is not a valid time" in send(organiser, f"{AT}/phases/final/schedule", None, 422, opens="tomorrow")
    assert "years 1970 to 9000" in send(
        organiser, f"{AT}/phases/final/schedule", None, 422, opens="0001-01-01T00:00:00+14:00", confirm="final"
    )
    assert send(organiser, f"{AT}/phases/none/schedule", None, 404, opens="") is not None


def test_opening_and_closing_a_phase_is_confirmed(site: Site, organiser: TestClient) -> None:
    for action, state in (("open", "open"), ("close", "closed")):
        assert f"Final is {state} now." in send(organiser, f"{AT}/phases/final/{action}", confirm="final")


def test_replacing_gold_needs_confirmation_and_rescores(site: Site, organiser: TestClient) -> None:
    token = site.team()
    sent = site.submit(token).json()["id"]
    before = site.final(token, sent)["figures"]["score"]
    path = f"{AT}/phases/practice/gold"
    new = {"file": ("gold.txt", rows_of(["sad", *GOLD[1:]]).encode())}
    assert "to confirm" in send(organiser, path, new, 422)
    assert "Choose the new gold file" in send(organiser, path, None, 422, confirm="practice")
    short = {"file": ("gold.txt", rows_of(GOLD[:2], 2).encode())}
    assert "labels for the 8 items" in send(organiser, path, short, 422, confirm="practice")
    assert "phase.gold" not in actions(site)
    assert "1 submission is being rescored." in send(organiser, path, new, 200, confirm="practice")
    assert actions(site)[0] == "phase.gold"
    assert site.final(token, sent)["figures"]["score"] != before
    again = site.client.put(
        "/v1/challenges/mine/phases/practice/gold", files={"file": ("g.txt", LABELS)}, headers=bearer(site.organiser)
    )
    assert (again.status_code, again.json()["queued"]) == (200, 0)  # the first results are of this gold
    for headers, status in (({}, 401), (bearer(token), 403)):
        refused = site.client.put("/v1/challenges/mine/phases/practice/gold", files=new, headers=headers)
        assert refused.status_code == status
    assert rows_of(GOLD).splitlines()[1] not in organiser.get(f"{AT}/exports/all.json").text


def shows(client: TestClient, text: str) -> None:
    """Wait until the overview shows it: jobs run beside."""
    until = time.monotonic() + 60
    while text not in client.get(AT).text:
        assert time.monotonic() < until, text
        time.sleep(0.1)


def test_overview_lists_stale_scores(site: Site, organiser: TestClient, tmp_path: Path) -> None:
    token = site.team()
    site.final(token, site.submit(token).json()["id"])
    shows(organiser, "Nothing to do")
    gold = tmp_path / "gold2.txt"
    gold.write_bytes(LABELS.replace(b"\tothers", b"\thappy", 1))
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    replace_gold(store, OPERATOR, "mine", "practice", gold, rescoring=False)
    shows(organiser, "1 score is stale")
    send(organiser, f"{AT}/rescore")
    shows(organiser, "Nothing to do")


def test_the_audit_log_leaves_out_what_is_not_set(site: Site, organiser: TestClient) -> None:
    send(organiser, f"{AT}/rescore")
    page = organiser.get(f"{AT}/audit").text
    assert "queued: " in page
    assert "None" not in page


def test_exports_jobs_storage_and_audit_log_are_shown(site: Site, organiser: TestClient) -> None:
    token = site.team("Aurora")
    site.final(token, site.submit(token).json()["id"])
    whole = organiser.get(f"{AT}/exports/all.json")
    assert json.loads(whole.text)["submissions"]
    assert "attachment" in whole.headers["content-disposition"]
    assert "submissions" not in json.loads(organiser.get(f"{AT}/exports/public.json").text)
    assert "if it closed now" in organiser.get(f"{AT}/phases/practice/final").text
    final = organiser.get(f"{AT}/exports/practice/csv")
    assert "Aurora" in final.text
    assert "precision_happy" in final.text  # exact, as after the close
    assert "Storage" in organiser.get(f"{AT}/exports").text
    assert (
        "All jobs are done" in organiser.get(f"{AT}/scoring").text or "compare" in organiser.get(f"{AT}/scoring").text
    )
    assert "being rescored" in send(organiser, f"{AT}/rescore", phase="practice")
    assert send(organiser, f"{AT}/rescore", None, 404, phase="none") is not None
    newest = api(site, "/audit")[0]["id"]
    older = organiser.get(f"{AT}/audit?before={newest}").text
    assert "team.register" in older
    assert NOON.strftime("%Y-%m-%d") in older


def test_sizes_have_binary_units(site: Site, organiser: TestClient) -> None:
    assert re.search(r"Up to [0-9.]+ MiB\.", organiser.get(f"{AT}/phases").text)
    sizes = re.findall(r"<dd>[0-9.]+ ([A-Za-z]+)", organiser.get(f"{AT}/exports").text)
    assert sizes
    assert set(sizes) <= {"Bytes", "KiB", "MiB", "GiB"}
