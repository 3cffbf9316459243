"""The description of the API, as `/openapi.json` gives it."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from emoscope.server.http.problems import ProblemDocument

DESCRIPTION = """Send a conversation, get the emotion of its turns.

Errors are problem documents (RFC 9457): `detail` is one sentence, `errors` names the fields. The header
`Server-Timing` tells how long a request waited and how long the model took."""


def add_description(app: FastAPI) -> None:
    """Describe the API with our problem documents in place of the framework's errors, which are never sent."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            description = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                description=DESCRIPTION,
                routes=app.routes,
                tags=[
                    {"name": "detect", "description": "Find emotions"},
                    {"name": "challenges", "description": "See shared tasks and their boards"},
                    {"name": "teams", "description": "Take part"},
                    {"name": "submissions", "description": "Hand in and follow"},
                    {"name": "organise", "description": "Run a shared task"},
                    {"name": "operation", "description": "Run the server"},
                ],
            )
            schemas = description.setdefault("components", {}).setdefault("schemas", {})
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            own = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= own.pop("$defs", {})
            schemas["ProblemDocument"] = own
            app.openapi_schema = description
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]
