"""`--json` exists for every command that ends, and prints one document."""

import json
from pathlib import Path
from typing import Any

import pytest

from kits.challenge_kit import phase, write_challenge
from kits.corpus_command import run, stdout_of
from kits.doc_commands import leaf_commands

NEVER_END = {"serve", "mcp"}
SHOWS = {"demo"}  # for eyes alone: the same answers come from `detect --json`


def test_every_command_has_it() -> None:
    without = {path for path, each in leaf_commands().items() if all("--json" not in p.opts for p in each.params)}
    assert without == NEVER_END | SHOWS


def test_commands_report_what_they_changed(tmp_path: Path) -> None:
    data = ("--data-dir", tmp_path / "data", "--json")
    file = write_challenge(tmp_path / "source", phases=phase("practice", opens=None))

    def said(*arguments: object) -> Any:
        return json.loads(stdout_of("challenge", *arguments, *data))

    said("create", file)
    assert said("open", "mine", "practice")["phases"][0]["state"] == "open"
    assert said("rescore", "mine") == {"challenge": "mine", "phase": None, "queued": 0}
    assert said("worker", "--once") == {"done": 1}  # the comparison of no teams
    assert set(said("organiser", "ann")) == {"name", "token"}
    assert said("revoke", 1) == {"id": 1, "state": "revoked"}
    assert said("delete", "mine") == {"challenge": "mine", "state": "deleted"}
    assert said("restore", "mine")["state"] == "restored"
    assert said("export", "mine", "-o", tmp_path / "all.json")["output"] == str(tmp_path / "all.json")
    assert said("backup", tmp_path / "copy") == {"output": str(tmp_path / "copy"), "database": True}
    assert said("upgrade")["revision"]
    assert json.loads(stdout_of("challenge", "template", "--json"))["challenges"]


def test_the_example_of_a_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "example"
    assert json.loads(stdout_of("corpus", "example", folder, "--json")) == {
        "output": str(folder),
        "plan": str(folder / "plan.toml"),
    }
    code, _, error = run("corpus", "example", folder)
    assert (code, "exists already" in error) == (2, True)
    assert run("corpus", "example", folder / "plan.toml")[0] == 2


@pytest.mark.parametrize("arguments", [("tasks",), ("systems",), ("tasks", "iest"), ("detect", "I love you")])
def test_one_document(arguments: tuple[str, ...]) -> None:
    assert json.loads(stdout_of(*arguments, "--json"))
