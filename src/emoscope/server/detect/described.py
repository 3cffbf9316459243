"""Adds the loaded model's label sets, and the priors that fit them, to the OpenAPI description."""

from typing import Any

from emoscope.server.detect.heads import Heads

_REQUESTS = ("DetectIn", "BatchIn", "TimelineIn", "ExplainIn")


def describe_labels(schemas: dict[str, Any], heads: Heads) -> None:
    """Add the label sets to the schemas of the requests, with the priors that each allows.

    >>> schemas = {"DetectIn": {"properties": {}}}
    >>> describe_labels(schemas, Heads("nano"))
    >>> schemas["DetectIn"]["anyOf"][0]["properties"]["labels"]
    {'enum': ['emocontext', None]}
    """
    for name in _REQUESTS:
        if name in schemas:
            schemas[name]["anyOf"] = [_choice(heads, position) for position in range(len(heads.names))]


def _choice(heads: Heads, position: int) -> dict[str, Any]:
    """A request for one label set; the first one is the default."""
    name = heads.names[position]
    labels = heads.detector(name).labels
    prior = {
        "type": "object",
        "properties": {label: {"type": "number", "minimum": 0} for label in labels},
        "required": list(labels),
        "additionalProperties": False,
        "anyOf": [{"properties": {label: {"exclusiveMinimum": 0}}} for label in labels],  # not all zero
    }
    properties = {
        "labels": {"enum": [name] if position else [name, None]},
        "prior": {"anyOf": [{"type": "null"}, prior]},
        "label": {"enum": [*labels, None]},
    }
    return {"properties": properties, **({"required": ["labels"]} if position else {})}
