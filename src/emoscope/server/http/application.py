"""What all our applications share: error handling, scripts and styles, limits and security headers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.server.http.front import Front, allowed_hosts
from emoscope.server.http.limits import BodyLimit, Refuse
from emoscope.server.http.metrics import Metrics, RequestMetrics
from emoscope.server.http.problems import Faults, Problem, ProblemDocument, answer
from emoscope.server.http.security import SecurityHeaders
from emoscope.server.settings import Settings


class Assets(StaticFiles):
    """Static files that a browser may cache but must revalidate; text is always UTF-8."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        media_type = response.headers.get("content-type", "")
        if media_type.startswith("text/") and "charset" not in media_type:
            response.headers["content-type"] = f"{media_type}; charset=utf-8"
        return response


class DescribedApp(FastAPI):
    """An app whose OpenAPI description has our problem documents instead of FastAPI's errors."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi().setdefault("components", {}).setdefault("schemas", {})
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            own = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= own.pop("$defs", {})
            schemas["ProblemDocument"] = own
            if (describe := getattr(self.state, "describe", None)) is not None:
                describe(schemas)
        return super().openapi()


def new_app(
    settings: Settings,
    routers: tuple[APIRouter, ...],
    *,
    body_limit: Callable[[str], int],
    refuse: Refuse | None = None,
    fast_lane: Callable[[ASGIApp], ASGIApp] | None = None,
    metrics: Metrics | None = None,
    **options: Any,
) -> FastAPI:
    """An application with these routes. `body_limit` returns the most bytes for a path; `options` go to FastAPI.

    `refuse` is called before a body is read. `fast_lane` answers some requests before FastAPI sees them.
    """
    app = DescribedApp(
        version=__version__,
        # What people write must not leave this process, whatever the environment configures.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        **options,
    )
    app.state.settings = settings
    app.state.metrics = metrics
    for kind in (Problem, RequestValidationError, HTTPException, EmoscopeError):
        app.add_exception_handler(kind, answer)
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes if isinstance(route, Route)]
    app.mount("/static", Assets(directory=Path(__file__).parent / "static"), name="static")
    # The last middleware added is the outermost.
    app.add_middleware(BodyLimit, limit_of=body_limit, receive_seconds=settings.receive_seconds, refuse=refuse)
    if fast_lane is not None:
        app.add_middleware(fast_lane)
    app.add_middleware(Faults)
    if metrics is not None:
        app.add_middleware(RequestMetrics, metrics=metrics)
    app.add_middleware(SecurityHeaders, https=settings.https)
    app.add_middleware(Front, hosts=allowed_hosts(settings))
    return app
