"""What made a result: version, commit, seed, settings and hashes of the data, beside every result and blind file.

    python -m benchmarks.common.provenance check
    python -m benchmarks.common.provenance note FILE --seed 0 [--set NAME=VALUE ...] [--data FILE ...] [--note TEXT]
    python -m benchmarks.common.provenance adopt --note WHY

The record of benchmarks/blind/TASK/SYSTEM.txt is SYSTEM.json beside it, that of benchmarks/results/NAME is
benchmarks/results/made/NAME.json, and sections of docs/results that are printed rather than made from a table have
theirs in benchmarks/results/made/sections/PAGE.json. The benchmarks write records themselves; `note` is for files made
otherwise. What is not known says "unknown", and `note` says why; `adopt` says so of all that has no record yet.
benchmarks/sources.toml names the tables that a section of docs/results is made from; `check`, and whoever writes a
section, refuses one whose sources have no record.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmarks.common.paths import PAGES, RESULTS, ROOT
from emoscope import __version__
from emoscope.core.files import write_file
from emoscope.core.frozen import FrozenModel, first_problem
from emoscope.systems.base import parse_setting
from emoscope.tasks.data import sha256_of

BLIND = ROOT / "benchmarks" / "blind"
SOURCES = ROOT / "benchmarks" / "sources.toml"
MADE = RESULTS / "made"
UNKNOWN = "unknown"


class Made(FrozenModel):
    """How a file came about."""

    version: str
    commit: str  # with "+" where files had been changed since
    seed: int | list[int] | str | None
    settings: dict[str, Any] | str
    data: dict[str, str] | str  # file to sha256
    sha256: str | None = None  # of the predictions themselves
    note: str | None = None


def made(
    seed: int | list[int] | None = None,
    settings: Mapping[str, Any] | None = None,
    data: Iterable[Path] = (),
    note: str | None = None,
) -> Made:
    """The record of something made now."""
    hashes = {path.name: sha256_of(path) for path in data if path.is_file()}
    return Made(
        version=__version__, commit=current_commit(), seed=seed, settings=dict(settings or {}), data=hashes, note=note
    )


def current_commit() -> str:
    """The commit that is checked out, with "+" if tracked files of the package or the benchmarks differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else UNKNOWN

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed and changed != UNKNOWN else "")


def record_of(path: Path) -> Path:
    """Where the record of a result or blind file is."""
    if path.is_relative_to(BLIND):
        return path.with_suffix(".json")
    return MADE / f"{path.relative_to(RESULTS).as_posix().replace('/', '.')}.json"


def keep(path: Path, record: Made) -> None:
    """Write the record of a file; of predictions it also holds the hash. Nothing for files kept elsewhere."""
    if path.is_relative_to(BLIND):
        record = record.model_copy(update={"sha256": sha256_of(path)})
    elif not path.is_relative_to(RESULTS):
        return
    target = record_of(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, json.dumps(_plain(record), indent=1) + "\n")


def keep_section(page: str, section: str, record: Made) -> None:
    """Write the record of a section that was printed."""
    target = MADE / "sections" / f"{page}.json"
    known = json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}
    known[section] = _plain(record)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _plain(record: Made) -> dict[str, Any]:
    empty = {name for name in ("sha256", "note") if getattr(record, name) is None}
    return record.model_dump(mode="json", exclude=empty)


def sources_of(page: str, section: str) -> list[Path] | None:
    """The tables that a section is made from; None for one that a benchmark prints."""
    named = tomllib.loads(SOURCES.read_text(encoding="utf-8")).get(page, {}).get(section)
    return None if named is None else [RESULTS / name for name in named]


def problems_of_file(path: Path) -> list[str]:
    """What is wrong with the record of a result or blind file."""
    target = record_of(path)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    hint = f"write it with: python -m benchmarks.common.provenance note {shown} --seed SEED --data FILE"
    if not path.is_file():
        return [f"{shown}: is not there"]
    if not target.is_file():
        return [f"{shown}: has no record of what made it; {hint}"]
    try:
        record = Made.model_validate_json(target.read_text(encoding="utf-8"))
    except ValidationError as error:
        return [f"{target}: {first_problem(error)}"]
    if path.is_relative_to(BLIND) and record.sha256 != sha256_of(path):
        return [f"{shown}: was changed after its record was written; {hint}"]
    if UNKNOWN in (record.commit, record.seed, record.settings, record.data) and not record.note:
        return [f"{target}: says {UNKNOWN!r} without a note that says why"]
    return []


def problems_of_section(page: str, section: str) -> list[str]:
    """What is wrong with the sources of a generated section."""
    sources = sources_of(page, section)
    if sources is not None:
        return [problem for source in sources for problem in problems_of_file(source)]
    target = MADE / "sections" / f"{page}.json"
    known = json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}
    if section not in known:
        return [f"docs/results/{page}.md: nothing says what made the section {section!r}; see benchmarks/sources.toml"]
    try:
        Made.model_validate(known[section])
    except ValidationError as error:
        return [f"{target}, {section}: {first_problem(error)}"]
    return []


def problems_of_loose_tables(page: Path) -> list[str]:
    """The tables of a page that stand in no section, so that nothing says what made them; cards are made whole."""
    if page.name.startswith("card-"):
        return []
    blank = re.compile(r"^<!-- begin ([\w-]+):.*?^<!-- end \1 -->$", re.MULTILINE | re.DOTALL)
    text = blank.sub(lambda match: "\n" * match.group().count("\n"), page.read_text(encoding="utf-8"))
    rows = [row for row, line in enumerate(text.split("\n"), start=1) if re.match(r"\s*\|[-:| ]+\|$", line)]
    problem = "the table stands in no section that says what made it"
    return [f"docs/results/{page.name}, line {row}: {problem}" for row in rows]


def problems() -> list[str]:
    """Everything that lacks a record: sections of docs/results, tables outside of any, result files and blind files."""
    found: list[str] = []
    for page in sorted(PAGES.glob("*.md")):
        found += problems_of_loose_tables(page)
        for section in _sections(page):
            found += problems_of_section(page.stem, section)
    files = [path for path in RESULTS.rglob("*") if path.is_file() and not path.is_relative_to(MADE)]
    for path in [*sorted(files), *sorted(BLIND.rglob("*.txt"))]:
        found += problems_of_file(path)
    return list(dict.fromkeys(found))


def adopt(why: str) -> list[str]:
    """Write a record that says "unknown", and why, for everything that has none or an outdated one; returns what."""
    record = Made(version=__version__, commit=UNKNOWN, seed=UNKNOWN, settings=UNKNOWN, data=UNKNOWN, note=why)
    adopted = []
    files = [path for path in RESULTS.rglob("*") if path.is_file() and not path.is_relative_to(MADE)]
    for path in [*sorted(files), *sorted(BLIND.rglob("*.txt"))]:
        if problems_of_file(path):
            keep(path, record)
            adopted.append(str(path))
    for page in sorted(PAGES.glob("*.md")):
        for section in _sections(page):
            if sources_of(page.stem, section) is None and problems_of_section(page.stem, section):
                keep_section(page.stem, section, record)
                adopted.append(f"{page.name}, {section}")
    return adopted


def _sections(page: Path) -> list[str]:
    return re.findall(r"^<!-- begin ([\w-]+):", page.read_text(encoding="utf-8"), re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "note", "adopt"])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--note")
    options = parser.parse_args(arguments)
    if options.what == "note":
        if options.file is None:
            raise SystemExit("name the file to note")
        seed = options.seed[0] if options.seed and len(options.seed) == 1 else options.seed
        settings = dict(parse_setting(text) for text in options.settings)
        keep(options.file.resolve(), made(seed, settings, options.data, options.note))
        return
    if options.what == "adopt":
        if not options.note:
            raise SystemExit("say why nothing is known: --note WHY")
        print("\n".join(adopt(options.note)))
        return
    found = problems()
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
