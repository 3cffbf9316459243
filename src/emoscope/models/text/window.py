"""A turn and the turns before it as one row of tokens for a pretrained encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.models.text.padding import padded
from emoscope.models.text.tokenizer import Tokenizer

Places = NDArray[np.bool_]

SAME, OTHER = "same", "other"


@dataclass(frozen=True, slots=True)
class TokenRow:
    """The tokens of a window; `first` to `last` is the turn to label, with its separator.

    `cut` says whether part of the dialogue did not fit.
    """

    token_ids: NDArray[np.int32]
    first: int
    last: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """How turns are laid out: `[CLS] previous turn [SEP] turn to label [SEP]`, or the latest first with `reverse`.

    `context` is the number of turns, the one to label included. With `speakers="names"` a turn of one of `names` begins
    with the special token of that name; with `"roles"` every turn begins with `[same]` or `[other]`, depending on
    whether its speaker is that of the turn to label. If the turns do not fit into `length`, the longest of those before
    it lose their middle.
    """

    context: int = 1
    reverse: bool = False
    speakers: str = "none"
    names: tuple[str, ...] = ()
    length: int = 128

    def __post_init__(self) -> None:
        if self.context < 1:
            raise EmoscopeError(f"context: expected at least 1 turn, found {self.context}")
        if self.length < 3:
            raise EmoscopeError(f"max_length: expected at least 3, found {self.length}")
        if self.speakers not in ("none", "names", "roles"):
            raise EmoscopeError(f"speakers: expected none, names or roles, found {self.speakers!r}")

    @property
    def special(self) -> tuple[str, ...]:
        """The names that need a special token."""
        return {"none": (), "names": tuple(name.lower() for name in self.names), "roles": (SAME, OTHER)}[self.speakers]

    def rows(self, examples: Sequence[Example], tokenizer: Tokenizer) -> list[TokenRow]:
        """Lay out examples; each distinct text is tokenised once."""
        windows = [each.dialogue.turns[max(0, each.turn + 1 - self.context) : each.turn + 1] for each in examples]
        texts = list(dict.fromkeys(turn.text for turns in windows for turn in turns))
        token_ids = dict(zip(texts, tokenizer.token_ids(texts), strict=True))
        marks = {name: tokenizer.special_token_id(name) for name in self.special}
        rows = []
        for example, turns in zip(examples, windows, strict=True):
            laid_out = [token_ids[turn.text] for turn in turns]
            if marks:
                laid_out = [self._mark(turn, turns[-1], marks) + token_ids[turn.text] for turn in turns]
            rows.append(self._row(laid_out, tokenizer, unread=example.turn + 1 > len(turns)))
        return rows

    def overlong(self, examples: Sequence[Example], tokenizer: Tokenizer) -> Places:
        """Which turns to label do not fit, even without the turns before them."""
        room = self.length - 2 - bool(self.special)
        return np.array([len(each) > room for each in tokenizer.token_ids([each.text for each in examples])], bool)

    def _mark(self, turn: Turn, labelled: Turn, marks: dict[str, int]) -> list[int]:
        if self.speakers == "roles":
            return [marks[SAME if turn.speaker == labelled.speaker else OTHER]]
        number = marks.get((turn.speaker or "").lower())
        return [] if number is None else [number]

    def _row(self, turns: Sequence[list[int]], tokenizer: Tokenizer, *, unread: bool) -> TokenRow:
        labelled = [*turns[-1][: self.length - 2], tokenizer.end]
        room = self.length - 1 - len(labelled)
        before = [[*turn, tokenizer.end] for turn in reversed(turns[:-1])]
        if sum(map(len, before)) > room:
            before = shortened_turns(before, room)
        cut = unread or sum(len(turn) + 1 for turn in turns) > self.length - 1
        if self.reverse:
            row = list(chain([tokenizer.start], labelled, *before))
            return TokenRow(np.array(row, np.int32), 1, 1 + len(labelled), cut)
        row = list(chain([tokenizer.start], *reversed(before), labelled))
        return TokenRow(np.array(row, np.int32), len(row) - len(labelled), len(row), cut)

    def arrays(self, rows: Sequence[TokenRow], tokenizer: Tokenizer) -> dict[str, NDArray[Any]]:
        """The encoder's inputs for a batch, in the order of its arguments."""
        token_ids = padded([row.token_ids for row in rows], tokenizer.padding)
        mask, segments = token_ids != tokenizer.padding, self.segments(rows, token_ids.shape[1])
        return {"token_ids": token_ids, "mask": mask.astype(np.int64), "segments": segments.astype(np.int64)}

    def segments(self, rows: Sequence[TokenRow], width: int) -> Places:
        """The places of BERT's second segment: the turn to label if it comes last, else the other turns."""
        places = np.arange(width)
        labelled = labelled_places(rows, width)
        inside = places < np.array([len(row.token_ids) for row in rows])[:, None]
        if self.reverse:
            return inside & ~labelled & (places > 0)
        return labelled & (np.array([row.first for row in rows])[:, None] > 1)


def shortened_turns(turns: Sequence[list[int]], room: int) -> list[list[int]]:
    """Turns cut to `room` tokens in all, newest first: short ones are kept whole, longer ones get equal shares.

    Of a turn that is cut, the start and the end are kept. Without room for two tokens each, the oldest are left out.

    >>> shortened_turns([[1, 2, 3, 4, 5, 6, 0], [7, 0]], 7)
    [[1, 2, 5, 6, 0], [7, 0]]
    """
    kept = list(turns)
    while sum(min(len(turn), 2) for turn in kept) > room:
        kept.pop()
    shortest_first = sorted(range(len(kept)), key=lambda place: (len(kept[place]), -place))
    for waiting, place in zip(range(len(kept), 0, -1), shortest_first, strict=True):
        turn, share = kept[place], room // waiting
        if len(turn) > share:
            start = (share - 1) // 2
            kept[place] = [*turn[:start], *turn[len(turn) - share + start :]]
        room -= len(kept[place])
    return kept


def labelled_places(rows: Sequence[TokenRow], width: int) -> Places:
    """The places of the turn to label in each padded row."""
    places = np.arange(width)
    first = np.array([row.first for row in rows])[:, None]
    last = np.array([row.last for row in rows])[:, None]
    return (places >= first) & (places < last)


def focus_places(rows: Sequence[TokenRow], token_ids: NDArray[Any], pooling: str, *, mask: int, padding: int) -> Places:
    """The places of a padded table of token ids that are pooled.

    Those of the turn to label, or of the masked word; without one, of all tokens (`mask`) or of the turn.
    """
    if pooling.startswith("last-turn"):
        return labelled_places(rows, token_ids.shape[1])
    inside: Places = token_ids != padding
    if pooling not in ("mask", "mean+focus"):
        return inside
    masked = token_ids == mask
    instead = inside if pooling == "mask" else labelled_places(rows, token_ids.shape[1])
    return np.where(masked.any(1, keepdims=True), masked, instead)
