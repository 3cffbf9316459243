"""A server and an annotation study with made-up content, so that every page has something to show."""

import json
import random
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from sqlalchemy import update

from benchmarks.common.processes import module_command, module_output
from benchmarks.serving.local import free_port, our_server, started
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.handouts import add_file
from emoscope.server.challenge.services.notices import post_notice
from emoscope.server.challenge.services.reports import keep_report
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.teams import disqualify_team, register_team
from emoscope.server.challenge.services.tokens import authenticate, issue_organiser_token
from emoscope.server.errors import Rejected
from emoscope.server.store import Store
from emoscope.server.store.models import Job

SLUG = "tea"
ITEMS = 120
LABELS = ("others", "happy", "sad", "angry")
LONG_NAME = "The Emotional Intelligence Laboratory of the North Islands"
TEXTS = """
description = "Say **which emotion** the last turn of a dialogue has."
rules = '''
# Fair play

- One person, one team.
- No labelling by hand.

| what | how many |
|---|---|
| a day | 3 |
'''
data = "Three turns each, tab-separated. See [the paper](https://example.org/paper)."
timeline = "Papers are due a month after the close."
faq = "# May we use other data?\\n\\nYes, if you say which."
survey = "emocontext"
report = "ranked"
"""
READERS = tuple(f"reader{number}" for number in range(4))  # annotators who have not begun, one for each look
JUDGED = {"ann": "sad sad sad sad", "ben": "sad sad sad angry", "cleo": "sad happy sad others"}


@dataclass(frozen=True, slots=True)
class Site:
    """Where the server and the study are, and what signs people in."""

    url: str
    organiser: str  # token
    team: str  # token of a member of the team with the long name
    desk: str  # link of the study's managers
    annotators: dict[str, str]  # links by name


@contextmanager
def example_site(folder: Path) -> Iterator[Site]:
    """A server with the challenge `tea` and a study, both running, in new folders under this one."""
    organiser, team = fill_challenge(folder / "data")
    port, study_port = free_port(), free_port()
    mail = {"EMOSCOPE_MAIL_URL": "console:", "EMOSCOPE_REGISTRATIONS_PER_ADDRESS": "1000"}
    study = [*_study(folder), "--port", str(study_port)]
    links = json.loads(module_output("emoscope", *study, "--no-serve", "--json"))
    judged = folder / "judged.csv"
    rows = [f"d{item},{name},{label}" for name, said in JUDGED.items() for item, label in enumerate(said.split())]
    judged.write_text("task,worker,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    module_output("emoscope", "corpus", "annotate-import", folder / "study", judged)
    with (
        started(our_server("nano", port, str(folder)), port, **mail),
        started(module_command("emoscope", *study), study_port, "/healthz"),
    ):
        url = f"http://127.0.0.1:{port}"
        for phase in ("practice", "evaluation"):
            _wait_for_board(f"{url}/v1/challenges/{SLUG}/phases/{phase}/board")
        yield Site(url, organiser, team, links["desk"], links["links"])


def fill_challenge(data_dir: Path) -> tuple[str, str]:
    """A challenge with a closed, an open and a planned phase; tokens of an organiser and of a team's member.

    It has teams of every state, scored submissions, one that could not be scored, reports, files and messages.
    """
    now = datetime.now(UTC)
    source = _definition(data_dir.parent / "source", now)
    then = datetime(2020, 1, 5, 12, tzinfo=UTC)
    with closing(Store.open(data_dir, clock=partial(_stopped, then))) as store:
        create_challenge(store, OPERATOR, source)
        organiser = issue_organiser_token(store, OPERATOR, name="Olga").token
        olga = authenticate(store, organiser)
        members = []
        for number in range(9):
            name = LONG_NAME if number == 1 else f"Team {number}"
            # The last two wait to be approved.
            actor = PUBLIC if number > 6 else olga
            email = f"member{number}@example.org"
            registered = register_team(store, actor, SLUG, team=name, member=f"Member {number}", email=email)
            members.append(registered.token)
    for phase, moment in (("practice", then), ("practice", then + timedelta(days=3)), ("evaluation", now)):
        with closing(Store.open(data_dir, clock=partial(_stopped, moment))) as store:
            for number, token in enumerate(members[:6]):
                right = 50 + 10 * number + (8 if moment > then else 0)
                member, file = authenticate(store, token), BytesIO(_rows(_answers(right)).encode())
                submit(store, member, SLUG, phase, file, file_name=f"run{number}.txt", note="with more data")
    with closing(Store.open(data_dir)) as store:
        for number in (1, 2, 3):
            answers = {"representations": ["BERT", "Our own"], "networks": ["BiLSTM"]}
            keep_report(store, authenticate(store, members[number]), SLUG, answers=answers, summary="A blend of two.")
        refused = BytesIO(_rows(["glad"] * 70 + _answers(0)[70:]).encode())
        with suppress(Rejected):  # it is kept, with the reasons
            submit(store, authenticate(store, members[1]), SLUG, "evaluation", refused, file_name="refused.txt")
        with store.database.write() as session:
            failed = {"state": "failed", "reason": "the scorer was ended by signal 9"}
            session.execute(update(Job).where(Job.id == 1).values(**failed))
        disqualify_team(store, olga, SLUG, 5, "Two accounts of one person, see rule 3.")
        add_file(store, olga, SLUG, source.parent / "training.txt", title="Training data")
        post_notice(store, olga, SLUG, title="One day more", text="The phase closes on Sunday.\n\nGood luck!")
        post_notice(store, olga, SLUG, title="Your file names", text="Please use short names.", team_id=2)
    return organiser, members[1]


def _stopped(moment: datetime) -> datetime:
    return moment


def _definition(folder: Path, now: datetime) -> Path:
    folder.mkdir(parents=True)
    (folder / "gold.txt").write_text(_rows(_answers(ITEMS)), encoding="utf-8")
    (folder / "given.txt").write_text(_rows(None), encoding="utf-8")
    (folder / "training.txt").write_text(_rows(_answers(0)), encoding="utf-8")
    soon, later = ((now + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S") for days in (3, 10))
    phases = {
        "practice": 'opens = 2020-01-01T00:00:00\ncloses = 2020-02-10T00:00:00\npublished = true\nlabels = "closed"',
        "evaluation": f"opens = 2020-02-12T00:00:00\ncloses = {soon}\npublic_share = 0.5\ntotal = 30",
        "final": f'opens = {later}\nboard = "hidden"\ncounts = "last"',
    }
    files = 'unlabelled = "given.txt"\ngold = "gold.txt"\nper_day = 20\n'
    written = [f'[[phases]]\nname = "{name}"\ntitle = "{name.title()}"\n{files}{more}' for name, more in phases.items()]
    head = f'slug = "{SLUG}"\ntitle = "Tea corner 2026"\ntask = "emocontext"\n{TEXTS}registration = "approval"\n'
    (folder / "tea.toml").write_text("\n".join([head, *written]) + "\n", encoding="utf-8")
    return folder / "tea.toml"


def _answers(right: int) -> list[str]:
    """A label for each item; the first ones are right."""
    gold = random.Random(1).choices(LABELS, weights=(3, 1, 1, 1), k=ITEMS)
    return [label if item < right else LABELS[LABELS.index(label) - 1] for item, label in enumerate(gold)]


def _rows(labels: list[str] | None) -> str:
    lines = [f"{item}\thello {item}\tyes?\tso it is {item}" for item in range(ITEMS)]
    if labels is None:
        return "\n".join(["id\tturn1\tturn2\tturn3", *lines]) + "\n"
    labelled = [f"{line}\t{label}" for line, label in zip(lines, labels, strict=True)]
    return "\n".join(["id\tturn1\tturn2\tturn3\tlabel", *labelled]) + "\n"


def _wait_for_board(address: str) -> None:
    until = time.monotonic() + 120
    while True:
        with urllib.request.urlopen(address, timeout=30) as answer:
            board: dict[str, Any] = json.load(answer)
        if board["clusters_ready"] or board["comparison_failed"]:
            return
        if time.monotonic() > until:
            raise SystemExit(f"{address}: not compared in time")
        time.sleep(0.5)


def _study(folder: Path) -> list[str]:
    """The command that sets a study up and serves it."""
    rows = [f"d{number},I lost key number {number},oh no!,and now my phone is gone too" for number in range(4)]
    known = [f"g{number},I won prize number {number},wow,I am so happy :)" for number in range(3)]
    files = {
        "tasks.csv": "\n".join(["id,turn1,turn2,turn3", *rows, *known, "t0,we won,really?,yes!!!"]),
        "training.csv": "task,label,why\nt0,happy,she has won",
        "gold.csv": "task,label\ng0,happy\ng1,happy\ng2,happy",
        "guidelines.md": "# Labels\n\n- **happy**: joy\n\n### Example\n\n> we won\n> really?",
        "consent.md": "Your answers are kept.",
    }
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    command = ["corpus", "annotate", str(folder / "tasks.csv"), "-o", str(folder / "study"), "--judges", "7"]
    command += ["--pass-mark", "0"]  # a wrong answer in the training, which is explained, ends nobody's work
    command += [part for name in (*JUDGED, *READERS) for part in ("--annotator", name)]
    for option in ("training.csv", "gold.csv", "guidelines.md", "consent.md"):
        command += [f"--{option.partition('.')[0]}", str(folder / option)]
    return command
