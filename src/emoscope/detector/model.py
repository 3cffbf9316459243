"""A model as it is loaded: what its folder says of its heads, and the block that answers them."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import ASSETS, Bundle, Head
from emoscope.models.block import Block, Floats, Truncated

BLOCK = "model"  # the folder of the block


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A bundle and its block. Detectors with other labels or priors share it."""

    bundle: Bundle
    block: Block
    preset: str | None = None  # the embedded model it is

    def __post_init__(self) -> None:
        for head in self.bundle.heads:
            labels = self.block.labels[self.block.columns(head.name)]
            if set(head.labels) != set(labels):
                raise EmoscopeError(f"head {head.name}: expected the model's labels, which are {', '.join(labels)}")

    @classmethod
    def load(cls, folder: Path) -> "FittedModel":
        """Read a run, an export or an embedded preset."""
        bundle = Bundle.load(folder)
        try:
            if (folder / BLOCK).is_dir():
                preset = folder.name if folder.parent == ASSETS else None
                return cls(bundle, Block.load(folder / BLOCK), preset)
            from emoscope.detector.old_formats import read_block

            return cls(bundle, read_block(folder, bundle))
        except ModuleNotFoundError as error:
            raise EmoscopeError(
                f"{folder}: needs {error.name}, which is not installed (pip install 'emoscope[train]'); where it is, "
                "`emoscope export` writes a model that does not need torch"
            ) from None

    def save(self, folder: Path) -> None:
        """Write the block and `bundle.json`."""
        self.block.save(folder / BLOCK)
        self.bundle.save(folder)

    def packed(self) -> str | bytes:
        """What another process can load it from: an embedded model's name, else an archive of its folder."""
        if self.preset is not None:
            return self.preset
        with TemporaryDirectory() as name:
            folder, archive = Path(name), io.BytesIO()
            self.save(folder)
            with zipfile.ZipFile(archive, "w") as written:
                for path in sorted(folder.rglob("*")):
                    written.write(path, path.relative_to(folder))
            return archive.getvalue()

    @classmethod
    def unpacked(cls, packed: bytes) -> "FittedModel":
        """The model of an archive that `packed` gave."""
        with TemporaryDirectory() as name, zipfile.ZipFile(io.BytesIO(packed)) as archive:
            archive.extractall(name)
            return cls.load(Path(name))

    def infer(self, head: Head, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        """The probabilities of a head's labels under its training prior, and which examples were not read whole."""
        prediction = self.block.infer(examples)
        columns = self.block.columns(head.name)
        labels = self.block.labels[columns]
        probabilities = prediction.probabilities[:, columns][:, [labels.index(label) for label in head.labels]]
        if head.temperature != 1:
            raised = probabilities ** (1 / head.temperature)
            probabilities = raised / raised.sum(1, keepdims=True)
        truncated = prediction.truncated
        return probabilities, np.zeros(len(examples), bool) if truncated is None else truncated
