"""A model on disk: a folder with `bundle.json` and the model's own files. Run folders and embedded presets alike."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from emoscope.dialogue import Dialogue
from emoscope.errors import EmoscopeError, InputError
from emoscope.files import atomic_write, whole_text
from emoscope.registry import Registry

FILE = "bundle.json"
PRESETS = ("nano",)
DEFAULT = "nano"


class Backend(Protocol):
    """What the detector asks of a model."""

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

    @classmethod
    def load(cls, folder: Path, /) -> Self:
        """Read the model's files."""


BACKENDS: Registry[type[Backend]] = Registry("kind of model")
BACKENDS.add("nano", "emoscope.models.nano:NanoModel")


class Bundle(BaseModel):
    """What `bundle.json` says of a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = "emoscope-bundle-1"
    name: str
    kind: str
    task: str
    prior: dict[str, float] | None = None  # the mix of labels to answer for; None: as in training
    prior_source: str | None = None

    def save(self, folder: Path) -> None:
        """Write `bundle.json`."""
        with atomic_write(folder / FILE) as handle:
            handle.write(self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Bundle":
        """Read `bundle.json`, or say why the folder is not a model."""
        path = folder / FILE
        if not path.is_file():
            raise EmoscopeError(f"{folder}: holds no model ({FILE} is missing)")
        try:
            content: Any = json.loads(whole_text(path))
            bundle = cls.model_validate(content)
        except (json.JSONDecodeError, ValidationError) as error:
            raise InputError(path, f"is not a model description ({str(error).splitlines()[0]})") from None
        if bundle.format != "emoscope-bundle-1":
            raise InputError(path, f"has format {bundle.format!r}; this version reads 'emoscope-bundle-1'")
        return bundle

    def backend(self, folder: Path) -> Backend:
        """The model itself."""
        return BACKENDS[self.kind].load(folder)


def resolve(model: str | Path) -> Path:
    """The folder of a preset (`nano`, `default`) or of a trained run.

    >>> resolve("nano").name
    'nano'
    """
    name = DEFAULT if str(model) == "default" else str(model)
    if name in PRESETS:
        return Path(str(files("emoscope.detector") / "assets" / name))
    folder = Path(model)
    if folder.is_dir():
        return folder
    raise EmoscopeError(
        f"no model named {str(model)!r}: expected {', '.join(PRESETS)}, default, or a folder with {FILE}"
    )
