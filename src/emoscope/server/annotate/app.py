"""A server with the annotation pages only, so that annotators cannot ask a detector."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from emoscope.server.annotate import api
from emoscope.server.annotate.desk import Desk
from emoscope.server.http.application import new_app
from emoscope.server.http.health import healthz
from emoscope.server.http.problems import problem_of
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from emoscope.server.store.signing_key import load_key


def create_annotation_app(settings: Settings) -> FastAPI:
    """The annotation pages of the study in the data folder."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        store = await anyio.to_thread.run_sync(Store.open, settings.data_dir, settings.database_url)
        app.state.annotation_desk = Desk(store, load_key(settings.data_dir))
        yield
        app.state.annotation_desk = None
        store.close()

    app = new_app(
        settings,
        (api.router,),
        body_limit=lambda _: settings.limits.max_body_bytes,
        title="emoscope annotation",
        lifespan=lifespan,
        openapi_url=None,
    )
    app.state.annotation_desk = None

    # The error page of the full server links to pages that do not exist here.
    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        return problem_of(request, error).response()

    @app.get("/")
    async def start() -> RedirectResponse:
        return RedirectResponse("/annotate", 307)

    app.add_api_route("/healthz", healthz)
    return app
