"""Dialogues in a language that is not wanted, or that mix two."""

from collections.abc import Iterable, Sequence

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.identify import CANDIDATES, UNKNOWN, LanguageIdentifier
from emoscope.corpus.filters.review import Review


class LanguageFilter:
    """Drops dialogues in languages other than `keep`; dialogues too short to tell stay.

    A language is a two-letter code; dialogues that mix two are kept only if the mix is named, as in `en+hi`.

    >>> english = LanguageFilter(["en"])
    >>> said = [Dialogue.of(turns) for turns in (["lol ok"], ["tu fais quoi"], ["yaar this is so boring", "kya kare"])]
    >>> [review.reason for review in english.review(said)]
    [None, 'other language', 'code-mixed']
    >>> LanguageFilter(["en", "hi+en"]).review(said)[2].reason is None
    True
    """

    name = "language"

    def __init__(self, keep: Iterable[str]) -> None:
        self.keep = tuple(dict.fromkeys(_normal(code) for code in keep))
        if not self.keep:
            raise EmoscopeError("the language filter needs at least one language to keep, such as en")
        named = [part for code in self.keep for part in code.split("+")]
        self._identifier = LanguageIdentifier([*CANDIDATES, *named])
        self.settings = {"keep": list(self.keep)}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        reviews = []
        for dialogue in dialogues:
            language = self._identifier.identify(dialogue.texts)
            if language == UNKNOWN or language in self.keep:
                reviews.append(Review(dialogue))
            else:
                reason = "code-mixed" if "+" in language else "other language"
                reviews.append(Review(dialogue, reason, {"language": language}))
        return reviews


def _normal(code: str) -> str:
    parts = [part.strip().lower() for part in code.split("+")]
    if not all(len(part) == 2 and part.isalpha() for part in parts):
        raise EmoscopeError(f"no language {code!r}; expected a code of two letters such as en, or two as in en+hi")
    return "+".join(sorted(set(parts)))
