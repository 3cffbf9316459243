"""The filters that ship, chosen by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.borderline import BorderlineFilter
from emoscope.corpus.filters.language import LanguageFilter
from emoscope.corpus.filters.lexicon import LexiconFilter
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.sensitive import STANDARD, SensitiveFilter, Topic
from emoscope.corpus.filters.spans import Kind


def standard_filters(
    *,
    languages: Sequence[str] | None = ("en",),
    offensive: bool = True,
    threshold: float | None = None,
    topics: Sequence[Topic | str] | None = STANDARD,
    personal: Literal["drop", "mask", "off"] = "drop",
    kinds: Sequence[Kind | str] = tuple(Kind),
    lexicons: Sequence[str | Path] = (),
    review: bool = False,
    users: Mapping[str, str] | None = None,
) -> list[DialogueFilter]:
    """The filters for these settings; `None` turns off the filter of languages or topics.

    `lexicons` are files of words to drop, `review` selects doubtful dialogues for human review, `users` are the
    languages of speakers, as `user_languages` returns them.
    """
    if threshold is not None and not offensive:
        raise EmoscopeError("--threshold: the offensive filter is off; turn it on, or leave the threshold out")
    filters: list[DialogueFilter] = []
    if languages is not None:
        filters.append(LanguageFilter(languages, users=users))
    if offensive:
        filters.append(OffensiveFilter(threshold=threshold))
    if topics is not None:
        filters.append(SensitiveFilter(topics))
    filters += [LexiconFilter(path) for path in lexicons]
    if personal != "off":  # after the others, so that they see the original text
        filters.append(PersonalFilter(mask=personal == "mask", kinds=kinds))
    if review:  # last, so that what is masked is not in doubt
        filters.append(BorderlineFilter(kinds=() if personal == "off" else kinds))
    return filters
