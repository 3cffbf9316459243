"""Train the offensive filter, make the filters' word lists, and measure how often each filter errs.

    python benchmarks/filters.py lists --data DATA     # words/english.txt and words/names.txt; needs Faker
    python benchmarks/filters.py train --data DATA     # the shipped model, from TweetEval's training tweets
    python benchmarks/filters.py measure --data DATA   # the tables of docs/corpus.md, and error_rates.json
    python benchmarks/filters.py speed --data DATA     # dialogues a second and peak memory, each filter alone and all

The sets for personal data, languages and sensitive topics are in benchmarks/filter_sets: `tuned` was looked at while
the rules were written, `held out` was not.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emoscope.corpus.filters.identify import LanguageIdentifier
from filters_language import count_language, measure_language
from filters_lists import make_lists
from filters_offensive import measure_offensive, train
from filters_personal import count_personal, measure_personal
from filters_sensitive import count_sensitive, measure_sensitive
from filters_sets import FILTERS
from filters_speed import one_speed, speed

MEASURES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "offensive": measure_offensive,
    "sensitive": measure_sensitive,
    "personal": lambda _: measure_personal(),
    "language": measure_language,
}


def measure(data: Path, wanted: str | None) -> None:
    """Print the tables of one filter or of all, and write their rates to the file that reports quote."""
    file = FILTERS / "error_rates.json"
    rates = json.loads(file.read_text(encoding="utf-8"))
    rates |= {name: own(data) for name, own in MEASURES.items() if wanted in (None, name)}
    ordered = {name: rates[name] for name in MEASURES if name in rates}
    file.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def errors() -> None:
    """What is wrong in the tuned parts; the others are not to be looked at."""
    for found in (count_personal()["tuned"].errors, count_sensitive("tuned").errors):
        print("\n".join(found))
    print("\n".join(count_language(LanguageIdentifier(), "tuned")[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["lists", "train", "measure", "speed", "errors", "one"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=MEASURES, help="measure this filter alone")
    parser.add_argument("--filters", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.step:
        case "lists":
            make_lists(options.data)
        case "train":
            train(options.data)
        case "speed":
            speed(options.data)
        case "one":
            one_speed(options.data, options.filters)
        case "errors":
            errors()
        case _:
            measure(options.data, options.only)


if __name__ == "__main__":
    main()
