"""Back-translation: variants of texts, each kept or dropped for a reason."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.ascii_text import ascii_text, without_loose_marks
from emoscope.corpus.augment.engines import ENGLISH, UNTRANSLATED, Engine, Translator, short_code
from emoscope.corpus.augment.meaning import OverlapSimilarity, Similarity, denies, word_key, words_in
from emoscope.corpus.augment.shield import Shielded, shield

NO_WORDS = "no words to translate"
EMPTY = "nothing came back"
NAME_LOST = "a name or mask lost"
UNKNOWN_WORD = "a word left in the other language"
SAME = "the same words"
SAME_AS_OTHER = "the same as through another language"
NEGATION = "a negation lost or gained"
UNLIKE = "too unlike"
REASONS = (NO_WORDS, EMPTY, NAME_LOST, UNKNOWN_WORD, SAME, SAME_AS_OTHER, NEGATION, UNLIKE)


class Variant(NamedTuple):
    """The back-translated text if kept, otherwise the reason it was dropped."""

    text: str | None
    reason: str | None = None


class BackTranslator:
    """Translates English texts into other languages and back.

    With `keep_all`, every text has a variant through every language, as in EmotionX's published files: one that repeats
    the text or changes its meaning stands, and where nothing usable came back, the text itself does.

    >>> class Shout:
    ...     name = "shout"
    ...     def translator(self, source, target):
    ...         return lambda texts: [text.replace("glad", "happy") for text in texts]
    >>> variants = BackTranslator(Shout(), ["es"], similarity=0.0)(["so glad 😂", "ok"])
    >>> variants[0]["es"].text, variants[1]["es"].reason
    ('so happy 😂', 'the same words')
    """

    def __init__(
        self,
        engine: Engine,
        via: Sequence[str],
        *,
        similarity: float | None = None,
        measure: Similarity | None = None,
        keep_all: bool = False,
    ) -> None:
        self.via = tuple(short_code(language) for language in via)
        if not self.via or len(set(self.via)) < len(self.via) or ENGLISH in self.via:
            raise EmoscopeError(f"via {','.join(via)}: expected one or more languages, each once, and not English")
        if keep_all and (similarity is not None or measure is not None):
            raise EmoscopeError("keep_all keeps every variant: leave out the similarity and the encoder")
        self.keep_all = keep_all
        self._measure = measure or OverlapSimilarity()
        self.similarity = self._measure.threshold if similarity is None else similarity
        self._engine = engine
        self._routes: list[tuple[str, Translator, Translator]] = [
            (language, engine.translator(ENGLISH, language), engine.translator(language, ENGLISH))
            for language in self.via
        ]

    def description(self) -> dict[str, Any]:
        """Everything the variants depend on, as JSON values."""
        return {
            "engine": self._engine.name,
            "via": list(self.via),
            "similarity": self.similarity,
            "measure": self._measure.name,
            "keep_all": self.keep_all,
        }

    def __call__(self, texts: Sequence[str]) -> list[dict[str, Variant]]:
        """The variants of each text, by language; repeated texts are translated once."""
        variants: dict[str, dict[str, Variant]] = {text: {} for text in texts}
        plain = [ascii_text(text) for text in variants]
        shields = [shield(text) for text in plain]
        for language, there, back in self._routes:
            for own, variant in zip(variants.values(), self._through(plain, shields, there, back), strict=True):
                own[language] = variant
        if not self.keep_all:
            for own in variants.values():
                _drop_repeated(own)
        return [variants[text] for text in texts]

    def _through(
        self, texts: Sequence[str], shields: Sequence[Shielded], there: Translator, back: Translator
    ) -> list[Variant]:
        pieces = [piece for shielded in shields for piece in shielded.translatable]
        foreign = [text.replace(UNTRANSLATED, "") for text in there(pieces)]
        returned = iter(back(foreign))
        check = _or_original if self.keep_all else _checked
        variants = [
            check(text, shielded, [next(returned) for _ in shielded.translatable])
            for text, shielded in zip(texts, shields, strict=True)
        ]
        if self.keep_all:
            return variants
        kept = [place for place, variant in enumerate(variants) if variant.text is not None]
        values = self._measure([texts[place] for place in kept], [str(variants[place].text) for place in kept])
        for place, value in zip(kept, values, strict=True):
            if value < self.similarity:
                variants[place] = Variant(None, UNLIKE)
        return variants


def _checked(text: str, shielded: Shielded, translated: Sequence[str]) -> Variant:
    """Apply all checks except similarity."""
    if not shielded.translatable:
        return Variant(None, NO_WORDS)
    if not all(map(word_key, translated)):
        return Variant(None, EMPTY)
    # Unknown English words such as "lol" come back unchanged; any other marked word was left in the foreign language.
    known = {word for piece in shielded.translatable for word in words_in(piece)}
    untranslated = (words_in(rest)[:1] for piece in translated for rest in piece.split(UNTRANSLATED)[1:])
    if any(word not in known for words in untranslated for word in words):
        return Variant(None, UNKNOWN_WORD)
    variant = _restored(shielded, translated)
    if variant is None:
        return Variant(None, NAME_LOST)
    if word_key(variant) == word_key(text):
        return Variant(None, SAME)
    return Variant(variant) if denies(variant) == denies(text) else Variant(None, NEGATION)


def _or_original(text: str, shielded: Shielded, translated: Sequence[str]) -> Variant:
    """What came back, however it reads, or the text itself if that has no words or lost a name or mask."""
    variant = _restored(shielded, translated)
    return Variant(variant if variant and word_key(variant) else text)


def _restored(shielded: Shielded, translated: Sequence[str]) -> str | None:
    """The text that came back, with all that was not translated; None if a name or mask was lost."""
    restored = shielded.put_back([ascii_text(piece.replace(UNTRANSLATED, "")) for piece in translated])
    return None if restored is None else without_loose_marks(" ".join(restored.split()))


def _drop_repeated(variants: dict[str, Variant]) -> None:
    seen: set[str] = set()
    for language, variant in variants.items():
        if variant.text is None:
            continue
        if word_key(variant.text) in seen:
            variants[language] = Variant(None, SAME_AS_OTHER)
        seen.add(word_key(variant.text))
