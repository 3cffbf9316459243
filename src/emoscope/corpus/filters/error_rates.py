"""The measured error rates of each filter, which every report quotes (`python -m benchmarks.filters measure`)."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

_FILE = "error_rates.json"


def error_rates(name: str) -> Any:
    """The measured error rates of a shipped filter, as plain values; None for any other.

    >>> error_rates("offensive")["set"]
    'TweetEval offensive, test'
    >>> error_rates("mine") is None
    True
    """
    return _all_rates().get(name)


@cache
def _all_rates() -> dict[str, Any]:
    rates: dict[str, Any] = json.loads(files("emoscope.corpus.filters").joinpath(_FILE).read_text(encoding="utf-8"))
    return rates
