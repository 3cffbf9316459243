"""The API page: every operation of the OpenAPI description, with a form to try it."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from emoscope.server.http.rendering import page

router = APIRouter(include_in_schema=False)
_METHODS = ("get", "post", "put", "patch", "delete")


@router.get("/docs")
async def _docs_page(request: Request) -> HTMLResponse:
    return page("docs.html.j2", here="docs", groups=operations(request.app.openapi()))


def operations(description: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The operations for the page, by tag.

    >>> operations({"paths": {"/x": {"get": {"summary": "X", "tags": ["t"]}}}})["t"][0]["summary"]
    'X'
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, item in description["paths"].items():
        for method in _METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                groups.setdefault(tag, []).append(_operation(description, path, method, item[method]))
    return groups


def _operation(description: Mapping[str, Any], path: str, method: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    content = raw.get("requestBody", {}).get("content", {})
    body = content.get("application/json") or content.get("multipart/form-data") or {}
    schema = _resolved(description, body.get("schema", {}))
    examples = schema.get("examples") or []
    has_body = "application/json" in content
    parameters = [one for one in raw.get("parameters", ()) if one["in"] in ("path", "query")]
    fields = schema.get("properties", {}).items()
    return {
        "id": f"{method}{path}".replace("/", "-").replace("{", "").replace("}", ""),
        "method": method.upper(),
        "path": path,
        "summary": raw.get("summary", ""),
        "description": raw.get("description", ""),
        "parameters": [_field(one, one["name"], one["in"], bool(one.get("required"))) for one in parameters],
        "fields": [
            _field(shape, name, _kind(description, shape), name in schema.get("required", ())) for name, shape in fields
        ],
        # A JSON body to start from.
        "example": json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else "{}" if has_body else None,
        "takes_file": "multipart/form-data" in content,
        "answers": [(status, one.get("description", "")) for status, one in raw.get("responses", {}).items()],
    }


def _field(shape: Mapping[str, Any], name: str, kind: str, required: bool) -> dict[str, Any]:
    return {"name": name, "kind": kind, "required": required, "description": shape.get("description", "")}


def _resolved(description: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[-1]
    resolved: Mapping[str, Any] = description["components"]["schemas"][name]
    return resolved


def _kind(description: Mapping[str, Any], shape: Mapping[str, Any]) -> str:
    """A readable type: `list of Turn`, `string or null`."""
    if "$ref" in shape:
        return str(_resolved(description, shape).get("title", shape["$ref"].rsplit("/", 1)[-1]))
    if "anyOf" in shape:
        return " or ".join(_kind(description, one) for one in shape["anyOf"])
    if shape.get("type") == "array":
        return f"list of {_kind(description, shape.get('items', {}))}"
    if isinstance(shape.get("additionalProperties"), Mapping):
        return f"object of {_kind(description, shape['additionalProperties'])}s"
    if "contentMediaType" in shape or shape.get("format") == "binary":
        return "file"
    return str(shape.get("type", "anything"))
