"""There and back: the variants of texts, each kept or dropped for a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.meaning import OverlapSimilarity, Similarity, denies, word_key, words_in
from emoscope.corpus.augment.plain import ascii_text, without_loose_marks
from emoscope.corpus.augment.shield import Shielded, shield
from emoscope.corpus.augment.translator import ENGLISH, UNTRANSLATED, Engine, Translator, short_code

NO_WORDS = "no words to translate"
EMPTY = "nothing came back"
NAME_LOST = "a name or mask lost"
UNKNOWN_WORD = "a word left in the other language"
SAME = "the same words"
SAME_AS_OTHER = "the same as through another language"
NEGATION = "a negation lost or gained"
UNLIKE = "too unlike"
REASONS = (NO_WORDS, EMPTY, NAME_LOST, UNKNOWN_WORD, SAME, SAME_AS_OTHER, NEGATION, UNLIKE)


@dataclass(frozen=True, slots=True)
class Variant:
    """What came back through one language, if it is kept; else why it is dropped."""

    text: str | None
    reason: str | None = None


class BackTranslator:
    """English texts, through other languages and back to English.

    >>> class Shout:
    ...     name = "shout"
    ...     def translator(self, source, target):
    ...         return lambda texts: [text.replace("glad", "happy") for text in texts]
    >>> made = BackTranslator(Shout(), ["es"], similarity=0.0)(["so glad 😂", "ok"])
    >>> made[0]["es"].text, made[1]["es"].reason
    ('so happy 😂', 'the same words')
    """

    def __init__(
        self,
        engine: Engine,
        via: Sequence[str],
        *,
        similarity: float | None = None,
        measure: Similarity | None = None,
    ) -> None:
        self.via = tuple(short_code(language) for language in via)
        if not self.via or len(set(self.via)) < len(self.via) or ENGLISH in self.via:
            raise EmoscopeError(f"via {','.join(via)}: expected one or more languages, each once, and not English")
        self._measure = measure or OverlapSimilarity()
        self.similarity = self._measure.threshold if similarity is None else similarity
        self._engine = engine
        self._ways: list[tuple[str, Translator, Translator]] = [
            (language, engine.translator(ENGLISH, language), engine.translator(language, ENGLISH))
            for language in self.via
        ]

    def description(self) -> dict[str, Any]:
        """All that decides what comes back, as plain values for JSON."""
        return {
            "engine": self._engine.name,
            "via": list(self.via),
            "similarity": self.similarity,
            "measure": self._measure.name,
        }

    def __call__(self, texts: Sequence[str]) -> list[dict[str, Variant]]:
        """The variants of each text, by language. A text that occurs twice is translated once."""
        different = list(dict.fromkeys(texts))
        plain = [ascii_text(text) for text in different]
        shields = [shield(text) for text in plain]
        made: list[dict[str, Variant]] = [{} for _ in different]
        for language, there, back in self._ways:
            for variants, variant in zip(made, self._through(plain, shields, there, back), strict=True):
                variants[language] = variant
        for variants in made:
            _drop_repeated(variants)
        found = dict(zip(different, made, strict=True))
        return [found[text] for text in texts]

    def _through(
        self, texts: Sequence[str], shields: Sequence[Shielded], there: Translator, back: Translator
    ) -> list[Variant]:
        pieces = [piece for shielded in shields for piece in shielded.wanted]
        abroad = [text.replace(UNTRANSLATED, "") for text in there(pieces)]
        returned = iter(back(abroad))
        judged: list[Variant] = []
        for text, shielded in zip(texts, shields, strict=True):
            judged.append(_judged(text, shielded, [next(returned) for _ in shielded.wanted]))
        kept = [place for place, variant in enumerate(judged) if variant.text is not None]
        alike = self._measure([texts[place] for place in kept], [str(judged[place].text) for place in kept])
        for place, value in zip(kept, alike, strict=True):
            if value < self.similarity:
                judged[place] = Variant(None, UNLIKE)
        return judged


def _judged(text: str, shielded: Shielded, translated: Sequence[str]) -> Variant:
    """A variant after all checks but that of how alike it is."""
    if not shielded.wanted:
        return Variant(None, NO_WORDS)
    if not all(map(word_key, translated)):
        return Variant(None, EMPTY)
    # A word that the engine does not know in English, such as "lol", comes back as it was; any other is still Spanish.
    known = {word for piece in shielded.wanted for word in words_in(piece)}
    if any(word not in known for piece in translated for word in _untranslated_words(piece)):
        return Variant(None, UNKNOWN_WORD)
    said = shielded.put_back([ascii_text(piece.replace(UNTRANSLATED, "")) for piece in translated])
    if said is None:
        return Variant(None, NAME_LOST)
    variant = without_loose_marks(" ".join(said.split()))
    reason = _fault(text, variant)
    return Variant(None if reason else variant, reason)


def _fault(text: str, variant: str) -> str | None:
    if word_key(variant) == word_key(text):
        return SAME
    return NEGATION if denies(variant) != denies(text) else None


def _untranslated_words(piece: str) -> Iterator[str]:
    for rest in piece.split(UNTRANSLATED)[1:]:
        yield from words_in(rest)[:1]


def _drop_repeated(variants: dict[str, Variant]) -> None:
    seen: set[str] = set()
    for language, variant in variants.items():
        if variant.text is None:
            continue
        if word_key(variant.text) in seen:
            variants[language] = Variant(None, SAME_AS_OTHER)
        seen.add(word_key(variant.text))
