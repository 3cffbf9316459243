"""Every page of the server and of an annotation study, as those who see it see it.

`visits` opens them one after the other, signed in as whoever a page is for, and does what brings it to the state to
look at. `benchmarks.serving.axe` and `tests/e2e/test_accessibility.py` look at the same pages so.
"""

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.serving.site import SLUG, Site

TABLE = "chat_id,user,message\n7,Ana,I am so happy\n8,Ben,leave me alone\n7,Ben,I am sad"
CHALLENGE = f"/challenges/{SLUG}"
CONSOLE = f"{CHALLENGE}/organise"
Act = Callable[[Any], None]
PageRow = tuple[str, str, Act | None]  # a name, an address, and what is done there first
OpenPage = Callable[[str], Any]  # a page in a new window, for addresses below this one


def _example(page: Any) -> None:
    page.wait_for_selector("#share:not([hidden])")
    page.click("#example")
    page.wait_for_selector(".turn")
    page.click("#turn-2 summary")
    page.wait_for_selector("#detail-2 .words")
    page.click("#share")
    page.wait_for_selector("#link:not([hidden])")


def _two(page: Any) -> None:
    page.evaluate("sessionStorage.clear()")
    page.reload()
    page.wait_for_selector("#share:not([hidden])")
    page.fill("#conversation", "Ana: I am so happy\nBen: I am so sad")
    page.fill("#conversation-b", TABLE)
    page.wait_for_selector("#turns .turn")
    page.wait_for_selector("#turns-b .turn")
    page.select_option("#prior", "own")


def _operation(page: Any) -> None:
    page.click("#post-v1-detect summary")
    page.click("#post-v1-detect form button")
    page.wait_for_selector("#post-v1-detect pre")


def _sent(form: str, **values: str) -> Act:
    """Fill fields of a form, send it, and wait for the page that answers."""

    def act(page: Any) -> None:
        for name, value in values.items():
            page.fill(f"{form} [name={name}]", value)
        with page.expect_event("load"):
            page.click(f"{form} :is(button, input[type=submit]):not(.link)")

    return act


def _followed(selector: str) -> Act:
    """Click what leads to another page."""

    def act(page: Any) -> None:
        with page.expect_event("load"):
            page.click(selector)

    return act


def _registered(page: Any) -> None:
    number = page.evaluate("Date.now()")
    _sent("form[action$='/register']", team=f"Newcomers {number}", member="Ana", email=f"ana{number}@example.org")(page)
    page.wait_for_selector("#token")


def _refused(page: Any) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("id\tturn1\tturn2\tturn3\tlabel\n" + "".join(f"{row}\ta\tb\tc\tglad\n" for row in range(120)))
        file.flush()
        page.set_input_files("form.upload input[type=file]", file.name)
        page.click("form.upload button")
        page.wait_for_selector(".outcome .notice.error li")


_VISITOR: tuple[PageRow, ...] = (
    ("start", "/", None),
    ("detect", "/detect", None),
    ("detect, an answer", "/detect", _example),
    ("detect, two and a table", "/detect?two=1", _two),
    ("model card", "/model", None),
    ("API reference", "/docs", _operation),
    ("challenges", "/challenges", None),
    ("challenge", CHALLENGE, None),
    (
        "challenge, registration refused",
        CHALLENGE,
        _sent("form[action$='/register']", team="Team 0", member="A", email="a@b.org"),
    ),
    ("board of a closed phase", f"{CHALLENGE}/board/practice", None),
    ("board of an open phase", f"{CHALLENGE}/board/evaluation", None),
    ("hidden board", f"{CHALLENGE}/board/final", None),
    ("what teams used", f"{CHALLENGE}/techniques", None),
    ("sign in", "/sign-in", None),
    ("sign in, refused", "/sign-in", _sent("main form", token="emo_wrong")),
    ("lost token", "/recover", None),
    ("lost token, mail sent", "/recover", _sent("main form", email="member1@example.org")),
    ("lost token, link", "/recover/none", None),
    ("confirm an address", "/confirm/none", None),
    ("join", "/join", None),
    ("join, refused", "/join", _sent("main form", invitation="none", member="Ana")),
    ("not found", "/nowhere", None),
    ("token", CHALLENGE, _registered),
    ("challenge, waiting for approval", CHALLENGE, None),
)
_TEAM: tuple[PageRow, ...] = (
    ("challenge of a team", CHALLENGE, None),
    ("challenge of a team, file refused", CHALLENGE, _refused),
    ("board of a team", f"{CHALLENGE}/board/evaluation", None),
    ("report", f"{CHALLENGE}/report", None),
    ("submissions", f"{CHALLENGE}/submissions", None),
    ("submission, scored", f"{CHALLENGE}/submissions", _followed("tr:has-text('practice') a >> nth=0")),
    ("submission, refused", f"{CHALLENGE}/submissions", _followed("tr:has-text('refused.txt') a >> nth=0")),
    ("team", f"{CHALLENGE}/team", None),
    ("team, invitation", f"{CHALLENGE}/team", _followed("form[action$='/invite'] button")),
    ("team, revoke a token", f"{CHALLENGE}/team", _followed("form[action$='/revoke'] button")),
    ("not allowed", CONSOLE, None),
)
_ORGANISER: tuple[PageRow, ...] = (
    ("console", "/organise", None),
    ("console, new challenge", "/organise/new", None),
    ("console, new challenge from a TOML file", "/organise/new/toml?template=emocontext", None),
    ("console, audit log of all", "/organise/audit", None),
    ("console, overview", CONSOLE, None),
    ("console, phases", f"{CONSOLE}/phases?month=2020-02", None),
    ("console, close a phase", f"{CONSOLE}/phases", _followed("form[action$='/close'] button")),
    ("console, board if it closed now", f"{CONSOLE}/phases/evaluation/final", None),
    ("console, texts", f"{CONSOLE}/texts", _followed("button[name=preview]")),
    ("console, files", f"{CONSOLE}/files", None),
    ("console, teams", f"{CONSOLE}/teams", None),
    ("console, team", f"{CONSOLE}/teams/2", None),
    ("console, announcements", f"{CONSOLE}/announcements", None),
    ("console, scoring", f"{CONSOLE}/scoring", None),
    ("console, tokens", f"{CONSOLE}/tokens", None),
    ("console, exports", f"{CONSOLE}/exports", None),
    ("console, audit log", f"{CONSOLE}/audit", None),
    ("console, settings", f"{CONSOLE}/settings", None),
    ("challenge of an organiser", CHALLENGE, None),
    ("all submissions", f"{CHALLENGE}/submissions", None),
)
_DESK = "/annotate/desk"
_MANAGER: tuple[PageRow, ...] = (
    ("desk, overview", _DESK, None),
    ("desk, items", f"{_DESK}/items", None),
    ("desk, item", f"{_DESK}/items", _followed("tbody a >> nth=0")),
    ("desk, adjudicate", f"{_DESK}/queue", None),
    ("desk, annotators", f"{_DESK}/annotators", None),
    ("desk, revoke a link", f"{_DESK}/annotators", _followed("form[action$='/revoke'] button >> nth=0")),
    ("desk, guidelines", f"{_DESK}/guidelines", None),
    ("desk, files", f"{_DESK}/files", None),
    ("desk, not found", f"{_DESK}/items/9999", None),
)


def visits(open_page: OpenPage, site: Site, reader: str) -> Iterator[tuple[str, Any]]:
    """A name and an open page, for every page there is; `reader` is an annotator who has not begun."""
    for token, rows in ((None, _VISITOR), (site.team, _TEAM), (site.organiser, _ORGANISER)):
        page = open_page(site.url)
        if token is not None:
            page.goto("/sign-in")
            _sent("main form", token=token)(page)
        yield from _visited(page, rows)
        page.context.close()
    study = site.desk.partition(_DESK)[0]
    page = open_page(study)
    yield from _visited(page, [("desk, enter", _DESK, None)])
    _open_link(page, site.desk)
    page.wait_for_selector("#live")
    yield from _visited(page, _MANAGER)
    page.context.close()
    yield from _annotating(open_page(study), site.annotators[reader])


def _visited(page: Any, rows: Any) -> Iterator[tuple[str, Any]]:
    for name, address, act in rows:
        answer = page.goto(address)
        if answer.status >= 500:
            raise RuntimeError(f"{address}: {answer.status}")
        if act is not None:
            act(page)
        yield name, page


def _open_link(page: Any, link: str) -> None:
    page.goto("about:blank")  # from the same page, only what stands behind the # would change
    page.goto(link)


def _annotating(page: Any, link: str) -> Iterator[tuple[str, Any]]:
    """The page of an annotator, from the guidelines to the last item."""
    page.goto("/annotate#wrong")
    page.wait_for_selector("#error:not([hidden])")
    yield "annotate, wrong link", page
    _open_link(page, link)
    page.wait_for_selector("#begin")
    yield "annotate, guidelines and consent", page
    page.check("#agree")
    page.click("#begin button")
    _judge(page, "sad")
    page.wait_for_selector("#check")
    yield "annotate, training", page
    page.click("#continue")
    page.wait_for_selector("#item")
    yield "annotate, item", page
    page.click("#remark")
    page.wait_for_selector("#remark-form")
    yield "annotate, comment", page
    page.fill("#remark-text", "is this meant?")
    page.click("#remark-form button[value=flag]")
    page.wait_for_selector("#praise")
    while page.locator("#end").is_hidden():
        _judge(page, "happy" if "prize" in page.inner_text("#turns") else "sad")
    yield "annotate, nothing left", page
    page.click("#earlier")
    page.wait_for_selector("#earlier-list li")
    yield "annotate, earlier items", page
    page.click("#earlier-list li button >> nth=0")
    page.wait_for_selector("#revisited")
    yield "annotate, an earlier item", page
    page.context.close()


def _judge(page: Any, label: str) -> None:
    page.wait_for_selector("#item")
    page.wait_for_timeout(400)  # a tap right after another is taken for a slip
    with page.expect_response("**/annotate/judge"):
        page.click(f"[data-label={label}]")
    page.wait_for_selector("body:not([aria-busy=true])")
