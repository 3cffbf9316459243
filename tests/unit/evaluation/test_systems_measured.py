"""Our measured scores: in `emoscope systems`, and on the page of results."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.evaluation.measured import MeasuredScore, measured_scores
from emoscope.systems import SYSTEMS

DOCS = Path(__file__).parents[3] / "docs" / "results" / "systems.md"
needs_docs = pytest.mark.skipif(not DOCS.is_file(), reason="the documents are not part of the installed package")


def differences_on_page(name: str) -> list[str]:
    """The list below a system's heading."""
    section = DOCS.read_text(encoding="utf-8").partition(f"\n### {name}\n")[2]
    return [line.removeprefix("- ") for line in re.split(r"\n#|<!--", section)[0].splitlines() if line.startswith("- ")]


def test_every_system_but_large_has_been_measured_on_each_of_its_tasks() -> None:
    ours = measured_scores()
    assert set(ours) <= set(SYSTEMS)
    for name in SYSTEMS:
        metadata = SYSTEMS[name].metadata
        if name != "large":  # which has results of its own
            assert set(ours[name]) == set(metadata.tasks)
            assert all(measured.runs >= 2 and 0 < measured.score < 1 for measured in ours[name].values())


@needs_docs
def test_the_page_has_the_same_scores() -> None:
    rows = re.findall(r"^\| \[?([\w-]+)[^|]* \| ([^|]+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    for name, tasks in measured_scores().items():
        if name != "large":
            assert {(name, str(score)) for score in tasks.values()} <= set(rows)


@needs_docs
def test_the_page_lists_the_differences_of_every_measured_system() -> None:
    """A link that leads nowhere, or a difference left out, is an error."""
    text = DOCS.read_text(encoding="utf-8")
    linked = set(re.findall(r"^\| \[([\w-]+)\]\(#\1\)", text, re.MULTILINE))
    assert linked == set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    for name in SYSTEMS:
        metadata = SYSTEMS[name].metadata
        if name != "large" and (metadata.substitutions or metadata.differences):
            listed = differences_on_page(name)
            assert all(each.replace(": ", " → ", 1) in listed for each in metadata.substitutions)
            assert all(each in listed for each in metadata.differences)
        if metadata.published:
            assert metadata.likely_cause, name
            gap = differences_on_page(name)[0]
            assert re.match(r"\*\*\d+\.\d points (below|above) the paper", gap), name
            assert gap.endswith(metadata.likely_cause)


@needs_docs
def test_the_tables_of_the_page_are_narrow() -> None:
    text = re.sub(r"\]\(#[\w-]+\)", "]", DOCS.read_text(encoding="utf-8"))  # a link's address is not seen
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert max(len(cell) for row in rows for cell in row.split("|")) < 40


def test_a_single_run_has_no_spread() -> None:
    assert str(MeasuredScore(score=0.5, runs=1, data="dev")) == "0.5000"


def test_large_has_the_scores_of_its_card_everywhere() -> None:
    """Those of the published blend; what one `train large` has is told apart from them."""
    pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")
    from benchmarks.common.paths import RESULTS
    from benchmarks.common.tables import read_rows
    from benchmarks.readme import quality_table
    from benchmarks.systems.page import published_large

    measured = measured_scores()["large"]
    assert {task: each.score for task, each in measured.items()} == pytest.approx(published_large(), abs=5e-5)
    assert f"not embedded) | {measured['emocontext']} |" in quality_table()
    described = SYSTEMS["large"].metadata.differences[1]
    assert all(f"{row['mean']:.4f}" in described for row in read_rows(RESULTS / "large_blends.csv"))
    for command in (["systems"], ["systems", "large"]):
        shown = " ".join(CliRunner().invoke(app, command, env={"COLUMNS": "200"}).output.split())
        assert str(measured["emocontext"]) in shown
        assert "of the published blend" in shown


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
def test_differences_from_the_paper_are_shown_everywhere(name: str, said: str) -> None:
    shown = " ".join(CliRunner().invoke(app, ["systems", name], env={"COLUMNS": "400"}).output.split())
    assert said in shown
    listed = json.loads(CliRunner().invoke(app, ["systems", "--json"]).output)
    assert said in " ".join(next(each for each in listed if each["name"] == name)["differences"])
    if DOCS.is_file():
        assert said in " ".join(differences_on_page(name))
