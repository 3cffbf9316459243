"""Model cards, and the results they are made of."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.evaluation.card import card_text, markdown_table
from emoscope.evaluation.results import ModelResults, read_results
from kits.model_results import model_results

# The card


def test_card_shows_the_measured_numbers() -> None:
    card = card_text(model_results())
    for expected in (
        "# Model card: `mine`",
        "23.5 MB",
        "| mood | Ours | dev | 4 | macro-f1 | 0.7333 |",
        "95 % interval",
        "0.2250",
        "| irony | 7 of 12 |",
        "| in batches | 1,235 dialogues a second |",
        "| Ours | fitting | 12,345 | CC BY 4.0 |",
        "3 folds; seeds 0, 1: 0.7300, 0.7400.",
        "It knows 2 labels.",
    ):
        assert expected in card


def test_a_bare_card() -> None:
    made = model_results(heads=(), checks=(), size_bytes=None, speed=None)
    card = card_text(made)
    assert "MB" not in card and "## Speed" not in card and "## Hand-written" not in card


def test_a_cell_cannot_break_the_table() -> None:
    assert markdown_table(["a"], [["x | y"]]).splitlines()[-1] == "| x \\| y |"


# Files


def write_results(results: ModelResults, path: Path) -> None:
    path.write_text(results.model_dump_json(), encoding="utf-8")


def test_results_survive_a_file(tmp_path: Path) -> None:
    write_results(model_results(), tmp_path / "mine.json")
    assert read_results(tmp_path / "mine.json") == model_results()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is not valid JSON"),
        ("{}", "has no model results ('name': Field required)"),
        ('{"format": "other-1"}', "has no model results"),
    ],
)
def test_bad_results_are_one_line_errors(content: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_format_is_refused(tmp_path: Path) -> None:
    write_results(model_results(format="emoscope-model-results-9"), tmp_path / "new.json")
    with pytest.raises(InputError, match="this version reads 'emoscope-model-results-1'"):
        read_results(tmp_path / "new.json")


# The command


def test_the_embedded_models_card_is_printed() -> None:
    done = CliRunner().invoke(app, ["card", "nano"])
    assert done.exit_code == 0
    assert done.stdout.startswith("# Model card: `nano`\n")
    assert "## Limits" in done.stdout


def test_a_card_is_written_or_made_from_model_results(tmp_path: Path) -> None:
    source, target = tmp_path / "mine.json", tmp_path / "card.md"
    write_results(model_results(), source)
    assert CliRunner().invoke(app, ["card", str(source), "-o", str(target)]).exit_code == 0
    assert target.read_text(encoding="utf-8") == card_text(model_results())
    done = CliRunner().invoke(app, ["card", str(source), "-o", str(source)])
    assert str(done.exception) == f"{source}: is the input itself; write to another file"
    assert source.read_text(encoding="utf-8").startswith("{")


def test_model_without_a_card_is_a_one_line_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["card", str(tmp_path)])
    assert isinstance(done.exception, EmoscopeError)
    assert "has no card" in str(done.exception)
