"""The requests and responses of the detection routes."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, GetJsonSchemaHandler, model_validator
from pydantic.config import JsonDict, JsonValue
from pydantic_core import CoreSchema

from emoscope.server.http.schemas import StrictInput, Text, example
from emoscope.server.settings import Limits

EXAMPLE_TURNS: list[JsonValue] = ["I just qualified for the internship", "WOOT! Congratulations!", "I started crying"]
_EXAMPLE_SCORES: JsonDict = {"others": 0.04, "happy": 0.9, "sad": 0.05, "angry": 0.01}
_EXAMPLE_DETECTION: JsonDict = {"label": "happy", "scores": _EXAMPLE_SCORES, "truncated": False, "note": None}


class TurnIn(StrictInput):
    """One thing said, and by whom where that is known; a bare string is a turn too."""

    text: Text
    speaker: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict):
            raise ValueError("must be a string, or an object with text and speaker")
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        shape = handler.resolve_ref_schema(handler(core))
        return {"anyOf": [{"type": "string"}, shape], "title": "Turn"}


Turns = Annotated[
    list[TurnIn], Field(min_length=1, description="What was said, oldest first; the last turn is the one judged")
]
LabelSet = Annotated[
    str | None,
    Field(description="The set of labels to answer with; GET /v1/models lists them", examples=["emocontext"]),
]
Prior = Annotated[
    dict[str, float] | None,
    Field(
        description="The mix of labels you expect: a number for each label",
        examples=[{"others": 0.9, "happy": 0.04, "sad": 0.03, "angry": 0.03}],
    ),
]


class Choice(StrictInput):
    """What every question may choose."""

    labels: LabelSet = None
    prior: Prior = None


class DetectIn(Choice):
    """A dialogue whose last turn is to be judged."""

    model_config = example({"turns": EXAMPLE_TURNS})
    turns: Turns


class DialogueIn(StrictInput):
    """One dialogue of a batch."""

    turns: Turns


class BatchIn(Choice):
    """Dialogues, each of whose last turn is to be judged."""

    model_config = example({"dialogues": [{"turns": EXAMPLE_TURNS}, {"turns": ["leave me alone"]}]})
    dialogues: Annotated[list[DialogueIn], Field(min_length=1)]


class TimelineIn(Choice):
    """A dialogue of which every turn is to be judged."""

    model_config = example({"turns": [{"speaker": "A", "text": "we won!"}, "so happy for you"]})
    turns: Turns


class ExplainIn(Choice):
    """A dialogue whose answer is to be explained."""

    model_config = example({"turns": ["how was it", "tell me", "I am so happy"]})
    turns: Turns
    label: Annotated[
        str | None, Field(description="Explain this label's score instead of the answer's", examples=["happy"])
    ] = None


class DetectionOut(BaseModel):
    """The judgement of one turn."""

    model_config = example(_EXAMPLE_DETECTION)
    label: str | None
    scores: dict[str, float] = Field(description="The probability of each label")
    truncated: bool = Field(
        description="Whether a part of the input was not read, because the model reads only so much"
    )
    note: str | None = Field(None, description="What else to know of the answer: the turn is not English, say")


class DetectOut(DetectionOut):
    """The judgement, and who judged."""

    model_config = example({**_EXAMPLE_DETECTION, "model": "nano"})
    model: str


class BatchOut(BaseModel):
    """A judgement for each dialogue, in their order."""

    results: list[DetectionOut]
    model: str


class TimelineOut(BaseModel):
    """A judgement for each turn, given what was said up to it."""

    turns: list[DetectionOut]
    model: str


class WordOut(BaseModel):
    """A word and what it added. `start` and `end` count characters (code points) of the turn's text."""

    text: str
    start: int
    end: int
    contribution: float


class TurnOut(BaseModel):
    """A turn and what it added: the sum of its words."""

    text: str
    speaker: str | None
    read: bool = Field(description="Whether the model reads this turn at all")
    contribution: float
    words: list[WordOut]


class ExplainOut(BaseModel):
    """Why a label got its score: the baseline and the turns' contributions sum to the log-odds."""

    label: str
    score: float
    unit: str = "log-odds"
    log_odds: float
    baseline: float
    turns: list[TurnOut]
    model: str


class LabelOut(BaseModel):
    """A label and the colour our pages give it."""

    name: str
    colour: str


class LabelSetOut(BaseModel):
    """A set of labels the model answers with."""

    name: str
    labels: list[LabelOut]
    prior: dict[str, float] = Field(description="The mix of labels assumed when a request gives none")
    training_prior: dict[str, float] = Field(description="The mix of labels in the training data")


class ModelOut(BaseModel):
    """A model: `label_sets[0]` is used when a request names none."""

    name: str
    task: str
    terms: str | None = Field(None, description="Under which terms the weights can be used; None where nobody said")
    label_sets: list[LabelSetOut]


class ModelsOut(BaseModel):
    """What can be asked of this server."""

    models: list[ModelOut]
    limits: Limits
