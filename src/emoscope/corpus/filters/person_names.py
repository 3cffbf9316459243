"""Names of people, without a model: by lists of first names, titles, and the phrases that names stand in.

A capitalised first name is a person, unless it is also a word or a place; then what stands around it decides. A word
with a capital that is in no list is a person within a sentence. In lower case, a first name of five letters or more
that is no word is a person; others need a phrase such as "my name is", "my friend" or "says": who writes "i'm sad" is
not called Sad, and "mark my words" is not about Mark.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from emoscope.core.language_words import is_common
from emoscope.corpus.filters.roles import ROLES
from emoscope.corpus.filters.shipped import listed_words, read_patterns
from emoscope.corpus.filters.spans import Kind, Span

_PATTERN = read_patterns("person_names.toml")
_MOSTLY = listed_words("names_mostly.txt")
_WORDS = listed_words("names_words.txt")  # people within a sentence, not where one begins
_NOUNS = listed_words("proper_nouns.txt")
_CITIES = listed_words("names_cities.txt")  # people, unless they are visited
_PERSONS = _WORDS | _MOSTLY | _CITIES
_PLACES = (listed_words("names_places.txt", "names_also_words.txt") | _NOUNS) - _PERSONS  # need a phrase
_EAST_ASIAN = listed_words("names_east_asia.txt")
_FAMILY = listed_words("family_names_east_asia.txt")
_LISTED = listed_words("names.txt", "names_more.txt", "names_cultures.txt", "names_mostly.txt") | _EAST_ASIAN
_ONLY_NAMES = _LISTED - _WORDS - _PLACES
_NAMES = _LISTED | _WORDS | listed_words("names_places.txt")
_NOT_NAMES = listed_words("not_names.txt")
_VOCABULARY = listed_words("vocabulary.txt")
_SURE_LETTERS = 5  # of a first name in small letters; shorter ones are words of other languages too often
_NEAR = 40  # characters before and after a word that decide whether it is a name


def person_names(text: str) -> Iterator[Span]:
    """The names of people in a text.

    >>> text = "im anna and Rahul Sharma is my boss, mark my words"
    >>> sorted({text[span.start : span.end] for span in person_names(text)})
    ['Rahul', 'Rahul Sharma', 'anna']
    """
    for match in _PATTERN["says_name"].finditer(text):
        if not _is_word(match["name"].split()[0]):
            yield Span(*match.span("name"), Kind.NAME)
    for match in _PATTERN["may_say_name"].finditer(text):
        yield from _introduced(text, match)
    for pattern in (_PATTERN["title"], _PATTERN["miss"], _PATTERN["relation"]):
        for match in pattern.finditer(text):
            if not _is_word(match["first"]) and (pattern is not _PATTERN["miss"] or _is_title(text, match)):
                yield Span(*match.span("name"), Kind.NAME)
    yield from _capitalised(text)
    for span in small_names(text):
        if _is_small_person(text, span):
            yield span
    for match in _PATTERN["small"].finditer(text):
        says = match["first"].lower() in _WORDS and _PATTERN["says"].match(text, match.end("first"))
        if says and _PATTERN["small_starts"].search(_before(text, match)):
            yield Span(*match.span("first"), Kind.NAME)


def small_names(text: str) -> Iterator[Span]:
    """Words that can only be first names, wherever they are: most are people, some short ones are unknown words.

    >>> [text[span.start : span.end] for text in ["rahul is late, mark my words"] for span in small_names(text)]
    ['rahul']
    """
    for match in _PATTERN["small"].finditer(text):
        if _is_small_name(match["first"]):
            last = "short" if match["short"] and _is_small_name(match["short"]) else "name"
            yield Span(match.start(), match.end(last), Kind.NAME)


def names_of_speakers(speakers: Iterable[str | None]) -> re.Pattern[str] | None:
    """What finds the speakers of a dialogue in its turns: their names whole, and each part that is no common word.

    >>> names_of_speakers(["Ross Geller", "agent", None]).findall("ross, Geller and the agent")
    ['ross', 'Geller']
    """
    parts = {
        part.lower()
        for speaker in speakers
        if speaker
        for part in (*re.findall(r"[^\W\d_]{2,}(?:['’-][^\W\d_]{2,})*", speaker), speaker.strip())
    }
    chosen = [part for part in parts if re.search(r"[^\W\d_]", part) and not all(map(_is_plain, part.split()))]
    if not chosen:
        return None
    choice = "|".join(map(re.escape, sorted(chosen, key=lambda part: (-len(part), part))))
    return re.compile(rf"(?<!\w)(?:{choice})(?!\w)", re.IGNORECASE)


def is_persons_name(speaker: str) -> bool:
    """Whether a speaker is called by a first name, also by one that is a word in a sentence, as Max or Joy.

    >>> [is_persons_name(name) for name in ("Grace", "joy k", "Tea Corner", "agent")]
    [True, True, False, False]
    """
    first = re.match(r"[^\W\d_]+", speaker)
    plain = first.group().lower() if first else ""
    return plain not in ROLES and (plain in _ONLY_NAMES or plain in _WORDS or bool(_PATTERN["called"].fullmatch(plain)))


def _is_plain(part: str) -> bool:
    """Whether a speaker's name is a role or a word, as in `user`, `Speaker 1` or `the manager`."""
    if part in _ONLY_NAMES or part in _WORDS:
        return False
    return len(part) < 3 or is_common(part) or part in _VOCABULARY or part in ROLES


def _introduced(text: str, match: re.Match[str]) -> Iterator[Span]:
    name = match["name"]
    first = name.split()[0]
    plain = first.lower()
    if plain in _ONLY_NAMES and (first[0].isupper() or _is_small_name(first)):
        yield Span(*match.span("name"), Kind.NAME)
    elif first[0].isupper() and first[1:].islower() and not _is_word(first) and plain not in _PLACES:
        # "I'm Olufemi", but not "I'm Batman and you're Robin" nor "this is Sparta".
        asks = re.match(r"i[^t]|call|name", match.group().lower())
        if asks and (" " in name or _PATTERN["sure_after"].match(text, match.end())):
            yield Span(*match.span("name"), Kind.NAME)


def _is_title(text: str, miss: re.Match[str]) -> bool:
    """Whether Miss before a name is a title: "I Miss Rahul" and "Miss London already" are about missing."""
    before = _before(text, miss)
    if miss["first"].lower() in _NOUNS or _PATTERN["missing_before"].search(before):
        return False
    return not _PATTERN["sentence_start"].search(before) or bool(_PATTERN["miss_after"].match(text, miss.end()))


def _capitalised(text: str) -> Iterator[Span]:
    """Names with a capital: the first word that is one, and the words after it that may belong to it."""
    words = list(_PATTERN["capitalised"].finditer(text))
    shouted = _written_in_capitals(text)
    place = 0
    while place < len(words):
        last = _last_of_name(text, words, place)
        if _is_person(text, words[place], words[last], shouted=shouted):
            start, end = words[place].start(), words[last].end()
            if not (_PATTERN["fictional"].match(text, start) or _is_city(text, start, end)):
                yield Span(start, end, Kind.NAME)
            place = last
        place += 1


def _last_of_name(text: str, words: Sequence[re.Match[str]], first: int) -> int:
    """Up to three words after a first name that follow it directly and are no words of the language."""
    last = first
    while last + 1 < len(words) and last - first < 3:
        word = words[last + 1]
        plain = word["first"].lower()
        if not _PATTERN["between"].fullmatch(text[words[last].end() : word.start()]):
            break
        word_itself = _is_word(plain) or plain in _PLACES or _is_vocabulary(plain)
        word_itself = word_itself and not _PATTERN["surname_with_article"].match(plain)
        if word_itself and plain not in _LISTED and not _is_east_asian(words[last]["first"].lower(), plain):
            break
        last += 1
    return last


def _is_east_asian(first: str, second: str) -> bool:
    """Whether two words are the family name and the given name of somebody from China or Korea, in either order.

    A family name that is a word as well, as Park or Song, needs a listed given name.
    """
    if first in _FAMILY and first in _ONLY_NAMES:
        return not (_is_word(second) or second in _PLACES or second in _VOCABULARY)
    return (first in _FAMILY and second in _EAST_ASIAN) or (first in _EAST_ASIAN and second in _FAMILY)


def _is_person(text: str, word: re.Match[str], last: re.Match[str], *, shouted: bool) -> bool:
    first = word["first"].lower()
    before, after = _before(text, word), text[last.end() : last.end() + _NEAR]
    starts = bool(_PATTERN["sentence_start"].search(before))
    two_letters = word is not last and _PATTERN["short_surname"].fullmatch(first)
    whole = word is not last and _is_east_asian(first, last["first"].lower())
    if whole or two_letters or first in _ONLY_NAMES or (first.split("-")[0] in _ONLY_NAMES and "-" in first):
        return True
    capitals = shouted or (word["first"].isupper() and len(first) > 1)
    if first in _WORDS or first in _PLACES or is_common(first) or first in _NOT_NAMES:
        return first in _NAMES and not capitals and _is_called(text, word, last, starts=starts)
    if capitals or not word["first"][1:].replace("-", "").islower() or len(first) < 3 or _is_vocabulary(first):
        return False
    if _LETTERS_OF_NO_NAME.search(first):
        return False
    if not starts:
        return not _PATTERN["thing_before"].search(before)
    acts = _PATTERN["says"].match(after) or _PATTERN["does"].match(after)
    return bool(acts) and not _PATTERN["thing_after"].match(after)


def _is_called(text: str, word: re.Match[str], last: re.Match[str], *, starts: bool) -> bool:
    """Whether a name that is a word or a place as well is a person's here."""
    first = word["first"].lower()
    before, after = _before(text, word), text[last.end() : last.end() + _NEAR]
    if word is not last:
        return first in _WORDS or first not in _NOUNS
    if first in _WORDS:
        relation = _PATTERN["relation_after"].match(after)
        acts = after[relation.end() :] if relation else after
        return not starts or bool(_PATTERN["does"].match(acts) or _PATTERN["says"].match(acts))
    if _PATTERN["given_before"].search(before):
        return first in _LISTED
    if first in _NOUNS and not _PATTERN["called"].fullmatch(first):
        return False
    if _PATTERN["greeting"].search(before) or _PATTERN["sure_before"].search(before) or _PATTERN["says"].match(after):
        return first in _LISTED and (starts is False or bool(_PATTERN["says"].match(after)))
    spoken_to = starts or _PATTERN["vocative_before"].search(before)
    return bool(_PATTERN["called"].fullmatch(first) and spoken_to and re.match(r"\s*[,!]", after))


def _is_city(text: str, start: int, end: int) -> bool:
    """Whether this is a city, as in "we flew to Orlando", and nobody called so."""
    if text[start:end].lower() not in _CITIES:
        return False
    before = text[max(0, start - _NEAR) : start]
    after = (_PATTERN["place_after"], _PATTERN["thing_after"])
    return bool(_PATTERN["place_before"].search(before)) or any(pattern.match(text, end) for pattern in after)


def _before(text: str, match: re.Match[str]) -> str:
    """What stands right before a word; a whole turn would make long ones slow."""
    return text[max(0, match.start() - _NEAR) : match.start()]


def _is_small_person(text: str, span: Span) -> bool:
    """Whether a word that can only be a first name is a person's here."""
    if _PATTERN["fictional"].match(text, span.start) or _is_city(text, span.start, span.end):
        return False
    if _PATTERN["small_before"].search(text[max(0, span.start - _NEAR) : span.start]):
        return True
    if text[span.start].isupper():
        return False
    acts = _PATTERN["says"].match(text, span.end) or _PATTERN["small_after"].match(text, span.end)
    return bool(acts) or span.end - span.start >= _SURE_LETTERS


def _is_small_name(word: str) -> bool:
    """Whether a word in small letters can only be a first name."""
    plain = word.lower()
    known = is_common(plain) or plain in _NOT_NAMES or not {plain, plain.removesuffix("s")}.isdisjoint(_VOCABULARY)
    return plain in _ONLY_NAMES and not known


def _is_vocabulary(plain: str) -> bool:
    """Whether this is a word of English, also one that only its ending shows to be one."""
    short = re.sub(r"(?:'s|s'|')$", "", plain.replace("’", "'"))
    stems = (short, short.removesuffix("s"), short.removesuffix("es"), re.sub(r"(.)\1+", r"\1", short))
    known = any(stem in _VOCABULARY or is_common(stem) or stem in _NOUNS for stem in stems)
    return known or bool(_ENDS.search(short)) or ("-" in short and any(map(is_common, short.split("-"))))


_LETTERS_OF_NO_NAME = re.compile(r"(.)\1\1|[^aeiouy\W]{5}|(?:ha|ah){3}")
_ENDS = re.compile(rf"(?:{_PATTERN['word_ending'].pattern})$")


def _written_in_capitals(text: str) -> bool:
    """Whether most words are capitalised, so that a capital does not mark a name."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    capital = sum(word[0].isupper() for word in words)
    return len(words) >= 3 and capital * 3 >= len(words) * 2


def _is_word(word: str) -> bool:
    """Whether this is a common word and not a name, even where a name is expected."""
    plain = word.lower()
    return plain in _NOT_NAMES or (is_common(plain) and plain not in _ONLY_NAMES)
