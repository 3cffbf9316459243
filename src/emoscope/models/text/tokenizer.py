"""Texts to an encoder's token ids; without torch, so training and inference share it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Self

from emoscope.core.errors import EmoscopeError
from emoscope.core.text import TRIGGER, normalise_text

FEW = 8  # up to this many texts are encoded one by one, which is faster than handing them to threads


class Tokenizer:
    """Texts to token ids. Special tokens are added by id alone, so no text can forge one."""

    def __init__(self, tokenizer: Any, *, start: int, end: int, mask: int, padding: int) -> None:
        self._backend = tokenizer
        # Sentence encoders come with both switched on, for a length of their own.
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        self.start = start
        self.end = end
        self.mask = mask
        self.padding = padding

    @classmethod
    def read(cls, description: str, *, start: int, end: int, mask: int, padding: int) -> Self:
        """From the content of a `tokenizer.json`, which does not give the roles of its special tokens."""
        from tokenizers import Tokenizer as Backend

        try:
            tokenizer = Backend.from_str(description)
        except Exception as error:  # the library raises nothing narrower
            raise EmoscopeError(f"not a tokenizer ({error})") from None
        return cls(tokenizer, start=start, end=end, mask=mask, padding=padding)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of texts, without special tokens except the mask, which replaces IEST's trigger word.

        Texts are normalised first: encoders know the names of emoji, not emoji.
        """
        rows: list[list[int]] = []
        for first, *others in self._encoded(texts, self._backend.encode_batch_fast):
            rows.append(list(first.ids))
            for part in others:
                rows[-1] += [self.mask, *part.ids]
        return rows

    def words(self, texts: Sequence[str]) -> list[list[list[int]]]:
        """The token ids of texts, grouped by word."""
        rows: list[list[list[int]]] = []
        for parts in self._encoded(texts, self._backend.encode_batch):  # the fast version does not number words
            row: list[list[int]] = []
            for place, encoding in enumerate(parts):
                if place:
                    row.append([self.mask])
                tokens = zip(encoding.word_ids, encoding.ids, strict=True)
                row += [[token_id for _, token_id in word] for _, word in groupby(tokens, itemgetter(0))]
            rows.append(row)
        return rows

    def spelled(self, words: Sequence[str]) -> list[list[int]]:
        """The token ids of words from another tokeniser, in which `_` joins the words of an emoji's name."""
        plain = [f" {word.replace('_', ' ').strip() or word}" for word in words]
        encodings = self._backend.encode_batch(plain, add_special_tokens=False)
        return [
            [self.mask] if word == TRIGGER else list(encoding.ids)
            for word, encoding in zip(words, encodings, strict=True)
        ]

    def _encoded(self, texts: Sequence[str], encode: Callable[..., list[Any]]) -> Iterator[list[Any]]:
        """The encodings of each text's parts between masked words."""
        cut = [normalise_text(text).split(TRIGGER) for text in texts]
        parts = [part for parts in cut for part in parts]
        if len(parts) <= FEW:
            encodings = iter([encode([part], add_special_tokens=False)[0] for part in parts])
        else:
            encodings = iter(encode(parts, add_special_tokens=False))
        for parts in cut:
            yield [next(encodings) for _ in parts]

    def text(self, token_ids: Sequence[int]) -> str:
        """Token ids as readable text."""
        return str(self._backend.decode(list(token_ids), skip_special_tokens=False))

    def special_token_id(self, name: str) -> int:
        """The id of the special token of a name."""
        number = self._backend.token_to_id(f"[{name}]")
        if number is None:
            raise EmoscopeError(f"the encoder's tokenizer has no special token for {name!r}")
        return int(number)

    def has(self, name: str) -> bool:
        """Whether there is a special token for a name."""
        return self._backend.token_to_id(f"[{name}]") is not None

    @property
    def special(self) -> list[int]:
        """The ids of all special tokens."""
        added = self._backend.get_added_tokens_decoder()
        return sorted(number for number, token in added.items() if token.special)

    def description(self) -> str:
        """The tokenizer as the text of a `tokenizer.json`."""
        return str(self._backend.to_str())
