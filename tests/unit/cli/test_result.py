"""Results of commands are printed in one way: for people, or with `--json` for programs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from emoscope.cli.output import console, table
from emoscope.cli.result import CommandGroup, CommandResult, with_json
from kits.corpus_command import run
from kits.emocontext_files import make_corpus

RESULTS = {
    "line": CommandResult({"n": 1}, "[one] line"),
    "parts": CommandResult({"n": 1}, ["[bold]first[/]", "second"]),
    "printed": CommandResult({"n": 1}, lambda: print("by itself")),
    "negative": CommandResult({"n": 1}, "no", failed=True),
    "piped": CommandResult(None, "to the side", stderr=True),
}
app = CommandGroup()


@app.command("answer")
def answer(name: str) -> CommandResult:
    """Answer."""
    return RESULTS[name]


@app.command("other")
def other() -> None:
    """Do something else."""


@pytest.mark.parametrize(
    ("name", "out", "error", "code"),
    [
        ("line", "[one] line\n", "", 0),
        ("parts", "first\n\nsecond\n", "", 0),
        ("printed", "by itself\n", "", 0),
        ("negative", "no\n", "", 1),
        ("piped", "", "to the side\n", 0),
    ],
)
def test_people_and_programs_get_the_same_answer(name: str, out: str, error: str, code: int) -> None:
    for_people = CliRunner().invoke(app, ["answer", name])
    assert (for_people.stdout, for_people.stderr, for_people.exit_code) == (out, error, code)
    for_programs = CliRunner().invoke(app, ["answer", name, "--json"])
    assert for_programs.exit_code == code
    if name == "piped":  # standard output belongs to what the command writes
        assert (for_programs.stdout, for_programs.stderr) == (out, error)
    else:
        assert json.loads(for_programs.stdout) == {"n": 1}


@pytest.mark.parametrize(
    "arguments",
    [
        "card default -o -", "train nano -t emocontext -o -", "export run -o -", "score a.csv -o -",
        "evaluate out.txt -t iest --gold gold.txt --html -", "transfer iest --plot -",
        "corpus filter a.csv -o -", "corpus aggregate a.csv -o -", "challenge template iest -o -",
        "corpus annotate-export study --labels -", "distil bundle a b -o -", "data stats iest --plots -",
    ],
)  # fmt: skip
def test_no_file_is_named_like_a_pipe(arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, shown, message = run(*arguments.split())
    assert (code, shown) == (2, "")
    assert message.endswith(": expected the name of a file or folder; `-` is no pipe here")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["official", "labels"])
def test_predictions_go_to_a_pipe(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_corpus(tmp_path)
    predict = ("predict", "nano", "-t", "emocontext", "--split", "dev", "--data", data, "--format", format)
    assert run(*predict, "-o", tmp_path / "out.txt")[0] == 0
    monkeypatch.chdir(tmp_path)
    code, shown, told = run(*predict, "--json", "-o", "-")
    assert (code, shown) == (0, (tmp_path / "out.txt").read_text(encoding="utf-8"))
    assert "labels written to standard output" in told
    assert not Path("-").exists()


def test_only_a_command_with_a_result_gets_the_option() -> None:
    assert with_json(other) is other
    assert CliRunner().invoke(app, ["other", "--json"]).exit_code == 2


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_a_table_breaks_no_word_in_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    columns = ["system", "what it is", "task", "F1", "rows"]
    rows = [
        ["emocontext-baseline", "an unsophisticated recurrent network", "emotionx-friends\niest", "0.8185 ± 0.0048", 1],
        ["nano", "n-grams", "emocontext", "0.7332 ± 0.0000", 30_160],
    ]
    screen = console()
    with screen.capture() as shown:
        screen.print(table("Systems", columns, rows, left=3, no_wrap=(0, 2, 3)))
    text = shown.get()
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for whole in ("emocontext-baseline", "emotionx-friends", "0.8185 ± 0.0048", "30,160"):
        assert whole in text
    assert {"what", "it", "unsophisticated", "recurrent", "network"} <= set(text.split())


def test_a_title_is_plain_text_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(table("12 items in runs[/1]/x [red]", ["a"], [[1]]))
    assert capsys.readouterr().out.splitlines()[0] == "12 items in runs[/1]/x [red]"
