"""The whole server: `create_app(settings)` for code and tests, `app_from_environment` for server processes."""

import gc
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import anyio.to_thread
from fastapi import FastAPI

from emoscope.server.annotate import api as annotate_api
from emoscope.server.annotate.desk import Desk
from emoscope.server.challenge import api as challenge_api
from emoscope.server.challenge import pages as challenge_pages
from emoscope.server.challenge.oidc import Provider
from emoscope.server.challenge.scoring.measured import measure_jobs
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.upload_gate import is_upload, refused_upload
from emoscope.server.detect import api as detect_api
from emoscope.server.detect import pages as detect_pages
from emoscope.server.detect.fast_lane import FastLane
from emoscope.server.detect.heads import describe_labels
from emoscope.server.detect.service import DetectService
from emoscope.server.http import docs, health
from emoscope.server.http.application import new_app
from emoscope.server.http.metrics import Metrics
from emoscope.server.mail import Mailer
from emoscope.server.sessions import Sessions
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.signing_key import load_key
from emoscope.server.store.store import Clock, utc_now

ROUTERS = (
    detect_api.router,
    *challenge_api.ROUTERS,
    health.router,
    annotate_api.router,
    detect_pages.router,
    docs.router,
    *challenge_pages.ROUTERS,
)
DESCRIPTION = """Send a conversation, get the emotion of its turns.

Errors are problem documents (RFC 9457): `detail` is one sentence, `errors` names the fields. The header
`Server-Timing` says how long a request was queued and how long the model took."""
TAGS = [
    {"name": "detect", "description": "Detect emotions"},
    {"name": "challenges", "description": "Shared tasks and their leaderboards"},
    {"name": "teams", "description": "Teams and their members"},
    {"name": "submissions", "description": "Submit predictions and follow their scoring"},
    {"name": "organise", "description": "Organise a shared task"},
    {"name": "operation", "description": "Health and metrics of the server"},
]
JOB_SECONDS = 20  # for the current scoring job at shutdown; an interrupted job is repeated after the next start


def create_app(settings: Settings, *, clock: Clock = utc_now) -> FastAPI:
    """The server as an ASGI application; the model is loaded at startup."""
    metrics, limits = Metrics(), settings.limits

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.detect = await anyio.to_thread.run_sync(DetectService, settings, metrics)
            stack.push_async_callback(anyio.to_thread.run_sync, app.state.detect.close)
            app.state.describe = partial(describe_labels, heads=app.state.detect.heads)
            app.openapi_schema = None  # the labels are known now
            metrics.running(app.state.detect.heads.model)
            open_store = partial(Store.open, settings.data_dir, settings.database_url, clock=clock)
            app.state.store = store = await anyio.to_thread.run_sync(open_store)
            stack.push_async_callback(anyio.to_thread.run_sync, store.close)
            key = load_key(settings.data_dir)
            app.state.sessions = Sessions(store, key, https=settings.https)
            app.state.annotation_desk = Desk(store, key)
            stop = threading.Event()  # the scoring worker then ends after its current job
            worker = threading.Thread(target=ScoringWorker(store).run, args=(stop,), name="emoscope-jobs", daemon=True)
            worker.start()
            stack.push_async_callback(anyio.to_thread.run_sync, worker.join, JOB_SECONDS)
            stack.callback(stop.set)
            yield
            # All requests have ended by now; the stack finishes what is left in the queues.
            app.state.detect = app.state.store = app.state.annotation_desk = None

    app = new_app(
        settings,
        ROUTERS,
        body_limit=lambda path: limits.max_upload_bytes if is_upload(path) else limits.max_body_bytes,
        refuse=refused_upload,
        fast_lane=FastLane,
        metrics=metrics,
        title="emoscope",
        summary="Finds the emotion in a conversation.",
        description=DESCRIPTION,
        openapi_tags=TAGS,
        lifespan=lifespan,
        docs_url=None,  # the default pages load scripts from other sites; ours is /docs
        redoc_url=None,
    )
    app.state.detect = app.state.store = app.state.annotation_desk = None
    app.state.measure = lambda: measure_jobs(app.state.store)
    app.state.mailer = Mailer.of(settings.mail_url, settings.mail_from)
    app.state.provider = Provider.of(settings)
    return app


def app_from_environment() -> FastAPI:
    """The application configured by `EMOSCOPE_...` variables; every server process calls this."""
    # The model runs in a thread beside the event loop, which must not wait 5 ms for each switch.
    sys.setswitchinterval(0.001)
    app = create_app(Settings.from_environment())
    # Modules and routes live as long as the process. A full collection that walks them stalls every request for 0.1 s.
    gc.collect()
    gc.freeze()
    return app
