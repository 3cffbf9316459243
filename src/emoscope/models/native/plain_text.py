"""Texts as input for the C kernels: which ones they can tokenise themselves, and all of them end to end."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# ASCII, the curved apostrophe, the ellipsis, and symbols: none of the others is a letter, digit or space, has case, or
# comes from a wrong encoding. An ampersand may begin an entity, which is resolved in texts that are not ASCII.
_PLAIN = re.compile("[\0-%'-\x7f’…\u200d\u2600-\u2775\u2794-\u27bf\ufe0f\U0001f300-\U0001faff]*")


def is_plain(text: str) -> bool:
    """Whether the kernels can tokenise a text themselves, without tables of Unicode.

    >>> is_plain("I’m so happy 😂…"), is_plain("déjà vu")
    (True, False)
    """
    return text.isascii() or _PLAIN.fullmatch(text) is not None


def end_to_end(texts: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
    """The code points of all texts, and the offsets of each text and of the end.

    >>> end_to_end(["hi", "!"])[1].tolist()
    [0, 2, 3]
    """
    return "".join(texts).encode("utf-32-le", "surrogatepass"), offsets(map(len, texts), len(texts))


def offsets(sizes: Iterable[int], count: int) -> NDArray[np.int64]:
    """The offset of each of `count` parts of these sizes, and of the end."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, count), out=starts[1:])
    return starts
