"""Annotators of a study: invitations, requirements, guidelines and consent, training and qualification."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.items import in_round
from emoscope.corpus.annotation.people import AnnotatorProfile
from emoscope.server.annotate.exchange import import_judgements
from emoscope.server.annotate.notes import Briefing, set_briefing
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.annotate.studies import add_annotators, create_study, links, study_results
from kits.annotation_desk import DeskBrowser, brief, open_desk
from kits.annotation_kit import LABELS, Worker, items, made_study, opened, store_of, tokens


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


def test_annotators_must_meet_the_requirements(tmp_path: Path) -> None:
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
        group = [AnnotatorProfile("dan", "US", 0.99, 5000), AnnotatorProfile("ben"), AnnotatorProfile("cal")]
        with pytest.raises(EmoscopeError, match=r"ben does not meet .* not known, .*; cal does not meet"):
            add_annotators(store, group)
        assert sorted(links(store, b"key")) == ["ann"]
        judged = Annotations((Judgement("d0", "ben", "sad"),))
        with pytest.raises(EmoscopeError, match="ben does not meet"):
            import_judgements(store, judged)
    with opened(tmp_path) as client:
        desk = open_desk(client, tmp_path)
        fields: dict[str, Any] = {"name": "cleo", "country": "fr", "approval_rate": "99%", "tasks": "2000"}
        assert "country is FR" in desk.post("/annotators", 422, **fields)
        desk.post("/annotators", **fields | {"country": "gb"})
        assert "99 % approved" in desk.get("/annotators")


def test_first_request_to_a_server_can_be_the_briefing(folder: Path) -> None:
    brief(folder, "Read twice.")
    with opened(folder) as client:
        assert Worker(client, tokens(folder)["ann"]).look()["state"] == "briefing"


def test_annotators_must_accept_guidelines_and_consent_first(
    client: TestClient, desk: DeskBrowser, folder: Path
) -> None:
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


def test_repeated_command_does_not_undo_changes_on_the_desk(folder: Path) -> None:
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


def test_training_is_explained_and_qualification_decides(tmp_path: Path) -> None:
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
        page = open_desk(client, tmp_path).get("/annotators")
        assert "refused" in page
    with closing(store_of(tmp_path)) as store:
        said = study_results(store).annotations
        assert [(one.worker, one.label) for one in said.judgements] == [("ann", "sad")]
        assert sorted(said.data) == ["d0", "d1", "d2"]


def test_training_decides_without_qualification(tmp_path: Path) -> None:
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
def test_training_with_unknown_items_or_labels_is_refused(
    tmp_path: Path, training: dict[str, tuple[str, str]], message: str
) -> None:
    with closing(store_of(tmp_path)) as store, pytest.raises(EmoscopeError, match=message):
        questions = in_round(items(2, gold=1), "training", training)
        answers = {task: label for task, (label, _) in training.items()}
        create_study(store, StudyRules.checked(labels=LABELS), questions, {}, answers)
