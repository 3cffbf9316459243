"""Write the figures in README and the guide, from the measured results.

python -m benchmarks.readme            writes the sections
python -m benchmarks.readme --check    lists the stale ones and exits with 1
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from emoscope.core.files import whole_text
from emoscope.evaluation.measured import measured_scores
from emoscope.systems import SYSTEMS

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "src" / "emoscope" / "detector" / "assets"
RESULTS = ROOT / "benchmarks" / "results" / "models"
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "guide" / "detect.md"
EMBEDDED = ("default", "open", "nano")
KINDS = {
    "default": "a small 8-bit transformer, distilled from a language model",
    "open": "the same encoder and speed; all text we trained it on may be used for any purpose",
    "nano": "a logistic regression over hashed n-grams, many times faster",
}
SYSTEMS_SHOWN = 4


def models_table() -> str:
    """The embedded models: description, size, and terms of use."""
    lines = ["| model | description | size | may I use it? |", "|---|---|---:|---|"]
    for name in EMBEDDED:
        card = _json(MODELS / name / "card.json")
        use = card["about"]["terms"]["use"].rstrip(".")
        lines.append(f"| `{name}` | {KINDS[name]} | {card['size_bytes'] / 1e6:.1f} MB | {use[0].lower()}{use[1:]} |")
    return "\n".join(lines)


def quality_table() -> str:
    """Our models and the systems of the EmoContext papers on the development set."""
    rows = [(f"**{name}** (embedded)", score, "") for name in EMBEDDED if (score := _emocontext(name)) is not None]
    if (large := _emocontext("large")) is not None:
        rows.append(
            ("**large** ([our blend](docs/guide/systems.md#large-and-teaching-a-small-model), not embedded)", large, "")
        )
    ours = {name: scores["emocontext"].score for name, scores in measured_scores().items() if "emocontext" in scores}
    papers = {name: SYSTEMS[name].metadata for name in ours if SYSTEMS[name].metadata.published}
    best = sorted(papers, key=lambda name: -ours[name])[:SYSTEMS_SHOWN]
    for name in dict.fromkeys([*best, "emocontext-baseline"]):
        about = papers[name]
        rows.append((f"{about.team} (`{name}`)", ours[name], f"{about.published['emocontext']:.4f}"))
    lines = ["| system | micro-F1 on dev, ours | micro-F1 on Test2, published |", "|---|---:|---:|"]
    lines += [f"| {name} | {score:.4f} | {paper} |" for name, score, paper in sorted(rows, key=lambda row: -row[1])]
    caveats = [(name, caveat) for name in EMBEDDED for caveat in _caveats(name)]
    caveats += [("large", f"{note[0].upper()}{note[1:]}.") for note in _folds_missing("large")]
    return "\n".join([*lines, *(f"\n`{name}`: {caveat}" for name, caveat in caveats)])


def general_table() -> str:
    """The seven emotions of the embedded models, on all data they are measured on."""
    found = {name: _json(RESULTS / f"{name}.json") for name in EMBEDDED}
    found = {name: each for name, each in found.items() if any(h["head"] == "general" for h in each["heads"])}
    rows: dict[str, dict[str, str]] = {}
    for name, each in found.items():
        for head in each["heads"]:
            learnt = head["split"].startswith("held-out tenth")  # by earlier versions of `default`
            if head["head"] == "general" and not learnt:
                rows.setdefault(f"{head['data']}, {head['split']}: macro-F1", {})[name] = f"{head['score']:.4f}"
        checks = [check for check in each["checks"] if check["head"] == "general"]
        cases = [figure for figure in each["behaviour"] if (figure["head"], figure["type"]) == ("general", "all")]
        rows.setdefault("hand-written checks", {})[name] = _of(sum(c["right"] for c in checks), checks)
        rows.setdefault("behaviour suite", {})[name] = _of(sum(f["passed"] for f in cases), cases)
    lines = [f"| seven emotions | {' | '.join(f'`{name}`' for name in found)} |", f"|---|{'---:|' * len(found)}"]
    lines += [f"| {row} | {' | '.join(cells.get(name, '-') for name in found)} |" for row, cells in rows.items()]
    return "\n".join(lines)


def _of(passed: int, figures: Sequence[dict[str, Any]]) -> str:
    return f"{passed} of {sum(figure['n'] for figure in figures)}"


def speed_table() -> str:
    """The table of docs/results/speed.md."""
    page = whole_text(ROOT / "docs" / "results" / "speed.md")
    section = re.search(r"<!-- begin speed:.*?-->\n(.*?)<!-- end speed -->", page, re.DOTALL)
    table = re.search(r"(?:^\|.*\n)+", section[1], re.MULTILINE) if section else None
    if table is None:
        raise SystemExit("docs/results/speed.md has no table of speed")
    return table[0].strip()


def _emocontext(name: str) -> float | None:
    heads = _json(RESULTS / f"{name}.json")["heads"]
    return next((head["score"] for head in heads if head["head"] == "emocontext" and "dev" in head["split"]), None)


def _caveats(name: str) -> list[str]:
    """What a model's card says about this score."""
    return [
        limit for limit in _json(RESULTS / f"{name}.json")["about"]["limits"] if "dev" in limit and "score" in limit
    ]


def _folds_missing(name: str) -> list[str]:
    """The note of a score that is of some folds only; see `teacher.kept_answers`."""
    heads = _json(RESULTS / f"{name}.json")["heads"]
    notes = [note for head in heads if head["data"] == "EmoContext" for note in head["notes"]]
    return [note for note in notes if note.startswith("of ") and "folds" in note]


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(whole_text(path))
    return content


SECTIONS: list[tuple[Path, str, Callable[[], str]]] = [
    (README, "models", models_table),
    (README, "quality", quality_table),
    (README, "general", general_table),
    (README, "speed", speed_table),
    (GUIDE, "models", models_table),
]


def stale() -> list[str]:
    """The sections that differ from the results."""
    return [f"{page.name}: {name}" for page, name, made in SECTIONS if made() not in whole_text(page)]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; list the stale sections and exit with 1")
    if parser.parse_args().check:
        sys.exit("\n".join(f"{each} is stale; run: python -m benchmarks.readme" for each in stale()) or 0)
    for page, name, made in SECTIONS:
        write_section(page, name, made())


if __name__ == "__main__":
    main()
