"""Answers to a study: revision, suggestions, exchange with other tools, studies of earlier versions."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from emoscope.corpus.annotation.files import read_annotations
from emoscope.server.annotate.studies import study_results, the_study
from emoscope.server.store.database import Database
from kits.annotation_desk import HOME, DeskBrowser, judged_by_all, open_desk, rows_of
from kits.annotation_kit import LABELS, Worker, items, made_study, opened, store_of, tokens
from kits.challenge_kit import copy_as_of


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


def test_skipped_item_can_be_judged_later_unless_others_did(tmp_path: Path) -> None:
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


def test_suggestions_are_shown_only_if_enabled_and_logged(tmp_path: Path) -> None:
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
            desk = open_desk(client, folder)
            assert ("100 % of 1" in desk.get("/annotators")) is (model is not None)
            judged = [row for row in rows_of(desk, "log.csv") if row["did"] == "judged"]
            assert [row["suggested"] for row in judged] == [shown[0] if shown else ""]


def test_prodigy_export_has_every_label(client: TestClient, desk: DeskBrowser, folder: Path) -> None:
    worker = Worker(client, tokens(folder)["ann"])
    worker.look()
    worker.judge("sad")
    rows = [json.loads(line) for line in desk.get("/files/prodigy.jsonl").splitlines()]
    assert [[option["id"] for option in row["options"]] for row in rows] == [list(LABELS)] * 4


@pytest.mark.parametrize("name", ["judgements.csv", "label-studio.json", "doccano.jsonl", "prodigy.jsonl"])
def test_exported_judgements_can_be_imported(
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
        there = open_desk(running, other)
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


def test_study_from_before_the_desk_still_works(tmp_path: Path) -> None:
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
        with closing(Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")) as old:
            copy_as_of("0005", store.database, old)
    (tmp_path / "old.sqlite3").replace(tmp_path / "emoscope.sqlite3")
    made_study(tmp_path, items(3, gold=2), judges=2, people=("ann", "ben", "cal"))
    with opened(tmp_path) as client:
        assert Worker(client, tokens(tmp_path)["ann"]).look()["judged"] == 1
        assert "ann" in open_desk(client, tmp_path).get()
