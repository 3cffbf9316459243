"""The annotation page without a browser: what it reveals, stores and refuses."""

import json
import re
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from emoscope.core.dialogue import Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.assignment import Assignment
from emoscope.corpus.annotation.items import Item
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.rules import StudyRules
from emoscope.server.annotate.studies import (
    add_annotators,
    create_study,
    links,
    renew_link,
    revoke_annotator,
    study_results,
)
from emoscope.server.app import create_app
from emoscope.server.detect.keys import KeyFile
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.backup import backup
from emoscope.server.store.database import Database
from emoscope.server.store.migrate import upgrade
from emoscope.server.store.signing_key import load_key
from kits.annotation_kit import LABELS, Worker, annotators, items, made_study, opened, store_of, tokens
from kits.challenge_kit import BACKENDS, database_url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_study(tmp_path / "study", items(4), judges=2)
    return tmp_path / "study"


@pytest.fixture
def ann(client: TestClient, folder: Path) -> Worker:
    return Worker(client, tokens(folder)["ann"])


@pytest.fixture
def ben(client: TestClient, folder: Path) -> Worker:
    return Worker(client, tokens(folder)["ben"])


def outcome(folder: Path) -> dict[tuple[str, str], str]:
    """The label by worker and task."""
    with closing(store_of(folder)) as store:
        said = study_results(store).annotations.judgements
        return {(judgement.worker, judgement.task): judgement.label for judgement in said}


def test_the_page_is_whole_and_loads_nothing_from_elsewhere(client: TestClient) -> None:
    found = client.get("/")
    assert found.status_code == 200
    assert str(found.url).endswith("/annotate")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', found.text)
    assert loaded
    for address in loaded:
        assert address.startswith("/static/")
        assert client.get(address).status_code == 200
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", found.text)
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert client.get("/nowhere", headers={"Accept": "text/html"}).json()["status"] == 404
    assert client.get("/healthz").json()["status"] == "ok"


def test_judge_skip_and_undo(ann: Worker, folder: Path) -> None:
    first = ann.look()
    assert (first["state"], first["judged"], first["left"]) == ("item", 0, 4)
    assert [turn["asked"] for turn in first["turns"]] == [False, False, True]
    assert [label["key"] for label in first["labels"]] == ["1", "2", "3", "4"]
    began = ann.text
    ann.judge("sad")
    assert (ann.view["judged"], ann.view["left"], ann.view["draft"]) == (1, 3, [])
    ann.step("skip")
    assert (ann.view["skipped"], ann.view["left"]) == (1, 2)
    ann.step("undo")
    assert (ann.view["skipped"], ann.view["left"]) == (0, 3)
    ann.step("undo")
    assert ann.text == began
    assert ann.view["draft"] == [{"label": "sad", "others": []}]
    assert outcome(folder) == {}
    ann.step("undo")
    assert ann.view["notice"] == "there is nothing to undo"
    ann.judge("happy")
    while ann.view["state"] == "item":
        ann.judge("others")
    assert (ann.view["state"], ann.view["judged"], ann.view["turns"]) == ("empty", 4, [])
    assert Counter(outcome(folder).values()) == {"others": 3, "happy": 1}
    ann.judge("sad")
    assert ann.view["notice"] == "there is nothing to judge at the moment"


def test_a_request_that_is_sent_twice_counts_once(ann: Worker, folder: Path) -> None:
    ann.look()
    stale = dict(ann.view)
    ann.judge("sad")
    now = ann.text
    body = {"version": stale["version"], "answers": [{"label": "sad"}]}
    again = ann.ask("judge", body)
    assert again["judged"] == 1
    assert "out of date" in again["notice"]
    assert ann.text == now
    ann.ask("undo", {"version": stale["version"]})
    assert list(outcome(folder).values()) == ["sad"]


def test_nothing_about_others_gold_or_names_is_revealed(tmp_path: Path) -> None:
    secret = Item("gold-happy-1", (Turn("hello"),), data={"label": "happy-secret"})
    made_study(tmp_path, [*items(3, gold=2), secret], gold_share=0.5, judges=3, people=("xanthe", "yorick"))
    with opened(tmp_path) as client:
        told = ""
        people = [Worker(client, token) for token in tokens(tmp_path).values()]
        for worker in people:
            worker.look()
        for _ in range(3):
            for worker in people:
                told += json.dumps({**worker.view, "annotator": "", "checks": []})
                if worker.view["state"] == "item":
                    worker.judge("angry" if not worker.is_gold else "happy")
        assert not re.search(r"d0|g0|gold-happy|secret|expected", told)
        assert all(name not in told for name in ("xanthe", "yorick"))


def test_wrong_answers_are_shown_at_once_and_the_worker_is_refused(tmp_path: Path) -> None:
    made_study(tmp_path, items(8, gold=6), gold_share=0.5, min_gold_answers=3, judges=1)
    with opened(tmp_path) as client:
        bad, good = (Worker(client, token) for token in tokens(tmp_path).values())
        bad.look()
        told = []
        while bad.view["state"] == "item":
            was_gold = bad.is_gold
            bad.judge("sad")
            assert bool(bad.view["checks"]) is was_gold
            told += bad.view["checks"]
        assert bad.view["state"] == "refused"
        assert bad.view["gold"] == {"right": 0, "answers": 3, "least": 0.7}
        assert told == [{"place": 0, "said": "sad", "expected": "happy", "right": False}] * 3
        assert bad.view["turns"] == []
        bad.judge("happy")
        assert bad.view["state"] == "refused"
        bad.step("undo")
        assert bad.view["state"] == "refused"
        assert outcome(tmp_path) == {}
        good.look()
        assert good.view["left"] == 8
        while good.view["state"] == "item":
            good.judge("happy" if good.is_gold else "sad")
        assert sum(task.startswith("d") for _, task in outcome(tmp_path)) == 8
        assert {worker for worker, _ in outcome(tmp_path)} == {"ben"}


def test_the_answer_to_a_gold_question_cannot_be_mended(tmp_path: Path) -> None:
    made_study(tmp_path, items(8, gold=6), gold_share=0.5, min_gold_answers=6, judges=1)
    with opened(tmp_path) as client:
        ann = Worker(client, tokens(tmp_path)["ann"])
        ann.look()
        while not ann.is_gold:
            ann.judge("sad")
        ann.judge("sad")
        assert ann.view["can_undo"] is False
        assert "stands" in ann.step("undo")["notice"]


def test_whole_dialogues_with_other_labels(tmp_path: Path) -> None:
    made_study(
        tmp_path, items(2, gold=1, whole=True), gold_share=0.5, min_gold=0, other_labels=True, min_gold_answers=3
    )
    with opened(tmp_path) as client:
        ann = Worker(client, tokens(tmp_path)["ann"])
        ann.look()
        assert [turn["asked"] for turn in ann.view["turns"]] == [True] * 3
        body = {"version": ann.view["version"], "answers": [{"label": "sad"}]}
        short = client.post("/annotate/judge", json=body, headers=ann.headers)
        assert (short.status_code, short.json()["detail"]) == (422, "expected 3 answers, found 1")
        while ann.view["state"] == "item" and not ann.is_gold:
            ann.judge("sad", "others", "sad", others=("angry",))
        ann.judge("happy", "happy", "angry")
        assert [(check["place"], check["right"]) for check in ann.view["checks"]] == [(0, True), (1, True), (2, False)]
    store = Store.open(tmp_path, f"sqlite:///{tmp_path / 'emoscope.sqlite3'}")
    said = study_results(store).annotations
    store.close()
    assert said.data["d0:1"] == {"text": "oh", "speaker": "Ben", "dialogue": "d0", "turn": 1, "source": "made up"}
    by_task = {judgement.task: judgement for judgement in said.judgements}
    assert by_task["g0:2"].label == "angry"
    if "d0:1" in by_task:
        assert (by_task["d0:1"].label, by_task["d0:1"].others) == ("others", ("angry",))


@pytest.mark.parametrize(
    ("answers", "status", "detail"),
    [
        ([{"label": "joy"}], 422, "'joy' is not one of the labels"),
        ([{"label": "sad", "others": ["happy"]}], 422, "this study takes one label per answer"),
        ([{"label": "sad", "others": ["sad"]}], 422, "a label was given twice"),
        ([{"label": "sad"}, {"label": "sad"}], 422, "expected 1 answers, found 2"),
        ([], 422, "answers"),
        ([{"label": 7}], 422, "answers[0].label"),
    ],
)
def test_answers_that_are_none_are_refused(
    ann: Worker, client: TestClient, folder: Path, answers: list[object], status: int, detail: str
) -> None:
    ann.look()
    body = {"version": ann.view["version"], "answers": answers}
    refused = client.post("/annotate/judge", json=body, headers=ann.headers)
    assert refused.status_code == status
    assert detail in refused.json()["detail"]
    assert outcome(folder) == {}


def test_only_the_link_gives_access(client: TestClient, ann: Worker, folder: Path) -> None:
    token = tokens(folder)["ann"]
    wrong = [
        "",
        "nonsense",
        token[:-1],
        token.replace("emo_a1", "emo_a2"),
        "emo_a99-x",
        f"emo_a{'9' * 300}-x",
        "\u00e9",
    ]
    answers = []
    for one in wrong:
        said = client.post("/annotate/look", json={}, headers={"Authorization": f"Bearer {one}".encode()})
        assert said.status_code == 401
        answers.append(said.json())
    assert all(answer == answers[0] for answer in answers)
    assert client.post("/annotate/look", json={}).status_code == 401
    basic = client.post("/annotate/look", json={}, headers={"Authorization": f"Basic {token}"})
    assert basic.status_code == 401


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
)
def test_no_other_site_can_judge(client: TestClient, ann: Worker, headers: dict[str, str]) -> None:
    assert client.post("/annotate/look", json={}, headers={**ann.headers, **headers}).status_code == 403
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    answer = client.post("/annotate/look", json={}, headers={**ann.headers, **own})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_many_at_once_never_take_a_place_twice(tmp_path: Path) -> None:
    people = tuple(f"worker {number}" for number in range(6))
    made_study(tmp_path, items(10), judges=3, people=people)
    with opened(tmp_path) as one, opened(tmp_path) as other:  # two processes would share the database in the same way
        workers = [Worker((one, other)[place % 2], token) for place, token in enumerate(tokens(tmp_path).values())]
        for worker in workers[:2]:
            worker.look()  # FastAPI builds routes at the first request, which two threads must not do at once
        faults: list[BaseException] = []

        def work(worker: Worker) -> None:
            try:
                worker.look()
                while worker.view["state"] == "item":
                    worker.judge(LABELS[len(worker.text) % 4])
            except BaseException as error:
                faults.append(error)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert faults == []
    judged = Counter(task for _, task in outcome(tmp_path))
    assert judged == {f"d{number}": 3 for number in range(10)}


def test_the_log_can_only_grow(ann: Worker, folder: Path) -> None:
    ann.look()
    ann.judge("sad")
    with sqlite3.connect(folder / "emoscope.sqlite3") as connection:
        for statement in ("DELETE FROM annotation_events", "UPDATE annotation_events SET kind = 'skipped'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
    connection.close()


def test_new_process_continues_where_the_last_one_stopped(folder: Path) -> None:
    with opened(folder) as client:
        ann = Worker(client, tokens(folder)["ann"])
        ann.look()
        ann.judge("sad")
        at_hand, version = ann.text, ann.view["version"]
    with opened(folder) as client:
        again = Worker(client, tokens(folder)["ann"])
        again.look()
        assert (again.text, again.view["version"], again.view["judged"]) == (at_hand, version, 1)


def test_the_same_study_is_found_again_and_another_is_refused(folder: Path) -> None:
    made_study(folder, items(4), judges=2, people=("ann", "cal", " ANN "))
    assert sorted(tokens(folder)) == ["ann", "ben", "cal"]
    with pytest.raises(EmoscopeError, match="holds a study with other options"):
        made_study(folder, items(4), judges=3)
    with pytest.raises(EmoscopeError, match="holds a study with other tasks"):
        made_study(folder, items(5), judges=2)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"labels": ("joy",)}, "between 2 and"),
        ({"labels": ("joy", "joy")}, "listed twice"),
        ({"labels": ("joy", "a;b")}, "';'"),
        ({"labels": ("joy", "")}, "'label' is missing"),
        ({"labels": ("joy", "sad")}, "'happy', not one of the labels"),
        ({"min_gold_answers": 3}, "2 gold questions are too few"),
        ({"gold_share": 0.0}, "above 0"),
        ({"judges": 0}, "at least 1 judge"),
        ({"seed": -1}, "seed"),
    ],
)
def test_invalid_study_is_refused_and_not_created(tmp_path: Path, rules: dict[str, object], message: str) -> None:
    with pytest.raises(EmoscopeError, match=message):
        made_study(tmp_path, items(4, gold=2), **rules)
    made_study(tmp_path, items(4, gold=2))


def test_study_needs_more_than_gold_questions(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="nothing left to annotate"):
        made_study(tmp_path, items(0, gold=2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_database_keeps_a_study(backend: str, tmp_path: Path) -> None:
    with database_url(backend, tmp_path) as url:
        database = Database(url)
        upgrade(database)
        database.close()
        store = Store.open(tmp_path, url)
        try:
            create_study(store, StudyRules.checked(labels=LABELS, judges=1), items(2), {})
            add_annotators(store, ["ann"])
            (number,) = annotators(store)
            desk, other = Desk(store, b"k" * 32), Desk(store, b"k" * 32)
            view = desk.act(number)
            view = other.act(number, Assignment.skip, view["version"])
            view = desk.act(number, Assignment.undo, view["version"])
            assert view["skipped"] == 0
        finally:
            store.close()


def test_the_whole_server_has_the_page_too(folder: Path) -> None:
    token = tokens(folder)["ann"]
    settings = Settings(model="nano", data_dir=folder, database_url=f"sqlite:///{folder / 'emoscope.sqlite3'}")
    with TestClient(create_app(settings)) as client:
        assert client.get("/annotate").status_code == 200
        assert Worker(client, token).look()["state"] == "item"
        assert not any(path.startswith("/annotate") for path in client.get("/openapi.json").json()["paths"])


def test_server_without_a_study_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as client:
        answer = client.post("/annotate/look", json={}, headers={"Authorization": "Bearer emo_a1-x"})
        assert answer.status_code == 401


def test_annotator_can_be_revoked_and_readmitted_with_a_new_link(folder: Path) -> None:
    old = tokens(folder)
    with opened(folder) as client:
        assert Worker(client, old["ann"]).look()["state"] == "item"
        store = Store.open(folder)
        try:
            revoke_annotator(store, "ANN")  # names are compared as people read them
            refused = client.post("/annotate/look", json={}, headers={"Authorization": f"Bearer {old['ann']}"})
            assert refused.status_code == 401
            assert Worker(client, old["ben"]).look()["state"] == "item"
            assert list(links(store, load_key(folder))) == ["ben"]
            renew_link(store, "ann")
            new = links(store, load_key(folder))["ann"]
            with pytest.raises(EmoscopeError, match="there is no annotator 'eve'; there are: ann, ben"):
                revoke_annotator(store, "eve")
        finally:
            store.close()
        assert Worker(client, new).look()["state"] == "item"
        refused = client.post("/annotate/look", json={}, headers={"Authorization": f"Bearer {old['ann']}"})
        assert refused.status_code == 401


def test_a_restored_backup_keeps_every_link(folder: Path, tmp_path: Path) -> None:
    token = tokens(folder)["ann"]
    KeyFile(folder).add("shop")
    store = Store.open(folder)
    copy = backup(store, tmp_path / "copy")
    store.close()
    assert (copy / "session.key").stat().st_mode & 0o077 == 0
    assert KeyFile(copy).all() == KeyFile(folder).all()
    with opened(copy) as client:
        assert Worker(client, token).look()["state"] == "item"
