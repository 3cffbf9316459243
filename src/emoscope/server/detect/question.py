"""The detect page's questions and answers, and the answers as files."""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from emoscope.core.colours import colours_of
from emoscope.core.dialogue import Detection, Dialogue, Turn
from emoscope.detector import Detector
from emoscope.server.detect.schemas import Choice, DialogueIn
from emoscope.server.http.schemas import Text
from emoscope.server.store.names import cell

UNSURE = "unsure"
_UNSURE_COLOUR = "#8a8f98"
_TOP, _INNER = 8, 188  # pixels: the top of the chart's columns, and their height
NOT_EMOTIONS = ("others", "neutral", "non-neutral")  # at the bottom of a chart, below the emotions


class NamedDialogue(DialogueIn):
    """A dialogue with its name in the file it came from."""

    name: Text | None = None


class Question(Choice):
    """Label each turn of one conversation, or the last turn of each of several.

    A part of a long conversation starts with `skip` turns of context that are not labelled; the number of the next turn
    is `first`.
    """

    dialogues: Annotated[list[NamedDialogue], Field(min_length=1)]
    each_turn: bool = True
    skip: Annotated[int, Field(ge=0)] = 0
    first: Annotated[int, Field(ge=1)] = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled turn; `name` is that of its conversation if there are several."""

    number: int
    turn: Turn
    detection: Detection
    name: str | None = None

    @property
    def label(self) -> str:
        """The detected label, or "unsure"."""
        return self.detection.label or UNSURE

    @property
    def sure(self) -> float:
        """The probability of the label."""
        return self.detection.score

    def as_dict(self) -> dict[str, object]:
        """The row in the JSON file."""
        turn = {"number": self.number, "conversation": self.name, "speaker": self.turn.speaker, "text": self.turn.text}
        return {**{key: value for key, value in turn.items() if value is not None}, **self.detection.as_dict()}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A summary of a speaker's turns."""

    name: str
    turns: int
    counts: Mapping[str, int]
    shares: Mapping[str, float]  # the mean probability of each label


@dataclass(frozen=True, slots=True)
class Answer:
    """The labelled rows, and the model that labelled them.

    >>> row = Row(1, Turn("we won!", "Ana"), Detection("happy", {"happy": 0.9, "others": 0.1}))
    >>> answer = Answer([row], {"others": "#888", "happy": "#fa0"}, "nano")
    >>> answer.counts, answer.speakers[0].counts
    ({'happy': 1}, {'happy': 1})
    >>> [(part["colour"], part["height"]) for part in answer.columns[0]["parts"]]
    [('#888', 17.8), ('#fa0', 168.2)]
    """

    rows: Sequence[Row]
    colours: Mapping[str, str]  # of each label
    model: str
    each_turn: bool = True

    @property
    def unit(self) -> str:
        """What a row stands for."""
        return "turn" if self.each_turn else "conversation"

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows by label, the most frequent first."""
        return dict(Counter(row.label for row in self.rows).most_common())

    @property
    def summary(self) -> str:
        """The counts as a sentence."""
        total = f"{len(self.rows)} {self.unit}{'s' if len(self.rows) != 1 else ''}"
        return f"{total}: {', '.join(f'{count} {label}' for label, count in self.counts.items())}."

    @property
    def stacked(self) -> dict[str, str]:
        """The labels and their colours, emotions last."""
        return dict(sorted(self.colours.items(), key=lambda pair: pair[0] not in NOT_EMOTIONS))

    @property
    def speakers(self) -> list[Speaker]:
        """A summary for each speaker, the one with the most turns first."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            rows.setdefault(row.turn.speaker or "", []).append(row)
        speakers = [
            Speaker(
                name,
                len(theirs),
                dict(Counter(row.label for row in theirs).most_common()),
                {label: sum(row.detection.scores[label] for row in theirs) / len(theirs) for label in self.stacked},
            )
            for name, theirs in rows.items()
        ]
        return sorted(speakers, key=lambda speaker: -speaker.turns)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The chart: a stacked column of probabilities for each row, with shares of the chart's width."""
        step = 1 / max(len(self.rows), 12)  # columns of short conversations are not wide
        every = math.ceil(len(self.rows) / 12)  # which have their number below
        columns = []
        for place, row in enumerate(self.rows):
            parts, bottom = [], float(_TOP + _INNER)
            for label, colour in self.stacked.items():
                height = _INNER * row.detection.scores[label]
                bottom -= height
                if height >= 0.2:
                    gap = 1 if height > 3 else 0
                    parts.append({"colour": colour, "y": round(bottom, 2), "height": round(height - gap, 2)})
            columns.append(
                {"row": row, "left": step * place, "width": step, "parts": parts, "tick": place % every == 0}
            )
        return columns

    def colour(self, label: str) -> str:
        """The colour of a row's label."""
        return self.colours.get(label, _UNSURE_COLOUR)

    def as_csv(self) -> str:
        """A row for each turn, with the probability of each label."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        named = [] if self.each_turn else ["conversation"]
        head = [self.unit if self.each_turn else "number", *named, "speaker", "text", "label"]
        writer.writerow([*head, *self.colours, "truncated", "note"])
        for row in self.rows:
            turn = [row.number, *([] if self.each_turn else [row.name]), row.turn.speaker, row.turn.text, row.label]
            scores = [f"{row.detection.scores[label]:.4f}" for label in self.colours]
            writer.writerow(map(cell, [*turn, *scores, row.detection.truncated, row.detection.note]))
        return out.getvalue()

    def as_json(self) -> str:
        """The rows and the model."""
        document = {"model": self.model, f"{self.unit}s": [row.as_dict() for row in self.rows]}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def answer_of(
    question: Question, dialogues: Sequence[Dialogue], detections: Sequence[Detection], detector: Detector, model: str
) -> Answer:
    """The answer to a question, from the detections of its turns or dialogues."""
    if question.each_turn:
        (dialogue,) = dialogues
        pairs = list(zip(dialogue.turns, detections, strict=True))[question.skip :]
        rows = [Row(number, turn, detection) for number, (turn, detection) in enumerate(pairs, start=question.first)]
    else:
        rows = [
            Row(number, dialogue.turns[-1], detection, dialogue.id or str(number))
            for number, (dialogue, detection) in enumerate(
                zip(dialogues, detections, strict=True), start=question.first
            )
        ]
    return Answer(rows, colours_of(detector.labels), model, question.each_turn)
