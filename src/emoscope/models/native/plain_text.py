"""Texts as the kernels take them: which of them they read as they were written, and all of them end to end."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# ASCII, the curved apostrophe, the ellipsis, and symbols: none of them a letter, a digit, a space, of another case, or
# left behind by a wrong encoding. An ampersand may begin an entity, which is resolved beside what is not ASCII.
_PLAIN = re.compile("[\0-%'-\x7f’…\u200d\u2600-\u2775\u2794-\u27bf\ufe0f\U0001f300-\U0001faff]*")


def is_plain(text: str) -> bool:
    """Whether the kernels can cut a text apart by themselves, as no table of Unicode is needed for it.

    >>> is_plain("I’m so happy 😂…"), is_plain("déjà vu")
    (True, False)
    """
    return text.isascii() or _PLAIN.fullmatch(text) is not None


def end_to_end(texts: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
    """The code points of all texts, and where each begins and the last one ends.

    >>> end_to_end(["hi", "!"])[1].tolist()
    [0, 2, 3]
    """
    return "".join(texts).encode("utf-32-le", "surrogatepass"), offsets(map(len, texts), len(texts))


def offsets(sizes: Iterable[int], count: int) -> NDArray[np.int64]:
    """Where each of `count` stretches of these sizes begins, and where the last one ends."""
    found = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, count), out=found[1:])
    return found
