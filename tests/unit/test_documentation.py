"""The pages of the documentation: their links, commands and generated sections."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from emoscope.cli.app import app
from emoscope.detector.long_turns import READ_CHARACTERS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
pytestmark = pytest.mark.skipif(not (ROOT / "docs" / "guide").is_dir(), reason="the pages are not in the package")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link.partition("#")
        if target.startswith(("http:", "https:")):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file), link


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "docs/guide/detect.md", *sorted((ROOT / "docs/results").glob("card-[dno]*.md"))]
)
def test_limits_are_stated_in_numbers(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"{READ_CHARACTERS:,} characters" in text
    assert "about 700 words" in text


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.read_text("utf-8"))}
    assert {page for page in PAGES if page.is_relative_to(index.parent)} - {index} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMOSCOPE_TOKEN", "emo_x")
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if match := re.match(r"(?:\$ )?(?:[A-Z_]+=\S+ )?(?:tail \S+ \S+ \| )?emoscope (.+)", line):
                check_command(match[1])


def check_command(line: str) -> None:
    command = typer.main.get_command(app)
    words = shlex.split(line, comments=True)
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, line
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if re.match(r"--?[a-z]", word):
            assert word.partition("=")[0] in known | {"--help"}, line
    if not hasattr(command, "commands") and "--help" not in words:
        given = [word for word in words if word not in ("|", ">") and not word.startswith(">")]
        command.parse_args(typer.Context(command, info_name=command.name), given)  # what is missing or no number


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_sections_are_closed_and_made_by_a_module_that_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    begun = re.findall(r"^<!-- begin ([\w-]+): python -m ([\w.]+).*-->$", text, re.MULTILINE)
    assert [name for name, _ in begun] == re.findall(r"^<!-- end ([\w-]+) -->$", text, re.MULTILINE)
    for _, module in begun:
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_guide_pages_are_short() -> None:
    for page in (ROOT / "docs" / "guide").glob("*.md"):
        assert len(page.read_text(encoding="utf-8").split()) <= 2000, page.name
