"""The model's sets of labels, each under any class prior, sharing one set of weights."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector, load
from emoscope.detector.bundle import resolve
from emoscope.evaluation.card import card_of, terms_of
from emoscope.server.http.problems import invalid


class Heads:
    """Detectors by label set and prior. The same request gets the same detector, so that requests can be batched.

    >>> heads = Heads("nano")
    >>> heads.names, heads.detector().labels
    (('emocontext',), ('angry', 'happy', 'others', 'sad'))
    """

    def __init__(self, model: str | Path) -> None:
        detector = load(model)
        self._standard = {name: detector.with_(labels=name) for name in detector.heads}
        # Clients choose priors freely: only so many are kept.
        self._with_prior = lru_cache(256)(lambda name, prior: self._standard[name].with_(prior=dict(prior)))
        self.names = tuple(self._standard)  # the first is the one meant when none is named
        self.model = detector.name
        self.task = detector.task
        folder = None if str(model).startswith("hf:") else resolve(model)
        self.terms = terms_of(folder) if folder else None
        self.card = card_of(folder) if folder else None  # in Markdown

    def detector(self, labels: str | None = None, prior: Mapping[str, float] | None = None) -> Detector:
        """The detector a request asks for, or the problem with what it asks for."""
        name = self.names[0] if labels is None else labels
        if name not in self._standard:
            raise invalid("labels", f"no set of labels has this name; there are: {', '.join(self.names)}")
        if prior is None:
            return self._standard[name]
        try:
            return self._with_prior(name, tuple(sorted(prior.items())))
        except (EmoscopeError, OverflowError) as error:
            raise invalid("prior", str(error)) from None
