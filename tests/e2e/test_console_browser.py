"""A real browser through the organisers' console: every page on a desk and a phone, light and dark, by keyboard alone.

With `EMOSCOPE_SHOTS=FOLDER` every page is photographed.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from benchmarks.serving.axe import violations
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.notices import post_notice
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.teams import disqualify_team, register_team
from emoscope.server.challenge.services.tokens import authenticate, issue_organiser_token
from emoscope.server.store import Store
from emoscope.server.store.models import Job
from kits.browser_kit import EVERY_LOOK, follow, new_page, photograph
from kits.challenge_kit import GOLD, answer, phase, rows_of, write_challenge
from kits.challenge_site import OPENED
from kits.server_process import ServerProcess, running_server

LONG = "The Emotional Intelligence Laboratory of the North Islands"
PHASES = phase("practice", title="Practice on Test1", opens=OPENED, closes=datetime(2020, 2, 10), per_day=30) + phase(
    "final", title="Evaluation", opens=datetime(2020, 2, 12), per_day=20, board="hidden"
)
PATHS = {
    "front": "/organise",
    "new": "/organise/new",
    "toml": "/organise/new/toml?template=emocontext",
    "whole-audit": "/organise/audit",
    "overview": "/challenges/mine/organise",
    "phases": "/challenges/mine/organise/phases?month=2020-02",
    "final": "/challenges/mine/organise/phases/final/final",
    "texts": "/challenges/mine/organise/texts",
    "files": "/challenges/mine/organise/files",
    "teams": "/challenges/mine/organise/teams",
    "team": "/challenges/mine/organise/teams/2",
    "announcements": "/challenges/mine/organise/announcements",
    "scoring": "/challenges/mine/organise/scoring",
    "tokens": "/challenges/mine/organise/tokens",
    "exports": "/challenges/mine/organise/exports",
    "audit": "/challenges/mine/organise/audit",
    "settings": "/challenges/mine/organise/settings",
    "challenge": "/challenges/mine",
}


def _filled(folder: Path) -> str:
    """A challenge with teams, submissions, a failed job and messages; the token of an organiser of everything."""
    store = Store.open(folder)
    create_challenge(
        store, OPERATOR, write_challenge(folder / "source", phases=PHASES, head='registration = "approval"')
    )
    olga = issue_organiser_token(store, OPERATOR, name="Olga").token
    who = authenticate(store, olga)
    for number in range(12):
        name = LONG if number == 1 else f"Team {number}"
        member, mail = f"Member {number}", f"member{number}@example.org"
        actor = PUBLIC if number in (5, 7) else who
        made = register_team(store, actor, "mine", team=name, member=member, email=mail)
        if number < 5:
            for right in range(number):
                sent = submit(
                    store, authenticate(store, made.token), "mine", "final", answer(right), file_name=f"run{right}.txt"
                )
    with store.database.write() as session:
        failed = update(Job).where(Job.id == 1).values(state="failed", reason="the scorer was ended by signal 9")
        session.execute(failed)
    disqualify_team(store, who, "mine", 4, "Two accounts of one person, see rule 3.")
    post_notice(store, who, "mine", title="One day more", text="The phase closes on Sunday.\n\nGood luck!")
    post_notice(store, who, "mine", title="Your file names", text="Please use short names.", team_id=2)
    assert sent.state == "queued"
    store.close()
    return olga


@pytest.fixture(scope="module")
def token_and_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ServerProcess]]:
    folder = tmp_path_factory.mktemp("console")
    token = _filled(folder)
    with running_server(folder, EMOSCOPE_MAIL_URL="console:") as running:
        yield token, running


def _signed_in(browser: Any, server: ServerProcess, token: str, look: str, **options: Any) -> tuple[Any, list[str]]:
    page, complaints = new_page(browser, look, base_url=server.url, **options), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto("/sign-in")
    page.fill("input[name=token]", token)
    page.keyboard.press("Enter")
    page.wait_for_url("**/challenges**")
    return page, complaints


@pytest.mark.parametrize("look", EVERY_LOOK)
def test_every_page_fits_and_is_accessible(
    browser: Any, token_and_server: tuple[str, ServerProcess], look: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    token, server = token_and_server
    page, complaints = _signed_in(browser, server, token, look)
    found = {}
    for name, path in PATHS.items():
        page.goto(path)
        photograph(page, f"console-{name}", look)
        if faults := axe.run(page).response["violations"]:
            found[name] = [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in faults]
    page.context.close()
    assert found == {}
    assert complaints == []


@pytest.mark.parametrize("look", EVERY_LOOK)
def test_texts_and_files(browser: Any, token_and_server: tuple[str, ServerProcess], look: str, tmp_path: Path) -> None:
    token, server = token_and_server
    scripts = look != "phone"  # the pages need none, axe does
    page, _ = _signed_in(browser, server, token, look, java_script_enabled=scripts)
    page.goto("/challenges/mine/organise/texts")
    table = f"| a | b |\n|---|---|\n| {'long ' * 30} | 2 |"
    page.fill("textarea[name=rules]", f"# Rules of {look}\n\n- be **fair**\n\n{table}")
    page.fill("textarea[name=faq]", "")
    follow(page, "text=Preview")
    assert page.inner_text("#preview-rules + .text-of h3") == f"Rules of {look}"
    photograph(page, "console-preview", look)
    found = violations(page) if scripts else {}
    follow(page, "main button.primary")
    assert "saved" in page.inner_text("[role=status]")
    (tmp_path / f"train-{look}.txt").write_text("some data")
    page.goto("/challenges/mine/organise/files")
    page.set_input_files("input[type=file]", tmp_path / f"train-{look}.txt")
    page.fill("input[name=title]", "Training data, with a description that is longer than the phone is wide, by far")
    follow(page, "main button.primary")
    assert "Teams can download it now" in page.inner_text("[role=status]")
    photograph(page, "console-file", look)
    found |= violations(page) if scripts else {}
    page.goto("/challenges/mine")
    assert f"Rules of {look}" in page.inner_text("main")
    assert f"train-{look}.txt" in page.inner_text(".files")
    page.goto("/challenges/mine/organise/files")
    follow(page, "td:has-text('Remove') button")
    assert f"train-{look}.txt is not given out any more" in page.inner_text("[role=status]")
    page.context.close()
    assert found == {}


def test_a_challenge_is_run_by_keyboard_without_javascript(
    browser: Any, token_and_server: tuple[str, ServerProcess], tmp_path: Path
) -> None:
    (tmp_path / "given.txt").write_text(rows_of(None))
    (tmp_path / "gold.txt").write_text(rows_of(GOLD))
    token, server = token_and_server
    page, _ = _signed_in(browser, server, token, "phone", java_script_enabled=False)

    def focus(selector: str) -> Any:
        """Reach a thing with the tab key alone."""
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.locator(f"{selector}:focus").count():
                return page.locator(selector)
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    page.goto("/organise")
    focus("a[href='/organise/new']")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('New challenge')")
    for name, text in (("title", "By keyboard"), ("slug", "keys")):
        focus(f"input[name={name}]")
        page.keyboard.type(text)
    for name, text in (("title", "Practice"), ("name", "practice")):
        focus(f"input[name='phases.0.{name}']")
        page.keyboard.type(text)
    focus("input[name='phases.0.unlabelled']").set_input_files(tmp_path / "given.txt")
    focus("input[name='phases.0.gold']").set_input_files(tmp_path / "gold.txt")
    focus("input[name='phases.0.public_share']")
    page.keyboard.type("1")
    focus("main button.primary")
    page.keyboard.press("Enter")
    page.wait_for_url("**/challenges/keys/organise")
    page.goto("/challenges/keys/organise/phases")
    focus("form[action$='/phases/practice/open'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("input[name=confirm]")
    focus("input[name=confirm]") if not page.locator("input[name=confirm]:focus").count() else None
    page.keyboard.type("practice")
    page.keyboard.press("Enter")
    page.wait_for_selector("section#practice .state.open")
    focus("#practice input[type=file]").set_input_files(tmp_path / "gold.txt")
    focus("#practice input[name=confirm]")
    page.keyboard.type("practice")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")
    assert "is replaced" in page.inner_text("[role=status]")
    page.goto("/challenges/keys/organise/announcements")
    focus("input[name=title]")
    page.keyboard.type("Hello")
    focus("textarea[name=text]")
    page.keyboard.type("All of you")
    focus("main button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")
    page.goto("/challenges/keys")
    assert "All of you" in page.inner_text("main")
    page.context.close()
