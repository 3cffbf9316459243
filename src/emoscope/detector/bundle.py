"""A model on disk: a folder with `bundle.json` and the model's own files. Run folders and embedded presets alike."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.registry import Registry

FILE = "bundle.json"
FORMAT = "emoscope-bundle-1"
PRESETS = ("default", "nano")
FALLBACK = "nano"  # what `default` means in an installation that has no model of that name


class Backend(Protocol):
    """What the detector asks of a model: the answers of one head."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the probabilities' columns."""

    @property
    def prior(self) -> NDArray[np.float64]:
        """How often each label occurred in training."""

    def predict_proba(self, dialogues: list[Dialogue], /) -> NDArray[np.float64]:
        """The probability of each label under the training prior."""

    def truncates(self, dialogue: Dialogue, /) -> bool:
        """Whether a part of the dialogue is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One set of labels a model answers with.

    `labels` may be left out where the model's own files say them. `trained` is their mix in training, `prior` the mix
    to answer for if that is another. Probabilities are softmax(scores / temperature); `decision` holds a factor for
    labels, which counts for choosing one only.

    >>> Head(name="mood", labels=("good", "bad"), trained={"good": 0.5, "bad": 0.5}).temperature
    1.0
    """

    name: str
    labels: tuple[str, ...] = ()
    trained: Mapping[str, float] | None = None
    prior: Mapping[str, float] | None = None
    prior_source: str | None = None
    temperature: float = 1.0
    decision: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        _expect(isinstance(self.name, str) and all(isinstance(label, str) for label in self.labels), "names as text")
        _expect(isinstance(self.temperature, int | float) and self.temperature > 0, "a temperature above 0")
        for numbers in (self.trained, self.prior, self.decision):
            _expect(_is_numbers(numbers), f"a number for each label of {self.name}")
            _expect(not self.labels or set(numbers or ()) <= set(self.labels), f"only labels of {self.name}")


# A dataclass, not a pydantic model: importing pydantic would take a fifth of the time to a program's first answer.
@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What `bundle.json` says of a model.

    A model with one set of labels needs no `heads`: its only head has the name of the task.
    """

    name: str
    kind: str
    task: str
    format: str = FORMAT
    prior: Mapping[str, float] | None = None
    prior_source: str | None = None
    heads: tuple[Head, ...] = ()

    def __post_init__(self) -> None:
        _expect(all(isinstance(text, str) for text in (self.name, self.kind, self.task)), "name, kind and task as text")
        _expect(_is_numbers(self.prior), "a number for each label of the prior")

    def head(self, name: str | None = None) -> Head:
        """The head of a name, the first if none is given.

        >>> Bundle(name="mine", kind="nano", task="iest").head().name
        'iest'
        """
        heads = self.heads or (Head(name=self.task, prior=self.prior, prior_source=self.prior_source),)
        names = [head.name for head in heads]
        if name is None:
            return heads[0]
        if name in names:
            return heads[names.index(name)]
        close = get_close_matches(name.lower(), names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(names)}"
        raise EmoscopeError(f"model {self.name} has no labels named {name!r}; {hint}")

    def save(self, folder: Path) -> None:
        """Write `bundle.json`."""
        with atomic_write(folder / FILE) as handle:
            handle.write(json.dumps(_plain(asdict(self)), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Bundle":
        """Read `bundle.json`, or say why the folder is not a model."""
        path = folder / FILE
        if not path.is_file():
            hint = "; a run becomes one with: emoscope export" if (folder / "run.json").is_file() else ""
            raise EmoscopeError(f"{folder}: holds no model ({FILE} is missing{hint})")
        try:
            content = json.loads(whole_text(path))
            heads = tuple(Head(**{**head, "labels": tuple(head["labels"])}) for head in content.pop("heads", ()))
            bundle = cls(**content, heads=heads)
        except (json.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(path, f"is not a model description ({error})") from None
        if bundle.format != FORMAT:
            raise InputError(path, f"has format {bundle.format!r}; this version reads {FORMAT!r}")
        return bundle

    def backend(self, folder: Path, labels: str | None = None) -> Backend:
        """The model itself, answering with the labels of one head."""
        return KINDS[self.kind](folder, self, self.head(labels))


def _expect(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"expected {what}")


def _is_numbers(value: object) -> bool:
    return value is None or (isinstance(value, Mapping) and all(isinstance(n, int | float) for n in value.values()))


def _plain(value: Any) -> Any:
    """Without what is not set."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None and inner != ()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value


Loader = Callable[[Path, Bundle, Head], Backend]

# One line per kind of model that may be loaded.
KINDS: Registry[Loader] = Registry("kind of model")
KINDS.add("nano", "emoscope.detector.kinds:load_nano")
KINDS.add("encoder", "emoscope.detector.kinds:load_encoder")
KINDS.add("blocks", "emoscope.detector.kinds:load_blocks")


def resolve(model: str | Path) -> Path:
    """The folder of a preset (`default`, `nano`) or of a trained run.

    >>> resolve("nano").name
    'nano'
    """
    name = str(model)
    if name in PRESETS:
        assets = Path(str(files("emoscope.detector") / "assets"))
        return assets / name if (assets / name / FILE).is_file() else assets / FALLBACK
    folder = Path(model)
    if folder.is_dir():
        return folder
    raise EmoscopeError(f"no model named {name!r}: expected {', '.join(PRESETS)}, or a folder with {FILE}")
