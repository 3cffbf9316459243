"""What the page sends and is sent."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from emoscope.core.colours import colours_of
from emoscope.server.annotate.desk import View
from emoscope.server.annotate.rules import KEYS


class Step(BaseModel):
    """A request made at one version of the annotator's state; at any other it changes nothing."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=0, le=2**31 - 1)


class GivenAnswer(BaseModel):
    """A label, and others that might apply."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(max_length=500)
    others: list[str] = Field(default_factory=list, max_length=len(KEYS))


class Judged(Step):
    """The answers to the item at hand, one for each turn that is to be labelled."""

    answers: list[GivenAnswer] = Field(min_length=1, max_length=10_000)


def shown(view: View) -> dict[str, Any]:
    """A view as the page gets it. It holds no name of an item: names may tell what they are."""
    colours = colours_of(view.rules.labels)
    state = "refused" if view.standing.refused else "empty" if view.item is None else "item"
    return {
        "annotator": view.annotator,
        "version": view.version,
        "state": state,
        "labels": [
            {"name": label, "key": key, "colour": colours[label]}
            for label, key in zip(view.rules.labels, KEYS, strict=False)
        ],
        "other_labels": view.rules.other_labels,
        "turns": _turns(view),
        "draft": [{"label": answer.label, "others": list(answer.others)} for answer in view.draft],
        "judged": view.standing.judged,
        "skipped": view.standing.skipped,
        "left": view.standing.left,
        "can_undo": view.can_undo,
        "checks": [
            {"place": check.place, "said": check.said, "expected": check.expected, "right": check.right}
            for check in view.checks
        ],
        "gold": {
            "right": view.standing.gold_right,
            "answers": view.standing.gold_answers,
            "least": view.rules.min_gold,
        },
        "notice": view.notice,
    }


def _turns(view: View) -> list[dict[str, Any]]:
    if view.item is None:
        return []
    targets = set(view.item.targets)
    return [
        {"speaker": turn.speaker, "text": turn.text, "asked": position in targets}
        for position, turn in enumerate(view.item.turns)
    ]
