"""The filters' data files: word lists, patterns, and the measured error rates for reports."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from emoscope.core import word_lists

_FOLDER = files("emoscope.corpus.filters")
WORDS = _FOLDER / "words"


@cache
def error_rates() -> dict[str, Any]:
    """The measured error rates of each filter, as plain values (`python -m benchmarks.filters measure`).

    >>> error_rates()["offensive"]["set"]
    'TweetEval offensive, test'
    """
    rates: dict[str, Any] = json.loads((_FOLDER / "error_rates.json").read_text(encoding="utf-8"))
    return rates


@cache
def listed_words(*names: str) -> frozenset[str]:
    """The words of shipped lists; lines that start with # are comments."""
    return word_lists.read_words(WORDS, *names)


def read_toml(name: str) -> dict[str, Any]:
    """A shipped TOML file."""
    return word_lists.read_toml(name, WORDS)


def read_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """The compiled `patterns` of a TOML file."""
    file = read_toml(name)
    return {
        key: re.compile(word_lists.filled(pattern, file.get("parts", {}))) for key, pattern in file["patterns"].items()
    }
