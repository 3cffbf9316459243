"""Which turns and words carried an answer.

The log-odds of a label, log p / (1 - p), are divided among the turns and words: evidence adds up on that scale, and
+0.7 doubles the odds. Each turn gets its Shapley value, its mean effect over all orders in which the turns could be
added; each word then gets its share of its turn in the same way (together these are Owen values). So the words of a
turn sum to the turn, and the turns and the baseline, an empty dialogue, sum to the answer.

A turn that is left out stays as an empty turn, because who spoke when is not what is explained; a word that is left
out is cut from its text.
"""

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.emoticons import EMOJI_PATTERN, emoji_words
from emoscope.core.metrics import Floats
from emoscope.detector.long_turns import READINGS, WINDOW_CHARACTERS, read_spans
from emoscope.models.block import LONG_MESSAGE

Predict = Callable[[list[Dialogue]], Floats]  # probabilities, one row per dialogue
State = tuple[int, ...]  # for each turn, the parts that are present, as bits

# Up to this many turns all subsets are tried; beyond, fixed random orders and their reverses.
EXACT_TURNS = 5
TURN_ORDERS = 8
# Variants of the dialogue for the words of one turn. If that is enough (seven words beside two other turns, nine in a
# single turn) all subsets of the words are tried, otherwise as many orders as fit.
VARIANTS = 640
MAX_WORD_ORDERS = 32
# In longer turns neighbouring words share their contribution, more of them if each variant is read in windows.
MAX_PARTS, MAX_PARTS_OF_LONG = 48, 24
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


@dataclass(frozen=True, slots=True)
class TurnContribution:
    """A turn and what it added to the log-odds, the sum of its words; nothing if the model does not read it."""

    turn: Turn
    contribution: float
    words: tuple[WordContribution, ...]
    read: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why a label got its score: `baseline` and the turns' contributions sum to `log_odds`, that of `score`."""

    label: str
    score: float
    log_odds: float
    baseline: float  # the log-odds of an empty dialogue
    turns: tuple[TurnContribution, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        turns = []
        for turn in self.turns:
            own = {"read": turn.read, "contribution": turn.contribution}
            turns.append({**asdict(turn.turn), **own, "words": [asdict(word) for word in turn.words]})
        whole = {"label": self.label, "score": self.score, "unit": "log-odds", "log_odds": self.log_odds}
        return {**whole, "baseline": self.baseline, "turns": turns}

    def __repr__(self) -> str:
        turns = "; ".join(f"{turn.contribution:+.2f} {turn.turn.text!r}" for turn in self.turns)
        return f"Explanation({self.label!r}, {self.score:.3f}: {self.baseline:+.2f} with nothing said; {turns})"

    def _repr_html_(self) -> str:
        from emoscope.core.notebook import marked_html, table_html

        strongest = max((abs(word.contribution) for turn in self.turns for word in turn.words), default=0.0) or 1.0
        rows = []
        for turn in self.turns:
            words = [(word.start, word.end, word.contribution / strongest) for word in turn.words]
            amount = f"{turn.contribution:+.2f}" if turn.read else "not read"
            rows.append((amount, html.escape(turn.turn.speaker or ""), marked_html(turn.turn.text, words)))
        head = f"<p><b>{html.escape(self.label)}</b> {self.score:.1%}, log-odds {self.log_odds:+.2f}"
        return f"{head}, of which {self.baseline:+.2f} with nothing said</p>" + table_html(rows)


def explain(
    predict: Predict,
    dialogue: Dialogue,
    labels: Sequence[str],
    label: str,
    *,
    truncated: bool = False,
    evaluations: int | None = None,
) -> Explanation:
    """Divide the log-odds of a label among the turns and words of a dialogue; deterministic.

    `truncated` says that the model does not read all of it; the turns it reads are then determined first. `evaluations`
    is an approximate limit on how many texts the model reads; a long turn is read in several parts.

    >>> def predict(dialogues):  # one in two, and better odds with every "yes"
    ...     odds = [3.0 ** sum(text.count("yes") for text in each.texts) for each in dialogues]
    ...     return np.array([[odd / (1 + odd), 1 / (1 + odd)] for odd in odds])
    >>> found = explain(predict, Dialogue.of(["yes", "oh yes"]), ("good", "bad"), "good")
    >>> [[round(word.contribution, 4) for word in turn.words] for turn in found.turns]
    [[1.0986], [0.0, 1.0986]]
    """
    read = _read_part(predict, dialogue) if truncated else dialogue
    turns = [_Parts(turn) for turn in read.turns]
    players = [number for number, turn in enumerate(turns) if turn.groups]
    rng = np.random.default_rng(0)

    def whole_turns(there: int) -> State:
        chosen = {number for bit, number in enumerate(players) if there >> bit & 1}
        return tuple((1 << len(turn.groups)) - 1 if number in chosen else 0 for number, turn in enumerate(turns))

    among_turns = coalitions(len(players), exact=EXACT_TURNS, orders=TURN_ORDERS, rng=rng)
    contexts = {
        number: {whole_turns(there): weight for there, weight in weights.items()}
        for number, weights in zip(players, among_turns, strict=True)
    }
    variants = VARIANTS
    if evaluations is not None:
        variants = min(variants, evaluations // (max(1, len(players)) * turns[-1].windows))
    among_words = {
        number: _among_words(len(turns[number].groups), len(contexts[number]), rng, variants) for number in players
    }

    def steps(number: int) -> Iterator[tuple[int, float, State, State]]:
        """Each part of a turn, the weight of adding it to others, and the variants before and after."""
        for part, weights in enumerate(among_words[number]):
            for there, weight in weights.items():
                for context, chance in contexts[number].items():
                    before, after = (*context[:number], there), (*context[:number], there | 1 << part)
                    yield part, weight * chance, before + context[number + 1 :], after + context[number + 1 :]

    nothing, everything = whole_turns(0), whole_turns(-1)
    needed = (state for number in players for *_, before, after in steps(number) for state in (before, after))
    log_odds, scores = _measure(predict, turns, [nothing, everything, *needed], list(labels).index(label))
    unread = len(dialogue) - len(read)
    contributions = [TurnContribution(turn, 0.0, (), read=False) for turn in dialogue.turns[:unread]]
    for number, turn in enumerate(turns):
        added: list[list[float]] = [[] for _ in turn.groups]
        for part, weight, before, after in steps(number) if turn.groups else ():
            added[part].append(weight * (log_odds[after] - log_odds[before]))
        shares = [math.fsum(each) for each in added]
        contributions.append(
            TurnContribution(dialogue.turns[unread + number], math.fsum(shares), turn.contributions(shares))
        )
    return Explanation(label, scores[everything], log_odds[everything], log_odds[nothing], tuple(contributions))


def coalitions(players: int, *, exact: int, orders: int, rng: np.random.Generator) -> list[dict[int, float]]:
    """For each player the sets of others (as bits) it joins, with weights that sum to 1.

    Up to `exact` players these are all sets, with Shapley weights; beyond, the sets before the player in `orders`
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
    joined: list[dict[int, float]] = [{} for _ in range(players)]
    for _ in range(orders // 2):
        order = rng.permutation(players).tolist()
        for direction in (order, order[::-1]):
            there = 0
            for player in direction:
                joined[player][there] = joined[player].get(there, 0.0) + 1 / (orders // 2 * 2)
                there |= 1 << player
    return joined


def word_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the words: runs without white space; emoji are words of their own, repeated ones a single word.

    A masked word is not included: it is what the question is about, and is never left out.

    >>> [text[start:end] for text in ["so happy!😂😂 :)"] for start, end in word_spans(text)]
    ['so', 'happy!', '😂😂', ':)']
    """
    masks = _masks(text)
    edges = sorted({0, len(text), *(edge for span in (*masks, *_emoji_runs(text)) for edge in span)})
    return [
        (start + run.start(), start + run.end())
        for start, end in pairwise(edges)
        if (start, end) not in masks
        for run in _RUN.finditer(text[start:end])
    ]


def _masks(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TRIGGER.finditer(text)]


def _emoji_runs(text: str) -> list[tuple[int, int]]:
    runs: list[tuple[int, int, str]] = []
    for match in () if text.isascii() else EMOJI_PATTERN.finditer(text):
        emoji = match.group()
        if emoji_words(emoji):
            repeats = bool(runs) and runs[-1][1:] == (match.start(), emoji)
            runs.append((runs.pop()[0] if repeats else match.start(), match.end(), emoji))
    return [(start, end) for start, end, _ in runs]


class _Parts:
    """The parts of a turn that can be left out: its words, or in a long turn groups of words."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        read = [(start, turn.text[start:end]) for start, end in read_spans(turn.text)]
        spans = [(at + start, at + end) for at, text in read for start, end in word_spans(text)]
        self._masks = [(at + start, at + end) for at, text in read for start, end in _masks(text)]
        most = MAX_PARTS if len(turn.text) <= LONG_MESSAGE else MAX_PARTS_OF_LONG
        cut = np.array_split(np.arange(len(spans)), min(len(spans), most) or 1)
        self.groups = [[spans[word] for word in group] for group in cut if len(group)]
        length = sum(len(text) for _, text in read)
        # About how many windows of the shorter kind a model reads: each kind of reading costs the same.
        self.windows = 1 if length <= LONG_MESSAGE else -(-length // WINDOW_CHARACTERS[0]) * READINGS

    def with_only(self, there: int) -> Turn:
        """The turn with only these parts."""
        if there == (1 << len(self.groups)) - 1:
            return self.turn
        kept = [span for part, group in enumerate(self.groups) if there >> part & 1 for span in group]
        text, end = "", None
        for start, stop in sorted((*kept, *self._masks)):
            text += ("" if end is None or end == start else " ") + self.turn.text[start:stop]
            end = stop
        return Turn(text, self.turn.speaker)

    def contributions(self, shares: Sequence[float]) -> tuple[WordContribution, ...]:
        """Each word with an equal part of its group's share."""
        return tuple(
            WordContribution(self.turn.text[start:end], start, end, share / len(group))
            for share, group in zip(shares, self.groups, strict=True)
            for start, end in group
        )


def _measure(
    predict: Predict, turns: Sequence[_Parts], states: Iterable[State], column: int
) -> tuple[dict[State, float], dict[State, float]]:
    """The log-odds and the probability of variants of a dialogue, each predicted once."""
    variants = [cache(turn.with_only) for turn in turns]
    log_odds: dict[State, float] = {}
    probabilities: dict[State, float] = {}
    different = list(dict.fromkeys(states))
    for first in range(0, len(different), BATCH):
        batch = different[first : first + BATCH]
        answers = predict(
            [Dialogue(tuple(turn(bits) for turn, bits in zip(variants, state, strict=True))) for state in batch]
        )
        chosen, others = answers[:, column], np.delete(answers, column, axis=1).sum(1)
        odds = np.log(np.maximum(chosen, _TINY)) - np.log(np.maximum(others, _TINY))
        log_odds.update(zip(batch, odds.tolist(), strict=True))
        probabilities.update(zip(batch, chosen.tolist(), strict=True))
    return log_odds, probabilities


def _among_words(parts: int, contexts: int, rng: np.random.Generator, variants: int) -> list[dict[int, float]]:
    """The sets of a turn's words to try, as many as `variants` allows over all contexts."""
    exact = (variants // contexts).bit_length() - 1
    pairs = variants // (2 * max(1, parts - 1) * contexts)
    orders = 2 * min(max(1, pairs), MAX_WORD_ORDERS // 2)  # even, since each comes with its reverse
    return coalitions(parts, exact=exact, orders=orders, rng=rng)


def _read_part(predict: Predict, dialogue: Dialogue) -> Dialogue:
    """The turns the model reads: the fewest last turns that give the same answer."""
    step = 16
    for first in range(1, len(dialogue), step):
        lengths = range(first, min(first + step, len(dialogue)))
        candidates = [Dialogue(dialogue.turns[-length:], dialogue.id) for length in lengths]
        whole, *answers = predict([dialogue, *candidates])
        for candidate, answer in zip(candidates, answers, strict=True):
            if np.allclose(whole, answer, rtol=0, atol=1e-12):
                return candidate
    return dialogue
