"""The managers' desk, and what annotators meet before and beside their items."""

import csv
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.annotation.items import in_round
from emoscope.corpus.annotation.people import AnnotatorProfile
from emoscope.server.annotate.exchange import import_judgements
from emoscope.server.annotate.links import manager_token
from emoscope.server.annotate.notes import Briefing, renew_manager_link, set_briefing
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.annotate.studies import add_annotators, create_study, study_results, the_study
from emoscope.server.http.rendering import templates
from emoscope.server.store import Store
from emoscope.server.store.migrate import downgrade
from emoscope.server.store.signing_key import load_key
from kits.annotation_kit import LABELS, Worker, items, made_study, opened, tokens

HOME = "/annotate/desk"


class DeskBrowser:
    """A manager's browser, without a script."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client = client
        entered = client.post(f"{HOME}/enter", data={"token": token})
        assert entered.status_code == 200, entered.text

    def get(self, path: str = "") -> str:
        answer = self.client.get(f"{HOME}{path}", headers={"Accept": "text/html"})
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, expected: int = 200, **fields: object) -> str:
        secret = re.search(r'name="csrf" value="(\w+)"', self.get())
        assert secret is not None
        answer = self.client.post(f"{HOME}{path}", data={"csrf": secret[1], **fields}, headers={"Accept": "text/html"})
        assert answer.status_code == expected, answer.text
        return answer.text


def store_of(folder: Path) -> Store:
    return Store.open(folder, f"sqlite:///{folder / 'emoscope.sqlite3'}")


def brief(folder: Path, guidelines: str = "", consent: str = "") -> None:
    with closing(store_of(folder)) as store:
        set_briefing(store, Briefing(guidelines, consent))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_study(tmp_path / "study", items(4), judges=3, people=("ann", "ben", "cleo"))
    return tmp_path / "study"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with opened(folder) as running:
        yield running


@pytest.fixture
def desk(client: TestClient, folder: Path) -> DeskBrowser:
    return DeskBrowser(client, manager_token(load_key(folder)))


def judged_by_all(client: TestClient, folder: Path) -> dict[str, Worker]:
    """Three annotators who agree on two of four items: key 0 has a majority, key 1 has none."""
    said = {"number 0": ("sad", "sad", "angry"), "number 1": ("sad", "angry", "others")}
    workers = {name: Worker(client, token) for name, token in tokens(folder).items()}
    for place, worker in enumerate(workers.values()):
        worker.look()
        while worker.view["state"] == "item":
            labels = next((labels for text, labels in said.items() if worker.text.endswith(text)), ("sad",) * 3)
            worker.judge(labels[place])
    return workers


def item_number(desk: DeskBrowser, name: str) -> str:
    found = re.search(rf'{HOME}/items/(\d+)">{name}<', desk.get("/items"))
    assert found is not None
    return found[1]


def test_a_kappa_of_nearly_nothing_has_no_sign() -> None:
    figures = cast(Any, templates().get_template("desk_parts.html.j2").module)
    assert [figures.figure(value) for value in (-0.001, 0.004, -0.25, None)] == ["0.00", "0.00", "-0.25", "–"]


def test_mistakes_are_whole_sentences(desk: DeskBrowser) -> None:
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


def test_the_overview_shows_progress_and_agreement(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
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


def test_what_judges_do_not_agree_on_is_adjudicated(
    client: TestClient, desk: DeskBrowser, folder: Path, tmp_path: Path
) -> None:
    judged_by_all(client, folder)
    assert "d1" in desk.get("/queue")
    number = item_number(desk, "d1")
    assert "not one of the labels" in desk.post(f"/items/{number}/adjudicate", 422, label="joy")
    after = desk.post(f"/items/{number}/adjudicate", label="angry", why="she shouts", queue="1")
    assert "Nothing to adjudicate" in after
    labels = {row["task"]: (row["label"], row["decided"]) for row in rows_of(desk, "labels.csv")}
    assert labels == {
        "d0": ("sad", "majority"),
        "d1": ("angry", "adjudicated"),
        "d2": ("sad", "unanimous"),
        "d3": ("sad", "unanimous"),
    }
    # The labels are a file of judgements, which later steps read as the last word.
    path = tmp_path / "final.csv"
    path.write_text(desk.get("/files/labels.csv"), encoding="utf-8")
    assert {one.task: one.label for one in read_annotations([path]).judgements}["d1"] == "angry"
    desk.post(f"/items/{number}/reopened")
    assert "d1" in desk.get("/queue")
    assert [row["task"] for row in rows_of(desk, "labels.csv")] == ["d0", "d2", "d3"]


def rows_of(desk: DeskBrowser, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(desk.get(f"/files/{name}").splitlines()))


def test_flags_and_comments_reach_the_managers(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    ann = Worker(client, tokens(folder)["ann"])
    ann.look()
    ann.ask("remark", {"text": "=is this a joke?"})
    first = ann.text
    assert ann.view["notes"] == [{"kind": "comment", "text": "=is this a joke?"}]
    ann.judge("sad")
    ann.ask("remark", {"flag": True, "text": "<b>cannot be judged</b>", "place": 0})
    empty = client.post("/annotate/remark", json={"text": "  "}, headers=ann.headers)
    assert (empty.status_code, "empty" in empty.text) == (422, True)
    queue = desk.get("/queue")
    assert "&lt;b&gt;cannot be judged" in queue
    assert first in queue
    comments = rows_of(desk, "comments.csv")
    assert [(row["by"], row["kind"], row["text"]) for row in comments] == [
        ("ann", "comment", "'=is this a joke?"),
        ("ann", "flag", "<b>cannot be judged</b>"),
    ]
    number = re.search(rf"{HOME}/items/(\d+)/resolved", queue)
    assert number is not None
    assert "Nothing to adjudicate" in desk.post(f"/items/{number[1]}/resolved", why="it can", queue="1")
    assert "it can" in desk.get(f"/items/{number[1]}")


def test_annotators_are_invited_and_revoked_on_the_desk(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    desk.post("/annotators", name="Dora")
    link = re.search(r'value="[^"]*#(emo_a4-[^"]+)"', desk.get("/annotators"))
    assert link is not None
    assert Worker(client, link[1]).look()["state"] == "item"
    assert "Revoke Dora’s link?" in desk.post("/annotators/4/revoke")
    assert "is not &#39;Dora&#39;" in desk.post("/annotators/4/renew", 422, confirm="Ann")
    assert Worker(client, link[1]).look()["state"] == "item"
    desk.post("/annotators/4/revoke", confirm="dora")
    refused = client.post("/annotate/look", json={}, headers={"Authorization": f"Bearer {link[1]}"})
    assert refused.status_code == 401
    desk.post("/annotators/4/renew")
    renewed = re.search(r'value="[^"]*#(emo_a4-[^"]+)"', desk.get("/annotators"))
    assert renewed is not None
    assert renewed[1] != link[1]
    assert "no such annotator" in desk.post("/annotators/99/revoke", 404)
    assert "may not hold" in desk.post("/annotators", 422, name="<Eve>")


def test_a_managers_cookie_is_worthless_after_leaving(client: TestClient, desk: DeskBrowser) -> None:
    kept = dict(client.cookies)
    desk.post("/leave")
    client.cookies.update(kept)
    assert "Sign in" in client.get(HOME).text


def test_who_does_not_meet_the_requirements_is_not_let_in(tmp_path: Path) -> None:
    require = ["country=US,GB", "approval_rate>=0.95", "tasks>=1000"]
    made_study(tmp_path, items(2), people=(), require=require)
    with closing(store_of(tmp_path)) as store:
        add_annotators(store, [AnnotatorProfile("ann", "US", 0.97, 1200)])
        for person, why in (
            (AnnotatorProfile("ben"), "ben does not meet this study's requirements: country is not known"),
            (AnnotatorProfile("ben", "DE", 0.99, 5000), "country is DE, and must be GB or US"),
            (AnnotatorProfile("ben", "GB", 0.5, 5000), "approval_rate is 0.5, and must be at least 0.95"),
            (AnnotatorProfile("ben", "GB", 0.95, 999), "tasks is 999, and must be at least 1,000"),
        ):
            with pytest.raises(EmoscopeError, match=why):
                add_annotators(store, [person])
        judged = Annotations((Judgement("d0", "ben", "sad"),))
        with pytest.raises(EmoscopeError, match="ben does not meet"):
            import_judgements(store, judged)
    with opened(tmp_path) as client:
        desk = DeskBrowser(client, manager_token(load_key(tmp_path)))
        fields: dict[str, Any] = {"name": "cleo", "country": "fr", "approval_rate": "99%", "tasks": "2000"}
        assert "country is FR" in desk.post("/annotators", 422, **fields)
        desk.post("/annotators", **fields | {"country": "gb"})
        assert "99 % approved" in desk.get("/annotators")


def test_the_first_thing_a_server_is_asked_may_be_the_briefing(folder: Path) -> None:
    brief(folder, "Read twice.")
    with opened(folder) as client:
        assert Worker(client, tokens(folder)["ann"]).look()["state"] == "briefing"


def test_nobody_begins_without_reading_and_agreeing(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    desk.post("/guidelines", guidelines="## Joy\n\n> we won\n\n<script>x</script>", consent="Your answers are kept.")
    page = client.get("/annotate").text
    assert "<h3>Joy</h3>" in page
    assert "&lt;script&gt;" in page
    assert "Your answers are kept." in page
    ann = Worker(client, tokens(folder)["ann"])
    assert ann.look()["state"] == "briefing"
    assert ann.view["turns"] == []
    ann.judge("sad")
    assert ann.view["notice"] == "there is nothing to judge at the moment"
    assert "have just changed" in ann.ask("begin", {"briefing": "0" * 16})["notice"]
    assert ann.view["state"] == "briefing"
    ann.ask("begin", {"briefing": ann.view["briefing"]})
    assert (ann.view["state"], ann.view["briefing"]) == ("item", None)
    assert len(re.findall("guidelines not accepted", desk.get("/annotators"))) == 2
    # A change is read by everyone; the answer that was under way is kept.
    brief(folder, "## Joy, stated anew")
    ann.judge("sad")
    assert (ann.view["state"], ann.view["judged"]) == ("briefing", 1)
    ann.ask("begin", {"briefing": ann.view["briefing"]})
    assert ann.view["state"] == "item"


def test_a_repeated_command_does_not_undo_what_was_changed_on_the_desk(folder: Path) -> None:
    with closing(store_of(folder)) as store:
        assert set_briefing(store, Briefing("from the file"), again=False)
        assert set_briefing(store, Briefing("from the desk"))
        assert not set_briefing(store, Briefing("from the file"), again=False)
        assert set_briefing(store, Briefing("from another file"), again=False)


def study_with_rounds(folder: Path, **rules: object) -> None:
    """Two items of training and two of qualification before three others."""
    questions = items(3, gold=4)
    questions = in_round(questions, "qualification", {"g2": ("happy", ""), "g3": ("happy", "")})
    questions = in_round(questions, "training", {"g1": ("happy", "a prize"), "g0": ("happy", "")})
    with closing(store_of(folder)) as store:
        checked = StudyRules.checked(labels=LABELS, judges=2, **rules)
        create_study(store, checked, questions, {}, dict.fromkeys(("g0", "g1", "g2", "g3"), "happy"))
        add_annotators(store, ("ann", "ben"))


def test_training_is_explained_and_the_qualification_decides(tmp_path: Path) -> None:
    study_with_rounds(tmp_path, pass_mark=1.0)
    with opened(tmp_path) as client:
        ann, ben = (Worker(client, token) for token in tokens(tmp_path).values())
        ann.look()
        assert (ann.view["round"], ann.text) == ("training", "I won prize number 1")
        assert "part of the training" in ann.step("skip")["notice"]
        ann.judge("sad")
        assert ann.view["checks"] == [
            {"place": 0, "said": "sad", "expected": "happy", "right": False, "why": "a prize"}
        ]
        ann.judge("happy")
        assert ann.view["rounds"]["training"]["right"] == 1
        assert ann.view["round"] == "qualification"
        ann.judge("happy")
        assert ann.view["checks"] == []
        ann.judge("happy")
        assert (ann.view["round"], ann.view["judged"], ann.view["left"]) == (None, 0, 3)
        ann.judge("sad")
        ben.look()
        for label in ("happy", "happy", "happy", "sad"):
            ben.judge(label)
        assert ben.view["state"] == "refused"
        score = ben.view["rounds"]["qualification"]
        assert (score["right"], score["answers"], score["passed"]) == (1, 2, False)
        assert ben.view["turns"] == []
        page = DeskBrowser(client, manager_token(load_key(tmp_path))).get("/annotators")
        assert "refused" in page
    with closing(store_of(tmp_path)) as store:
        said = study_results(store).annotations
        assert [(one.worker, one.label) for one in said.judgements] == [("ann", "sad")]
        assert sorted(said.data) == ["d0", "d1", "d2"]


def test_a_training_alone_decides_too(tmp_path: Path) -> None:
    questions = in_round(items(2, gold=1), "training", {"g0": ("happy", "")})
    with closing(store_of(tmp_path)) as store:
        create_study(store, StudyRules.checked(labels=LABELS), questions, {}, {"g0": "happy"})
        add_annotators(store, ("ann",))
    with opened(tmp_path) as client:
        ann = Worker(client, tokens(tmp_path)["ann"])
        ann.look()
        assert ann.judge("sad")["state"] == "refused"


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ({"x": ("happy", "")}, "training question 'x' is not among the tasks"),
        ({"g0": ("joy", "")}, "not one of the labels"),
    ],
)
def test_a_round_that_makes_no_sense_is_refused(
    tmp_path: Path, training: dict[str, tuple[str, str]], message: str
) -> None:
    with closing(store_of(tmp_path)) as store, pytest.raises(EmoscopeError, match=message):
        questions = in_round(items(2, gold=1), "training", training)
        answers = {task: label for task, (label, _) in training.items()}
        create_study(store, StudyRules.checked(labels=LABELS), questions, {}, answers)


def test_earlier_answers_can_be_changed(tmp_path: Path) -> None:
    made_study(tmp_path, items(6, gold=2), gold_share=0.5, judges=1, people=("ann", "ben"))
    with opened(tmp_path) as client:
        ann, ben = (Worker(client, token) for token in tokens(tmp_path).values())
        ann.look()
        began = ann.text
        while ann.view["judged"] + ann.view["skipped"] < 4:
            if ann.is_gold:
                ann.judge("happy")
            elif ann.view["judged"] == 2:
                ann.step("skip")
            else:
                ann.judge("sad")
        at_hand = ann.text
        done = client.post("/annotate/earlier", json={}, headers=ann.headers).json()
        assert [entry["place"] for entry in done["entries"]] == [3, 2, 1, 0]
        assert done["entries"][-1]["turns"][0]["text"] == began
        assert "d0" not in json.dumps(done)
        gold = next(entry for entry in done["entries"] if "prize" in entry["turns"][0]["text"])
        asked = next(entry for entry in done["entries"] if entry["answers"] and entry is not gold)
        stands = {"version": ann.view["version"], "place": gold["place"], "answers": [{"label": "sad"}]}
        assert ann.ask("revise", stands)["notice"] == "the answer to a check question stands"
        revised = {"version": ann.view["version"], "place": asked["place"], "answers": [{"label": "angry"}]}
        ann.ask("revise", revised)
        assert (ann.view["notice"], ann.text) == (None, at_hand)
        assert "out of date" in ann.ask("revise", revised)["notice"]
        none = {"version": ann.view["version"], "place": 99, "answers": [{"label": "angry"}]}
        assert ann.ask("revise", none)["notice"] == "there is no such earlier item"
        assert ben.look()["left"] + ann.view["judged"] >= 6
    with closing(store_of(tmp_path)) as store:
        said = [one.label for one in study_results(store).annotations.judgements if one.worker == "ann"]
    assert said.count("angry") == 1


def test_a_skipped_item_can_be_judged_later_unless_others_have(tmp_path: Path) -> None:
    made_study(tmp_path, items(2), judges=1, people=("ann", "ben"))
    with opened(tmp_path) as client:
        ann, ben = (Worker(client, token) for token in tokens(tmp_path).values())
        ann.look()
        ann.step("skip")
        body = {"place": 0, "answers": [{"label": "angry"}]}
        ann.ask("revise", {"version": ann.view["version"], **body})
        assert (ann.view["judged"], ann.view["skipped"]) == (1, 0)
        ann.step("skip")
        ben.look()
        ben.judge("sad")
        ann.ask("revise", {"version": ann.view["version"], **body, "place": 1})
        assert "enough others" in ann.view["notice"]


def test_suggestions_are_shown_only_where_asked_for_and_kept_in_the_log(tmp_path: Path) -> None:
    from emoscope.corpus.annotation.suggestions import suggest

    for name, model in (("with", "nano"), ("without", None)):
        folder = tmp_path / name
        questions = suggest(items(3), "nano", LABELS)
        made_study(folder, questions, judges=1, people=("ann",), suggestions=model)
        with opened(folder) as client:
            ann = Worker(client, tokens(folder)["ann"])
            ann.look()
            assert bool(ann.view["suggested"]) is (model is not None)
            shown = [label for label in ann.view["suggested"] if label]
            ann.judge(shown[0] if shown else "sad")
            desk = DeskBrowser(client, manager_token(load_key(folder)))
            assert ("100 % of 1" in desk.get("/annotators")) is (model is not None)
            judged = [row for row in rows_of(desk, "log.csv") if row["did"] == "judged"]
            assert [row["suggested"] for row in judged] == [shown[0] if shown else ""]


def test_prodigy_offers_every_label_of_the_study(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    worker = Worker(client, tokens(folder)["ann"])
    worker.look()
    worker.judge("sad")
    rows = [json.loads(line) for line in desk.get("/files/prodigy.jsonl").splitlines()]
    assert [[option["id"] for option in row["options"]] for row in rows] == [list(LABELS)] * 4


@pytest.mark.parametrize("name", ["judgements.csv", "label-studio.json", "doccano.jsonl", "prodigy.jsonl"])
def test_what_goes_out_comes_in_again(
    name: str, client: TestClient, desk: DeskBrowser, folder: Path, tmp_path: Path
) -> None:
    judged_by_all(client, folder)
    content = desk.get(f"/files/{name}")
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with closing(store_of(folder)) as store:
        before = study_results(store).annotations
    read = read_annotations([path])
    assert sorted(read.judgements) == sorted(before.judgements)
    if name != "judgements.csv":
        assert read.data["d0"]["text"] == before.data["d0"]["text"]
    other = tmp_path / "other"
    made_study(other, items(5), judges=3, people=("ann",))
    with opened(other) as running:
        there = DeskBrowser(running, manager_token(load_key(other)))
        there.get()
        secret = re.search(r'name="csrf" value="(\w+)"', there.get())
        assert secret is not None
        for expected in ("12 judgements imported, 2 new annotators", "12 already existed"):
            answer = running.post(f"{HOME}/import", data={"csrf": secret[1]}, files={"file": (name, content.encode())})
            assert expected in answer.text
        assert "12 of 15 judgements" in there.get()
        ann = Worker(running, tokens(other)["ann"])
        assert (ann.look()["judged"], ann.view["left"]) == (4, 1)
        wrong = running.post(
            f"{HOME}/import", data={"csrf": secret[1]}, files={"file": ("x.csv", b"task,worker,label\nd4,ann,joy\n")}
        )
        assert wrong.status_code == 422
        assert "not one of the study" in wrong.text


def test_the_pages_load_nothing_from_elsewhere(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    judged_by_all(client, folder)
    for path in ("", "/items", "/items?show=split", "/queue", "/annotators", "/guidelines", "/files"):
        page = desk.get(path)
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", page)
        assert set(re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(/[^"/]+)', page)) == {"/static"}
    assert client.get(f"{HOME}/items/999", headers={"Accept": "text/html"}).status_code == 404


def test_whole_dialogues_on_the_desk(tmp_path: Path) -> None:
    made_study(tmp_path, items(2, whole=True), judges=2, people=("ann", "ben"), whole_dialogues=True)
    with opened(tmp_path) as client:
        for place, token in enumerate(tokens(tmp_path).values()):
            worker = Worker(client, token)
            worker.look()
            while worker.view["state"] == "item":
                worker.judge("sad", ("sad", "angry")[place], "others")
        desk = DeskBrowser(client, manager_token(load_key(tmp_path)))
        assert "6 turns" in desk.get()
        number = item_number(desk, "d0")
        assert "Expected 3 labels, found 1." in desk.post(f"/items/{number}/adjudicate", 422, label="sad")
        desk.post(f"/items/{number}/adjudicate", label=["sad", "angry", "others"])
        labels = {row["task"]: row["decided"] for row in rows_of(desk, "labels.csv")}
        assert labels == {"d0:0": "adjudicated", "d0:1": "adjudicated", "d0:2": "adjudicated"} | {
            "d1:0": "unanimous",
            "d1:2": "unanimous",
        }


def test_a_study_from_before_the_desk_goes_on(tmp_path: Path) -> None:
    made_study(tmp_path, items(3, gold=2), judges=2)
    with opened(tmp_path) as client:
        ann = Worker(client, tokens(tmp_path)["ann"])
        ann.look()
        ann.judge("happy" if ann.is_gold else "sad")
    with closing(store_of(tmp_path)) as store:
        with store.database.write() as session:
            study = the_study(session)
            # As it was written then: studies are found again by it.
            assert study.fingerprint == "4a9b364e95f169bae96ab4dca30b9bf12f4e2d9c3262ef4c911d4ad3dab9b849"
            added = {"pass_mark", "require", "suggestions"}
            study.rules = {name: value for name, value in study.rules.items() if name not in added}
        downgrade(store.database, "0005")
    made_study(tmp_path, items(3, gold=2), judges=2, people=("ann", "ben", "cal"))
    with opened(tmp_path) as client:
        assert Worker(client, tokens(tmp_path)["ann"]).look()["judged"] == 1
        assert "ann" in DeskBrowser(client, manager_token(load_key(tmp_path))).get()


def test_a_study_with_notes_is_not_downgraded(folder: Path) -> None:
    brief(folder, "Read twice.")
    with closing(store_of(folder)) as store, pytest.raises(EmoscopeError, match="1 notes of studies would be lost"):
        downgrade(store.database, "0005")
