"""Identify the language of a dialogue, or the two it mixes, with word lists and lingua."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.language_words import WordCounts, count_words
from emoscope.corpus.filters.listed_languages import (
    is_clearly_foreign,
    is_hardly_english,
    listed_language,
    may_be_foreign,
    sure_of_few,
)

UNKNOWN = "und"
ENGLISH, SPANISH, HINDI = "en", "es", "hi"
# The languages lingua chooses from. With more, short texts get less accurate: it takes romanised Hindi for Swahili or
# Maori, for example.
CANDIDATES = (
    "ar", "bn", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "gu", "he", "hi", "hu", "id", "it", "ja",
    "ko", "mr", "ms", "nb", "nl", "pa", "pl", "pt", "ro", "ru", "sv", "ta", "te", "th", "tl", "tr", "uk", "ur",
    "vi", "zh",
)  # fmt: skip
# Too similar for lingua to distinguish in a few words; the value stands for both.
_TWINS = {"ms": "id", "da": "nb"}
# The confidence lingua must reach; less is enough if hardly any word is English.
_SURE, _SURE_WITHOUT_ENGLISH = 0.5, 0.35
_FEW = 3  # words; fewer are too little for lingua
# Addresses, masks, names, and codes such as postcodes.
_NOT_PROSE = re.compile(r"(?:https?://|www\.)\S+|<[A-Z]+>|[@#]\w+|\S+@\S+|\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]+\b")
# A letter of another script, and the letters and marks after it; blocks from Devanagari on mix marks and letters.
_OTHER_LETTER = r"[^\W\d_a-zA-Z\u00aa-\u036f\u1d00-\u1dbf\u1e00-\u1eff\u2100-\u214f]"
_MARK = (
    r"[\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u07a6-\u07b0\u0900-\u109f\u1780-\u17d3]"
)
_OTHER_SCRIPT = re.compile(rf"{_OTHER_LETTER}(?:{_OTHER_LETTER}|{_MARK})*")
# Faces such as (ノ ゜ノ) and ಠ_ಠ are made of these, beside Latin letters and signs.
_FACE = frozenset("ツッシノヽヾゝ゜ﾉﾟоωдДσεಠ益ლღงಥᴥ皿")
# Characters of another script that count next to English words; fewer are a face or a name.
_MIN_OTHER_BESIDE = 4


# Languages of scripts that lingua does not know.
_SCRIPTS = {
    "ORIYA": "or", "MALAYALAM": "ml", "KANNADA": "kn", "SINHALA": "si", "MYANMAR": "my", "ETHIOPIC": "am",
    "KHMER": "km", "LAO": "lo", "TIBETAN": "bo", "GEORGIAN": "ka", "ARMENIAN": "hy", "THAANA": "dv", "MONGOLIAN": "mn",
}  # fmt: skip
OTHER = "xx"  # not English, but otherwise unknown


class LanguageIdentifier:
    """Identifies a dialogue's language: `en`, a mix such as `en+hi`, or `und` where there is too little text.

    >>> said = (["hey how are you"], ["lol ok"], ["yaar this is so boring", "kya kare"], ["tu fais quoi"])
    >>> [LanguageIdentifier().identify(turns) for turns in said]
    ['en', 'und', 'en+hi', 'fr']
    """

    def __init__(self, candidates: Iterable[str] = CANDIDATES) -> None:
        lingua = require("lingua", extra="corpus")
        self._candidates = tuple(dict.fromkeys(candidates))
        codes = {code: getattr(lingua.IsoCode639_1, code.upper(), None) for code in self._candidates}
        for code, known in codes.items():
            if known is None:
                problem = f"no language {code!r}; give a code of two letters that lingua knows, such as en or es"
                raise EmoscopeError(problem)
        languages = map(lingua.Language.from_iso_code_639_1, codes.values())
        self._detector = lingua.LanguageDetectorBuilder.from_languages(*languages).build()

    def __reduce__(self) -> tuple[type["LanguageIdentifier"], tuple[tuple[str, ...]]]:
        return LanguageIdentifier, (self._candidates,)  # each process creates its own

    def identify(self, texts: Sequence[str]) -> str:
        """The language of a dialogue, or the two of one that also has a whole turn in another language.

        >>> LanguageIdentifier().identify(["how was it?", "non ci posso credere", "what does that mean?"])
        'en+it'
        """
        main = self.main_language(texts)
        if main not in (ENGLISH, UNKNOWN) or len(texts) == 1:
            return main
        foreign = Counter(code for code in map(self._foreign_turn, texts) if code != UNKNOWN)
        if not foreign:
            return main
        other = min(foreign, key=lambda code: (-foreign[code], code))
        return other if main == UNKNOWN else "+".join(sorted([ENGLISH, other]))

    def main_language(self, texts: Sequence[str]) -> str:
        """The language, or languages, of all texts together."""
        turns = [_NOT_PROSE.sub(" ", text) for text in texts]
        other = " ".join(part for turn in turns for part in _OTHER_SCRIPT.findall(turn))
        latin = [_OTHER_SCRIPT.sub(" ", turn) for turn in turns]
        languages = {self._latin(latin)}
        if other and languages == {UNKNOWN}:
            enough = not _FACE.issuperset(other.replace(" ", ""))
        else:
            enough = len(other.replace(" ", "")) >= _MIN_OTHER_BESIDE
        if enough:
            languages.add(self._script(other))
        languages.discard(UNKNOWN)
        return "+".join(sorted({code for name in languages for code in name.split("+")})) or UNKNOWN

    def _foreign_turn(self, turn: str) -> str:
        """The language of a turn that is clearly not English, or `und`."""
        text = _OTHER_SCRIPT.sub(" ", _NOT_PROSE.sub(" ", turn))
        if not may_be_foreign(text):
            return UNKNOWN
        code = self._latin([text])
        if code in (ENGLISH, UNKNOWN) or "+" in code:
            return UNKNOWN
        return code if is_clearly_foreign(text, code, self._likelihoods(text)[code]) else UNKNOWN

    def _script(self, text: str) -> str:
        """The language of a text without Latin letters, which is never English."""
        script = unicodedata.name(text[0], "").split(" ")[0]
        if script in _SCRIPTS:
            return _SCRIPTS[script]
        found = self._confident(text, 0.0)
        return OTHER if found == UNKNOWN else found

    def _latin(self, turns: Sequence[str]) -> str:
        counts = count_words(" ".join(turns))
        text = " ".join(turns)
        if (other := listed_language(text, counts)) is not None:
            return other
        if not counts.telling:
            return UNKNOWN
        found = self._by_words_or_lingua(turns, counts)
        if found in (UNKNOWN, ENGLISH) and is_hardly_english(text):
            guess = self._confident(text, 0.0)
            return OTHER if guess in (UNKNOWN, ENGLISH) else guess
        if found in (UNKNOWN, ENGLISH) and (least := sure_of_few(text)) is not None:
            guess = self._confident(text, least)
            return found if guess == UNKNOWN else guess
        return found

    def _by_words_or_lingua(self, turns: Sequence[str], counts: WordCounts) -> str:
        if (by_words := _by_words(counts)) is not None:
            return by_words
        named = Counter[str]()
        for turn in turns:
            if count_words(turn).telling >= _FEW:
                named[self._confident(turn, _SURE)] += 1
        least = _SURE if counts.english * 5 > counts.telling else _SURE_WITHOUT_ENGLISH
        whole = self._confident(" ".join(turns), least) if counts.telling >= _FEW else UNKNOWN
        return _settled(counts, whole, {code for code in named if code != UNKNOWN})

    def _confident(self, text: str, least: float) -> str:
        """The language lingua finds most likely, if it is more than `least` likely."""
        code, value = min(self._likelihoods(text).items(), key=lambda pair: (-pair[1], pair[0]))
        return code if value > least else UNKNOWN

    def _likelihoods(self, text: str) -> Counter[str]:
        values: Counter[str] = Counter()
        for confidence in self._detector.compute_language_confidence_values(text):
            code = confidence.language.iso_code_639_1.name.lower()
            values[_TWINS.get(code, code)] += confidence.value
        return values


def _by_words(counts: WordCounts) -> str | None:
    """The language, if the word lists alone can decide it, as for most dialogues."""
    for code, own, rest in ((HINDI, counts.hindi, counts.spanish), (SPANISH, counts.spanish, counts.hindi)):
        if own < 2 or own <= rest:
            continue
        if counts.english >= 2 and counts.english * 8 >= own:
            # Two borrowed words in a long English dialogue do not make it mixed.
            return f"{ENGLISH}+{code}" if own * 8 >= counts.english else ENGLISH
        if code == HINDI or own * 2 >= counts.telling:
            return code
    foreign = counts.hindi + counts.spanish
    if counts.english >= 2 and foreign <= 1 and counts.english * 10 >= counts.telling * 6:
        return ENGLISH
    return None


def _settled(counts: WordCounts, whole: str, turns: set[str]) -> str:
    """lingua's answers, corrected where the word lists contradict them."""
    english = counts.english / counts.telling
    foreign = sorted(turns - {ENGLISH})
    if ENGLISH in turns and foreign and english >= 0.2:
        return "+".join(sorted([ENGLISH, foreign[0]]))
    if whole not in (UNKNOWN, ENGLISH) and english < 0.34:
        return whole
    if counts.spanish and not counts.english and counts.spanish * 2 >= counts.telling:
        return SPANISH if counts.spanish >= 2 else UNKNOWN
    return ENGLISH if whole == ENGLISH or counts.english else UNKNOWN
