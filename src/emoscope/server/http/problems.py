"""Errors as problem documents (RFC 9457): one clear sentence, and the field, if any."""

import json
import logging
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from emoscope.server.errors import ServerError, StoreUnavailable
from emoscope.server.http.rendering import page

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:emoscope:problem:"
_log = logging.getLogger("emoscope.server")

_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Not understood",
    429: "Too many requests",
    500: "Server error",
    503: "Not available",
}
_EXPECTED = {
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "bool_type": "true or false",
    "float_type": "a number",
    "finite_number": "a finite number",
}
_REFUSED = {  # clearer than the framework's messages
    400: "the body is not what its Content-Type says",
    404: "there is nothing at this address",
    405: "this address does not support this method",
}


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    field: str = Field(examples=["turns[0].text"])
    problem: str = Field(examples=["is longer than 20,000 characters"])


class ProblemDocument(BaseModel):
    """An error, as RFC 9457 describes it."""

    type: str = Field(examples=[_TYPE + "invalid"])
    title: str = Field(examples=["Not understood"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["turns[0].text: is longer than 20,000 characters"])
    errors: list[FieldProblem] = Field(default_factory=list)


class Problem(Exception):  # noqa: N818 (it is named after the document it becomes)
    """An error that becomes a problem document.

    >>> Problem(422, "invalid", "is empty", field="turns").document().detail
    'turns: is empty'
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        field: str | None = None,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.errors = list(errors) or ([FieldProblem(field=field, problem=detail)] if field else [])
        # A field name from the client may contain lone surrogates, which cannot be encoded.
        self.detail = (f"{field}: {detail}" if field else detail).encode(errors="replace").decode()
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def document(self) -> ProblemDocument:
        """The problem document."""
        title = _TITLES.get(self.status, "Error")
        return ProblemDocument(
            type=_TYPE + self.code, title=title, status=self.status, detail=self.detail, errors=self.errors
        )

    def response(self) -> Response:
        """The document as a response."""
        content = json.dumps(self.document().model_dump() | self.extra)
        return Response(content, self.status, headers=self.headers, media_type=MEDIA_TYPE)


def invalid(field: str, detail: str) -> Problem:
    """The problem of an invalid field."""
    return Problem(422, "invalid", detail, field=field)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem responses of an operation, for the OpenAPI description."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    return {status: {"description": _TITLES[status], "content": content} for status in statuses}


CHANGING = responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503)  # of operations that change something


def refusal(description: str) -> dict[int | str, dict[str, Any]]:
    """The 422 of an operation that also refuses what no schema can state."""
    return {422: {**responses(422)[422], "description": description}}


def from_validation(error: RequestValidationError, content_type: str) -> Problem:
    """The problem of a request that does not match its schema."""
    faults = error.errors()
    first = faults[0] if faults else {"loc": ("body",), "type": "", "msg": "is not valid"}
    if first["type"] == "json_invalid":
        place = first["loc"][-1]
        return Problem(400, "not-json", f"the body is not valid JSON (at character {place})")
    if tuple(first["loc"]) == ("body",) and first["type"] == "missing":
        return Problem(400, "no-body", "the request has no JSON body")
    kind = content_type.partition(";")[0].strip().lower()
    if tuple(first["loc"]) == ("body",) and not (kind == "application/json" or kind.endswith("+json")):
        return Problem(415, "not-json", "the body must be JSON, sent with the header Content-Type: application/json")
    if tuple(first["loc"]) == ("body", "file") and first["type"] == "missing" and kind != "multipart/form-data":
        detail = "the file must be sent in a form, as multipart/form-data; with curl: -F file=@FILE"
        return Problem(415, "not-a-form", detail)
    fields = [FieldProblem(field=_field(fault["loc"]), problem=_sentence(fault)) for fault in faults[:20]]
    detail = f"{fields[0].field}: {fields[0].problem}"
    if len(faults) > 1:
        detail += f" (and {len(faults) - 1} more)"
    return Problem(422, "invalid", detail, errors=fields)


def _field(location: Sequence[int | str]) -> str:
    """`turns[0].text` for a place in the body; `query limit` elsewhere."""
    where, *path = location
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    if where == "body":
        return name or "body"
    return f"{where} {name}"


def _sentence(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        return "is not a field of this request"
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] == "too_short":
        least = fault["ctx"]["min_length"]
        return "is empty" if not fault["ctx"]["actual_length"] else f"holds fewer than {least} items"
    if fault["type"] in _EXPECTED:
        return f"must be {_EXPECTED[fault['type']]}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def problem_of(request: Request, error: Exception) -> Problem:
    """The problem for an error."""
    match error:
        case Problem():
            return error
        case RequestValidationError():
            return from_validation(error, request.headers.get("content-type", ""))
        case HTTPException(__cause__=OSError()):  # the framework reports a full disk as a body that it cannot parse
            full = StoreUnavailable("the body could not be kept while it arrived; nothing was accepted")
            return problem_of(request, full)
        case HTTPException():
            detail = _REFUSED.get(error.status_code, str(error.detail))
            allow = {"Allow": ", ".join(_methods_of(request))} if error.status_code == 405 else {}
            return Problem(error.status_code, "http", detail, headers={**(error.headers or {}), **allow})
        case ServerError():
            fields = [FieldProblem(field=error.field, problem=str(error))] if error.field else []
            code = type(error).__name__.lower()
            return Problem(error.status, code, str(error), errors=fields, headers=error.headers, extra=error.extra)
    return Problem(422, "invalid", str(error))


def _methods_of(request: Request) -> list[str]:
    """All methods of an address; the framework only reports those of one route."""
    routes = [*request.app.state.routes, *(route for route in request.app.routes if isinstance(route, Route))]
    matching = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    found = {method for route in matching for method in route.methods or ()}
    return sorted(found | {"HEAD"} if "GET" in found else found)


async def answer(request: Request, error: Exception) -> Response:
    """The error as a problem document, or as a page for browsers."""
    problem = problem_of(request, error)
    if request.url.path.startswith("/v1/") or "text/html" not in request.headers.get("accept", ""):
        return problem.response()
    response = page("error.html.j2", status=problem.status, problem=problem.document())
    response.headers.update(problem.headers)
    return response


def running(name: str, problem: str) -> Callable[[Request], Any]:
    """A function that returns an attribute of the app's state; a 503 before startup and after shutdown."""

    def get(request: Request) -> Any:
        value = getattr(request.app.state, name)
        if value is None:
            raise Problem(503, "starting", problem, headers={"Retry-After": "1"})
        return value

    return get


class Faults:
    """Logs unexpected errors and answers 500 without details.

    This is a middleware because the response of an exception handler would miss the headers that others add.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            if scope["type"] != "http" or started:
                raise
            _log.exception("unexpected error in %s %s", scope["method"], scope["path"])
            problem = Problem(500, "server-error", "something went wrong on the server; it has been logged")
            await problem.response()(scope, receive, send)
