"""A server with the annotation page and nothing else: annotators find no detector there to ask."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from emoscope import __version__
from emoscope.server.annotate.api import router
from emoscope.server.annotate.desk import Desk
from emoscope.server.challenge.pages.sessions import load_key
from emoscope.server.http import problems
from emoscope.server.http.limits import BodyLimit
from emoscope.server.http.rendering import STATIC, Assets
from emoscope.server.http.security import SecurityHeaders
from emoscope.server.settings import Settings
from emoscope.server.store import Store


def create_annotation_app(settings: Settings) -> FastAPI:
    """The page for the study in the settings' data folder."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = await anyio.to_thread.run_sync(Store.open, settings.data_dir, settings.database_url)
        app.state.annotation_desk = Desk(store, load_key(settings.data_dir))
        yield
        app.state.annotation_desk = None
        store.close()

    app = FastAPI(
        title="emoscope annotation",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        # What people judge is not to leave this process, whatever is set around it.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.settings = settings
    app.state.annotation_desk = None
    problems.add_handlers(app)
    app.include_router(router)
    app.mount("/static", Assets(directory=STATIC), name="static")

    # The error page of the whole server leads to pages that are not here.
    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        return problems.from_http(error).response()

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get("/", include_in_schema=False)
    async def start() -> RedirectResponse:
        return RedirectResponse("/annotate", 307)

    # The last one added is the outermost.
    app.add_middleware(problems.Faults)
    app.add_middleware(
        BodyLimit, limit_of=lambda _: settings.limits.max_body_bytes, receive_seconds=settings.receive_seconds
    )
    app.add_middleware(SecurityHeaders, https=settings.https)
    return app
