"""The application: `create_app(settings)` for code and tests, `app_from_environment` for server processes."""

import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Protocol

import anyio.to_thread
from fastapi import FastAPI

from emoscope import __version__
from emoscope.server import pages
from emoscope.server.annotate import api as annotate_routes
from emoscope.server.annotate.desk import Desk
from emoscope.server.challenge.api import challenges, organising, submissions, teams
from emoscope.server.challenge.pages.sessions import Sessions, load_key
from emoscope.server.challenge.scoring import Worker
from emoscope.server.detect import api as detect_routes
from emoscope.server.detect.service import DetectService
from emoscope.server.http import health, problems
from emoscope.server.http.limits import BodyLimit
from emoscope.server.http.metrics import Metrics, RequestMetrics
from emoscope.server.http.openapi import add_description
from emoscope.server.http.security import SecurityHeaders
from emoscope.server.settings import Settings
from emoscope.server.store import Store

JOB_SECONDS = 20  # how long a job at hand may take to end; what is cut off is done after the next start


class Closeable(Protocol):
    """Something that is opened with the app and closed with it."""

    def close(self) -> None:
        """Let go."""


def create_app(settings: Settings) -> FastAPI:
    """The server as an ASGI application. The model is loaded when it starts."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as opened:
            app.state.detect = await _opened(opened, DetectService, settings, metrics)
            app.state.store = await _opened(opened, Store.open, settings.data_dir, settings.database_url)
            key = load_key(settings.data_dir)
            app.state.sessions = Sessions(key, https=settings.https)
            app.state.annotation_desk = Desk(app.state.store, key)
            opened.push_async_callback(anyio.to_thread.run_sync, _run_jobs(app.state.store))
            yield
            # Requests have ended by now; what they left in the queues is finished before the process goes.
            app.state.detect = app.state.store = app.state.annotation_desk = None

    app = FastAPI(
        title="emoscope",
        version=__version__,
        summary="Finds the emotion in a conversation.",
        lifespan=lifespan,
        docs_url=None,  # the stock pages load their scripts from elsewhere; ours is /docs
        redoc_url=None,
        # What people say to each other is not to leave this process, whatever is set around it.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.settings = settings
    app.state.metrics = metrics
    app.state.detect = app.state.store = app.state.annotation_desk = None
    problems.add_handlers(app)
    app.include_router(detect_routes.router)
    for module in (challenges, teams, submissions, organising, health, annotate_routes):
        app.include_router(module.router)
    pages.add_pages(app)
    add_description(app)
    # The last one added is the outermost.
    app.add_middleware(problems.Faults)
    app.add_middleware(BodyLimit, limit_of=_body_limit(settings), receive_seconds=settings.receive_seconds)
    app.add_middleware(RequestMetrics, metrics=metrics)
    app.add_middleware(SecurityHeaders, https=settings.https)
    return app


def app_from_environment() -> FastAPI:
    """The application as `EMOSCOPE_...` variables describe it; what each server process calls."""
    # The model works in a thread beside the one that talks to clients, which must not wait 5 ms for each of its turns.
    sys.setswitchinterval(0.001)
    return create_app(Settings.from_environment())


async def _opened(stack: AsyncExitStack, make: Callable[..., Closeable], *arguments: Any) -> Closeable:
    """Make something in a thread, and have it closed in one."""
    made = await anyio.to_thread.run_sync(partial(make, *arguments))
    stack.push_async_callback(anyio.to_thread.run_sync, made.close)
    return made


def _run_jobs(store: Store) -> Callable[[], None]:
    """Score submissions in a thread of this process; returns what ends it, after the job at hand."""
    stop = threading.Event()
    thread = threading.Thread(target=Worker(store).run, args=(stop,), name="emoscope-jobs", daemon=True)
    thread.start()

    def end() -> None:
        stop.set()
        thread.join(JOB_SECONDS)

    return end


def _body_limit(settings: Settings) -> Callable[[str], int]:
    def limit_of(path: str) -> int:
        uploads = path.startswith(("/v1/challenges/", "/challenges/"))
        return settings.limits.max_upload_bytes if uploads else settings.limits.max_body_bytes

    return limit_of
