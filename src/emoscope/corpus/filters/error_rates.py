"""How often each filter errs, as measured by `python -m benchmarks.filters measure`; every report quotes it."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

_FILE = "error_rates.json"


def error_rates(name: str) -> Any:
    """What was measured for a filter, as plain values; None for a filter of somebody else.

    >>> error_rates("offensive")["set"]
    'TweetEval offensive, test'
    >>> error_rates("mine") is None
    True
    """
    return _measured().get(name)


@cache
def _measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("emoscope.corpus.filters").joinpath(_FILE).read_text(encoding="utf-8"))
    return found
