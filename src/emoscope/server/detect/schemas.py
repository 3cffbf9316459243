"""The requests and responses of the detection routes."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.config import JsonDict, JsonValue
from pydantic_core import CoreSchema

from emoscope.core.dialogue import Dialogue, is_instruction
from emoscope.core.errors import EmoscopeError
from emoscope.server.http.schemas import StrictInput, Text, example
from emoscope.server.settings import Limits

EXAMPLE_TURNS: list[JsonValue] = ["I passed the exam!", "WOOT! Congratulations!", "I am crying"]
_EXAMPLE_SCORES: JsonDict = {"others": 0.04, "happy": 0.9, "sad": 0.05, "angry": 0.01}
_EXAMPLE_DETECTION: JsonDict = {"label": "happy", "scores": _EXAMPLE_SCORES, "truncated": False, "note": None}

_MESSAGE: JsonDict = {
    "title": "Message",
    "type": "object",
    "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
    "required": ["role", "content"],
}


class TurnIn(StrictInput):
    """A turn with its text and speaker; a plain string is a turn without a speaker.

    A chat message, with role and content, is a turn of that speaker.
    """

    text: Text
    speaker: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict):
            raise ValueError("must be a string, or an object with text and speaker, or with role and content")
        if not {"role", "content"} <= value.keys():
            if ("role" in value or "content" in value) and "text" not in value:
                raise ValueError(f"a message needs 'content' and 'role'; found {', '.join(map(repr, value))}")
            return value
        try:
            (turn,) = Dialogue.of(value).turns
        except EmoscopeError as error:
            raise ValueError(str(error)) from None
        return {"text": turn.text, "speaker": turn.speaker}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        shape = handler.resolve_ref_schema(handler(core))
        return {"anyOf": [{"type": "string"}, shape, _MESSAGE], "title": "Turn"}


def _conversation(turns: Any) -> Any:
    """The turns without a chat's instructions (of the roles system, developer and tool)."""
    return [turn for turn in turns if not is_instruction(turn)] if isinstance(turns, list) else turns


_WORDS: JsonDict = {"type": "string", "pattern": r"\S"}
_SPOKEN: JsonDict = {
    "anyOf": [
        _WORDS,
        {"type": "object", "properties": {"text": _WORDS}, "required": ["text"]},
        {"type": "object", "properties": {"content": _WORDS}, "required": ["role", "content"]},
    ]
}
Turns = Annotated[
    list[TurnIn],
    BeforeValidator(_conversation),
    Field(
        min_length=1,
        description="The turns, oldest first, one at least with text; messages of the roles system, developer and tool "
        "are skipped",
        json_schema_extra={"contains": _SPOKEN},
    ),
]
LabelSet = Annotated[
    str | None,
    Field(description="The label set to use; GET /v1/models lists them", examples=["emocontext"]),
]
Prior = Annotated[
    dict[str, float] | None,
    Field(
        description="The expected label mix (class prior): a number for each label",
        examples=[{"others": 0.9, "happy": 0.04, "sad": 0.03, "angry": 0.03}],
    ),
]


class Choice(StrictInput):
    """The options of all requests."""

    labels: LabelSet = None
    prior: Prior = None


class DetectIn(Choice):
    """A dialogue whose last turn is to be labelled."""

    model_config = example({"turns": EXAMPLE_TURNS})
    turns: Turns


class DialogueIn(StrictInput):
    """One dialogue of a batch."""

    turns: Turns


class BatchIn(Choice):
    """Dialogues whose last turns are to be labelled."""

    model_config = example({"dialogues": [{"turns": EXAMPLE_TURNS}, {"turns": ["leave me alone"]}]})
    dialogues: Annotated[list[DialogueIn], Field(min_length=1)]


class TimelineIn(Choice):
    """A dialogue whose turns are all to be labelled."""

    model_config = example({"turns": [{"speaker": "A", "text": "we won!"}, "so happy for you"]})
    turns: Turns


class ExplainIn(Choice):
    """A dialogue whose label is to be explained."""

    model_config = example({"turns": ["how was it", "tell me", "I am so happy"]})
    turns: Turns
    label: Annotated[
        str | None, Field(description="The label to explain; the detected one by default", examples=["happy"])
    ] = None


class DetectionOut(BaseModel):
    """The detected emotion of a turn."""

    model_config = example(_EXAMPLE_DETECTION)
    label: str | None
    scores: dict[str, float] = Field(description="The probability of each label")
    truncated: bool = Field(description="Whether a part of the input was too long for the model and was not read")
    note: str | None = Field(None, description="A note on the result, such as that the turn is not in English")


class DetectOut(DetectionOut):
    """The detected emotion of a turn, and the model."""

    model_config = example({**_EXAMPLE_DETECTION, "model": "nano"})
    model: str


class BatchOut(BaseModel):
    """The detections, in the order of the dialogues."""

    results: list[DetectionOut]
    model: str


class TimelineOut(BaseModel):
    """A detection for each turn, given the turns before it."""

    turns: list[DetectionOut]
    model: str


class WordOut(BaseModel):
    """A word and its contribution; `start` and `end` count code points of the turn's text."""

    text: str
    start: int
    end: int
    contribution: float


class TurnOut(BaseModel):
    """A turn and its contribution, the sum of its words'."""

    text: str
    speaker: str | None
    read: bool = Field(description="Whether the model reads this turn")
    contribution: float
    words: list[WordOut]


class ExplainOut(BaseModel):
    """The explanation of a label: the baseline and the turns' contributions sum to its log-odds."""

    label: str
    score: float
    unit: str = "log-odds"
    log_odds: float
    baseline: float
    turns: list[TurnOut]
    model: str


class LabelOut(BaseModel):
    """A label and its colour in our pages."""

    name: str
    colour: str


class LabelSetOut(BaseModel):
    """A label set of the model."""

    name: str
    labels: list[LabelOut]
    prior: dict[str, float] = Field(description="The label mix assumed by default")
    training_prior: dict[str, float] = Field(description="The label mix of the training data")


class ModelOut(BaseModel):
    """A model; the first label set is the default."""

    name: str
    task: str = Field(description="The task it was trained for; `general` for the seven emotions of everyday talk")
    terms: str | None = Field(None, description="The terms of use of the weights, if known")
    label_sets: list[LabelSetOut]


class ModelsOut(BaseModel):
    """The models and limits of this server."""

    models: list[ModelOut]
    limits: Limits
