"""`/v1/detect`, `/v1/detect/batch`, `/v1/timeline`, `/v1/explain` and `/v1/models`."""

from collections.abc import Sequence
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response, Security
from fastapi.security import APIKeyHeader

from emoscope.core.colours import colours_of
from emoscope.core.dialogue import Detection, Dialogue, Turn
from emoscope.server.detect import schemas
from emoscope.server.detect.access import HEADER, Client
from emoscope.server.detect.batcher import BatchResult
from emoscope.server.detect.service import DetectService
from emoscope.server.http.problems import invalid, responses, running
from emoscope.server.settings import Limits

Result = TypeVar("Result")
_api_key = Security(APIKeyHeader(name=HEADER, auto_error=False, description="An API key, if the server requires one"))
router = APIRouter(
    prefix="/v1",
    tags=["detect"],
    responses=responses(400, 401, 408, 413, 415, 422, 429, 503),
    dependencies=[_api_key],
)
_NO_KEY_NEEDED: dict[str, Any] = {"security": [{}]}  # by default


# Not injected: a dependency takes as long as a detection with the smallest model.
_running_service = running("detect", "the model is not loaded")


def served(request: Request) -> tuple[DetectService, Limits]:
    """The running model and the limits."""
    return _running_service(request), request.app.state.settings.limits


def _asked(request: Request) -> tuple[DetectService, Limits, Client]:
    """The running model, the limits and the client."""
    service, limits = served(request)
    return service, limits, service.access.client(request.scope)


@router.post("/detect", summary="Detect the emotion of a dialogue's last turn", openapi_extra=_NO_KEY_NEEDED)
async def detect(body: schemas.DetectIn, request: Request, response: Response) -> schemas.DetectOut:
    """Labels the last turn in the context of the turns before it."""
    service, limits, client = _asked(request)
    detector = service.heads.detector(body.labels, body.prior)
    dialogue = _spoken(body.turns, limits)
    service.access.count(client, 1)
    results = _timed(response, await service.detect(detector, [dialogue], client.name))
    return schemas.DetectOut(**results[0].as_dict(), model=service.heads.model)


@router.post("/detect/batch", summary="Detect the emotions of many dialogues", openapi_extra=_NO_KEY_NEEDED)
async def detect_batch(body: schemas.BatchIn, request: Request, response: Response) -> schemas.BatchOut:
    """Labels the last turn of each dialogue; the results are in the order of the dialogues."""
    service, limits, client = _asked(request)
    if len(body.dialogues) > limits.max_dialogues:
        raise invalid("dialogues", f"has {len(body.dialogues):,} dialogues; the limit is {limits.max_dialogues:,}")
    detector = service.heads.detector(body.labels, body.prior)
    dialogues = [_spoken(one.turns, limits, f"dialogues[{row}].") for row, one in enumerate(body.dialogues)]
    service.access.count(client, len(dialogues))
    results = _timed(response, await service.detect(detector, dialogues, client.name))
    return schemas.BatchOut(results=_all(results), model=service.heads.model)


@router.post("/timeline", summary="Detect the emotion of every turn", openapi_extra=_NO_KEY_NEEDED)
async def timeline(body: schemas.TimelineIn, request: Request, response: Response) -> schemas.TimelineOut:
    """Labels every turn, given only the turns before it."""
    service, limits, client = _asked(request)
    detector = service.heads.detector(body.labels, body.prior)
    dialogue = _spoken(body.turns, limits)
    service.access.count(client, len(dialogue))
    parts = list(detector.upto_each_turn(dialogue))
    results = _timed(response, await service.detect(detector, parts, client.name))
    return schemas.TimelineOut(turns=_all(results), model=service.heads.model)


@router.post("/explain", summary="Explain a label by turns and words", openapi_extra=_NO_KEY_NEEDED)
async def explain(body: schemas.ExplainIn, request: Request, response: Response) -> schemas.ExplainOut:
    """Distributes the log-odds of a label over the turns and words (Shapley values)."""
    service, limits, client = _asked(request)
    detector = service.heads.detector(body.labels, body.prior)
    if body.label is not None and body.label not in detector.labels:
        raise invalid("label", f"is not one of: {', '.join(detector.labels)}")
    asked = (_spoken(body.turns, limits), body.label)
    results = _timed(response, await service.explain(detector, asked, client))
    return schemas.ExplainOut(**results[0].as_dict(), model=service.heads.model)


@router.get("/models", summary="List the models, their labels and the limits", openapi_extra=_NO_KEY_NEEDED)
async def models(request: Request) -> schemas.ModelsOut:
    """The model, its label sets, and the limits of requests."""
    service, limits = served(request)
    sets = []
    for name in service.heads.names:
        detector = service.heads.detector(name)
        labels = [schemas.LabelOut(name=label, colour=colour) for label, colour in colours_of(detector.labels).items()]
        sets.append(
            schemas.LabelSetOut(name=name, labels=labels, prior=detector.prior, training_prior=detector.training_prior)
        )
    model = schemas.ModelOut(
        name=service.heads.model, task=service.heads.task, terms=service.heads.terms, label_sets=sets
    )
    return schemas.ModelsOut(models=[model], limits=limits)


def dialogue_of(turns: Sequence[schemas.TurnIn], limits: Limits, within: str = "", id: str | None = None) -> Dialogue:
    """The dialogue of a request; a Problem if it exceeds the limits."""
    if len(turns) > limits.max_turns:
        raise invalid(f"{within}turns", f"has {len(turns):,} turns; the limit is {limits.max_turns:,}")
    for number, turn in enumerate(turns):
        for name, text in (("text", turn.text), ("speaker", turn.speaker or "")):
            if len(text) > limits.max_characters:
                field = f"{within}turns[{number}].{name}"
                raise invalid(field, f"has {len(text):,} characters; the limit is {limits.max_characters:,}")
    return Dialogue(tuple(Turn(turn.text, turn.speaker) for turn in turns), id)


def _spoken(turns: Sequence[schemas.TurnIn], limits: Limits, within: str = "") -> Dialogue:
    """Like `dialogue_of`; a Problem also if no turn has text."""
    dialogue = dialogue_of(turns, limits, within)
    if not any(map(str.strip, dialogue.texts)):
        raise invalid(f"{within}turns", "has nothing to label: the turns have no text")
    return dialogue


def _all(detections: Sequence[Detection]) -> list[schemas.DetectionOut]:
    return [schemas.DetectionOut(**detection.as_dict()) for detection in detections]


def _timed(response: Response, answer: BatchResult[Result]) -> list[Result]:
    """The results; the times in the queue and in the model go into the Server-Timing header."""
    response.headers["Server-Timing"] = answer.timing
    return answer.results
