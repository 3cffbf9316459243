"""All cases of the suite: hand-written dialogues (dialogues.tsv) and templates, expanded (templates.toml)."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import words
from emoscope.core.word_lists import read_toml
from emoscope.evaluation.behaviour.cases import EMOTIONS, Case, Direction, Functionality, Invariance
from emoscope.evaluation.behaviour.edits import EDITS

SELF_HARM = "self-harm"
_FILES = files("emoscope.evaluation.behaviour")


@cache
def read_suite() -> tuple[Case, ...]:
    """All cases, in a fixed order.

    >>> len(read_suite()) > 650
    True
    """
    templates = read_toml("templates.toml", _FILES)
    return (*_written(), *_invariance(templates), *_directions(templates["direction"]))


def _written() -> Iterator[Case]:
    rows = [line.split("\t") for line in (_FILES / "dialogues.tsv").read_text(encoding="utf-8").splitlines()]
    for kind, situation, emotions, *turns in rows:
        yield Functionality(kind, situation, (Dialogue.of(turns),), tuple(emotions.split()))
    never = tuple(emotion for emotion in EMOTIONS if emotion not in ("anger", "joy"))
    for kind, situation, _, *turns in rows:
        if kind == SELF_HARM:
            yield Functionality(f"{SELF_HARM}, never anger or joy", situation, (Dialogue.of(turns),), never)


def _invariance(templates: dict[str, Any]) -> Iterator[Case]:
    for edit in (*EDITS, "names", "greetings", "irrelevant context"):
        cases = []
        for base in templates["bases"]:
            versions = _versions(edit, base, templates)
            if len(versions) > 1:
                cases.append(Invariance(edit, _situation(versions[0]), tuple(map(Dialogue.of, versions))))
        step = max(1, len(cases) / templates["each_edit"])  # spread over the list, which is ordered by emotion
        yield from (cases[int(place * step)] for place in range(min(len(cases), templates["each_edit"])))


def _versions(edit: str, base: list[str], templates: dict[str, Any]) -> list[list[str]]:
    """A dialogue and its edited versions."""
    names = templates["names"]
    if edit == "names":
        named = [[turn.format(name=name) for turn in base] for name in names]
        return named if named[0] != named[1] else []
    *earlier, last = original = [turn.format(name=names[0]) for turn in base]
    if edit == "irrelevant context":
        return [] if earlier else [original, *([*aside, last] for aside in templates["asides"])]
    if edit == "greetings":
        return [] if earlier else [original, *([greeting.format(text=last)] for greeting in templates["greetings"])]
    return [original, *([*earlier, edited] for edited in EDITS[edit](last) if edited != last)]


def _directions(templates: list[dict[str, Any]]) -> Iterator[Case]:
    for template in templates:
        change = next(name for name in ("rises", "falls", "becomes") if name in template)
        emotions = (template[change],) if isinstance(template[change], str) else tuple(template[change])
        for fillers in template["fill"]:
            before, after = ([turn.format(*fillers) for turn in template[side]] for side in ("before", "after"))
            dialogues = (Dialogue.of(before), Dialogue.of(after))
            yield Direction(template["kind"], _situation(after), dialogues, emotions, change)


def _situation(turns: list[str]) -> str:
    """A name for a filled template: its first words."""
    return "-".join(words(" ".join(turns))[:8]).replace("'", "")
