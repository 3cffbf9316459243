"""The description of a model, `bundle.json`: the same in a run, an export and an embedded model."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from emoscope.core.errors import EmoscopeError, InputError, did_you_mean
from emoscope.core.files import whole_text, write_json

FILE = "bundle.json"
FORMAT = "emoscope-bundle-2"
ASSETS = Path(str(files("emoscope.detector") / "assets"))
PRESETS = ("default", "open", "nano")
FORMER_HEADS = {"ekman": "general"}  # names that callers may still use
FALLBACK = "nano"  # stands in for a preset that is not installed


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One set of labels a model answers with.

    `trained` is the mix of labels in training, `prior` the expected mix if it differs; with `estimate`, the mix is
    estimated from the examples of a whole file. Probabilities are raised to 1 / `temperature`; the factors of
    `decision` are used for choosing a label only.

    >>> Head(name="mood", labels=("good", "bad"), trained={"good": 0.5, "bad": 0.5}).temperature
    1.0
    """

    name: str
    labels: tuple[str, ...]
    trained: Mapping[str, float]
    prior: Mapping[str, float] | None = None
    prior_source: str | None = None
    estimate: bool = False
    temperature: float = 1.0
    decision: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        _expect(isinstance(self.name, str) and all(isinstance(label, str) for label in self.labels), "names as text")
        mixed = bool(self.labels) and set(self.trained) == set(self.labels)
        _expect(mixed, f"labels of {self.name}, and the mix of them it was trained on")
        _expect(isinstance(self.temperature, int | float) and self.temperature > 0, "a temperature above 0")
        for numbers in (self.trained, self.prior, self.decision):
            if numbers is not None:
                numeric = isinstance(numbers, Mapping) and all(isinstance(n, int | float) for n in numbers.values())
                _expect(numeric, f"a number for each label of {self.name}")
                _expect(set(numbers) <= set(self.labels), f"only labels of {self.name}")


# A dataclass, not a pydantic model: importing pydantic would take a fifth of the time to a program's first answer.
@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The content of `bundle.json`: a model's name, the task it was trained for, and its heads.

    >>> mood = Head(name="mood", labels=("good", "bad"), trained={"good": 0.5, "bad": 0.5})
    >>> Bundle(name="mine", task="iest", heads=(mood,)).head().name
    'mood'
    """

    name: str
    task: str
    heads: tuple[Head, ...]
    format: str = FORMAT

    def __post_init__(self) -> None:
        _expect(all(isinstance(text, str) for text in (self.name, self.task)), "name and task as text")
        _expect(bool(self.heads), "at least one head")

    def head(self, name: str | None = None) -> Head:
        """The head of this name, by default the first."""
        names = [head.name for head in self.heads]
        if name is None:
            return self.heads[0]
        given: object = name  # from a caller without types, a list of labels perhaps
        if not isinstance(given, str):
            sets = ", ".join(names)
            raise EmoscopeError(f"labels is the name of a set of labels ({sets}), not a {type(given).__name__}")
        for known in (name, FORMER_HEADS.get(name)):
            if known in names:
                return self.heads[names.index(known)]
        names += [former for former, now in FORMER_HEADS.items() if now in names and former not in names]
        raise EmoscopeError(f"model {self.name} has no labels named {name!r}; {did_you_mean(name, names, 'it has')}")

    def save(self, folder: Path) -> None:
        """Write `bundle.json`."""
        content = asdict(self, dict_factory=lambda fields: {name: value for name, value in fields if value is not None})
        write_json(folder / FILE, content)

    @classmethod
    def load(cls, folder: Path) -> "Bundle":
        """Read `bundle.json`; an error if the folder is not a model."""
        path = folder / FILE
        if not path.is_file():
            if (folder / "run.json").is_file():
                from emoscope.detector.old_formats import read_run

                return read_run(folder)
            raise EmoscopeError(f"{folder}: holds no model ({FILE} is missing)")
        try:
            content = json.loads(whole_text(path))
            if "kind" in content:
                from emoscope.detector.old_formats import read_bundle

                content = read_bundle(folder, content)
            heads = tuple(Head(**{**head, "labels": tuple(head["labels"])}) for head in content.pop("heads"))
            bundle = cls(**content, heads=heads)
        except (json.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(path, f"is not a model description ({error})") from None
        if bundle.format != FORMAT:
            raise InputError(path, f"has format {bundle.format!r}; this version reads {FORMAT!r}")
        return bundle


def _expect(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"expected {what}")


def resolve(model: str | Path) -> Path:
    """The folder of a preset (`default`, `open`, `nano`) or of a trained run.

    >>> resolve("nano").name
    'nano'
    """
    name = str(model)
    if name in PRESETS:
        return ASSETS / name if (ASSETS / name / FILE).is_file() else ASSETS / FALLBACK
    if name and (folder := Path(model)).is_dir():  # an empty name would be the working folder
        return folder
    expected = f"no model named {name!r}: expected {', '.join(PRESETS)}, or a folder with {FILE}"
    close = get_close_matches(name.lower(), PRESETS, n=1)
    raise EmoscopeError(expected + (f"; did you mean {close[0]!r}?" if close else ""))


def folder_hash(folder: Path) -> str:
    """The SHA-256 of a model's files.

    >>> len(folder_hash(resolve("nano")))
    64
    """
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(path.relative_to(folder).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
