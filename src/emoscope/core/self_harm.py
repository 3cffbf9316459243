"""Detect mentions of self-harm with the patterns in `words/self_harm.toml`."""

import re
from functools import cache
from typing import NamedTuple

from emoscope.core.word_lists import any_of, filled, read_toml, words_in

# Every pattern needs one of these words or phrases; most messages contain none and need no further check.
WORDS = frozenset((
    "kill", "kills", "killed", "killing", "die", "dying", "dead", "death", "suicide", "suicides", "suicidal", "unalive",
    "kms", "kys", "myself", "yourself", "himself", "herself", "themselves", "yourselves", "self", "selfharm", "wrist",
    "wrists", "vein", "veins", "arm", "arms", "thigh", "thighs", "skin", "born", "disappear", "vanish", "exist",
    "existing", "wake", "alive", "live", "living", "life", "lyf", "pills", "tablets", "meds", "paracetamol", "overdose",
    "overdosed", "od", "oded", "jump", "jumping", "jumped", "goodbye", "farewell", "note", "letter", "cutting", "razor",
    "burden", "suffer", "forever", "brain", "brains", "skull", "bullet", "noose", "throat", "cut", "cuts", "scars",
    "relapsed", "carved", "carving", "carve", "pill", "traffic", "bleach", "antifreeze", "bleed", "bleeding",
    "attempted", "attempt", "died", "roping", "ledge", "lyfe", "gun", "oncoming", "cancer", "urself", "myslf",
    "cliff", "coffin", "grave", "rope", "bleeds", "themself", "unalived", "unaliving", "selfharming", "selfharmed",
    "blow", "blowing", "blew", "shoot", "shooting", "pistol", "blade", "poison", "aspirin", "aspirins", "painkillers",
    "leg", "legs", "stomach", "purpose", "deliberately", "murdered", "crush", "crushes", "crushed", "struck", "bridge",
    "train", "bus", "truck", "unalives", "selfharms", "selfharmer", "selfharmers", "selfinjure", "selfinjures",
    "selfinjured", "selfinjuring", "selfinjury", "selfmutilate", "selfmutilates", "selfmutilated", "selfmutilating",
    "selfmutilation",
))  # fmt: skip
PHRASES = (  # each of two words or more, for the same check in C
    "better off", "better if", "without me", "end it", "end my", "end the", "ending it", "ending my", "ending the",
    "go on", "going on", "be here", "to stop", "to end", "be over", "m gone", "hurt any", "miss me", "notice me",
    "last words", "final words", "be hurt", "keep any", "continue any", "head off", "head in", "hit by", "hit me",
    "hits me", "over me", "runs me", "run over", "in front", "end every", "ending every", "for good", "do it",
    "see tomorrow", "another day", "way out", "sui cid", "get hit", "got hit", "be hit", "run me", "car into",
    "car off", "to hurt", "hurt no", "i was gone", "i were gone", "drain cleaner", "this world", "my world", "on earth",
    "this earth", "i gone", "how many",
)  # fmt: skip
_WORD = re.compile(r"[a-z0-9]+")
_DISGUISE = re.compile(r"[a-z][0-9@$!*._-]+[a-z]|([a-z])\1\1|(?<![a-z])[a-z][ ._*-][a-z][ ._*-][a-z](?![a-z])")
_JOKING = re.compile(r"\bl+o+l+\b|\blmf?ao|\brofl\b|\bja?k\b|\bjust kidding\b|\b(?:ha){2,}|\bhaha|[😂🤣😆😹]|x[dD]\b")


class _Lexicon(NamedTuple):
    self_harm: re.Pattern[str]
    literal: re.Pattern[str]  # the patterns that count even in a joke
    harmless: re.Pattern[str]
    words: frozenset[str]


def mentions_self_harm(text: str) -> bool:
    """Whether a message mentions suicide, self-harm or not wanting to live, of the writer or of others.

    Common exaggerations do not count, nor do stronger ones if the writer laughs.

    >>> texts = ("I don't want to live anymore", "kill me now lol", "I'd die for a pizza")
    >>> [mentions_self_harm(text) for text in texts]
    [True, False, False]
    """
    lowered = text.lower()
    if not is_worth_checking(lowered):
        return False
    from emoscope.core.plain_words import plain_words

    lexicon = _lexicon()
    plain = lexicon.harmless.sub(",", plain_words(text, lexicon.words))
    if not lexicon.self_harm.search(plain):
        return False
    return not _JOKING.search(lowered) or lexicon.literal.search(plain) is not None


def is_worth_checking(lowered: str) -> bool:
    """Whether a message, in lower case, has a word or phrase of which every pattern needs one, or a disguised word.

    Whatever is no letter or digit separates words: emoji, dashes, quotation marks and `#`, too.
    """
    words = _WORD.findall(lowered)
    plain = " ".join(words)
    return not WORDS.isdisjoint(words) or any(map(plain.__contains__, PHRASES)) or _DISGUISE.search(lowered) is not None


@cache
def _lexicon() -> _Lexicon:
    file = read_toml("self_harm.toml")
    harmless, patterns, despair, exaggerated = (
        [filled(pattern, file["parts"]) for pattern in file[key]]
        for key in ("harmless", "patterns", "despair", "exaggerated")
    )
    words = frozenset(word for pattern in patterns for word in words_in(pattern))
    self_harm = [*patterns, *despair]
    literal = [pattern for pattern in self_harm if pattern not in exaggerated]
    return _Lexicon(any_of(self_harm), any_of(literal), any_of(harmless), words)
