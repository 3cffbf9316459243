"""`/healthz`, `/readyz` and `/metrics`, for those who run the server."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from emoscope import __version__
from emoscope.server.http.problems import Problem, responses

router = APIRouter(tags=["operation"])


class Health(BaseModel):
    """That the server is there."""

    status: str = "ok"
    version: str = __version__


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Health:
    """Answers as long as the process does."""
    return Health()


class Seen(BaseModel):
    """A request as it arrived."""

    address: str
    scheme: str
    host: str


@router.get("/seen", summary="How does the server see me?")
async def seen(request: Request) -> Seen:
    """The address, scheme and Host of this request, by which `emoscope doctor` checks a proxy."""
    address = request.client.host if request.client else "unknown"
    return Seen(address=address, scheme=request.url.scheme, host=request.headers.get("host", ""))


@router.get("/readyz", summary="Can it answer?", responses=responses(503))
def readyz(request: Request) -> Health:
    """Answers 503 until the model is loaded, while the database does not answer, and while shutting down."""
    state = request.app.state
    if state.detect is None or state.store is None:
        raise Problem(503, "not-ready", "the server is starting or stopping", headers={"Retry-After": "1"})
    state.store.ready()
    return Health()


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
def metrics(request: Request) -> Response:
    """Counters and histograms in Prometheus' text format; of scoring jobs how many are in which state."""
    state = request.app.state
    text = state.metrics.text(*state.measure())
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
