"""The filters that ship, chosen by name."""

from collections.abc import Sequence
from typing import Literal

from emoscope.corpus.filters.language import LanguageFilter
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.sensitive import SensitiveFilter, Topic
from emoscope.corpus.filters.spans import Kind


def standard_filters(
    *,
    languages: Sequence[str] | None = ("en",),
    offensive: bool | Literal["strict"] = True,
    threshold: float | None = None,
    topics: Sequence[Topic | str] | None = tuple(Topic),
    personal: Literal["drop", "mask", "off"] = "drop",
    kinds: Sequence[Kind | str] = tuple(Kind),
) -> list[DialogueFilter]:
    """The filters these settings ask for; `None` leaves the filter of languages or topics out."""
    filters: list[DialogueFilter] = []
    if languages is not None:
        filters.append(LanguageFilter(languages))
    if offensive:
        filters.append(OffensiveFilter(threshold=threshold, strict=offensive == "strict"))
    if topics is not None:
        filters.append(SensitiveFilter(topics))
    if personal != "off":  # comes last, so that the other filters see the original text
        filters.append(PersonalFilter(mask=personal == "mask", kinds=kinds))
    return filters
