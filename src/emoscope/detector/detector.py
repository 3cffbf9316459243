"""The detector: dialogues in, detections out; without torch, safe to share between threads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Detection, Dialogue, DialogueLike, Example, Turn, TurnLike, texts_alone
from emoscope.core.emotion_words import closest_label
from emoscope.core.errors import EmoscopeError, did_you_mean
from emoscope.detector.bundle import resolve
from emoscope.detector.model import FittedModel
from emoscope.detector.notes import notes_of_all, spare_anger_and_joy, temper
from emoscope.models.block import Floats, Truncated
from emoscope.models.label_shift import estimate_prior, prior_vector, shift_prior

if TYPE_CHECKING:
    from emoscope.detector.explain import Explanation

Frame = TypeVar("Frame")
Progress = bool | Callable[[int], object]
BATCH = 1024  # enough that many dialogues have the same length and are computed together


def load(
    model: str | Path = "default",
    *,
    labels: str | None = None,
    prior: Mapping[str, float] | None = None,
    abstain_below: float = 0.0,
    for_metric: bool = False,
) -> "Detector":
    """Load an embedded model (`default`, `open`, `nano`), a run's folder, or `hf:owner/name`, a classifier of the hub.

    `labels` names the set of labels to answer with, where the model has several: `load(labels="iest")`. `prior` is
    the mix of labels you expect, with a number for each label: `{"others": 0.9, "happy": 0.04, "sad": 0.03,
    "angry": 0.03}`; without it the model's own estimate of real traffic is used. Below `abstain_below` the label is
    None. The label is the most likely one; `for_metric` asks for the one that served the task's official metric best,
    which names a rare emotion sooner.

    >>> load("nano").detect(["I won the first prize!", "wow, congrats", "I am so happy :)"]).label
    'happy'
    """
    options = Options(labels=labels, prior=prior, abstain_below=abstain_below, for_metric=for_metric)
    if str(model).startswith("hf:"):
        from emoscope.detector.hub import load_hub

        return Detector(load_hub(str(model)), **options)
    return Detector(FittedModel.load(resolve(model)), **options)


_cached_load = lru_cache(4)(load)


@overload  # a text is an iterable of texts too, so the order of the two matters
def detect(  # type: ignore[overload-overlap]
    dialogue: Dialogue | TurnLike | Sequence[TurnLike], *, model: str | Path = ..., **options: "Unpack[Options]"
) -> Detection: ...
@overload
def detect(
    dialogue: Iterable[DialogueLike], *, model: str | Path = ..., **options: "Unpack[Options]"
) -> list[Detection]: ...
def detect(
    dialogue: Any, *, model: str | Path = "default", **options: "Unpack[Options]"
) -> Detection | list[Detection]:
    """Detect the emotion of a text or a dialogue, or of each of many.

    The model is loaded once and kept; `options` are those of `load`.

    >>> detect("I hate you", model="nano").label
    'angry'
    >>> [found.label for found in detect([["I hate you"], ["what time is it"]], model="nano")]
    ['angry', 'others']
    """
    detector = _cached_load(str(model))
    answer: Detection | list[Detection] = (detector.with_(**options) if options else detector)(dialogue)
    return answer


class Options(TypedDict, total=False):
    """The options of `load`."""

    labels: str | None
    prior: Mapping[str, float] | None
    abstain_below: float
    for_metric: bool


class Answers(NamedTuple):
    """A row for each dialogue: its probabilities, whether input was truncated, and a note, if any."""

    probabilities: Floats
    truncated: Truncated
    notes: list[str | None]


class Timeline(list[Detection]):
    """A detection for each turn of `dialogue`, in order."""

    def __init__(self, dialogue: Dialogue, detections: Iterable[Detection]) -> None:
        super().__init__(detections)
        self.dialogue = dialogue

    def __repr__(self) -> str:
        turns = zip(self.dialogue.texts, self, strict=True)
        return "[" + ",\n ".join(f"{text!r}: {detection!r}" for text, detection in turns) + "]"

    def __reduce__(self) -> tuple[Any, ...]:
        return Timeline, (self.dialogue, list(self))

    def _repr_html_(self) -> str:
        from emoscope.core.notebook import timeline_html

        return timeline_html(self.dialogue.turns, self)


class Detector:
    """Finds the emotion of a dialogue's last turn. It is immutable, so threads can share one.

    It can be pickled, for Spark, Dask and the like: the pickle of a loaded model holds its name, not its weights.

    `name` and `task` are the model's; `head` is the name of its label set, as for `load(labels=...)`, and `heads` are
    all sets the model has. `prior` is the mix of `labels` it expects, `training_prior` that of its training data.
    """

    def __init__(self, model: FittedModel | str | Path, **options: Unpack[Options]) -> None:
        if not isinstance(model, FittedModel):
            model = FittedModel.load(resolve(model))
        for name in options.keys() - Options.__annotations__.keys():
            raise TypeError(f"a detector has no option {name!r}; {did_you_mean(name, Options.__annotations__)}")
        self._abstain_below = options.get("abstain_below", 0.0)
        if not 0.0 <= self._abstain_below <= 1.0:
            raise EmoscopeError(f"abstain_below must lie between 0 and 1, not {self._abstain_below}")
        self._model = model
        self._options = options
        self._head = head = model.bundle.head(options.get("labels"))
        self._block = model.block.of_head(head.name)  # loads the network of these labels, if it is not the only one
        self.name, self.task = model.bundle.name, model.bundle.task
        self.head, self.heads = head.name, tuple(each.name for each in model.bundle.heads)
        self.labels = head.labels
        self._trained = prior_vector(head.trained, self.labels)
        given = options.get("prior")
        expected = head.prior if given is None else given
        self._prior = self._trained if expected is None else prior_vector(expected, self.labels)
        factors = (head.decision or {}) if options.get("for_metric") else {}
        self._decision = np.array([factors.get(label, 1.0) for label in self.labels])

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, dialogue: Dialogue | TurnLike | Sequence[TurnLike]
    ) -> Detection: ...
    @overload
    def __call__(self, dialogue: Iterable[DialogueLike]) -> list[Detection]: ...
    def __call__(self, dialogue: Any) -> Detection | list[Detection]:
        """Detect one or many: a text, a turn or a list of turns is one dialogue, any other iterable is many.

        So a list of lists, a generator of texts, a pandas or polars column and an array give a list of detections.

        >>> detector = load("nano")
        >>> detector("I hate you").label
        'angry'
        >>> [found.label for found in detector(text for text in ["I hate you", "what time is it"])]
        ['angry', 'others']
        """
        if isinstance(dialogue, str | bytes | Dialogue | Turn | Mapping) or not _iterates(dialogue):
            return self.detect(dialogue)  # which says what is wrong with bytes, None or a number
        if isinstance(dialogue, list | tuple):
            nested = [isinstance(each, list | tuple | Dialogue) for each in dialogue]
            if not any(nested):
                return self.detect(dialogue)
            if not all(nested):
                raise EmoscopeError(
                    "texts and lists of texts are mixed; expected the turns of one dialogue, or dialogues"
                )
        return list(self.detect_many(dialogue))

    def __repr__(self) -> str:
        return f"<Detector {self.name}, labels {self.head}: {', '.join(self.labels)}>"

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
        return partial(type(self), **self._options), (self._model,)

    @property
    def sha256(self) -> str | None:
        """The hash of the model's files; None if it is not in a folder."""
        return self._model.sha256

    @property
    def kernel(self) -> str:
        """What runs the model here: `encoder.c` or onnxruntime, or `any` if the answers do not depend on it."""
        return " and ".join(sorted(self._block.kernels())) or "any"

    def _by_label(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.labels, values.tolist(), strict=True))

    def with_(self, **changes: Unpack[Options]) -> "Detector":
        """The same model with other options, not loaded again. A prior is dropped if the label set changes.

        >>> detector = load("nano")
        >>> detector.with_(abstain_below=0.99).detect(["I am so happy"]).label is None
        True
        """
        options = self._options | changes
        if "labels" in changes and "prior" not in changes:
            options["prior"] = None
        return type(self)(self._model, **options)

    def detect(self, dialogue: DialogueLike) -> Detection:
        """The emotion of the last turn, given the turns before it.

        A text alone is a turn; so is a mapping with `text` and `speaker`, or a message with `role` and `content`.

        >>> load("nano").detect([{"role": "user", "content": "I hate you"}]).label
        'angry'
        """
        _refuse_table(dialogue)
        if hasattr(dialogue, "dtype") and not isinstance(dialogue, str):  # a column or an array, not numpy's str_
            raise EmoscopeError(f"a {type(dialogue).__name__} holds many texts: give it to detect_many")
        return self._detections(self._infer_any([dialogue], None))[0]

    def detect_many(
        self, dialogues: Iterable[DialogueLike], *, batch: int = BATCH, progress: Progress = False
    ) -> Iterator[Detection]:
        """Detect a stream of dialogues, in order, with one batch in memory at a time.

        A text alone is a dialogue of one turn, so a column of texts works. `progress` shows a bar on standard error, or
        is a function that is called with the number of dialogues done since the last call.

        >>> [d.label for d in load("nano").detect_many([["I hate you"], "what time is it"])]
        ['angry', 'others']
        """
        if batch < 1:  # or the stream would end at once
            raise EmoscopeError(f"batch must be at least 1, not {batch}")
        return self._detect_stream(_many(dialogues), batch, progress)

    def _detect_stream(self, dialogues: Iterable[DialogueLike], batch: int, progress: Progress) -> Iterator[Detection]:
        from emoscope.detector.progress import counting

        total = len(dialogues) if isinstance(dialogues, Sized) else None
        stream = iter(dialogues)
        done = 0
        with counting(progress, total) as advance:
            while chunk := list(islice(stream, batch)):
                yield from self._detections(self._infer_any(chunk, done))
                advance(len(chunk))
                done += len(chunk)

    def to_frame(
        self, frame: Frame, *, column: str | None = None, batch: int = BATCH, progress: Progress = False
    ) -> Frame:
        """Add the answers as columns to a table of dialogues; returns the same kind of table.

        A pandas or polars DataFrame, a pyarrow Table or a Hugging Face Dataset. The turns are in columns `turn1`,
        `turn2`, ..., in a list `turns`, or in `text`; or the one text or list of turns is in `column`.

        >>> import polars as pl
        >>> load("nano").to_frame(pl.DataFrame({"said": ["I hate you"]}), column="said")["label"].to_list()
        ['angry']
        """
        from emoscope.detector.frames import with_answers

        answered: Frame = with_answers(self, frame, column=column, batch=batch, progress=progress)
        return answered

    def timeline(self, dialogue: DialogueLike) -> Timeline:
        """A detection for each turn, each given only what was said up to it."""
        _refuse_table(dialogue)
        whole = Dialogue.of(dialogue)
        return Timeline(whole, self.detect_many(self.upto_each_turn(whole)))

    def upto_each_turn(self, dialogue: Dialogue, *, beyond: int = 1) -> Iterator[Dialogue]:
        """For each turn, the dialogue up to it: the turns the model reads, and `beyond` more before them.

        One more turn is enough to mark the answer as truncated; with none, it is marked only if the turns the model
        reads do not fit.
        """
        read = (self._block.turns_read() or len(dialogue)) + beyond
        for turn in range(len(dialogue)):
            yield Dialogue(dialogue.turns[max(0, turn + 1 - read) : turn + 1], dialogue.id)

    def explain(
        self, dialogue: DialogueLike, *, label: str | None = None, evaluations: int | None = None
    ) -> "Explanation":
        """Which turns and words speak for the answer, or for another label, and which against.

        `evaluations` limits how many texts the model reads: fewer are faster, but separate words less well.

        >>> found = load("nano").explain(["how was it", "tell me", "I am so happy"])
        >>> max(found.turns[-1].words, key=lambda word: word.contribution).text
        'happy'
        """
        from emoscope.detector.explain import explain

        _refuse_table(dialogue)
        whole = Dialogue.of(dialogue)
        if label is not None:
            self.check_label(label)
        answers = self.infer([whole])
        if label is None:
            label = self.labels[self.choose(answers.probabilities)[0]]
        truncated = bool(answers.truncated[0])
        return explain(self.predict_proba, whole, self.labels, label, truncated=truncated, evaluations=evaluations)

    def check_label(self, label: str) -> None:
        """Raise an error unless it is one of the labels."""
        if label not in self.labels:
            close = closest_label(label, self.labels)
            hint = f"; did you mean {close!r}?" if close else ""
            raise EmoscopeError(f"no label {label!r} to explain; expected one of: {', '.join(self.labels)}{hint}")

    def predict_proba(self, dialogues: Iterable[DialogueLike]) -> Floats:
        """The probabilities of many dialogues as an array, columns in the order of `labels`."""
        return self._infer_any(list(_many(dialogues)), 0).probabilities

    def infer(self, dialogues: Sequence[Dialogue]) -> Answers:
        """The probabilities of dialogues, which of them were truncated, and notes, from one pass."""
        inferred = self._model.infer(self._head, [Example.last(dialogue) for dialogue in dialogues])
        return self._answers(*inferred, [dialogue.turns[-1].text for dialogue in dialogues])

    def _infer_any(self, dialogues: Sequence[DialogueLike], before: int | None) -> Answers:
        """Like `infer`, for anything dialogue-like; with the number of those `before`, errors name the dialogue."""
        texts = texts_alone(dialogues)
        if texts is not None:
            return self._answers(*self._model.infer_texts(self._head, texts), [each[-1] for each in texts])
        if before is None:
            return self.infer([Dialogue.of(each) for each in dialogues])
        return self.infer([_numbered(number, each) for number, each in enumerate(dialogues, before + 1)])

    def _answers(self, probabilities: Floats, truncated: Truncated, messages: Sequence[str]) -> Answers:
        notes = notes_of_all(messages)
        shifted = shift_prior(temper(probabilities, self._trained, notes), self._trained, self._prior)
        texts = ["; ".join(notes[place]) if place in notes else None for place in range(len(messages))]
        return Answers(spare_anger_and_joy(shifted, self.labels, notes), truncated, texts)

    def predict_examples(self, examples: Sequence[Example]) -> Floats:
        """The probabilities of a task's examples, answered together.

        Unlike a dialogue, an example may continue after the turn to be labelled. If the model was trained to estimate
        the mix of labels, it does so from these examples, unless a prior was given.
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
        return [self.labels[place] for place in self.choose(self.predict_examples(examples))]

    def choose(self, probabilities: Floats) -> NDArray[np.int64]:
        """The label chosen for each row of probabilities, as its position in `labels`.

        The most likely one, or with `for_metric` the one that its task's metric prefers.
        """
        return np.asarray((probabilities * self._decision).argmax(1))

    def truncates(self, dialogue: DialogueLike) -> bool:
        """Whether the model reads only a part of the dialogue.

        >>> load("nano").truncates(["hi", "hello"])
        False
        """
        return bool(self.infer([Dialogue.of(dialogue)]).truncated[0])

    def estimate_prior(self, dialogues: Iterable[DialogueLike]) -> dict[str, float]:
        """Estimate the mix of labels in unlabelled dialogues; pass it back as `load(prior=...)`."""
        examples = [Example.last(_numbered(*numbered)) for numbered in enumerate(_many(dialogues), 1)]
        estimated = estimate_prior(self._model.infer(self._head, examples)[0], self._trained)
        return self._by_label(estimated)

    def _detections(self, answers: Answers) -> list[Detection]:
        labels, below = self.labels, self._abstain_below
        if not ((answers.probabilities >= 0) & (answers.probabilities <= 1)).all():
            raise EmoscopeError(f"model {self.name} gave scores outside 0 to 1")
        chosen = self.choose(answers.probabilities).tolist()
        rows = zip(chosen, answers.probabilities.tolist(), answers.truncated.tolist(), answers.notes, strict=True)
        return [
            Detection.unchecked(
                labels[place] if row[place] >= below else None, dict(zip(labels, row, strict=True)), cut, note
            )
            for place, row, cut, note in rows
        ]


def _many(dialogues: Iterable[DialogueLike]) -> Iterable[DialogueLike]:
    """The dialogues; a single one is an error, or its characters or turns would be taken for dialogues."""
    given: object = dialogues  # from a caller without types, anything
    if isinstance(given, bytes) or not _iterates(given):
        raise EmoscopeError(f"expected many dialogues, for example a list of them, not {type(dialogues).__name__}")
    if isinstance(dialogues, str | Mapping | Dialogue):
        raise EmoscopeError(f"expected many dialogues, not one ({type(dialogues).__name__}): put it into a list")
    _refuse_table(dialogues)
    return dialogues


def _iterates(given: object) -> bool:
    """Whether a loop can go over it; some datasets have only `__getitem__`."""
    return isinstance(given, Iterable) or hasattr(given, "__getitem__")


def _refuse_table(given: object) -> None:
    """Raise an error for a data frame, which iterates over the names of its columns."""
    if hasattr(given, "columns"):
        raise EmoscopeError(f"a {type(given).__name__} is a table: give it to to_frame, or give one of its columns")


def _numbered(number: int, dialogue: DialogueLike) -> Dialogue:
    try:
        return Dialogue.of(dialogue)
    except EmoscopeError as error:
        raise EmoscopeError(f"dialogue {number:,}: {error}") from None
