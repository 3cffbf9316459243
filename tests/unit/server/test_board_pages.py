"""Pages of boards, challenges and reports: sorted and searched without a script, safe, with errors at their field."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from emoscope.server.challenge.pages.board_plot import history_plot
from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import close_phase, create_challenge
from emoscope.server.challenge.views import BoardView, Entry, HistoryPoint
from emoscope.server.http.rendering import templates
from emoscope.server.markdown import markdown
from emoscope.server.store import Store
from emoscope.server.store.models import Result
from kits.challenge_kit import phase, rows_of
from kits.challenge_site import Site, bearer, form_secret, opened_site
from kits.task_files import emotionx_file

HEAD = """
description = "Say **which** <script>alert(1)</script>"
rules = "# Rules\\n[bad](javascript:alert(1)) ![x](https://example.org/x.png)"
downloads = "registered"
survey = "emocontext"
[[files]]
file = "given.txt"
"""
PHASES = phase("practice", opens=datetime(2020, 1, 1), per_day=30, closes=datetime(2040, 1, 1)) + phase(
    "done", opens=datetime(2020, 1, 1), closes=datetime(2021, 1, 1), labels="closed", gold="other.txt"
)
EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "<a href='javascript:alert(1)'>a</a>",
    "![a](https://example.org/a.png)",
    "<style>body{display:none}</style>",
    "<form action=https://example.org><input></form>",
    "[a](https://example.org 'x\" onclick=\"alert(1)')",
    "`<svg onload=alert(1)>`",
    "<div class=mine style=color:red>",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "source").mkdir()
    (folder / "source" / "other.txt").write_text(rows_of(["sad"] * 8))
    with opened_site(folder, phases=PHASES, head=HEAD) as opened:
        yield opened


@pytest.fixture
def signed_in(site: Site) -> Iterator[Site]:
    """The site as a member of team Joy."""
    site.client.cookies.clear()
    client = site.client
    if not hasattr(site, "joy"):
        site.joy = site.team("Team Joy")  # type: ignore[attr-defined]
    token = {"csrf": form_secret(client.get("/sign-in").text), "token": site.joy}  # type: ignore[attr-defined]
    client.post("/sign-in", data=token)
    yield site
    client.cookies.clear()


@pytest.mark.parametrize("text", EVIL)
def test_markdown_creates_no_active_content(text: str) -> None:
    made = str(markdown(text))
    tags = re.findall(r"<([a-z0-9]+)([^>]*)>", made)
    assert {name for name, _ in tags} <= {"p", "a", "code", "em"}
    for _, attributes in tags:
        assert not re.search(r"\son|style|javascript:|data:", re.sub(r'title="[^"]*"', "", attributes))


def test_markdown_has_headings_lists_tables_and_careful_links() -> None:
    made = str(markdown("# One\n\n## Two\n\n- a\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[p](https://example.org)"))
    assert "<h3>One</h3>" in made
    assert "<h4>Two</h4>" in made
    assert '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>' in made
    assert 'rel="nofollow noopener noreferrer"' in made


def test_headings_leave_out_no_level_and_a_picture_is_a_link() -> None:
    made = str(markdown("## One\n\n#### Two\n\n![chart](https://example.org/chart.png)"))
    assert "<h3>One</h3>" in made
    assert "<h4>Two</h4>" in made
    assert "<img" not in made
    assert 'href="https://example.org/chart.png"' in made


def test_the_challenge_shows_its_texts_countdown_and_gated_files(site: Site) -> None:
    found = site.client.get("/challenges/mine").text
    assert "Say <strong>which</strong> &lt;script&gt;" in found
    assert "<h3>Rules</h3>" in found
    assert "javascript:" not in re.findall(r"href=\"[^\"]*", found)
    assert 'Practice closes <strong role="timer" data-until="2040-01-01T00:00:00+00:00"' in found
    assert ">in 3531 days 1" in found
    assert "The files are for registered teams" in found
    assert "/challenges/mine/files/given.txt" not in found
    assert site.client.get("/challenges/mine/files/given.txt").status_code == 401
    assert site.client.get("/challenges/mine/phases/done/labels").status_code == 401


def test_the_challenge_says_that_ranks_need_a_report(site: Site, tmp_path: Path) -> None:
    """Teams must know before the close; nothing is said where a report is optional."""
    told = "only teams that describe their system are ranked when a phase closes"
    assert told not in site.client.get("/challenges/mine").text
    with opened_site(tmp_path, head='survey = "emocontext"\nreport = "ranked"') as strict:
        assert told in strict.client.get("/challenges/mine").text


def test_a_team_downloads_files_and_released_labels(signed_in: Site) -> None:
    client = signed_in.client
    found = client.get("/challenges/mine").text
    assert '<a href="/challenges/mine/files/given.txt">' in found
    assert "Download the labels" not in found  # the practice phase has the same items, and is open
    assert client.get("/challenges/mine/files/given.txt").text == rows_of(None)
    assert client.get("/challenges/mine/phases/done/labels").status_code == 404


def test_mistakes_are_shown_at_their_field(site: Site) -> None:
    client = site.client
    client.cookies.clear()
    form = {"csrf": form_secret(client.get("/challenges/mine").text), "team": "<b>", "member": "Ana"}
    refused = client.post("/challenges/mine/register", data=form)
    assert refused.status_code == 422
    assert '<a href="#field-team">The team name may not hold' in refused.text
    assert re.search(
        r'<input id="field-team" name="team" aria-invalid="true" aria-describedby="field-team-error"', refused.text
    )
    assert '<p class="fault" id="field-team-error">' in refused.text
    assert refused.text.count('aria-invalid="true"') == 1
    assert 'name="member" value="Ana"' in refused.text
    join = client.post("/join", data={**form, "invitation": "inv_no"})
    assert 'aria-describedby="field-invitation-error"' in join.text


def test_long_refusal_counts_the_omitted_problems(signed_in: Site) -> None:
    client = signed_in.client
    page = client.get("/challenges/mine").text
    rows = "id\tturn1\tturn2\tturn3\tlabel\n" + "".join(f"{n}\ta\tb\tc\tglad\n" for n in range(200))
    sent = client.post(
        "/challenges/mine/submissions",
        data={"csrf": form_secret(page), "phase": "practice", "note": "again"},
        files={"file": ("a.txt", rows.encode(), "text/plain")},
    )
    assert sent.status_code == 422
    assert re.search(r"a\.txt: and \d+ more problems of this kind</li>", sent.text)
    assert 'value="again"' in sent.text
    assert re.search(r'id="file-1" type="file" name="file" required aria-invalid="true"', sent.text)


def test_more_refusals_than_a_page_shows_are_counted() -> None:
    macro = templates().get_template("fields.html.j2").module.rows_refused  # type: ignore[attr-defined]
    made = str(macro([f"row {number}" for number in range(230)], "ab12"))
    assert 'and 180 more: <a href="/submissions/ab12">see them all</a>' in made


def test_a_board_is_sorted_and_searched_without_a_script(signed_in: Site) -> None:
    client = signed_in.client
    for name in ("Alpha", "Omega"):
        token = signed_in.team(name)
        signed_in.final(token, signed_in.submit(token).json()["id"])

    def names(query: str) -> list[str]:
        found = client.get(f"/challenges/mine/board/practice{query}").text
        return re.findall(r'<span class="cut" title="([^"]+)">', found.split("<tbody>")[1].split("</tbody>")[0])

    assert names("?sort=team") == ["Alpha", "Omega"]
    assert names("?sort=team&order=desc") == ["Omega", "Alpha"]
    assert names("?q=OMEG") == ["Omega"]
    assert names("?q=nobody") == []
    assert names("?sort=nonsense&order=up") == names("")
    page = client.get("/challenges/mine/board/practice?sort=team").text
    assert re.search(r'<th scope="col" class="text stick team" aria-sort="ascending">', page)
    assert "First rank that differs" in page
    assert "Submissions" in page
    assert "F1 of" not in page.split("<thead>")[1].split("</thead>")[0]  # the phase is open


def test_badge_shows_only_public_scores(site: Site) -> None:
    site.client.cookies.clear()
    token = site.team("Badge & Co")
    site.final(token, site.submit(token).json()["id"])
    found = site.client.get("/challenges/mine/board/practice/badge.svg", params={"team": "Badge & Co"})
    assert found.headers["content-type"] == "image/svg+xml"
    assert found.headers["cross-origin-resource-policy"] == "cross-origin"
    assert re.search(r"rank \d of \d, 0\.\d", found.text)
    assert "no score" in site.client.get("/challenges/mine/board/practice/badge.svg?team=<b>").text
    page = site.client.get("/challenges/mine")
    assert page.headers.get_list("cross-origin-resource-policy") == ["same-origin"]


def test_a_team_describes_its_system(signed_in: Site) -> None:
    client = signed_in.client
    form = {"csrf": form_secret(client.get("/challenges/mine/report").text), "q-representations": ["GloVe", "BERT"]}
    refused = client.post("/challenges/mine/report", data={**form, "paper": "not an address"})
    assert refused.status_code == 422
    assert 'aria-describedby="field-paper-error"' in refused.text
    assert 'value="GloVe" checked' in refused.text
    saved = client.post("/challenges/mine/report", data={**form, "other-representations": "Ours, Theirs"})
    assert "Saved." in saved.text
    assert 'value="Ours, Theirs"' in saved.text
    assert client.get("/challenges/mine/techniques").status_code == 403
    headers = bearer(signed_in.joy)  # type: ignore[attr-defined]
    report = client.get("/v1/challenges/mine/report", headers=headers).json()
    assert report["answers"] == {"representations": ["GloVe", "BERT", "Ours", "Theirs"]}
    changed = client.put("/v1/challenges/mine/report", json={"answers": {"networks": ["CNN"]}}, headers=headers)
    assert changed.json()["answers"] == {"networks": ["CNN"]}
    tables = client.get("/v1/challenges/mine/techniques", headers=bearer(signed_in.organiser)).json()
    assert [row["team"] for row in tables[1]["rows"]] == ["Team Joy"]


def test_techniques_page_is_linked_only_if_shown(site: Site) -> None:
    link, pages = "/challenges/mine/techniques", ("/challenges/mine", "/challenges/mine/board/practice")
    assert all(f'href="{link}"' not in site.client.get(page).text for page in pages)  # a phase is open
    site.client.post("/sign-in", data={"csrf": form_secret(site.client.get("/sign-in").text), "token": site.organiser})
    assert all(f'href="{link}"' in site.client.get(page).text for page in pages)
    assert site.client.get(link).status_code == 200
    site.client.cookies.clear()


def test_a_submission_is_chosen_and_noted_on_its_page(signed_in: Site) -> None:
    client = signed_in.client
    token = signed_in.joy  # type: ignore[attr-defined]
    sent = signed_in.submit(token).json()["id"]
    signed_in.final(token, sent)
    page = client.get(f"/submissions/{sent}").text
    assert "Choose as final submission" in page
    form = {"csrf": form_secret(page)}
    assert client.post(f"/submissions/{sent}/choose", data={**form, "chosen": "true"}).status_code == 303
    assert client.post(f"/submissions/{sent}/note", data={**form, "note": "the <b>larger</b> one"}).status_code == 303
    page = client.get(f"/submissions/{sent}").text
    assert "chosen as the final submission" in page
    assert "the &lt;b&gt;larger&lt;/b&gt; one" in page
    assert '<strong class="small">chosen</strong>' in client.get("/challenges/mine/submissions").text
    long = client.post(f"/submissions/{sent}/note", data={**form, "note": "x" * 301})
    assert (long.status_code, 'aria-describedby="field-note-error"' in long.text) == (422, True)
    assert client.delete(f"/v1/submissions/{sent}/chosen", headers=bearer(token)).status_code == 204
    assert client.put(f"/v1/submissions/{sent}/note", json={"note": "so"}, headers=bearer(token)).status_code == 204
    found = client.get(f"/v1/submissions/{sent}", headers=bearer(token)).json()
    assert (found["chosen"], found["note"]) == (False, "so")


def test_new_score_is_drawn() -> None:
    """A line from now to now would have no length."""
    first, now = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)
    entry = Entry.model_construct(kind="team", name="new", history=(HistoryPoint(at=now, score=0.5),), mine=False)
    board = BoardView.model_construct(entries=(entry,), computed=now)
    plot = history_plot(board, first, None)
    assert plot is not None
    begin, end = re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)", plot["sparks"]["new"]).groups()  # type: ignore[union-attr]
    assert float(end) - float(begin) >= 50


def test_further_metrics_have_columns(tmp_path: Path) -> None:
    with opened_site(tmp_path, phases=phase("practice", opens=datetime(2020, 1, 1))) as site:
        token = site.team()
        sent = site.submit(token).json()["id"]
        site.final(token, sent)
        store: Store = site.client.app.state.store  # type: ignore[attr-defined]
        with store.database.write() as session:  # as the scorer of EmotionX returns it
            result = session.scalars(select(Result)).one()
            result.figures = {**result.figures, "further": {"macro-f1": 0.4321}}
        assert "macro-f1" not in site.client.get("/challenges/mine/board/practice").text
        close_phase(store, OPERATOR, "mine", "practice")
        page = site.client.get("/challenges/mine/board/practice?sort=by-macro-f1").text
        assert re.search(r'aria-sort="descending"><a [^>]*>macro-f1<', page)
        assert "<td>0.4321</td>" in page
        site.client.post("/sign-in", data={"csrf": form_secret(site.client.get("/sign-in").text), "token": token})
        assert "macro-f1 0.4321" in site.client.get(f"/submissions/{sent}").text


def test_a_quota_of_one_is_one_submission(tmp_path: Path) -> None:
    phases = phase("one", opens=datetime(2020, 1, 1), per_day=1) + phase("two", opens=datetime(2020, 1, 1), per_day=2)
    with opened_site(tmp_path, phases=phases) as site:
        page = site.client.get("/challenges/mine").text
        assert "1 submission per day" in page
        assert "2 submissions per day" in page


def test_the_commands_of_a_challenge_name_a_file_of_its_format(tmp_path: Path) -> None:
    with opened_site(tmp_path, phases=phase("one", opens=datetime(2020, 1, 1))) as site:
        emotionx_file(tmp_path / "gold.json", ["joy"])
        (tmp_path / "given.json").write_text('[[{"speaker": "Ross", "utterance": "line 0"}]]')
        toml = tmp_path / "chats.toml"
        phases = phase("one", unlabelled="given.json", gold="gold.json")
        toml.write_text(f'slug = "chats"\ntitle = "Chats"\ntask = "emotionx-friends"\n{phases}')
        create_challenge(site.client.app.state.store, OPERATOR, toml)  # type: ignore[attr-defined]
        for slug, file in (("mine", "predictions.txt"), ("chats", "predictions.json")):
            page = site.client.get(f"/challenges/{slug}").text
            assert set(re.findall(r"predictions\.\w+", page)) == {file}
