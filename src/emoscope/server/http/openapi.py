"""The description of the API, as `/openapi.json` gives it."""

from typing import Any

from fastapi import FastAPI

from emoscope.server.http.problems import ProblemDocument

DESCRIPTION = """Send a conversation, get the emotion of its turns.

Errors are problem documents (RFC 9457): `detail` is one sentence, `errors` names the fields. The header
`Server-Timing` tells how long a request waited and how long the model took."""


TAGS = [
    {"name": "detect", "description": "Find emotions"},
    {"name": "challenges", "description": "See shared tasks and their boards"},
    {"name": "teams", "description": "Take part"},
    {"name": "submissions", "description": "Hand in and follow"},
    {"name": "organise", "description": "Run a shared task"},
    {"name": "operation", "description": "Run the server"},
]


class DescribedApp(FastAPI):
    """An app that describes our problem documents in place of the framework's errors, which are never sent."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi().setdefault("components", {}).setdefault("schemas", {})
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            own = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= own.pop("$defs", {})
            schemas["ProblemDocument"] = own
        return super().openapi()
