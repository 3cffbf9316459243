"""The duplicates in a list of texts."""

from collections.abc import Iterable, Sequence

from emoscope.corpus.dedupe.duplicates import THRESHOLD, Duplicate, DuplicateFinder


def find_duplicates(items: Iterable[str | Sequence[str]], *, threshold: float = THRESHOLD) -> list[Duplicate]:
    """The items that are copies of earlier ones; an item is a text, or a text and its back-translations."""
    finder = DuplicateFinder(threshold=threshold)
    for number, item in enumerate(items):
        for text in (item,) if isinstance(item, str) else item:
            finder.add(number, text)
    return list(finder.duplicates())
