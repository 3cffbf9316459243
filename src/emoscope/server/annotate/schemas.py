"""The bodies of the annotation page's requests, and the JSON it is answered with."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from emoscope.core.colours import colours_of
from emoscope.server.annotate.desk import DeskView
from emoscope.server.annotate.rules import KEYS


class StepIn(BaseModel):
    """A request made at one version of the annotator's state; at any other it changes nothing."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=0, le=2**31 - 1)


class JudgementIn(BaseModel):
    """A label, and others that might apply."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field(max_length=500)
    others: list[str] = Field(default_factory=list, max_length=len(KEYS))


class JudgeIn(StepIn):
    """The answers to the current item, one for each turn to be labelled."""

    answers: list[JudgementIn] = Field(min_length=1, max_length=10_000)


def shown(view: DeskView) -> dict[str, Any]:
    """A view as JSON, without the item's name, which might give its label away."""
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


def _turns(view: DeskView) -> list[dict[str, Any]]:
    if view.item is None:
        return []
    targets = set(view.item.targets)
    return [
        {"speaker": turn.speaker, "text": turn.text, "asked": position in targets}
        for position, turn in enumerate(view.item.turns)
    ]
