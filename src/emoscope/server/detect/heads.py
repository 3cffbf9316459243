"""The model's sets of labels, each under any class prior, sharing one set of weights."""

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector, load
from emoscope.server.http.problems import invalid

_KEPT_PRIORS = 256


class Heads:
    """Detectors by label set and prior. The same request gets the same detector, so that requests can be batched.

    >>> heads = Heads.load("nano")
    >>> heads.names, heads.detector().labels
    (('emocontext',), ('angry', 'happy', 'others', 'sad'))
    """

    def __init__(self, detector: Detector) -> None:
        self._standard = {name: detector.with_(labels=name) for name in detector.heads}
        self._with_prior: OrderedDict[tuple[str, tuple[tuple[str, float], ...]], Detector] = OrderedDict()
        self._lock = Lock()
        self.model = detector.name
        self.task = detector.task

    @classmethod
    def load(cls, model: str | Path) -> "Heads":
        """Read a model once, whatever the number of its heads."""
        return cls(load(model))

    @property
    def names(self) -> tuple[str, ...]:
        """The sets of labels; the first is the one meant when none is named."""
        return tuple(self._standard)

    def detector(self, labels: str | None = None, prior: Mapping[str, float] | None = None) -> Detector:
        """The detector a request asks for, or the problem with what it asks for."""
        name = self.names[0] if labels is None else labels
        if name not in self._standard:
            raise invalid("labels", f"no set of labels has this name; there are: {', '.join(self.names)}")
        if prior is None:
            return self._standard[name]
        key = (name, tuple(sorted(prior.items())))
        with self._lock:
            if key in self._with_prior:
                self._with_prior.move_to_end(key)
                return self._with_prior[key]
        try:
            detector = self._standard[name].with_(prior=prior)
        except (EmoscopeError, OverflowError) as error:
            raise invalid("prior", str(error)) from None
        with self._lock:
            # Clients choose priors freely: only so many are kept.
            while len(self._with_prior) >= _KEPT_PRIORS:
                self._with_prior.popitem(last=False)
            return self._with_prior.setdefault(key, detector)
