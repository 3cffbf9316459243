"""Measure how often each corpus filter errs, and how fast it is.

    python -m benchmarks.filters measure --data DATA [--only personal] [--write]
    python -m benchmarks.filters speed --data DATA [--write]    # dialogues a second and peak memory
    python -m benchmarks.filters errors --data DATA             # what is still wrong in the tuned sets

`measure` also writes the rates to error_rates.json in the package, which the filters' reports quote; `--write` puts the
tables into docs/results/filters.md. What the filters ship with is made by tools/offensive_model.py and
tools/filter_word_lists.py.

The sets for personal data, languages and sensitive topics are in benchmarks/filter_sets: `tuned` was looked at while
the rules were written, `held out` was not.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.filters.abuse import measure_abuse
from benchmarks.filters.language import count_language, measure_language
from benchmarks.filters.names import measure_names
from benchmarks.filters.offensive import measure_offensive
from benchmarks.filters.personal import count_personal, measure_personal
from benchmarks.filters.sensitive import count_sensitive, measure_sensitive
from benchmarks.filters.sets import FILTERS
from benchmarks.filters.speed import one_speed, speed
from emoscope.corpus.filters.identify import LanguageIdentifier

MEASURES: dict[str, Callable[[Path, bool], dict[str, Any]]] = {
    "offensive": measure_offensive,
    "sensitive": measure_sensitive,
    "personal": lambda _, write: measure_personal(write),
    "language": measure_language,
    "names": measure_names,
    "abuse": measure_abuse,
}


def measure(data: Path, wanted: str | None, write: bool) -> None:
    """Print the tables of one filter or of all, and write their rates to the file that reports quote."""
    file = FILTERS / "error_rates.json"
    rates = json.loads(file.read_text(encoding="utf-8"))
    rates |= {name: own(data, write) for name, own in MEASURES.items() if wanted in (None, name)}
    ordered = {name: rates[name] for name in MEASURES if name in rates}
    file.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def errors() -> None:
    """What is wrong in the tuned parts; the others are not to be looked at."""
    for found in (count_personal()["tuned"].errors, count_sensitive("tuned").errors):
        print("\n".join(found))
    print("\n".join(count_language(LanguageIdentifier(), "tuned")[1]))


def main() -> None:
    parser = command_line(__doc__, "data", "write")
    parser.add_argument("step", choices=["measure", "speed", "errors", "one"])
    parser.add_argument("--only", choices=MEASURES, help="measure this filter alone")
    parser.add_argument("--filters", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.step:
        case "speed":
            with printed_section("filters", "speed", write=options.write):
                speed(options.data)
        case "one":
            one_speed(options.data, options.filters)
        case "errors":
            errors()
        case _:
            measure(options.data, options.only, options.write)


if __name__ == "__main__":
    main()
