"""The promise of a model card: it states no number that was not measured."""

import json
import re
from collections.abc import Iterator
from typing import Any

from emoscope.evaluation.card import four, megabytes, percent, significant, whole
from emoscope.evaluation.results import ModelResults

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)*(?:e[+-]?\d+)?(?!\w)")


def unsupported_numbers(card: str, results: ModelResults) -> list[str]:
    """The numbers of a card that are not in the results; an honest card has none."""
    allowed: set[str] = set()
    for value in _leaves(json.loads(results.model_dump_json())):
        if isinstance(value, str):
            allowed |= set(_NUMBER.findall(value))
        elif not isinstance(value, bool):
            allowed |= {four(value), significant(value), percent(value)}
            if isinstance(value, int):
                allowed |= {whole(value), str(value), megabytes(value)}
    return [number for number in _NUMBER.findall(card) if number not in allowed]


def _leaves(value: Any) -> Iterator[str | int | float]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield value
