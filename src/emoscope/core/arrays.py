"""Named arrays in `.npz` files, and words as arrays; nothing is pickled, so untrusted files are safe to open."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import InputError
from emoscope.core.files import atomic_write, existing_file


def save_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays atomically."""
    with atomic_write(path, "wb") as handle:
        np.savez_compressed(handle, **dict[str, Any](arrays))


@contextmanager
def open_arrays(path: str | Path, what: str = "a file of arrays") -> Iterator[Mapping[str, NDArray[Any]]]:
    """Read what `save_arrays` wrote; if an array is missing or malformed, an InputError says the file is not `what`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.npz"
    >>> save_arrays(path, {"scores": np.arange(3)})
    >>> with open_arrays(path) as arrays:
    ...     arrays["scores"].tolist()
    [0, 1, 2]
    """
    try:
        with np.load(existing_file(path), allow_pickle=False) as stored:
            yield stored
    except (ValueError, LookupError, TypeError, OSError, EOFError, BadZipFile) as error:
        raise InputError(path, f"is not {what} ({error})") from None


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Load all arrays of a file."""
    with open_arrays(path) as stored:
        return dict(stored)


def pack_words(words: Sequence[str]) -> NDArray[np.uint8]:
    r"""Pack words into one byte array; none may contain a line break.

    >>> unpack_words(pack_words(["so", "😂"]))
    ['so', '😂']
    """
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)


def unpack_words(packed: NDArray[np.uint8]) -> list[str]:
    """Undo `pack_words`."""
    text = packed.tobytes().decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
