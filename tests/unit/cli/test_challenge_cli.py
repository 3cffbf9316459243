"""`emoscope challenge` from template to export, and `emoscope submit` against a server that answers as ours does."""

import io
import json
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from emoscope.cli import submit
from emoscope.cli.challenge import group as challenge_group
from emoscope.cli.result import CommandGroup
from emoscope.core.errors import EmoscopeError
from emoscope.core.learnt import Overlap
from emoscope.evaluation.provenance import write_provenance
from emoscope.server.challenge.services.actor import PUBLIC
from emoscope.server.challenge.services.reports import keep_report
from emoscope.server.challenge.services.submissions import submit as send_submission
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, answer, phase, rows_of, team, write_challenge
from kits.task_files import emotionx_file


def run(*arguments: object) -> Result:
    app = CommandGroup()
    app.add_typer(challenge_group, name="challenge")
    app.command("submit")(submit.submit_cli)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


OPENED = datetime(2020, 1, 1)


def done(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def test_a_challenge_is_run_from_the_command_line(tmp_path: Path) -> None:
    data = ["--data-dir", tmp_path / "data"]
    file = write_challenge(tmp_path / "source", phases=phase("practice", opens=None))
    assert "no challenges" in done("challenge", "list", *data)
    made = json.loads(done("challenge", "create", file, *data, "--json"))
    assert (made["slug"], made["phases"][0]["state"]) == ("mine", "planned")
    assert "open" in done("challenge", "open", "mine", "practice", *data)
    assert "2099-01-01T00:00" in done(
        "challenge", "schedule", "mine", "practice", "--closes", "2099-01-01T00:00:00", *data
    )
    store = Store.open(tmp_path / "data")
    joined = register_team(store, PUBLIC, "mine", team="Joy [bold]", member="Ana", email="ana@example.org")
    ana = authenticate(store, joined.token)
    sent = send_submission(store, ana, "mine", None, answer(), file_name="a.txt")
    assert done("challenge", "worker", "--once", *data) == "2 jobs done\n"
    board = done("challenge", "board", "mine", "practice", *data, "--plot", tmp_path / "board.svg")
    assert "Joy [bold]" in board
    assert "1.0000" in board
    assert (tmp_path / "board.svg").read_text().startswith("<svg")
    assert json.loads(done("challenge", "board", "mine", "practice", *data, "--json"))["entries"][0]["rank"] == 1
    done("challenge", "export", "mine", "-o", tmp_path / "board.csv", "--phase", "practice", *data)
    assert "Joy [bold]" in (tmp_path / "board.csv").read_text()
    done("challenge", "export", "mine", "-o", tmp_path / "all.json", *data)
    assert json.loads((tmp_path / "all.json").read_text())["submissions"][0]["id"] == sent.id
    done("challenge", "export", "mine", "-o", tmp_path / "public.json", "--public", *data)
    assert "ana@example.org" not in (tmp_path / "public.json").read_text()
    other = tmp_path / "other.txt"
    other.write_text(rows_of(["sad", *GOLD[1:]]))
    assert "emoscope challenge rescore mine" in done(
        "challenge", "gold", "mine", "practice", other, "--no-rescore", *data
    )
    assert "stale" in done("challenge", "board", "mine", "practice", *data)
    assert done("challenge", "rescore", "mine", *data) == "mine: 1 submission queued\n"
    done("challenge", "worker", "--once", *data)
    assert "0.8000" in done("challenge", "submissions", "mine", *data)
    done("challenge", "delete-submission", sent.id, *data)
    assert "deleted" in done("challenge", "submissions", "mine", *data)
    done("challenge", "restore-submission", sent.id, *data)
    assert "closed" in done("challenge", "close", "mine", "practice", *data)
    actions = [line["action"] for line in json.loads(done("challenge", "audit", *data, "--json"))]
    assert actions[0] == "phase.close"
    assert actions[-1] == "challenge.create"
    assert "phase.gold" in done("challenge", "audit", "--challenge", "mine", *data)
    store.close()


def test_the_board_has_a_column_for_metrics_that_do_not_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    emotionx_file(tmp_path / "gold.json", ["joy", "sadness", "anger", "neutral"])
    lines = [{"speaker": "Ross", "utterance": f"line {number}"} for number in range(4)]
    (tmp_path / "given.json").write_text(json.dumps([lines]))
    file = tmp_path / "mine.toml"
    phases = phase("one", unlabelled="given.json", gold="gold.json", opens=OPENED)
    file.write_text(f'slug = "mine"\ntitle = "Mine"\ntask = "emotionx-friends"\n{phases}')
    data = ["--data-dir", tmp_path / "data"]
    done("challenge", "create", file, *data)
    store = Store.open(tmp_path / "data")
    said = emotionx_file(tmp_path / "a.json", ["joy", "sadness", "joy", "neutral"], submitted=True)
    file_sent = io.BytesIO(said.read_bytes())
    send_submission(store, team(store, "mine", "Good")[0], "mine", None, file_sent, file_name="a.json")
    store.close()
    done("challenge", "worker", "--once", *data)
    done("challenge", "close", "mine", "one", *data)
    shown = done("challenge", "board", "mine", "one", *data).splitlines()
    header = next(line for line in shown if "macro-f1" in line)
    row = next(line for line in shown if "Good" in line)
    end = header.index("macro-f1") + len("macro-f1")  # figures are right-aligned
    assert row[:end].endswith("0.6667")  # two thirds for joy, one for sadness and neutral, none for anger


def test_teams_and_tokens_are_looked_after_from_the_command_line(tmp_path: Path) -> None:
    data = ["--data-dir", tmp_path / "data"]
    done("challenge", "create", write_challenge(tmp_path / "source"), *data)
    store = Store.open(tmp_path / "data")
    joined = register_team(store, PUBLIC, "mine", team="Joy", member="Ana")
    assert "Ana (1)" in done("challenge", "teams", "mine", *data)
    fresh = done("challenge", "token", "mine", "1", *data).strip()
    assert authenticate(store, fresh).member_id == joined.member.id
    organiser = done("challenge", "organiser", "Olga", "--challenge", "mine", *data).strip()
    assert authenticate(store, organiser).role == "organiser"
    listed = json.loads(done("challenge", "tokens", *data, "--json"))
    assert [token["role"] for token in listed] == ["participant", "participant", "organiser"]
    assert fresh not in json.dumps(listed)
    done("challenge", "revoke", listed[0]["id"], *data)
    assert "revoked" in done("challenge", "tokens", "--challenge", "mine", *data)
    done("challenge", "delete-team", "mine", joined.team.id, *data)
    assert "deleted" in done("challenge", "teams", "mine", *data)
    done("challenge", "restore-team", "mine", joined.team.id, *data)
    done("challenge", "delete", "mine", *data)
    done("challenge", "restore", "mine", *data)
    done("challenge", "backup", tmp_path / "copy", *data)
    assert "mine" in done("challenge", "list", "--data-dir", tmp_path / "copy")
    assert "revision" in done("challenge", "upgrade", *data)
    store.close()


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    data = ["--data-dir", tmp_path / "data"]
    for arguments, told in [
        (["open", "none", "practice", *data], "no challenge 'none'"),
        (["create", tmp_path / "none.toml", *data], "none.toml: no such file"),
        (["template", "none"], "no challenge template 'none'"),
        (["export", "none", "-o", "board.csv", *data], "a .csv file together with --phase"),
        (["list", "--database", "mysql://host/x"], "only sqlite and postgresql are supported"),
        (["list", "--database", "nonsense"], "the database address is not valid"),
    ]:
        result = run("challenge", *arguments)
        assert isinstance(result.exception, EmoscopeError), result.output
        assert told in str(result.exception)


def test_template_without_the_extra_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    error = run("challenge", "template", "emocontext").exception
    assert str(error) == "this needs sqlalchemy: pip install 'emoscope[server]'"


def test_a_template_is_written_to_a_file(tmp_path: Path) -> None:
    assert done("challenge", "template").split() == ["emocontext", "emotionx-friends", "emotionx-push", "iest"]
    said = done("challenge", "template", "iest", "-o", tmp_path / "iest.toml")
    assert said.strip().endswith(f"emoscope challenge create {tmp_path / 'iest.toml'}")
    assert (tmp_path / "iest.toml").read_text() == done("challenge", "template", "iest")
    (tmp_path / "iest.toml").write_text("edited")
    for name in (["iest"], []):
        refused = run("challenge", "template", *name, "-o", tmp_path / "iest.toml")
        assert "iest.toml: exists already, and may have been edited; write to another file" in str(refused.exception)
    assert (tmp_path / "iest.toml").read_text() == "edited"


class Server(BaseHTTPRequestHandler):
    """Answers from a list, and keeps what it was sent."""

    answers: list[tuple[int, dict[str, Any], dict[str, str]]]
    seen: list[tuple[str, dict[str, str], bytes]]

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.seen.append((f"{self.command} {self.path}", dict(self.headers), body))
        status, found, headers = self.answers.pop(0)
        data = json.dumps(found).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Server]]]:
    class Own(Server):
        answers: list[tuple[int, dict[str, Any], dict[str, str]]] = []  # noqa: RUF012
        seen: list[tuple[str, dict[str, str], bytes]] = []  # noqa: RUF012

    running = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/challenges/mine", Own
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "answers.txt"
    path.write_bytes(answer().read())
    return path


def test_submit_warns_of_what_the_model_learnt(server: tuple[str, type[Server]], file: Path) -> None:
    url, handler = server
    handler.answers += [(201, {"id": "ab12", "state": "queued"}, {})] * 2
    write_provenance(file, "mine", Overlap(90, 100))
    arguments = ("submit", file, "--challenge", url, "--token", "emo_x", "--wait", "0")
    said = run(*arguments)
    assert said.exit_code == 0
    assert "warning: answers.txt: the model learnt 90 of 100 items" in said.stderr
    write_provenance(file, "mine", None)
    assert run(*arguments).stderr == ""


def test_submit_sends_the_file_and_waits_for_the_score(server: tuple[str, type[Server]], file: Path) -> None:
    url, handler = server
    figures = {
        "score": 0.75,
        "low": 0.7,
        "high": 0.8,
        "per_class": {"happy": {"precision": 1, "recall": 0.5, "f1": 0.6}},
    }
    handler.answers += [
        (503, {"detail": "busy"}, {}),
        (201, {"id": "ab12", "state": "queued"}, {}),
        (200, {"id": "ab12", "state": "scoring"}, {}),
        (200, {"id": "ab12", "state": "scored", "figures": figures}, {}),
    ]
    shown = done("submit", file, "--challenge", url, "--token", "emo_x", "--phase", "practice", "--note", "first")
    assert "submission ab12: scored" in shown
    assert "score 0.7500 (0.7000 to 0.8000)" in shown
    asked = [request for request, _, _ in handler.seen]
    assert asked == ["POST /v1/challenges/mine/submissions"] * 2 + ["GET /v1/submissions/ab12"] * 2
    (_, first, body), (_, second, _) = handler.seen[:2]
    assert first["Authorization"] == "Bearer emo_x"
    assert first["Idempotency-Key"] == second["Idempotency-Key"]
    assert file.read_bytes() in body
    assert b'name="phase"\r\n\r\npractice' in body


def test_submit_shows_why_a_file_was_refused(server: tuple[str, type[Server]], file: Path) -> None:
    url, handler = server
    rows = ["answers.txt, row 2: label is missing", "answers.txt, row 3: label is missing"]
    handler.answers += [(422, {"detail": rows[0], "rows": rows}, {})]
    result = run("submit", file, "--challenge", url, "--token", "emo_x")
    assert (result.exit_code, result.stdout.splitlines()) == (1, rows)


@pytest.mark.parametrize(
    ("status", "found", "headers", "told"),
    [
        (
            429,
            {"detail": "the team has used its 3 submissions"},
            {"Retry-After": "60"},
            "submissions \\(try again in 60 s",
        ),
        (429, {"detail": "used up"}, {"Retry-After": "10479"}, "used up \\(try again in 2.9 h"),
        (429, {"detail": "busy"}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, "busy$"),
        (401, {"detail": "the token is not valid"}, {}, "the token is not valid"),
        (422, {"detail": "the file name is missing"}, {}, "the file name is missing"),
        (404, {}, {}, "responded with 404"),
    ],
)
def test_submit_shows_the_servers_message(
    server: tuple[str, type[Server]], file: Path, status: int, found: dict[str, Any], headers: dict[str, str], told: str
) -> None:
    url, handler = server
    handler.answers += [(status, found, headers)]
    result = run("submit", file, "--challenge", url, "--token", "emo_x")
    with pytest.raises(EmoscopeError, match=told):
        raise result.exception or AssertionError("no error")


@pytest.mark.parametrize(
    "address", ["example.org/challenges/a", "https://example.org", "ftp://example.org/challenges/a"]
)
def test_submit_needs_the_url_of_a_challenge(address: str, file: Path) -> None:
    result = run("submit", file, "--challenge", address, "--token", "emo_x")
    assert "expected an address such as" in str(result.exception)


def test_files_texts_and_the_survey_from_the_command_line(tmp_path: Path) -> None:
    data = ["--data-dir", tmp_path / "data"]
    file = write_challenge(tmp_path / "source", head='survey = "emocontext"', phases=phase("practice"))
    done("challenge", "create", file, *data)
    train = tmp_path / "train.txt"
    train.write_text("one")
    assert "Training" in done("challenge", "add-file", "mine", train, "--title", "Training", *data)
    assert json.loads(done("challenge", "files", "mine", "--json", *data))[0]["name"] == "train.txt"
    assert "no longer" in done("challenge", "remove-file", "mine", "train.txt", *data)
    missing = run("challenge", "add-file", "mine", tmp_path / "none.txt", *data)
    assert "no such file" in str(missing.exception)
    file.write_text(file.read_text().replace('title = "Mine"', 'title = "Ours"\nrules = "Be fair."'))
    done("challenge", "texts", "mine", file, *data)
    assert json.loads(done("challenge", "list", "--json", *data))[0]["texts"] == {"rules": "Be fair."}
    assert "no team has described" in done("challenge", "survey", "mine", *data)
    token = done("challenge", "register", "mine", "Joy", "Ana", *data).strip()
    store = Store.open(tmp_path / "data")
    keep_report(store, authenticate(store, token), "mine", answers={"networks": ["CNN"]})
    shown = done("challenge", "survey", "mine", *data)
    assert "Input representations: no answers" in shown
    assert "CNN" in shown
    said = json.loads(done("challenge", "survey", "mine", "-o", tmp_path / "told.csv", "--json", *data))
    assert said == {"challenge": "mine", "output": str(tmp_path / "told.csv")}
    assert "told.csv: written" in done("challenge", "survey", "mine", "-o", tmp_path / "told.csv", *data)
    assert (tmp_path / "told.csv").read_text().startswith("rank,team,paper,representations: GloVe,")


def test_teams_are_messaged_and_disqualified_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ["--data-dir", tmp_path / "data"]
    done("challenge", "create", write_challenge(tmp_path / "source", phases=phase("practice", opens=OPENED)), *data)
    token = done("challenge", "register", "mine", "Joy", "Ana", "--email", "ana@example.org", *data).strip()
    store = Store.open(tmp_path / "data")
    ana = authenticate(store, token)
    text = tmp_path / "about.txt"
    text.write_text("About it")
    done("challenge", "change", "mine", "--registration", "closed", "--description", text, "--max-teams", "9", *data)
    changed = json.loads(done("challenge", "list", *data, "--json"))[0]
    assert (changed["registration"], changed["description"], changed["max_teams"]) == ("closed", "About it", 9)
    assert "announcement 1: posted" in done("challenge", "announce", "mine", "News", "Text", *data)
    monkeypatch.setenv("EMOSCOPE_MAIL_URL", "console:")
    assert "1 e-mail sent" in done("challenge", "announce", "mine", "You", "Text", "--team", "1", "--mail", *data)
    assert "1 e-mail sent, 0 pending" in done("challenge", "mail", "mine", "2", *data)
    assert "withdrawn" in done("challenge", "withdraw", "mine", "1", *data)
    assert "shown again" in done("challenge", "withdraw", "mine", "1", "--undo", *data)
    assert "everyone" in done("challenge", "announcements", "mine", *data)
    assert "reinstate mine 1" in done("challenge", "disqualify", "mine", "1", "Two accounts", *data)
    assert "disqualified" in done("challenge", "teams", "mine", *data)
    assert "reinstated" in done("challenge", "reinstate", "mine", "1", *data)
    send_submission(store, ana, "mine", None, answer(), file_name="a.txt")
    done("challenge", "worker", "--once", *data)
    other = tmp_path / "other.txt"
    other.write_text(rows_of(["sad", *GOLD[1:]]))
    assert "gold replaced; 1 submission queued" in done("challenge", "gold", "mine", "practice", other, *data)
    done("challenge", "worker", "--once", *data)
    assert "0.8000" in done("challenge", "submissions", "mine", *data)
    assert "2030-06-01" in done("challenge", "schedule", "mine", "practice", "--closes", "2030-06-01T00:00:00", *data)
    assert "2030-06-01" not in done("challenge", "schedule", "mine", "practice", "--clear", "closes", *data)
    assert "2099-07-01" in done("challenge", "schedule", "mine", "practice", "--labels", "2099-07-01", *data)
    assert "2099-07-01" not in done("challenge", "schedule", "mine", "practice", "--clear", "labels", *data)
    assert "1 submitted file" in done("challenge", "storage", *data)
    assert json.loads(done("challenge", "storage", "mine", "--json", *data))["submissions"] == 1
    store.close()
