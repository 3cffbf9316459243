"""The detector: dialogues in, detections out; without torch, safe to share between threads."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Detection, Dialogue, DialogueLike
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Backend, Bundle, resolve
from emoscope.models.label_shift import estimate_prior, prior_vector, shift_prior

if TYPE_CHECKING:
    from emoscope.detector.explain import Explanation

BATCH = 1024  # of so many dialogues enough have the same length to be computed together


def load(
    model: str | Path = "default",
    *,
    labels: str | None = None,
    prior: Mapping[str, float] | None = None,
    abstain_below: float = 0.0,
    for_metric: bool = False,
) -> "Detector":
    """Load an embedded model (`default`, `nano`) or a trained run's folder.

    `labels` names the set of labels to answer with, where the model has several: `load(labels="ekman")`. `prior` is
    the mix of labels you expect, for example `{"others": 0.9, "happy": 0.04, "sad": 0.03, "angry": 0.03}`; without it
    the model's own estimate of real traffic is used. Below `abstain_below` the label is None. The label is the most
    likely one; `for_metric` asks for the one that served the task's official metric best, which names a rare emotion
    sooner.

    >>> load("nano").detect(["I won the first prize!", "wow, congrats", "I am so happy :)"]).label
    'happy'
    """
    folder = resolve(model)
    bundle = Bundle.load(folder)
    backend = bundle.backend(folder, labels)
    return Detector(backend, bundle, labels=labels, prior=prior, abstain_below=abstain_below, for_metric=for_metric)


class Detector:
    """Finds the emotion of a dialogue's last turn. Holds no state that changes: use one from many threads."""

    def __init__(
        self,
        backend: Backend,
        bundle: Bundle,
        *,
        labels: str | None = None,
        prior: Mapping[str, float] | None = None,
        abstain_below: float = 0.0,
        for_metric: bool = False,
    ) -> None:
        if not 0.0 <= abstain_below <= 1.0:
            raise EmoscopeError(f"abstain_below must lie between 0 and 1, not {abstain_below}")
        self._backend = backend
        self._bundle = bundle
        self._head = bundle.head(labels)
        self._abstain_below = abstain_below
        wanted = prior if prior is not None else self._head.prior
        self._prior = backend.prior if wanted is None else prior_vector(wanted, backend.labels)
        factors = (self._head.decision or {}) if for_metric else {}
        self._decision = np.array([factors.get(label, 1.0) for label in backend.labels])

    @property
    def name(self) -> str:
        """The model's name."""
        return self._bundle.name

    @property
    def task(self) -> str:
        """The task it was trained for."""
        return self._bundle.task

    @property
    def head(self) -> str:
        """The name of its set of labels, as `load(labels=...)` takes it."""
        return self._head.name

    @property
    def heads(self) -> tuple[str, ...]:
        """The sets of labels its model has."""
        return tuple(head.name for head in self._bundle.heads) or (self._head.name,)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it answers with."""
        return self._backend.labels

    @property
    def prior(self) -> dict[str, float]:
        """The mix of labels it expects."""
        return dict(zip(self.labels, self._prior.tolist(), strict=True))

    @property
    def training_prior(self) -> dict[str, float]:
        """The mix of labels it was trained on."""
        return dict(zip(self.labels, self._backend.prior.tolist(), strict=True))

    def detect(self, dialogue: DialogueLike) -> Detection:
        """The emotion of the last turn, given the turns before it."""
        return self._detect_batch([Dialogue.of(dialogue)])[0]

    def detect_many(self, dialogues: Iterable[DialogueLike], *, batch: int = BATCH) -> Iterator[Detection]:
        """Detect a stream of dialogues, in order, holding one batch at a time.

        >>> [d.label for d in load("nano").detect_many([["I hate you"], ["what time is it"]])]
        ['angry', 'others']
        """
        stream = iter(dialogues)
        while chunk := [Dialogue.of(dialogue) for dialogue in islice(stream, batch)]:
            yield from self._detect_batch(chunk)

    def timeline(self, dialogue: DialogueLike) -> list[Detection]:
        """A detection for each turn, each given only what was said up to it."""
        whole = Dialogue.of(dialogue)
        return self._detect_batch([whole.upto(turn) for turn in range(len(whole))])

    def explain(self, dialogue: DialogueLike, *, label: str | None = None) -> "Explanation":
        """Which turns and words speak for the answer, and which against; or for another label.

        >>> found = load("nano").explain(["how was it", "tell me", "I am so happy"])
        >>> max(found.turns[-1].words, key=lambda word: word.contribution).text
        'happy'
        """
        from emoscope.detector.explain import explain

        whole = Dialogue.of(dialogue)
        if label is None:
            label = self.labels[self.choose(self.predict_proba([whole]))[0]]
        elif label not in self.labels:
            raise EmoscopeError(f"no label {label!r} to explain; expected one of: {', '.join(self.labels)}")
        return explain(self.predict_proba, whole, self.labels, label, truncated=self._backend.truncates(whole))

    def predict_proba(self, dialogues: Iterable[DialogueLike]) -> NDArray[np.float64]:
        """The probabilities of many dialogues as an array, columns in the order of `labels`."""
        chosen = [Dialogue.of(dialogue) for dialogue in dialogues]
        return shift_prior(self._backend.predict_proba(chosen), self._backend.prior, self._prior)

    def choose(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """The label chosen for each row of probabilities, as its position in `labels`.

        The most likely one, or with `for_metric` the one that its task's metric prefers.
        """
        return np.asarray((probabilities * self._decision).argmax(1))

    def truncates(self, dialogue: DialogueLike) -> bool:
        """Whether a part of the dialogue is too long to be read.

        >>> load("nano").truncates(["hi", "hello"])
        False
        """
        return self._backend.truncates(Dialogue.of(dialogue))

    def estimate_prior(self, dialogues: Iterable[DialogueLike]) -> dict[str, float]:
        """The mix of labels in unlabelled dialogues of your own; pass it back as `load(prior=...)`."""
        chosen = [Dialogue.of(dialogue) for dialogue in dialogues]
        found = estimate_prior(self._backend.predict_proba(chosen), self._backend.prior)
        return dict(zip(self.labels, found.tolist(), strict=True))

    def _detect_batch(self, dialogues: list[Dialogue]) -> list[Detection]:
        probabilities = self.predict_proba(dialogues)
        answers = []
        for row, (dialogue, index) in enumerate(zip(dialogues, self.choose(probabilities), strict=True)):
            scores = dict(zip(self.labels, probabilities[row].tolist(), strict=True))
            label = self.labels[index]
            answers.append(
                Detection(
                    label if scores[label] >= self._abstain_below else None,
                    scores,
                    truncated=self._backend.truncates(dialogue),
                )
            )
        return answers
