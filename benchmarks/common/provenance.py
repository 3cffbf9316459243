"""What made a result: version, commit, seed, settings and hashes of the data, beside every result and blind file.

    python -m benchmarks.common.provenance check
    python -m benchmarks.common.provenance note FILE --seed 0 [--set NAME=VALUE ...] [--data FILE ...] [--note TEXT]
    python -m benchmarks.common.provenance seal [FILE]
    python -m benchmarks.common.provenance adopt --note WHY

The record of benchmarks/blind/TASK/SYSTEM.txt is SYSTEM.json beside it, that of benchmarks/results/NAME is
benchmarks/results/made/NAME.json, and sections of docs/results that are printed rather than made from a table have
theirs in benchmarks/results/made/sections/PAGE.json. The benchmarks write records themselves; `note` is for files made
otherwise. What is not known says "unknown", and `note` says why; `adopt` says so of all that has no record yet. A
record holds the sha256 of its file; `seal` adds those that are missing, and renews that of a FILE whose record is still
true, as of a log that got a row. `check` also refuses commits that the history lacks, and records that name no data.
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
from functools import cache
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
    sha256: str | None = None  # of the file itself
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

    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return (_git("rev-parse", "--short=12", "HEAD") or UNKNOWN) + ("+" if changed else "")


def _git(*words: str) -> str | None:
    """What git prints; None if it fails, as it does outside a checkout."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def has_history() -> bool:
    """Whether this is a git checkout with its whole history."""
    return _git("rev-parse", "--is-shallow-repository") == "false"


@cache
def is_in_history(commit: str) -> bool:
    """Whether HEAD comes from a commit. One that was rebased away may be in this clone, but in no other."""
    return _git("merge-base", "--is-ancestor", commit, "HEAD") is not None


def record_of(path: Path) -> Path:
    """Where the record of a result or blind file is."""
    if path.is_relative_to(BLIND):
        return path.with_suffix(".json")
    return MADE / f"{path.relative_to(RESULTS).as_posix().replace('/', '.')}.json"


def keep(path: Path, record: Made) -> None:
    """Write the record of a file, with the file's hash. Nothing for files kept elsewhere."""
    if not (path.is_relative_to(BLIND) or path.is_relative_to(RESULTS)):
        return
    target = record_of(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    record = record.model_copy(update={"sha256": sha256_of(path)})
    write_file(target, json.dumps(_plain(record), indent=1) + "\n")


def seal(path: Path) -> None:
    """Renew the hash in the record of a file that was changed in what the record does not describe."""
    if (path.is_relative_to(BLIND) or path.is_relative_to(RESULTS)) and record_of(path).is_file():
        keep(path, read_record(path))


def read_record(path: Path) -> Made:
    """The record of a result or blind file."""
    return Made.model_validate_json(record_of(path).read_text(encoding="utf-8"))


def keep_section(page: str, section: str, record: Made) -> None:
    """Write the record of a section that was printed."""
    target = MADE / "sections" / f"{page}.json"
    known = _section_records(page)
    known[section] = _plain(record)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _section_records(page: str) -> dict[str, Any]:
    """The records of a page's sections by their names."""
    target = MADE / "sections" / f"{page}.json"
    return json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}


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
        record = read_record(path)
    except ValidationError as error:
        return [f"{target}: {first_problem(error)}"]
    if record.sha256 is None:
        return [f"{target}: has no sha256; add it with: python -m benchmarks.common.provenance seal"]
    if record.sha256 != sha256_of(path):
        return [f"{shown}: was changed after its record was written; {hint}"]
    return [f"{target}: {problem}" for problem in _problems_of_record(record)]


def _problems_of_record(record: Made) -> list[str]:
    if not record.note:
        if UNKNOWN in (record.commit, record.seed, record.settings, record.data):
            return [f"says {UNKNOWN!r} without a note that says why"]
        if not record.data:
            return ["names no data, without a note that says why"]
    commit = record.commit.removesuffix("+")
    if commit != UNKNOWN and has_history() and not is_in_history(commit):
        return [f"the commit {commit} is not in the history; name the one that has its content now"]
    return []


def problems_of_section(page: str, section: str) -> list[str]:
    """What is wrong with the sources of a generated section."""
    sources = sources_of(page, section)
    if sources is not None:
        return [problem for source in sources for problem in problems_of_file(source)]
    target = MADE / "sections" / f"{page}.json"
    known = _section_records(page)
    if section not in known:
        return [f"docs/results/{page}.md: nothing says what made the section {section!r}; see benchmarks/sources.toml"]
    try:
        found = _problems_of_record(Made.model_validate(known[section]))
    except ValidationError as error:
        found = [first_problem(error)]
    return [f"{target}, {section}: {problem}" for problem in found]


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
    for path in _files():
        found += problems_of_file(path)
    return list(dict.fromkeys(found))


def seal_all() -> list[str]:
    """Add the hash to every record that has none; returns the files."""
    sealed = []
    for path in _files():
        if record_of(path).is_file() and read_record(path).sha256 is None:
            seal(path)
            sealed.append(str(path))
    return sealed


def _files() -> list[Path]:
    """The result and blind files."""
    results = [path for path in RESULTS.rglob("*") if path.is_file() and not path.is_relative_to(MADE)]
    return [*sorted(results), *sorted(BLIND.rglob("*.txt"))]


def adopt(why: str) -> list[str]:
    """Write a record that says "unknown", and why, for everything that has none; returns what."""
    record = Made(version=__version__, commit=UNKNOWN, seed=UNKNOWN, settings=UNKNOWN, data=UNKNOWN, note=why)
    adopted = []
    for path in _files():
        if not record_of(path).is_file():
            keep(path, record)
            adopted.append(str(path))
    for page in sorted(PAGES.glob("*.md")):
        for section in _sections(page):
            if sources_of(page.stem, section) is None and section not in _section_records(page.stem):
                keep_section(page.stem, section, record)
                adopted.append(f"{page.name}, {section}")
    return adopted


def _sections(page: Path) -> list[str]:
    return re.findall(r"^<!-- begin ([\w-]+):", page.read_text(encoding="utf-8"), re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "note", "seal", "adopt"])
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
    if options.what == "seal":
        if options.file is not None:
            seal(options.file.resolve())
        else:
            print("\n".join(seal_all()))
        return
    if options.what == "adopt":
        if not options.note:
            raise SystemExit("say why nothing is known: --note WHY")
        print("\n".join(adopt(options.note)))
        return
    if not has_history():
        print("not a git checkout with its whole history: whether the commits exist is not checked", file=sys.stderr)
    found = problems()
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
