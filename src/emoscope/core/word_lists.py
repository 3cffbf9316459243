"""Word lists and patterns that ship with a package."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any

WORDS = files("emoscope.core") / "words"


@cache
def listed_words(*names: str) -> frozenset[str]:
    """The words of the shipped lists; lines that start with # are comments.

    >>> "lol" in listed_words("anywhere.txt")
    True
    """
    return read_words(WORDS, *names)


def read_words(folder: Traversable, *names: str) -> frozenset[str]:
    """Read the words of lists in a folder."""
    lines = (line for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines())
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def read_toml(name: str, folder: Traversable = WORDS) -> dict[str, Any]:
    """Read a shipped TOML file."""
    import tomllib

    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def filled(pattern: str, parts: Mapping[str, str | Sequence[str]]) -> str:
    """A pattern on one line with its {names} replaced by `parts`, which may themselves contain {names}.

    A part that is a list matches any of its items.

    >>> filled("my {pet}{end}", {"pet": ["cat", "dog"], "end": "s?"})
    'my (?:cat|dog)s?'
    """

    def part(match: re.Match[str]) -> str:
        own = parts[match[1]]
        return filled(own, parts) if isinstance(own, str) else f"(?:{'|'.join(filled(one, parts) for one in own)})"

    return re.sub(r"\{([a-z_]+)\}", part, re.sub(r"\n *", "", pattern))


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """A pattern that matches any of several patterns as whole words.

    >>> bool(any_of(["cats?", "dog"]).search("two cats")), bool(any_of(["cat"]).search("category"))
    (True, False)
    """
    return re.compile(rf"\b(?:{'|'.join(patterns)})(?!\w)")


def words_in(pattern: str) -> set[str]:
    """The words of a pattern, with each of their endings.

    >>> sorted(words_in("(?:kill|stabs?) \\\\w+ him"))
    ['him', 'kill', 'stab', 'stabs']
    >>> sorted(words_in("child(?:ish|ren)?"))
    ['child', 'childish', 'children']
    """
    words = {"".join(parts) for run in _WORD.findall(pattern) for parts in product(*map(_choices, _PART.findall(run)))}
    return {word for word in words if len(word) >= _SHORTEST}


def _choices(part: tuple[str, str, str]) -> list[str]:
    """What a letter or a group of alternatives in a pattern can stand for."""
    letter, group, optional = part
    chosen = [letter] if letter else ["".join(each) for one in group.split("|") for each in product(*_letters(one))]
    return [*chosen, ""] if optional else chosen


def _letters(word: str) -> list[list[str]]:
    return [[letter, ""] if optional else [letter] for letter, optional in re.findall(r"([a-z])(\??)", word)]


_SHORTEST = 3  # letters
_WORD = re.compile(r"(?<![\\a-z])(?:[a-z]\??|\(\?:[a-z?|]+\)\??)+")
_PART = re.compile(r"(?:([a-z])|\(\?:([a-z?|]+)\))(\??)")
