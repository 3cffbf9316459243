"""The model's label sets, with any class prior, sharing one set of weights; and their part of the API description."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector, load
from emoscope.detector.bundle import resolve
from emoscope.evaluation.card import card_of, terms_of
from emoscope.server.http.problems import invalid

_REQUESTS = ("DetectIn", "BatchIn", "TimelineIn", "ExplainIn")


class Heads:
    """Detectors by label set and prior; equal requests share a detector, so that they can be batched.

    >>> heads = Heads("nano")
    >>> heads.names, heads.detector().labels
    (('emocontext',), ('angry', 'happy', 'others', 'sad'))
    """

    def __init__(self, model: str | Path) -> None:
        detector = load(model)
        self._standard = {name: detector.with_(labels=name) for name in detector.heads}
        # Clients choose priors freely, so the cache is bounded.
        self._with_prior = lru_cache(256)(lambda name, prior: self._standard[name].with_(prior=dict(prior)))
        self.names = tuple(self._standard)  # the first is the default
        self.model = detector.name
        self.task = detector.task
        folder = None if str(model).startswith("hf:") else resolve(model)
        self.terms = terms_of(folder) if folder else None
        self.card = card_of(folder) if folder else None  # in Markdown

    def detector(self, labels: str | None = None, prior: Mapping[str, float] | None = None) -> Detector:
        """The detector for a request; a Problem if the label set or prior is not valid."""
        name = self.names[0] if labels is None else labels
        if name not in self._standard:
            raise invalid("labels", f"is not a label set of this model; expected one of: {', '.join(self.names)}")
        if prior is None:
            return self._standard[name]
        try:
            return self._with_prior(name, tuple(sorted(prior.items())))
        except (EmoscopeError, OverflowError) as error:
            raise invalid("prior", str(error)) from None


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
