"""The table of what the papers describe: its commands and tests exist, and the page matches it."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from click import Context

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.papers.__main__ import PAGE, PaperItem, read_items, summary, table
from emoscope.cli.app import app

ROOT = Path(__file__).parents[2]
ITEMS = [(paper, item) for paper, items in read_items().items() for item in items]


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=lambda value: getattr(value, "item", value))
def test_the_command_and_the_test_exist(paper: str, item: PaperItem) -> None:
    assert paper in ("emocontext", "emotionx", "iest")
    file, _, name = item.test.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), item.test
    words = shlex.split(item.command)
    assert words.pop(0) == "emoscope"
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        assert words[0] in command.commands, item.command
        command = command.commands[words.pop(0)]
    _, left, _ = command.make_parser(Context(command)).parse_args(words)  # every option must be one
    assert left == [], item.command


def test_partly_working_items_name_what_is_missing() -> None:
    assert len(ITEMS) == 61
    assert all((item.state == "in part") == (item.note is not None) for _, item in ITEMS)


def test_the_page_is_the_files() -> None:
    page = PAGE.read_text(encoding="utf-8")
    papers = read_items()
    assert all(text in page for text in (summary(papers), *map(table, papers.values())))
