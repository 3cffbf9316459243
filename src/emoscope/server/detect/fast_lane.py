"""Detections without FastAPI, whose overhead is several times the inference time of a small model.

Only well-formed requests are answered here. All others are passed on to the routes, so that requests are specified, and
errors reported, in one place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic_core import to_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import TypedDict  # which pydantic asks for before Python 3.12

from emoscope.core.dialogue import Detection, Dialogue, Turn
from emoscope.detector import Detector
from emoscope.server.detect.service import DetectService
from emoscope.server.http.deadlines import ReceiveBudget
from emoscope.server.http.limits import too_slow
from emoscope.server.http.problems import Problem
from emoscope.server.settings import Limits, Settings

_STRICT = ConfigDict(extra="forbid", strict=True)


@with_config(_STRICT)
class _Turn(TypedDict):
    text: str
    speaker: NotRequired[str | None]


_Turns = Annotated[list[Annotated[str | _Turn, Field(union_mode="left_to_right")]], Field(min_length=1)]


@with_config(_STRICT)
class _Dialogue(TypedDict):
    turns: _Turns


@with_config(_STRICT)
class _Question(_Dialogue):
    labels: NotRequired[str | None]
    prior: NotRequired[dict[str, float] | None]


@with_config(_STRICT)
class _Batch(TypedDict):
    dialogues: Annotated[list[_Dialogue], Field(min_length=1)]
    labels: NotRequired[str | None]
    prior: NotRequired[dict[str, float] | None]


@dataclass(frozen=True, slots=True)
class _Lane:
    """A route that is answered here: how to parse its body, what to detect, and how to format the response."""

    path: str  # read by the metrics, like that of a route
    parse: Callable[[bytes], Any]
    inputs: Callable[[Detector, list[Dialogue]], list[Dialogue]]
    response: Callable[[Sequence[Detection]], dict[str, Any]]


def _parser(kind: Any) -> Callable[[bytes], Any]:
    return TypeAdapter(kind).validator.validate_json


_LANES = {
    lane.path: lane
    for lane in (
        _Lane("/v1/detect", _parser(_Question), lambda _, given: given, lambda results: results[0].as_dict()),
        _Lane(
            "/v1/detect/batch",
            _parser(_Batch),
            lambda _, given: given,
            lambda results: {"results": [detection.as_dict() for detection in results]},
        ),
        _Lane(
            "/v1/timeline",
            _parser(_Question),
            lambda detector, given: list(detector.upto_each_turn(given[0])),
            lambda results: {"turns": [detection.as_dict() for detection in results]},
        ),
    )
}


class FastLane:
    """Answers detections; passes all other requests on, and those with errors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        lane = _LANES.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        service: DetectService | None = scope["app"].state.detect if lane else None
        if lane is None or service is None:
            await self._app(scope, receive, send)
            return
        settings: Settings = scope["app"].state.settings
        limits = settings.limits
        length = _json_length(scope["headers"])
        if not 0 <= length <= limits.max_body_bytes:
            await self._app(scope, receive, send)
            return
        try:
            service.refuse_large(length)
        except Problem as problem:
            scope["route"] = lane
            problem.headers["Connection"] = "close"  # the body will not be read
            await problem.response()(scope, receive, send)
            return
        messages: list[Message] = []
        try:
            budget = ReceiveBudget(settings.receive_seconds)
            while not messages or (messages[-1].get("more_body") and len(messages) < _PARTS):
                messages.append(await budget.receive(receive))
        except TimeoutError:
            scope["route"] = lane
            await too_slow().response()(scope, receive, send)
            return
        question = _question(lane, messages, limits)
        if question is None:
            await self._app(scope, _again(messages, receive), send)
            return
        dialogues, labels, prior = question
        scope["route"] = lane
        try:
            client = service.access.client(scope)
            detector = service.heads.detector(labels, prior)
            inputs = lane.inputs(detector, dialogues)
            service.access.count(client, len(inputs))
            answer = await service.detect(detector, inputs, client.name)
        except Problem as problem:
            await problem.response()(scope, receive, send)
            return
        body = to_json({**lane.response(answer.results), "model": service.heads.model})
        headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", b"application/json"),
            (b"server-timing", answer.timing.encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _json_length(headers: list[tuple[bytes, bytes]]) -> int:
    """The declared length of a JSON body; -1 if it is not JSON or has no length."""
    length, is_json = -1, False
    for name, value in headers:
        if name == b"content-type":
            is_json = value[:16] == b"application/json"
        elif name == b"content-length" and value.isdigit():
            length = int(value[:20])
    return length if is_json else -1


def _question(
    lane: _Lane, messages: list[Message], limits: Limits
) -> tuple[list[Dialogue], str | None, dict[str, float] | None] | None:
    """The question of a complete body; None if it has to go to the routes."""
    if messages[-1]["type"] != "http.request" or messages[-1].get("more_body"):
        return None
    try:
        question = lane.parse(b"".join([message.get("body", b"") for message in messages]))
    except ValidationError:
        return None
    parsed = question.get("dialogues") or (question,)
    if len(parsed) > limits.max_dialogues:
        return None
    dialogues = []
    for dialogue in parsed:
        turns = dialogue["turns"]
        if len(turns) > limits.max_turns:
            return None
        made = tuple(
            [Turn(turn) if isinstance(turn, str) else Turn(turn["text"], turn.get("speaker")) for turn in turns]
        )
        for turn in made:
            if len(turn.text) > limits.max_characters or len(turn.speaker or "") > limits.max_characters:
                return None
        dialogues.append(Dialogue(made))
    spoken = all(any(map(str.strip, dialogue.texts)) for dialogue in dialogues)
    return (dialogues, question.get("labels"), question.get("prior")) if spoken else None


_PARTS = 64  # bodies in more pieces arrive slowly, and are left to the routes, which limit the time


def _again(messages: list[Message], receive: Receive) -> Receive:
    """Replay the received messages, then receive the rest."""
    left = iter(messages)

    async def received() -> Message:
        return next(left, None) or await receive()

    return received
