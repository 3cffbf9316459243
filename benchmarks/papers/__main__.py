"""Write docs/results/papers.md from benchmarks/papers/items.toml.

python -m benchmarks.papers
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES
from emoscope.core.frozen import FrozenModel
from emoscope.evaluation.card import markdown_table

ITEMS = Path(__file__).with_name("items.toml")
PAGE = PAGES / "papers.md"


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Several = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(min_length=1)]  # one string, or a list of them


class PaperItem(FrozenModel):
    """Something that a paper describes, the commands that do it here, and the tests that show it."""

    section: str
    item: str
    command: Several
    test: Several
    state: Literal["works", "in part"] = "works"
    note: str | None = None


def read_items() -> dict[str, list[PaperItem]]:
    """The items of each paper."""
    content = tomllib.loads(ITEMS.read_text(encoding="utf-8"))
    return {paper: [PaperItem(**item) for item in items] for paper, items in content.items()}


def table(items: Sequence[PaperItem]) -> str:
    """The items of a paper as a table."""
    lines = ["| section | what the paper describes | state | command | shown by |", "|---|---|---|---|---|"]
    for each in items:
        state = each.state if each.note is None else f"{each.state}: {each.note}"
        tests = [test.rpartition("::")[2] for test in each.test]
        lines.append(f"| {each.section} | {each.item} | {state} | {_cell(each.command)} | {_cell(tests)} |")
    return "\n".join(lines)


def _cell(codes: Sequence[str]) -> str:
    return "<br>".join("`" + code.replace("|", "\\|") + "`" for code in codes)


def summary(papers: Mapping[str, Sequence[PaperItem]]) -> str:
    """How many items there are and work."""
    rows = []
    for name, items in [*papers.items(), ("all", [item for own in papers.values() for item in own])]:
        works = sum(item.state == "works" for item in items)
        rows.append([name, *map(str, (len(items), works, len(items) - works))])
    return markdown_table(["paper", "items", "work", "in part"], rows)


def main() -> None:
    command_line(__doc__).parse_args()
    papers = read_items()
    write_section(PAGE, "summary", summary(papers))
    for name, items in papers.items():
        write_section(PAGE, name, table(items))


if __name__ == "__main__":
    main()
