"""The detector: dialogues in, detections out; without torch, safe to share between threads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Detection, Dialogue, DialogueLike, Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import PRESETS, folder_hash, resolve
from emoscope.detector.model import FittedModel
from emoscope.detector.notes import notes_of, spare_anger_and_joy, temper
from emoscope.models.block import Floats, Truncated
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
    """Load an embedded model (`default`, `open`, `nano`) or a trained run's folder.

    `labels` names the set of labels to answer with, where the model has several: `load(labels="iest")`. `prior` is
    the mix of labels you expect, for example `{"neutral": 0.8, "joy": 0.1, "anger": 0.1}`; without it
    the model's own estimate of real traffic is used. Below `abstain_below` the label is None. The label is the most
    likely one; `for_metric` asks for the one that served the task's official metric best, which names a rare emotion
    sooner.

    >>> load("nano").detect(["I won the first prize!", "wow, congrats", "I am so happy :)"]).label
    'happy'
    """
    return Detector(
        FittedModel.load(resolve(model)), labels=labels, prior=prior, abstain_below=abstain_below, for_metric=for_metric
    )


def _restored(kind: type["Detector"], model: FittedModel, options: "Options") -> "Detector":
    return kind(model, **options)


def _reloaded(kind: type["Detector"], name: str, expected: str, options: "Options") -> "Detector":
    return kind(_model_of(name, expected), **options)


@lru_cache(2)  # the tasks of a worker share their model
def _model_of(name: str, expected: str) -> FittedModel:
    folder = resolve(name)
    if folder_hash(folder) != expected:
        raise EmoscopeError(f"model {name}: is another one on this machine than where the detector was pickled")
    return FittedModel.load(folder)


class Options(TypedDict, total=False):
    """What `load` takes beside the model."""

    labels: str | None
    prior: Mapping[str, float] | None
    abstain_below: float
    for_metric: bool


class Answers(NamedTuple):
    """A row for each dialogue: the probabilities, whether a part of it was not read, and a note on it, if any."""

    probabilities: Floats
    truncated: Truncated
    notes: list[str | None]


class Detector:
    """Finds the emotion of a dialogue's last turn. Holds no state that changes: use one from many threads.

    It may be pickled, for Spark, Dask and the like: a loaded model goes by its name, and is loaded where it arrives.

    `name` and `task` are the model's; `head` is the name of its set of labels, as `load(labels=...)` takes it, and
    `heads` are all sets the model has. `prior` is the mix of `labels` it expects, `training_prior` the one it learnt.
    """

    def __init__(self, model: FittedModel | str | Path, **options: Unpack[Options]) -> None:
        if not isinstance(model, FittedModel):
            model = FittedModel.load(resolve(model))
        self._abstain_below = options.get("abstain_below", 0.0)
        if not 0.0 <= self._abstain_below <= 1.0:
            raise EmoscopeError(f"abstain_below must lie between 0 and 1, not {self._abstain_below}")
        self._model = model
        self._options = options
        self._head = head = model.bundle.head(options.get("labels"))
        self.name, self.task = model.bundle.name, model.bundle.task
        self.head, self.heads = head.name, tuple(each.name for each in model.bundle.heads)
        self.labels = head.labels
        self._trained = prior_vector(head.trained, self.labels)
        given = options.get("prior")
        expected = head.prior if given is None else given
        self._prior = self._trained if expected is None else prior_vector(expected, self.labels)
        factors = (head.decision or {}) if options.get("for_metric") else {}
        self._decision = np.array([factors.get(label, 1.0) for label in self.labels])

    def __setattr__(self, name: str, value: object) -> None:
        if "_decision" in self.__dict__:
            raise AttributeError(f"a detector does not change, so {name!r} cannot be set; see with_()")
        super().__setattr__(name, value)

    @property
    def prior(self) -> dict[str, float]:
        return self._by_label(self._prior)

    @property
    def training_prior(self) -> dict[str, float]:
        return self._by_label(self._trained)

    def __reduce__(self) -> tuple[Any, ...]:
        """For Spark, Dask and the like: a loaded model is named, not copied; whoever unpickles it loads the same."""
        folder = self._model.folder
        if folder is None:
            return _restored, (type(self), self._model, self._options)
        name = next((name for name in PRESETS if resolve(name) == folder), str(folder.absolute()))
        return _reloaded, (type(self), name, folder_hash(folder), self._options)

    def _by_label(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.labels, values.tolist(), strict=True))

    def with_(self, **changes: Unpack[Options]) -> "Detector":
        """The same model under other options; it is not loaded again. A prior is for its own set of labels only.

        >>> detector = load("nano")
        >>> detector.with_(abstain_below=0.99).detect(["I am so happy"]).label is None
        True
        """
        options = self._options | changes
        if "labels" in changes and "prior" not in changes:
            options["prior"] = None
        return type(self)(self._model, **options)

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
        return list(self.detect_many(self.upto_each_turn(Dialogue.of(dialogue))))

    def upto_each_turn(self, dialogue: Dialogue) -> Iterator[Dialogue]:
        """For each turn the dialogue up to it, without what the model would not read anyway but for one turn more.

        That one shows that something was cut.
        """
        read = self._model.block.turns_read() or len(dialogue)
        for turn in range(len(dialogue)):
            yield Dialogue(dialogue.turns[max(0, turn - read) : turn + 1], dialogue.id)

    def explain(self, dialogue: DialogueLike, *, label: str | None = None) -> "Explanation":
        """Which turns and words speak for the answer, and which against; or for another label.

        >>> found = load("nano").explain(["how was it", "tell me", "I am so happy"])
        >>> max(found.turns[-1].words, key=lambda word: word.contribution).text
        'happy'
        """
        from emoscope.detector.explain import explain

        whole = Dialogue.of(dialogue)
        if label is not None and label not in self.labels:
            raise EmoscopeError(f"no label {label!r} to explain; expected one of: {', '.join(self.labels)}")
        answers = self.infer([whole])
        if label is None:
            label = self.labels[self.choose(answers.probabilities)[0]]
        return explain(self.predict_proba, whole, self.labels, label, truncated=bool(answers.truncated[0]))

    def predict_proba(self, dialogues: Iterable[DialogueLike]) -> Floats:
        """The probabilities of many dialogues as an array, columns in the order of `labels`."""
        return self.infer([Dialogue.of(dialogue) for dialogue in dialogues]).probabilities

    def infer(self, dialogues: Sequence[Dialogue]) -> Answers:
        """The probabilities of dialogues, which of them were too long to be read whole, and notes, from one pass."""
        probabilities, truncated = self._model.infer(self._head, [Example.last(dialogue) for dialogue in dialogues])
        notes = [notes_of(dialogue.turns[-1].text) for dialogue in dialogues]
        shifted = shift_prior(temper(probabilities, self._trained, notes), self._trained, self._prior)
        said = ["; ".join(each) or None for each in notes]
        return Answers(spare_anger_and_joy(shifted, self.labels, notes), truncated, said)

    def predict_examples(self, examples: Sequence[Example]) -> Floats:
        """The probabilities of a task's examples, which are answered together.

        Unlike a dialogue, an example may go on after the turn to be labelled. A model trained to estimate the mix of
        labels takes it from the examples, unless a prior was given.
        """
        return self.correct(self._model.infer(self._head, examples)[0])

    def correct(self, probabilities: Floats) -> Floats:
        """Probabilities of a task's examples under the training prior, as `predict_examples` gives them."""
        prior = self._prior
        if self._head.estimate and self._options.get("prior") is None and len(probabilities):
            prior = estimate_prior(probabilities, self._trained)
        return shift_prior(probabilities, self._trained, prior)

    def label_examples(self, examples: Sequence[Example]) -> list[str]:
        """The label chosen for each of a task's examples."""
        return [self.labels[place] for place in self.choose(self.correct(self._model.infer(self._head, examples)[0]))]

    def choose(self, probabilities: Floats) -> NDArray[np.int64]:
        """The label chosen for each row of probabilities, as its position in `labels`.

        The most likely one, or with `for_metric` the one that its task's metric prefers.
        """
        return np.asarray((probabilities * self._decision).argmax(1))

    def truncates(self, dialogue: DialogueLike) -> bool:
        """Whether a part of the dialogue is too long to be read.

        >>> load("nano").truncates(["hi", "hello"])
        False
        """
        return bool(self.infer([Dialogue.of(dialogue)]).truncated[0])

    def estimate_prior(self, dialogues: Iterable[DialogueLike]) -> dict[str, float]:
        """The mix of labels in unlabelled dialogues of your own; pass it back as `load(prior=...)`."""
        examples = [Example.last(Dialogue.of(dialogue)) for dialogue in dialogues]
        estimated = estimate_prior(self._model.infer(self._head, examples)[0], self._trained)
        return self._by_label(estimated)

    def _detect_batch(self, dialogues: list[Dialogue]) -> list[Detection]:
        probabilities, truncated, notes = self.infer(dialogues)
        detections = []
        for row, place in enumerate(self.choose(probabilities)):
            label = self.labels[place] if probabilities[row, place] >= self._abstain_below else None
            scores = self._by_label(probabilities[row])
            detections.append(Detection(label, scores, truncated=bool(truncated[row]), note=notes[row]))
        return detections
