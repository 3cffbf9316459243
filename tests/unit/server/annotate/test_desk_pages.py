"""The managers' desk: signing in, the overview, its pages."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from fastapi.testclient import TestClient

from emoscope.server.annotate.links import manager_token
from emoscope.server.annotate.notes import renew_manager_link
from emoscope.server.http.rendering import templates
from emoscope.server.store.signing_key import load_key
from kits.annotation_desk import HOME, DeskBrowser, judged_by_all
from kits.annotation_kit import store_of, tokens


def test_kappa_near_zero_has_no_sign() -> None:
    figures = cast(Any, templates().get_template("desk_parts.html.j2").module)
    assert [figures.figure(value) for value in (-0.001, 0.004, -0.25, None)] == ["0.00", "0.00", "-0.25", "–"]


def test_error_messages_are_whole_sentences(desk: DeskBrowser) -> None:
    missing = desk.client.get(f"{HOME}/items/999", headers={"Accept": "text/html"}).text
    assert ">There is no such item.</p>" in missing
    assert ">This managers&#39; link is not valid" in desk.client.post(f"{HOME}/enter", data={"token": "no"}).text


def test_only_the_managers_link_opens_the_desk(client: TestClient, folder: Path) -> None:
    assert "Sign in" in client.get(HOME).text
    for path in ("/items", "/annotators", "/files/judgements.csv"):
        sent = client.get(f"{HOME}{path}", follow_redirects=False)
        assert (sent.status_code, sent.headers["location"]) == (303, HOME)
    for wrong in ("", "emo_m-guess", tokens(folder)["ann"], manager_token(b"k" * 32)):
        assert client.post(f"{HOME}/enter", data={"token": wrong}).status_code == 401
    desk = DeskBrowser(client, f"http://host/annotate/desk#{manager_token(load_key(folder))}")
    assert "judgements" in desk.get()
    foreign = client.post(f"{HOME}/guidelines", data={"guidelines": "x", "csrf": "guess"})
    assert foreign.status_code == 403
    with closing(store_of(folder)) as store:
        renew_manager_link(store)
    assert "Sign in" in desk.get()
    DeskBrowser(client, manager_token(load_key(folder), 1))


def test_cookie_is_invalid_after_signing_out(client: TestClient, desk: DeskBrowser) -> None:
    kept = dict(client.cookies)
    desk.post("/leave")
    client.cookies.update(kept)
    assert "Sign in" in client.get(HOME).text


def test_overview_shows_progress_and_agreement(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    assert "No item has two judgements yet" in desk.get()
    judged_by_all(client, folder)
    page = desk.get()
    assert "12 of 12 judgements" in page
    assert "4 of 4 items have all their judges" in page
    # Votes 2-1, 1-1-1, 3-0, 3-0 of sad, angry, others: observed (1/3 + 0 + 1 + 1) / 4, expected (9² + 2² + 1²) / 12²
    kappa = ((1 / 3 + 2) / 4 - 86 / 144) / (1 - 86 / 144)
    alpha = 1 - 11 * (2 / 2 * 2 + 3 * 2 / 2) / (144 - 86)
    figures = re.findall(r'class="score">([-–.\d]+)<', page)
    assert figures == [f"{kappa:.2f}", f"{alpha:.2f}", f"{(1 / 3 + 2) / 4:.2f}"]
    assert "95 % interval" in page
    assert page.count('title="4 in common"') == 6
    assert "1 to adjudicate" in page


def test_desk_pages_load_nothing_from_elsewhere(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    judged_by_all(client, folder)
    for path in ("", "/items", "/items?show=split", "/queue", "/annotators", "/guidelines", "/files"):
        page = desk.get(path)
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", page)
        assert set(re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(/[^"/]+)', page)) == {"/static"}
    assert client.get(f"{HOME}/items/999", headers={"Accept": "text/html"}).status_code == 404
