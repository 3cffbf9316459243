"""`/healthz`, `/readyz`, `/seen` and `/metrics`, for operators."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from emoscope import __version__
from emoscope.server.http.problems import Problem, responses

router = APIRouter(tags=["operation"])


class Health(BaseModel):
    """The state and version of the server."""

    status: str = "ok"
    version: str = __version__


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> Health:
    """Answers while the process is alive."""
    return Health()


class Seen(BaseModel):
    """A request as it arrived."""

    address: str
    scheme: str
    host: str


@router.get("/seen", summary="How does the server see me?")
async def seen(request: Request) -> Seen:
    """The address, scheme and Host of this request, with which `emoscope doctor` checks a proxy."""
    address = request.client.host if request.client else "unknown"
    return Seen(address=address, scheme=request.url.scheme, host=request.headers.get("host", ""))


@router.get("/readyz", summary="Can it answer?", responses=responses(503))
def readyz(request: Request) -> Health:
    """Answers 503 until the model is loaded, while the database is unavailable, and during shutdown."""
    state = request.app.state
    if state.detect is None or state.store is None:
        raise Problem(503, "not-ready", "the server is starting or stopping", headers={"Retry-After": "1"})
    state.store.ready()
    return Health()


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
def metrics(request: Request) -> Response:
    """Counters and histograms in Prometheus' text format, including scoring jobs by state."""
    state = request.app.state
    text = state.metrics.text(*state.measure())
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
