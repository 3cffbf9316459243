"""What ships with the filters: word lists, patterns, and the measured error rates that every report quotes."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

_FOLDER = files("emoscope.corpus.filters")


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
    lines = (line for name in names for line in (_FOLDER / "words" / name).read_text(encoding="utf-8").splitlines())
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def read_toml(name: str) -> dict[str, Any]:
    """A shipped TOML file."""
    return tomllib.loads((_FOLDER / "words" / name).read_text(encoding="utf-8"))


def read_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """The compiled `patterns` of a TOML file."""
    file = read_toml(name)
    return {key: re.compile(filled(pattern, file.get("parts", {}))) for key, pattern in file["patterns"].items()}


def filled(pattern: str, parts: Mapping[str, str | Sequence[str]]) -> str:
    """A pattern on one line, with its {names} replaced by parts, which may hold {names} too; a list is a choice.

    >>> filled("my {pet}{end}", {"pet": ["cat", "dog"], "end": "s?"})
    'my (?:cat|dog)s?'
    """

    def part(match: re.Match[str]) -> str:
        own = parts[match[1]]
        return filled(own, parts) if isinstance(own, str) else f"(?:{'|'.join(filled(one, parts) for one in own)})"

    return re.sub(r"\{([a-z_]+)\}", part, re.sub(r"\n *", "", pattern))
