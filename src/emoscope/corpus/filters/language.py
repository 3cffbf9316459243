"""Drop dialogues in other languages, and mixtures of two languages."""

from collections import Counter
from collections.abc import Iterable, Mapping

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.identify import CANDIDATES, UNKNOWN, LanguageIdentifier
from emoscope.corpus.filters.review import DialogueFilter, Review

_ENOUGH = 2_000  # characters per user; more would not change the result


class LanguageFilter(DialogueFilter):
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

    def __init__(self, keep: Iterable[str], *, users: Mapping[str, str] | None = None) -> None:
        self.keep = tuple(dict.fromkeys(_normal(code) for code in keep))
        if not self.keep:
            raise EmoscopeError("the language filter needs at least one language to keep, such as en")
        named = [part for code in self.keep for part in code.split("+")]
        self._identifier = LanguageIdentifier([*CANDIDATES, *named])
        self.users = dict(users or {})
        self.settings = {"keep": list(self.keep), **({} if users is None else {"users": self.users})}

    def review_one(self, dialogue: Dialogue) -> Review:
        language = self._language(dialogue)
        if language == UNKNOWN or language in self.keep:
            return Review(dialogue)
        return Review(dialogue, "code-mixed" if "+" in language else "other language", {"language": language})

    def _language(self, dialogue: Dialogue) -> str:
        """The language of the speakers, if known from all their turns; otherwise that of the dialogue."""
        spoken = {self.users.get(turn.speaker or "", UNKNOWN) for turn in dialogue.turns} if self.users else {UNKNOWN}
        if UNKNOWN in spoken:
            return self._identifier.identify(dialogue.texts)
        return min(spoken - set(self.keep), default=min(spoken))


def user_languages(dialogues: Iterable[Dialogue]) -> dict[str, str]:
    """The language of each speaker, identified from all their turns; speakers who wrote too little are left out.

    >>> said = [{"speaker": "Ann", "text": "ok"}, {"speaker": "Ann", "text": "je ne sais pas quoi faire"}]
    >>> user_languages([Dialogue.of(said)])
    {'Ann': 'fr'}
    """
    texts: dict[str, list[str]] = {}
    lengths: Counter[str] = Counter()
    for dialogue in dialogues:
        for turn in dialogue.turns:
            if turn.speaker is not None and lengths[turn.speaker] < _ENOUGH:
                texts.setdefault(turn.speaker, []).append(turn.text)
                lengths[turn.speaker] += len(turn.text)
    identifier = LanguageIdentifier()
    languages = {user: identifier.main_language(turns) for user, turns in texts.items()}
    return {user: language for user, language in languages.items() if language != UNKNOWN}


def _normal(code: str) -> str:
    parts = [part.strip().lower() for part in code.split("+")]
    if not all(len(part) == 2 and part.isalpha() for part in parts):
        raise EmoscopeError(f"no language {code!r}; expected a code of two letters such as en, or two as in en+hi")
    return "+".join(sorted(set(parts)))
