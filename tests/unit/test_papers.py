"""The table of what the papers describe: its commands run, its tests exist, and the page matches it."""

import re
import shlex
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import typer
from click import Context

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.papers.__main__ import PAGE, PaperItem, read_items, summary, table
from emoscope.cli.app import app
from kits.doc_blocks import run_command
from kits.paper_world import ONLY_PARSED, write_paper_world

ROOT = Path(__file__).parents[2]
PAPERS = read_items()
ITEMS = [(paper, item) for paper, items in PAPERS.items() for item in items]
ROOT_COMMAND = typer.main.get_command(app)
COMMANDS = list(dict.fromkeys((paper, command) for paper, item in ITEMS for command in item.command))


def only_parsed(command: str) -> bool:
    return any(re.search(pattern, command) for pattern in ONLY_PARSED)


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=lambda value: getattr(value, "item", value))
def test_the_tests_exist(paper: str, item: PaperItem) -> None:
    assert paper in ("emocontext", "emotionx", "iest")
    for test in item.test:
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), test


@pytest.mark.parametrize(("paper", "typed"), COMMANDS)
def test_the_command_exists(paper: str, typed: str) -> None:
    words = shlex.split(typed)
    assert words.pop(0) == "emoscope"
    command = ROOT_COMMAND
    while hasattr(command, "commands"):
        assert words[0] in command.commands, typed
        command = command.commands[words.pop(0)]
    _, left, _ = command.make_parser(Context(command)).parse_args(words)  # every option must be one
    assert left == [], typed


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder with a paper's files, made once."""

    @cache
    def written(paper: str) -> Path:
        folder = tmp_path_factory.mktemp(paper) / "world"
        write_paper_world(folder, paper)
        return folder

    return written


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("paper", "command"), [each for each in COMMANDS if not only_parsed(each[1])])
def test_the_command_runs(
    paper: str, command: str, world: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(world(paper), tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("EMOSCOPE_DATA", str(tmp_path / "here" / "data"))
    words = shlex.split(command)
    if "-o" in words:  # what other commands read, a reader of this one has not
        shutil.rmtree(words[words.index("-o") + 1], ignore_errors=True)
    run_command(command, {})


def test_what_is_only_parsed_is_in_the_table() -> None:
    assert all(any(re.search(pattern, command) for _, command in COMMANDS) for pattern in ONLY_PARSED)


def test_partly_working_items_name_what_is_missing() -> None:
    assert all((item.state == "in part") == (item.note is not None) for _, item in ITEMS)


def test_the_page_is_the_files() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(text in page for text in (summary(PAPERS), *map(table, PAPERS.values())))
