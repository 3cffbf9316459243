"""Texts to words, words to ids."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from emoscope.core.emoticons import EMOJI_PATTERN, emoji_words, emoticon_pattern, emoticon_words
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.core.mojibake import repair_mojibake
from emoscope.core.text import TRIGGER, URL, USER

PADDING, UNKNOWN, END_OF_TURN = "<pad>", "<unk>", "<eos>"
_SPECIAL = (PADDING, UNKNOWN, END_OF_TURN)


class Vocabulary:
    """Tokens and their ids; 0 is padding, 1 every unknown token, 2 the end of a turn.

    >>> vocabulary = Vocabulary.of([["so", "happy"], ["so", "sad"]])
    >>> vocabulary.encode(["so", "angry"])
    [3, 1]
    """

    padding, unknown, end_of_turn = range(3)

    def __init__(self, tokens: Sequence[str]) -> None:
        if tuple(tokens[:3]) != _SPECIAL:
            raise EmoscopeError(f"a vocabulary begins with {', '.join(_SPECIAL)}")
        self.tokens = tuple(tokens)
        self._numbers = {token: number for number, token in enumerate(tokens)}

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]], *, min_count: int = 1, max_features: int | None = None) -> "Vocabulary":
        """The tokens of texts, the most frequent first, without rare ones."""
        counts: Counter[str] = Counter()
        for tokens in texts:
            counts.update(tokens)
        for token in _SPECIAL:
            del counts[token]
        kept = [token for token, count in counts.items() if count >= min_count]
        kept.sort(key=lambda token: (-counts[token], token))
        return cls([*_SPECIAL, *kept[:max_features]])

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens."""
        get = self._numbers.get
        return [get(token, 1) for token in tokens]

    def save(self, path: Path) -> None:
        """Write the tokens as JSON."""
        write_file(path, json.dumps(self.tokens, ensure_ascii=False))

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what `save` wrote."""
        content = json.loads(whole_text(path))
        if not isinstance(content, list) or not all(isinstance(token, str) for token in content):
            raise InputError(path, "is not a list of tokens")
        return cls(content)

    def __len__(self) -> int:
        return len(self.tokens)


_REPEATED_MARK = re.compile(r"([.?!,])\1*")


def starter_tokens(text: str) -> list[str]:
    """The preprocessing of EmoContext's starter kit: lower case; a run of a punctuation mark becomes one token.

    >>> " ".join(starter_tokens("I am  so happy!!"))
    'i am so happy !'
    """
    return _REPEATED_MARK.sub(r" \1 ", text).lower().split()


def chat_tokens(text: str) -> list[str]:
    """Lower-case words, punctuation marks, and the names of emoji and emoticons as one token each.

    Contractions are split as in GloVe's vocabulary; a run of a letter becomes two, of a punctuation mark one.

    >>> chat_tokens("I don't knowww 😂 :( !!!")
    ['i', 'do', "n't", 'knoww', 'face_with_tears_of_joy', 'frowning_face', '!']
    >>> chat_tokens("@bob look... http://t.co/x")
    ['@user', 'look', '...', '<url>']
    """
    if not text.isascii() or "&" in text:
        text = repair_mojibake(text).translate(_APOSTROPHES)
    tokens: list[str] = []
    for match in _chat_token().finditer(text):
        tokens += _TOKENS_OF[str(match.lastgroup)](match)
    return tokens


_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_CONTRACTION = re.compile(r"(?<=.)(n't|'(?:s|m|re|ve|ll|d))\Z")


@cache
def _chat_token() -> re.Pattern[str]:  # compiled on first use: it is large
    return re.compile(
        # Most words begin with a letter that begins nothing else; there the long alternatives need not be tried.
        r"(?P<plain>[^\W\d_hHwWoOtTxXQuUcCDB][^\W_]*(?:'[^\W_]+)*)"
        rf"|(?P<url>{URL}|(?i:https?://|www\.)\S+)"
        r"|(?P<trigger>(?i:\[\#(?:trigger|target)word\#\]))"
        r"|(?P<space>(?i:\[newline\]))"
        rf"|{emoticon_pattern()}"
        r"|(?P<user>@\w+)"
        rf"|(?P<emoji>{EMOJI_PATTERN.pattern})"
        r"|(?P<number>\d+(?:[.,:]\d+)+)"
        r"|(?P<word>[^\W_]+(?:'[^\W_]+)*)"
        r"|(?P<mark>[^\w\s]|_)(?P=mark)*"
    )


def _word(match: re.Match[str]) -> tuple[str, ...]:
    return _parts(match.group())


@lru_cache(maxsize=1 << 16)
def _parts(word: str) -> tuple[str, ...]:
    word = _STRETCHED.sub(r"\1\1", word.lower())
    ending = _CONTRACTION.search(word) if "'" in word else None
    return (word[: ending.start()], ending.group()) if ending else (word,)


def _mark(match: re.Match[str]) -> Iterator[str]:
    # Trailing off is not a full stop.
    yield "..." if match.group()[:2] in ("..", "…", "……") else match.group()[0]


def _emoticon(match: re.Match[str]) -> Iterator[str]:
    name = emoticon_words(match)
    if name:
        yield name.replace(" ", "_")
    else:
        yield from (character for character in match.group().lower() if not character.isspace())


def _emoji(match: re.Match[str]) -> Iterator[str]:
    yield (emoji_words(match.group()) or match.group()).replace(" ", "_")


_TOKENS_OF: dict[str, Callable[[re.Match[str]], Iterable[str]]] = {
    "plain": _word,
    "url": lambda _: (URL,),
    "trigger": lambda _: (TRIGGER,),
    "space": lambda _: (),
    "emoticon": _emoticon,
    "user": lambda _: (USER,),
    "emoji": _emoji,
    "number": lambda match: (match.group(),),
    "word": _word,
    "mark": _mark,
}


def plain_tokens(text: str) -> list[str]:
    """`chat_tokens` with the names of emoji and emoticons split into words, for models that know only those.

    >>> plain_tokens("no :(")
    ['no', 'frowning', 'face']
    """
    return [word for token in chat_tokens(text) for word in (token.split("_") if len(token) > 1 else [token])]


TOKENISERS: dict[str, Callable[[str], list[str]]] = {
    "starter": starter_tokens,
    "chat": chat_tokens,
    "plain": plain_tokens,
}


def tokeniser(name: str, known: Mapping[str, Callable[[str], list[str]]] = TOKENISERS) -> Callable[[str], list[str]]:
    """The tokeniser of a name.

    >>> tokeniser("starter")("Hi.")
    ['hi', '.']
    """
    if name not in known:
        raise EmoscopeError(f"unknown tokens {name!r}; expected one of {', '.join(known)}")
    return known[name]
