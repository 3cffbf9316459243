"""Drop dialogues in other languages, and mixtures of two languages."""

from collections import Counter
from collections.abc import Iterable, Mapping

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.identify import CANDIDATES, UNKNOWN, LanguageIdentifier
from emoscope.corpus.filters.review import DialogueFilter, Review
from emoscope.corpus.filters.roles import is_role

_ENOUGH = 2_000  # characters per user; more would not change the result
NO_USERS = "no speaker with a name, not a role such as user, wrote enough in one language"


class LanguageFilter(DialogueFilter):
    """Drops dialogues in languages other than `keep`; dialogues too short to tell stay.

    A language is a two-letter code; dialogues that mix two are kept only if the mix is named, as in `en+hi`. With
    `users`, the languages of speakers, a dialogue too short to tell is in a language of its speakers.

    >>> english = LanguageFilter(["en"])
    >>> said = [Dialogue.of(turns) for turns in (["lol ok"], ["tu fais quoi"], ["yaar this is so boring", "kya kare"])]
    >>> [review.reason for review in english.review(said)]
    [None, 'other language', 'code-mixed']
    >>> LanguageFilter(["en", "hi+en"]).review(said)[2].reason is None
    True
    >>> ok = Dialogue.of([{"speaker": "Luc", "text": "lol ok"}])
    >>> LanguageFilter(["en"], users={"Luc": "fr"}).review_one(ok).reason
    'other language'
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
        """The language of the dialogue; if that is too short to tell, the one of its speakers, if any is known."""
        own = self._identifier.identify(dialogue.texts)
        if own != UNKNOWN:
            return own
        spoken = {self.users[turn.speaker] for turn in dialogue.turns if turn.speaker in self.users}
        return min(spoken - set(self.keep), default=min(spoken, default=UNKNOWN))


def user_languages(dialogues: Iterable[Dialogue]) -> dict[str, str]:
    """The language of each speaker, identified from all their turns.

    Left out are speakers who wrote too little, those who write two languages, since their short messages may be in
    either, and roles such as `user`, which are not one person.

    >>> said = [("Ann", "ok"), ("user", "who are you?"), ("Ann", "je ne sais pas quoi faire")]
    >>> user_languages([Dialogue.of([{"speaker": speaker, "text": text} for speaker, text in said])])
    {'Ann': 'fr'}
    """
    texts: dict[str, list[str]] = {}
    lengths: Counter[str] = Counter()
    for dialogue in dialogues:
        for turn in dialogue.turns:
            if turn.speaker is not None and lengths[turn.speaker] < _ENOUGH and not is_role(turn.speaker):
                texts.setdefault(turn.speaker, []).append(turn.text)
                lengths[turn.speaker] += len(turn.text)
    identifier = LanguageIdentifier()
    languages = {user: identifier.main_language(turns) for user, turns in texts.items()}
    return {user: language for user, language in languages.items() if language != UNKNOWN and "+" not in language}


def _normal(code: str) -> str:
    parts = [part.strip().lower() for part in code.split("+")]
    if not all(len(part) == 2 and part.isalpha() for part in parts):
        raise EmoscopeError(f"no language {code!r}; expected a code of two letters such as en, or two as in en+hi")
    return "+".join(sorted(set(parts)))
