"""Words of self-harm in a message, by the patterns of `words/self_harm.toml`."""

import re
from functools import cache
from typing import NamedTuple

from emoscope.core.word_lists import any_of, filled, read_toml, words_in

# Every pattern needs one of these somewhere, or letters in disguise; most messages have none, and are done.
_STEMS = (
    "kill", "die", "dyin", "dead", "death", "suic", "sui cid", "unaliv", "kms", "kys", "self", "selves", "wrist", "vein",
    "thigh", "skin", "born", "disappear", "vanish", "exist", "wake", "alive", "living", "to live", "not live", "n't live",
    "life", "lyf", "better off", "better if", "without me", "end it", "ending it", "end my", "end the", "misery", "my pain",
    "the pain", "go on", "going on", "pill", "tablet", "paracetamol", "overdos", " od", "jump", "goodbye", "farewell",
    "final", "last note", "last letter", "last words", "cutting", "razor", "burden", "i'm gone", "i am gone", "im gone",
    "hurt any", "miss me", "notice me", "be here", "to stop", "to end", "be over", "for me",
)  # fmt: skip
_DISGUISE = re.compile(r"[a-z][0-9@$!*._-]+[a-z]|\b[a-z](?:[ ._*-][a-z]\b){2}")
_JOKING = re.compile(r"\bl+o+l+\b|\blmf?ao|\brofl\b|\bja?k\b|\bjust kidding\b|\b(?:ha){2,}|\bhaha|[😂🤣😆😹]|x[dD]\b")


class _Lexicon(NamedTuple):
    self_harm: re.Pattern[str]
    literal: re.Pattern[str]  # what remains of it where somebody jokes
    harmless: re.Pattern[str]
    known: frozenset[str]


def mentions_self_harm(text: str) -> bool:
    """Whether a message speaks of suicide or self-harm, its writer's or another's, or of not wanting to live.

    Common exaggerations are not taken at their word; neither are the stronger ones where somebody laughs.

    >>> [mentions_self_harm(text) for text in ("I don't want to live anymore", "kill me now lol", "I'd die for a pizza")]
    [True, False, False]
    """
    lowered = text.lower()
    if not any(stem in lowered for stem in _STEMS) and not _DISGUISE.search(lowered):
        return False
    from emoscope.core.plain_words import plain_words

    lexicon = _lexicon()
    plain = lexicon.harmless.sub(",", plain_words(text, lexicon.known))
    return (lexicon.literal if _JOKING.search(lowered) else lexicon.self_harm).search(plain) is not None


@cache
def _lexicon() -> _Lexicon:
    file = read_toml("self_harm.toml")
    harmless, patterns, despair, exaggerated = (
        [filled(pattern, file["parts"]) for pattern in file[key]]
        for key in ("harmless", "patterns", "despair", "exaggerated")
    )
    known = frozenset(word for pattern in patterns for word in words_in(pattern))
    spoken = [*patterns, *despair]
    literal = [pattern for pattern in spoken if pattern not in exaggerated]
    return _Lexicon(any_of(spoken), any_of(literal), any_of(harmless), known)
