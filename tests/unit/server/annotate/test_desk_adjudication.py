"""Adjudication on the managers' desk: split votes, flags, comments, whole dialogues."""

import re
from pathlib import Path

from fastapi.testclient import TestClient

from emoscope.corpus.annotation.files import read_annotations
from kits.annotation_desk import HOME, DeskBrowser, item_number, judged_by_all, open_desk, rows_of
from kits.annotation_kit import Worker, items, made_study, opened, tokens


def test_items_without_majority_are_adjudicated(
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


def test_whole_dialogues_are_adjudicated_turn_by_turn(tmp_path: Path) -> None:
    made_study(tmp_path, items(2, whole=True), judges=2, people=("ann", "ben"), whole_dialogues=True)
    with opened(tmp_path) as client:
        for place, token in enumerate(tokens(tmp_path).values()):
            worker = Worker(client, token)
            worker.look()
            while worker.view["state"] == "item":
                worker.judge("sad", ("sad", "angry")[place], "others")
        desk = open_desk(client, tmp_path)
        assert "6 turns" in desk.get()
        number = item_number(desk, "d0")
        assert "Expected 3 labels, found 1." in desk.post(f"/items/{number}/adjudicate", 422, label="sad")
        desk.post(f"/items/{number}/adjudicate", label=["sad", "angry", "others"])
        labels = {row["task"]: row["decided"] for row in rows_of(desk, "labels.csv")}
        assert labels == {"d0:0": "adjudicated", "d0:1": "adjudicated", "d0:2": "adjudicated"} | {
            "d1:0": "unanimous",
            "d1:2": "unanimous",
        }
