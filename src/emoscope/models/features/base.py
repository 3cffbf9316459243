"""What every feature extractor can do, and how several stand side by side."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.core.files import atomic_write, existing_file
from emoscope.core.fit_context import FitContext
from emoscope.models.block import EXTRACTORS, Component

Matrix = Any  # a scipy csr_matrix; scipy has no types, and is imported only when used
Arrays = Mapping[str, NDArray[Any]]


@dataclass(eq=False, repr=False)
class Extractor(Component):
    """One kind of feature. `fit` sees the training data once; `transform` gives one row per example."""

    registered_as = "extractor"

    @abstractmethod
    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Learn vocabularies, read lexicons."""

    @abstractmethod
    def transform(self, examples: Sequence[Example]) -> Matrix:
        """The features of each example."""

    def config(self) -> dict[str, Any]:
        settings = {field.name: getattr(self, field.name) for field in fields(self) if field.init}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


class Union:
    """Several extractors, their columns side by side."""

    def __init__(self, extractors: Sequence[Extractor | Mapping[str, Any]]) -> None:
        self.extractors = [made if isinstance(made, Extractor) else extractor(made) for made in extractors]

    def fit_transform(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Matrix:
        """Fit each extractor, and give the features of the examples it was fitted on."""
        for each in self.extractors:
            each.fit(examples, labels, fit_context)
        return self.transform(examples)

    def transform(self, examples: Sequence[Example]) -> Matrix:
        if not self.extractors:
            raise EmoscopeError("a classifier of examples needs at least one kind of feature")
        sparse = require("scipy.sparse", extra="features")
        return sparse.hstack([each.transform(examples) for each in self.extractors], format="csr", dtype=np.float32)


def extractor(config: Mapping[str, Any]) -> Extractor:
    """The unfitted extractor that a configuration describes."""
    return EXTRACTORS[config["kind"]].from_config({name: value for name, value in config.items() if name != "kind"}, {})


def turn_texts(examples: Sequence[Example], back: int) -> list[str]:
    """The text said `back` turns before the one to be labelled (0 is that one); empty where there was none.

    >>> from emoscope.core.dialogue import Dialogue
    >>> turn_texts([Example(Dialogue.of(["hi", "hello"]), 1), Example(Dialogue.of(["yes"]), 0)], 1)
    ['hi', '']
    """
    return [example.dialogue.turns[example.turn - back].text if example.turn >= back else "" for example in examples]


def as_rows(values: NDArray[Any]) -> Matrix:
    """A dense matrix in the form that all extractors give."""
    return require("scipy.sparse", extra="features").csr_matrix(np.asarray(values, np.float32))


def column_counts(rows: Iterable[Iterable[int]], width: int) -> Matrix:
    """How often each row names each of `width` columns.

    >>> column_counts([[0, 2, 2], []], 3).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    """
    columns: list[int] = []
    ends = [0]
    for row in rows:
        columns.extend(row)
        ends.append(len(columns))
    content = (np.ones(len(columns), np.float32), np.array(columns, np.int32), np.array(ends, np.int64))
    matrix = require("scipy.sparse", extra="features").csr_matrix(content, shape=(len(ends) - 1, width))
    matrix.sum_duplicates()
    return matrix


# Arrays and words without pickle


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write named arrays, whole or not at all."""
    with atomic_write(path, "wb") as handle:
        np.savez_compressed(handle, **dict[str, Any](arrays))


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read what `save_arrays` wrote."""
    try:
        with np.load(existing_file(path), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise InputError(path, f"is not a file of arrays ({error})") from None


def pack_words(words: Sequence[str]) -> NDArray[np.uint8]:
    r"""Words as one array of bytes; none may hold a line end.

    >>> unpack_words(pack_words(["so", "😂"]))
    ['so', '😂']
    """
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)


def unpack_words(packed: NDArray[np.uint8]) -> list[str]:
    """Read what `pack_words` made."""
    text = packed.tobytes().decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
