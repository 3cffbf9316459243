"""Which turns and words carried an answer.

What is shared out is the log-odds of a label, log p / (1 - p): evidence adds up there, and +0.7 doubles the odds. Each
turn gets its Shapley value, its mean effect over all orders in which the turns could have been said; each word then
its share of its turn in the same way (together these are Owen's values). So the words of a turn sum to the turn, and
the turns and the baseline, where nothing was said, sum to the answer.

A turn that is left out stays as an empty turn, since who spoke when is not what is explained; a word that is left out
is cut from its text.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.emoticons import EMOJI_PATTERN, emoji_words

Floats = NDArray[np.float64]
Predict = Callable[[list[Dialogue]], Floats]  # probabilities, one row a dialogue
State = tuple[int, ...]  # of each turn, the parts that are there, as bits

# All subsets are tried of up to this many turns; of more, fixed random orders and their reverses.
EXACT_TURNS = 5
TURN_ORDERS = 8
# How many variants of the dialogue the words of one turn may take. Where that is enough (seven words beside two other
# turns, nine in a turn alone) all subsets of the words are tried; else as many orders as it allows.
VARIANTS = 640
MAX_WORD_ORDERS = 32
# Of longer turns, neighbouring words share their contribution.
MAX_PARTS = 48
# No model reads so much of a turn; checked by cutting there.
LONG_TEXT = 4000
BATCH = 512
_TINY = 1e-9  # bounds the log-odds at about 21

_TRIGGER = re.compile(r"\[#(?:trigger|target)word#\]", re.IGNORECASE)
_RUN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class WordContribution:
    """A word, where it stands in its turn's text, and what it added to the log-odds."""

    text: str
    start: int
    end: int
    contribution: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"text": self.text, "start": self.start, "end": self.end, "contribution": self.contribution}


@dataclass(frozen=True, slots=True)
class TurnContribution:
    """A turn and what it added to the log-odds; the sum of its words. A turn that the model does not read has none."""

    turn: Turn
    contribution: float
    words: tuple[WordContribution, ...]
    read: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "text": self.turn.text,
            "speaker": self.turn.speaker,
            "read": self.read,
            "contribution": self.contribution,
            "words": [word.as_dict() for word in self.words],
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a label got its score: `baseline` and the turns' contributions sum to `log_odds`, that of `score`."""

    label: str
    score: float
    log_odds: float
    baseline: float  # the log-odds where nothing was said
    turns: tuple[TurnContribution, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "label": self.label,
            "score": self.score,
            "unit": "log-odds",
            "log_odds": self.log_odds,
            "baseline": self.baseline,
            "turns": [turn.as_dict() for turn in self.turns],
        }


def explain(
    predict: Predict,
    dialogue: Dialogue,
    labels: Sequence[str],
    label: str,
    *,
    truncated: bool = False,
    seed: int = 0,
) -> Explanation:
    """Share the log-odds of a label among the turns and words of a dialogue. The same call gives the same answer.

    `truncated` says that the model does not read all of it; which turns it reads is then found out first.

    >>> def predict(dialogues):  # one in two, and better odds with every "yes"
    ...     odds = [3.0 ** sum(text.count("yes") for text in each.texts) for each in dialogues]
    ...     return np.array([[odd / (1 + odd), 1 / (1 + odd)] for odd in odds])
    >>> found = explain(predict, Dialogue.of(["yes", "oh yes"]), ("good", "bad"), "good")
    >>> [[round(word.contribution, 4) for word in turn.words] for turn in found.turns]
    [[1.0986], [0.0, 1.0986]]
    """
    column = list(labels).index(label)
    said = _read_part(predict, dialogue) if truncated else dialogue
    turns = [_Parts.of(turn) for turn in said.turns]
    players = [number for number, turn in enumerate(turns) if turn.size]
    rng = np.random.default_rng(seed)
    among_turns = coalitions(len(players), exact=EXACT_TURNS, orders=TURN_ORDERS, rng=rng)
    contexts = {
        number: {_state(turns, players, there): weight for there, weight in weights.items()}
        for number, weights in zip(players, among_turns, strict=True)
    }
    among_words = {number: _among_words(turns[number].size, len(contexts[number]), rng) for number in players}
    values = _Values(predict, said, turns, column)
    nothing, everything = _state(turns, players, 0), _state(turns, players, -1)
    values.measure([nothing, everything, *_needed(contexts, among_words)])
    shares: dict[int, list[float]] = {}
    for number in players:
        shares[number] = [
            math.fsum(
                weight * much * (values.of(context, number, there | 1 << part) - values.of(context, number, there))
                for there, weight in weights.items()
                for context, much in contexts[number].items()
            )
            for part, weights in enumerate(among_words[number])
        ]
    unread = len(dialogue) - len(said)
    explained = [
        TurnContribution(dialogue.turns[unread + number], math.fsum(shares.get(number, [])), turn.words(shares, number))
        for number, turn in enumerate(turns)
    ]
    left_out = [TurnContribution(turn, 0.0, (), read=False) for turn in dialogue.turns[:unread]]
    score = values.probability(everything)
    return Explanation(label, score, values[everything], values[nothing], (*left_out, *explained))


def coalitions(players: int, *, exact: int, orders: int, rng: np.random.Generator) -> list[dict[int, float]]:
    """For each player the sets of others (as bits) it joins, with the weight of each: 1 in all.

    Up to `exact` players these are all sets, with Shapley's weights; beyond, the sets before the player in `orders`
    random orders, half of them the reverse of the others.

    >>> coalitions(2, exact=2, orders=0, rng=np.random.default_rng(0))
    [{0: 0.5, 2: 0.5}, {0: 0.5, 1: 0.5}]
    """
    if players <= exact:
        weights = [
            math.factorial(size) * math.factorial(players - 1 - size) / math.factorial(players)
            for size in range(players)
        ]
        return [
            {there: weights[there.bit_count()] for there in range(1 << players) if not there & 1 << player}
            for player in range(players)
        ]
    found: list[dict[int, float]] = [{} for _ in range(players)]
    for _ in range(orders // 2):
        order = rng.permutation(players).tolist()
        for direction in (order, order[::-1]):
            there = 0
            for player in direction:
                found[player][there] = found[player].get(there, 0.0) + 1 / (orders // 2 * 2)
                there |= 1 << player
    return found


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words stand: runs without white space, emoji apart (but the same one repeated is one word).

    A masked word is none: it is what is asked about, and stays.

    >>> [text[start:end] for text in ["so happy!😂😂 :)"] for start, end in word_spans(text)]
    ['so', 'happy!', '😂😂', ':)']
    """
    cuts = {0, len(text)}
    masks = [match.span() for match in _TRIGGER.finditer(text)]
    for start, end in (*masks, *_emoji_runs(text)):
        cuts |= {start, end}
    edges = sorted(cuts)
    found = []
    for start, end in pairwise(edges):
        if (start, end) not in masks:
            found += [(start + run.start(), start + run.end()) for run in _RUN.finditer(text[start:end])]
    return found


def _emoji_runs(text: str) -> Iterator[tuple[int, int]]:
    if text.isascii():
        return
    start = end = 0
    last = ""
    for match in EMOJI_PATTERN.finditer(text):
        if not emoji_words(match.group()):
            continue
        if match.group() == last and match.start() == end:
            end = match.end()
            continue
        if last:
            yield start, end
        start, end, last = match.start(), match.end(), match.group()
    if last:
        yield start, end


@dataclass(frozen=True, slots=True)
class _Parts:
    """A turn as what can be left out of it: its words, or in a long turn groups of them."""

    turn: Turn
    spans: list[tuple[int, int]]
    groups: list[list[int]]  # the words of each part
    masks: list[tuple[int, int]]

    @classmethod
    def of(cls, turn: Turn) -> "_Parts":
        spans = word_spans(turn.text)
        cut = np.array_split(np.arange(len(spans)), min(len(spans), MAX_PARTS) or 1)
        masks = [match.span() for match in _TRIGGER.finditer(turn.text)]
        return cls(turn, spans, [group.tolist() for group in cut if len(group)], masks)

    @property
    def size(self) -> int:
        return len(self.groups)

    def left(self, there: int) -> Turn:
        """The turn with these parts only."""
        if there == (1 << self.size) - 1:
            return self.turn
        kept = [self.spans[word] for part, group in enumerate(self.groups) if there >> part & 1 for word in group]
        text, end = "", None
        for start, stop in sorted((*kept, *self.masks)):
            text += ("" if end is None or end == start else " ") + self.turn.text[start:stop]
            end = stop
        return Turn(text, self.turn.speaker)

    def words(self, shares: dict[int, list[float]], number: int) -> tuple[WordContribution, ...]:
        """Each word with what it added."""
        return tuple(
            WordContribution(
                self.turn.text[slice(*self.spans[word])], *self.spans[word], shares[number][part] / len(group)
            )
            for part, group in enumerate(self.groups)
            for word in group
        )


class _Values:
    """The log-odds of variants of a dialogue, all predicted together."""

    def __init__(self, predict: Predict, dialogue: Dialogue, turns: Sequence[_Parts], column: int) -> None:
        self._predict = predict
        self._dialogue = dialogue
        self._turns = turns
        self._column = column
        self._known: dict[State, tuple[float, float]] = {}

    def measure(self, states: Sequence[State]) -> None:
        """Predict what is asked for, each variant once."""
        wanted = list(dict.fromkeys(states))
        texts: dict[tuple[int, int], Turn] = {}
        variants = []
        for state in wanted:
            for key in enumerate(state):
                if key not in texts:
                    texts[key] = self._turns[key[0]].left(key[1])
            variants.append(Dialogue(tuple(texts[key] for key in enumerate(state)), self._dialogue.id))
        for start in range(0, len(wanted), BATCH):
            answers = self._predict(variants[start : start + BATCH])
            chosen = answers[:, self._column]
            others = np.delete(answers, self._column, axis=1).sum(1)
            odds = np.log(np.maximum(chosen, _TINY)) - np.log(np.maximum(others, _TINY))
            pairs = zip(odds.tolist(), chosen.tolist(), strict=True)
            self._known.update(zip(wanted[start : start + BATCH], pairs, strict=True))

    def __getitem__(self, state: State) -> float:
        return self._known[state][0]

    def of(self, context: State, turn: int, there: int) -> float:
        """The value with some parts of one turn, the other turns being as the context has them."""
        return self[_with(context, turn, there)]

    def probability(self, state: State) -> float:
        """The probability itself."""
        return self._known[state][1]


def _state(turns: Sequence[_Parts], players: Sequence[int], there: int) -> State:
    """All of the given players' turns and nothing of the others."""
    state = [0] * len(turns)
    for bit, number in enumerate(players):
        if there >> bit & 1:
            state[number] = (1 << turns[number].size) - 1
    return tuple(state)


def _with(context: State, turn: int, there: int) -> State:
    return (*context[:turn], there, *context[turn + 1 :])


def _needed(contexts: dict[int, dict[State, float]], among_words: dict[int, list[dict[int, float]]]) -> Iterator[State]:
    """Every variant that the values are made of."""
    for number, found in among_words.items():
        sets = {there for weights in found for there in weights}
        sets |= {there | 1 << part for part, weights in enumerate(found) for there in weights}
        for context in contexts[number]:
            for there in sorted(sets):
                yield _with(context, number, there)


def _among_words(parts: int, contexts: int, rng: np.random.Generator) -> list[dict[int, float]]:
    """The sets of a turn's words to try, as many as the variants allow in all contexts."""
    exact = (VARIANTS // contexts).bit_length() - 1
    pairs = VARIANTS // (2 * max(1, parts - 1) * contexts)
    orders = 2 * min(max(1, pairs), MAX_WORD_ORDERS // 2)  # even, since each comes with its reverse
    return coalitions(parts, exact=exact, orders=orders, rng=rng)


def _read_part(predict: Predict, dialogue: Dialogue) -> Dialogue:
    """The last turns, as few as give the same answer, and of very long ones their beginning: what the model reads."""
    cut = Dialogue(tuple(Turn(turn.text[:LONG_TEXT], turn.speaker) for turn in dialogue.turns), dialogue.id)
    if cut != dialogue and _same(predict([cut, dialogue])):
        dialogue = cut
    step = 16
    for first in range(1, len(dialogue), step):
        kept = [
            Dialogue(dialogue.turns[-length:], dialogue.id) for length in range(first, min(first + step, len(dialogue)))
        ]
        answers = predict([dialogue, *kept])
        for candidate, answer in zip(kept, answers[1:], strict=True):
            if _same(np.stack([answers[0], answer])):
                return candidate
    return dialogue


def _same(answers: Floats) -> bool:
    return bool(np.abs(answers[0] - answers[1]).max() <= 1e-12)
