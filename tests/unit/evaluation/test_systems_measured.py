"""What `emoscope systems` says of our own runs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.evaluation.measured import MeasuredScore, measured_scores
from emoscope.systems import SYSTEMS

DOCS = Path(__file__).parents[3] / "docs" / "results" / "systems.md"


def test_every_system_but_large_has_been_measured_on_each_of_its_tasks() -> None:
    ours = measured_scores()
    assert set(ours) <= set(SYSTEMS)
    for name in SYSTEMS:
        metadata = SYSTEMS[name].metadata
        if name != "large":  # which has results of its own
            assert set(ours[name]) == set(metadata.tasks)
            assert all(found.runs >= 2 and 0 < found.score < 1 for found in ours[name].values())


def test_it_says_what_the_document_says() -> None:
    if not DOCS.is_file():
        pytest.skip("the documents are not part of the installed package")
    rows = [line.split(" | ") for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    printed = {(row[0].removeprefix("| "), row[1]) for row in rows if len(row) > 5}
    for name, tasks in measured_scores().items():
        if name != "large":
            assert {(name, str(found)) for found in tasks.values()} <= printed


def test_a_single_run_has_no_spread() -> None:
    assert str(MeasuredScore(score=0.5, runs=1, data="dev")) == "0.5000"


def test_both_figures_are_listed() -> None:
    run = CliRunner()
    ours = measured_scores()["idea"]["emotionx-push"]
    shown = run.invoke(app, ["systems"], env={"COLUMNS": "160"}).output
    assert "0.8850" in shown
    assert str(ours) in shown
    listed = json.loads(run.invoke(app, ["systems", "--task", "iest", "--json"]).output)
    assert {each["name"] for each in listed} >= {"amobee", "iiidyt", "ntua-slp", "iest-baseline"}
    assert all(each["measured"]["iest"]["runs"] for each in listed if each["team"] != "emoscope")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("amobee", "trigger words that the tokenizer splits are left out"),
        ("ntua-slp", "one language model instead of the mean of three"),
        ("idea", "no next-sentence objective"),
        ("cyut", "half of the neutral utterances are kept"),
        ("ku", "includes the held-out utterances"),
        ("hsu", "the mean of the tokens' vectors"),
    ],
)
def test_what_ours_does_otherwise_is_said_wherever_it_is_shown(name: str, said: str) -> None:
    shown = " ".join(CliRunner().invoke(app, ["systems", name], env={"COLUMNS": "400"}).output.split())
    assert said in shown
    listed = json.loads(CliRunner().invoke(app, ["systems", "--json"]).output)
    assert said in " ".join(next(each for each in listed if each["name"] == name)["differences"])
    if DOCS.is_file():
        assert all(
            said in line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} | 0")
        )
